"""Iterations to f <= 1e-9, divided by n, of a study beside those of an independent prototype.

``python -m benchmarks.table DIR`` reads the study in a folder and prints a table in Markdown; ``--out FILE``
writes it as well. ``pursuit reproduce benchmarks/table.toml`` runs the study, of all that the prototype
measured.
"""

from __future__ import annotations

import csv
import math
from pathlib import Path

from benchmarks.reporting import made_by, publish, study_parser
from pursuit.experiments.common.formatting import spaced, table
from pursuit.experiments.study import read_store
from pursuit.experiments.study.results import CellResults, Results
from pursuit.experiments.study.stats import summarize

PROBLEMS = ("exp", "lin", "two", "rosenbrock")
PROTOTYPE = Path(__file__).with_name("prototype.csv")


def read_prototype() -> dict[tuple[str, ...], str]:
    """Return the prototype's medians, by method, reading, problem and n."""
    with PROTOTYPE.open() as file:
        return {
            (row["method"], row["reading"], row["problem"], row["n"]): row["its_per_n"]
            for row in csv.DictReader(file)
        }


def median_per_n(entry: CellResults) -> float:
    return summarize(entry, "iterations").median.value / entry.cell.n


def shown_median(entry: CellResults) -> str:
    """Return the median of #ITS/n, and how many runs failed."""
    failed = [run.reason for run in entry.runs if not run.success]
    median = median_per_n(entry)
    text = spaced(round(median)) if math.isfinite(median) else ""
    if failed:
        text += f" {len(failed)} of {len(entry.runs)} {' or '.join(sorted(set(failed)))}"
    return text.strip()


def agreement(entry: CellResults, expected: str | None) -> str:
    """Return ours divided by the prototype's, or whether both diverge."""
    if expected is None:
        return ""
    if expected == "diverges":
        return " (both diverge)" if all(run.reason == "diverged" for run in entry.runs) else " (differs)"
    return f" ({median_per_n(entry) / float(expected):.2f})"


def comparison(results: Results) -> str:
    """Return every entry of L = 1e4 beside the prototype's."""
    prototype = read_prototype()
    chosen = results.select(problem=PROBLEMS, L=(None, 1e4))
    rows: dict[tuple[str, ...], dict[str, str]] = {}
    for entry in chosen:
        cell = entry.cell
        row = rows.setdefault((cell.scheme, cell.reading, str(cell.n)), dict.fromkeys(PROBLEMS, ""))
        expected = prototype.get((cell.scheme, cell.reading, cell.problem, str(cell.n)))
        row[cell.problem] = shown_median(entry) + agreement(entry, expected)
    return table(["method", "reading", "n", *PROBLEMS], [[*key, *row.values()] for key, row in rows.items()])


def main() -> None:
    options = study_parser(__doc__).parse_args()
    with read_store(options.folder) as store:
        results = store.results()
    text = (
        "# Iterations to f <= 1e-9, divided by n\n\n"
        "Medians, L = 1e4; in brackets ours divided by an independent prototype's "
        "(`benchmarks/prototype.csv`).\n"
        f"SARP knows the condition number.\n\n{comparison(results)}\n\n{made_by('benchmarks.table')}"
    )
    publish(text, options.out)


if __name__ == "__main__":
    main()
