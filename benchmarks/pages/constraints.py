"""The page on minima within constraints."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path

from benchmarks.pages.stamp import filled, stamp
from benchmarks.problems.constrained import HELD_OUT, PROBLEMS
from benchmarks.runs import read_rows
from benchmarks.suites.constraints import FILE, PRECISION, SOLVERS, VIOLATION, Row, named
from pursuit.experiments.common.formatting import table


def texts(folder: Path) -> dict[Path, str]:
    """Return the page."""
    return {folder / "constraints.md": text_of(read_rows(folder / FILE, Row), folder)}


def text_of(rows: Sequence[Row], folder: Path | None = None) -> str:
    """Return the page."""
    lines = []
    for name in PROBLEMS:
        line = [name, str(len(PROBLEMS[name].lower))]
        for solver in SOLVERS:
            runs = [row for row in rows if (row.problem, row.solver) == (name, solver)]
            middle = statistics.median(row.evaluations or 0 for row in runs) if runs else 0
            line += [f"{sum(row.is_right for row in runs)} of {len(runs)}", f"{middle:.0f}"]
        lines.append(line)
    head = ["problem", "n", *(entry for solver in SOLVERS for entry in (solver, "evaluations"))]
    return filled(
        "constraints", precision=PRECISION, violation=VIOLATION, runs=table(head, lines),
        held_out=", ".join(HELD_OUT), stamp=stamp("make bench-constraints", rows, named, folder),
    )  # fmt: skip
