"""The page on minima within constraints."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path

from benchmarks.pages.stamp import stamp
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
    return f"""# Constraints

How many runs from random starts inside the bounds find the minimum (up to {PRECISION:g} of it, with
constraints violated by at most {VIOLATION:g}), and the median of their evaluations.

{table(head, lines)}

How f and constraints are scaled and when penalties grow was chosen on g01 to g11; {", ".join(HELD_OUT)} were
added afterwards, and changed nothing.

{stamp("make bench-constraints", rows, named, folder)}"""
