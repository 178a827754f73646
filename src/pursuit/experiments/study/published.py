"""A study as the tables of its report have it: from these the report can be written again, without the runs.

`study.json` has what no table has: the title, the figures, and what the study was made with. Tables may be
packed by gzip. Of traces there are only a thinned one of each cell, and the rates that the claims need.
"""

from __future__ import annotations

import csv
import gzip
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from pursuit.experiments.common.errors import StudyError
from pursuit.experiments.study.database import FILE
from pursuit.experiments.study.results import (
    Cell,
    CellResults,
    FigureSpec,
    KeptTraces,
    Results,
    RunRecord,
    Trace,
)

DECLARATION = "study.json"


def has_tables_alone(folder: str | Path) -> bool:
    """Return whether a folder has the tables of a report, and no stored runs."""
    return Path(folder, "tables", DECLARATION).exists() and not Path(folder, FILE).exists()


def declaration_of(results: Results) -> str:
    """Return the content of `study.json`."""
    content = {
        "title": results.title,
        "judges_claims": results.judges_claims,
        "figures": [figure._asdict() for figure in results.figures],
        "made": results.made,
        "curves": results.kept.remark if results.kept else "",
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def read_tables(folder: Path) -> Results:
    """Return the results that the tables of a report have.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from pursuit.experiments.study.published import read_tables
    >>> from pursuit.experiments.study.report import write_report
    >>> from pursuit.experiments.study.results import Results
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = Results(title="Nothing", cells=(), figures=(), trace=lambda *_: None, made={})
    ...     page = write_report(results, Path(folder))
    ...     read_tables(Path(folder, "tables")).title
    'Nothing'
    """
    path = folder / DECLARATION
    if not path.exists():
        raise StudyError(f"There are no tables of a report in {folder}: the file {DECLARATION} is missing.")
    declared = json.loads(path.read_text(encoding="utf-8"))
    runs: dict[Cell, list[RunRecord]] = {}
    for row in _rows(folder, "runs"):
        numbers = {"number": int(row["run"]), "nit": int(row["nit"]), "nfev": int(row["nfev"])}
        run = RunRecord(**numbers, fun=float(row["fun"]), reason=row["reason"], seconds=math.nan)
        runs.setdefault(_cell(row), []).append(run)
    cells = tuple(
        CellResults(
            cell=_cell(row),
            target=float(row["target"]),
            cap=int(row["cap"]),
            wanted=int(row["wanted"]),
            code="",
            runs=tuple(runs.get(_cell(row), ())),
        )
        for row in _rows(folder, "summary")
    )

    def no_trace(cell: Cell, number: int) -> NoReturn:
        raise StudyError("The tables of a report have no traces.")

    return Results(
        title=declared["title"],
        cells=cells,
        figures=tuple(figure_of(figure) for figure in declared["figures"]),
        trace=no_trace,
        made=declared["made"],
        judges_claims=declared["judges_claims"],
        kept=_kept(folder, declared["curves"]),
    )


def figure_of(content: Mapping[str, Any]) -> FigureSpec:
    """Return a figure that was kept as JSON, which has lists instead of tuples."""
    where = {field: tuple(values) for field, values in content["where"].items()}
    return FigureSpec(**{**content, "where": where, "without": tuple(content.get("without", ()))})


def _kept(folder: Path, remark: str) -> KeptTraces:
    rates: dict[Cell, list[float]] = {}
    for row in _rows(folder, "rates"):
        rates.setdefault(_cell(row), []).append(float(row["rate"]))
    points: dict[Cell, list[tuple[int, int, float]]] = {}
    for row in _rows(folder, "curves"):
        points.setdefault(_cell(row), []).append((int(row["nit"]), int(row["nfev"]), float(row["fun"])))
    curves = {
        cell: Trace(*(np.array(column) for column in zip(*found, strict=True)))
        for cell, found in points.items()
    }
    return KeptTraces(curves, {cell: tuple(found) for cell, found in rates.items()}, remark)


def _rows(folder: Path, name: str) -> list[dict[str, str]]:
    """Return the rows of a table, none if there is no such table."""
    path, packed = folder / f"{name}.csv", folder / f"{name}.csv.gz"
    if not packed.exists() and not path.exists():
        return []
    with gzip.open(packed, "rt", newline="") if packed.exists() else path.open(newline="") as file:
        return list(csv.DictReader(file))


def _cell(row: Mapping[str, str]) -> Cell:
    condition = float(row["L"]) if row["L"] else None
    return Cell(row["problem"], condition, int(row["n"]), row["scheme"], row["reading"])
