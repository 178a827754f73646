"""The tables of a report, as CSV files; and a study as they have it, so that the report can be written again.

`study.json` has what no table has: the title, the figures, and what the study was made with. Tables may be
packed by gzip. Of traces there are only a thinned one of each cell, and the rates that the claims need. A
missing number is an empty field, and an infinite one `inf`.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from pursuit.experiments.common import StudyError
from pursuit.experiments.common.files import write_file
from pursuit.experiments.study import stats
from pursuit.experiments.study.evidence import RATED
from pursuit.experiments.study.report import Analysis
from pursuit.experiments.study.results import (
    Cell,
    CellResults,
    Distribution,
    FigureSpec,
    KeptTraces,
    Results,
    RunRecord,
    Trace,
)
from pursuit.experiments.study.store import FILE

_DECLARATION = "study.json"
# Of a curve in a table: enough for a picture.
_MOST_POINTS = 40
_UNKNOWN = stats.Estimate(math.nan, math.nan, math.nan)

Row = dict[str, Any]


def write_tables(analysis: Analysis, folder: Path, *, packed: bool = False) -> None:
    """Write the tables of a report, but for those without rows.

    A table that is there already stays packed, or not; `packed` is for new ones.
    """
    results = analysis.results
    tables = {"summary": _summary(analysis), "growth": _growth(analysis), "claims": _claims(analysis)}
    tables |= {"runs": _runs(results), "rates": _rates(results), "curves": _curves(results)}
    tables |= {"distributions": _distributions(results)}
    content = {
        "title": results.title,
        "judges_claims": results.judges_claims,
        "figures": [figure._asdict() for figure in results.figures],
        "made": results.made,
        "curves": results.kept.remark if results.kept else "",
    }
    write_file(folder / _DECLARATION, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    for name, rows in tables.items():
        plain, zipped = folder / f"{name}.csv", folder / f"{name}.csv.gz"
        if not rows:
            plain.unlink(missing_ok=True)
            zipped.unlink(missing_ok=True)
        elif zipped.exists() or (packed and not plain.exists()):
            # Without the time of writing, the same rows give the same bytes.
            write_file(zipped, gzip.compress(_table(rows), mtime=0))
        else:
            write_file(plain, _table(rows))


def _table(rows: list[Row]) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    # A NaN is not equal to itself.
    writer.writerows({key: value for key, value in row.items() if value == value} for row in rows)
    return text.getvalue().encode()


def has_tables_alone(folder: str | Path) -> bool:
    """Return whether a folder has the tables of a report, and no stored runs."""
    return Path(folder, "tables", _DECLARATION).exists() and not Path(folder, FILE).exists()


def read_tables(folder: Path) -> Results:
    """Return the results that the tables of a report have.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from pursuit.experiments.study.report.document import write_report
    >>> from pursuit.experiments.study.report.tables import read_tables
    >>> from pursuit.experiments.study.results import Results
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = Results(title="Nothing", cells=(), figures=(), trace=lambda *_: None, made={})
    ...     page = write_report(results, Path(folder))
    ...     read_tables(Path(folder, "tables")).title
    'Nothing'
    """
    path = folder / _DECLARATION
    # Those of some studies have no declaration.
    declared = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    runs = {
        cell: tuple(
            RunRecord(int(number), int(nit), int(nfev), float(fun), reason, seconds=math.nan)
            for number, nit, nfev, fun, reason in rows
        )
        for cell, rows in _by_cell(folder, "runs", "run nit nfev fun reason").items()
    }
    cells = tuple(
        CellResults(cell, float(target), int(cap), int(wanted), code="", runs=runs.get(cell, ()))
        for cell, ((target, cap, wanted),) in _by_cell(folder, "summary", "target cap wanted").items()
    )

    if not declared and not cells:
        raise StudyError(f"There are no tables of a report in {folder}.")

    def no_trace(cell: Cell, number: int) -> NoReturn:
        raise StudyError("The tables of a report have no traces.")

    return Results(
        title=declared.get("title", ""),
        cells=cells,
        figures=tuple(map(FigureSpec.of, declared.get("figures", ()))),
        trace=no_trace,
        made=declared.get("made", {}),
        judges_claims=declared.get("judges_claims", True),
        kept=_kept(folder, declared.get("curves", "")),
        distributions=_distributions_in(folder),
    )


def _kept(folder: Path, remark: str) -> KeptTraces:
    rates = {
        cell: tuple(float(row[0]) for row in rows) for cell, rows in _by_cell(folder, "rates", "rate").items()
    }
    curves = {
        cell: Trace(*np.array(rows, dtype=np.float64).T)
        for cell, rows in _by_cell(folder, "curves", "nit nfev fun").items()
    }
    return KeptTraces(curves, rates, remark)


def _distributions_in(folder: Path) -> dict[tuple[str, int, str], list[Distribution]]:
    steps: dict[tuple[str, int, str], dict[str, list[list[float]]]] = {}
    for row in _rows(folder, "distributions"):
        schemes = steps.setdefault((row["reading"], int(row["n"]), row["measure"]), {})
        # A scheme that reaches nothing has a row without a step.
        schemes.setdefault(row["scheme"], []).extend(
            [[float(row["budget"]), float(row["share"])]] if row["budget"] else []
        )
    return {
        place: [Distribution(scheme, *np.reshape(found, (-1, 2)).T) for scheme, found in schemes.items()]
        for place, schemes in steps.items()
    }


def _rows(folder: Path, name: str) -> list[dict[str, str]]:
    """Return the rows of a table; nothing if there is no such table."""
    path, packed = folder / f"{name}.csv", folder / f"{name}.csv.gz"
    if not packed.exists() and not path.exists():
        return []
    with gzip.open(packed, "rt", newline="") if packed.exists() else path.open(newline="") as file:
        return list(csv.DictReader(file))


def _by_cell(folder: Path, name: str, columns: str) -> dict[Cell, list[list[str]]]:
    """Return some columns of the rows of each cell in a table."""
    found: dict[Cell, list[list[str]]] = {}
    for row in _rows(folder, name):
        condition = float(row["L"]) if row["L"] else None
        cell = Cell(row["problem"], condition, int(row["n"]), row["scheme"], row["reading"])
        found.setdefault(cell, []).append([row[column] for column in columns.split()])
    return found


def _summary(analysis: Analysis) -> list[Row]:
    """Return a row for each cell, with the statistics of its counts, not divided by n."""
    return [
        {
            **entry.cell._asdict(),
            "target": entry.target,
            "cap": entry.cap,
            "wanted": entry.wanted,
            "runs": len(entry.runs),
            "successes": sum(run.success for run in entry.runs),
            "diverged": sum(run.reason == "diverged" for run in entry.runs),
            **{
                f"{measure}_{name}": value
                for measure, found in analysis.summaries.get(entry.cell, {}).items()
                for name, value in {
                    **_named(found.median, "median"),
                    "mean": found.mean,
                    "deviation": found.deviation,
                }.items()
            },
        }
        # The first has runs: its columns are those of all.
        for entry in sorted(analysis.results.cells, key=lambda entry: not entry.runs)
    ]


def _claims(analysis: Analysis) -> list[Row]:
    """Return a row for each measurement of each claim under each reading."""
    return [
        {
            "claim": judgement.number,
            "sentence": judgement.claim,
            "reading": judgement.reading,
            "verdict": judgement.verdict,
            "measured": found.text,
            "paper": found.paper,
            **(found.ours or _UNKNOWN)._asdict(),
            "outcome": found.outcome,
        }
        for judgement in analysis.judgements
        for found in judgement.measurements
    ]


def _growth(analysis: Analysis) -> list[Row]:
    """Return a row for each scheme on each problem, with the power of n by which its counts grow."""
    rows = []
    for growth in analysis.growths:
        row = {**growth._asdict(), "dimensions": " ".join(map(str, growth.dimensions))}
        for measure, found in row.pop("exponents").items():
            row |= _named(found, f"{measure}_exponent")
        rows.append(row)
    return rows


def _runs(results: Results) -> list[Row]:
    """Return a row for each run, its value in three digits, without its time, which differs each time."""
    rows = [
        {**entry.cell._asdict(), "run": run.number, **run._asdict(), "fun": f"{run.fun:.3g}"}
        for entry in results.select()
        for run in entry.runs
    ]
    return [{name: row[name] for name in row if name not in ("number", "seconds")} for row in rows]


def _rates(results: Results) -> list[Row]:
    """Return a row for each rate of convergence that the claims need."""
    return [
        {**entry.cell._asdict(), "rate": f"{rate:.4g}"}
        for entry in results.select(scheme=RATED)
        if results.judges_claims
        for rate in stats.rates_of(results, entry)
    ]


def _curves(results: Results) -> list[Row]:
    """Return the curves of figures: of each cell the trace of the median run, thinned."""
    return [
        {**entry.cell._asdict(), "nit": f"{nit:.3g}", "nfev": f"{nfev:.3g}", "fun": f"{fun:.3g}"}
        for entry in results.select()
        for nit, nfev, fun in zip(
            *stats.thinned(stats.trace_of_median(results, entry), _MOST_POINTS), strict=True
        )
    ]


def _distributions(results: Results) -> list[Row]:
    """Return the steps of all runtime distributions."""
    columns = ("reading", "n", "measure", "scheme", "budget", "share")
    return [
        dict(zip(columns, (*place, found.scheme, *step), strict=True))
        for place, all_found in (stats.with_distributions(results).distributions or {}).items()
        for found in all_found
        for step in [(f"{b:.3g}", f"{s:.3g}") for b, s in zip(found.budgets, found.shares, strict=True)]
        or [("", "")]
    ]


def _named(found: stats.Estimate, name: str) -> Row:
    """Return an estimate as columns."""
    return {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}
