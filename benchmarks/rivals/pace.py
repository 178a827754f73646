"""How long the runs of the paper's schemes and of others take.

``python -m benchmarks.rivals.pace STUDY ...`` reads the stores of studies, writes the times of their runs on
a CPU into ``pace.csv``, and the page ``pace.md``. ``--write`` only writes the page.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.peers.records import Table, read_rows
from benchmarks.rivals.best import parsed_options
from pursuit.experiments.common.files import write_file
from pursuit.experiments.common.formatting import brief, power, table
from pursuit.experiments.study.results import CellResults
from pursuit.experiments.study.store import read_store

TIMES, PAGE = "pace.csv", "pace.md"
_INTRODUCTION = """# Time of the paper's schemes and of others

From the runs of `pursuit reproduce --preset rivals` on a CPU. Several ran at a time and competed for its
cores and caches, so times are rough, and schemes that differ by less than a factor of two may be in the wrong
order: `make bench-speed` measures an iteration of every scheme on an idle machine."""


class PaceRow(NamedTuple):
    """The times of the runs of a cell."""

    problem: str
    L: float | None
    n: int
    solver: str
    runs: int
    iteration: float
    """The median of a run's mean time per iteration, in microseconds,"""
    evaluation: float
    """and of that per evaluation."""
    seconds: float
    """The median of the time to the target, infinite if half of the runs did not reach it."""


def main() -> None:
    options = parsed_options(__doc__, "--write", "only write the page of what is stored")
    if not options.stored:
        times = Table(options.out / TIMES, PaceRow)
        for row in rows_of(options.studies):
            times.add(row)
    write_file(options.out / PAGE, page_of(read_rows(options.out / TIMES, PaceRow)))


def rows_of(folders: Sequence[Path]) -> Iterator[PaceRow]:
    """Return the rows of all cells that have runs."""
    for folder in folders:
        with read_store(folder) as store:
            if "cpu" in store.devices():
                yield from map(_row_of, store.results("cpu").select())


def _row_of(entry: CellResults) -> PaceRow:
    cell, runs = entry.cell, entry.runs
    return PaceRow(
        problem=cell.problem,
        L=cell.L,
        n=cell.n,
        solver=cell.scheme,
        runs=len(runs),
        iteration=float(np.median([1e6 * run.seconds / max(run.nit, 1) for run in runs])),
        evaluation=float(np.median([1e6 * run.seconds / run.nfev for run in runs])),
        seconds=float(np.median([run.seconds if run.success else np.inf for run in runs])),
    )


def page_of(rows: Sequence[PaceRow]) -> str:
    """Return the page."""
    return "\n\n".join([_INTRODUCTION, *_pace_table(rows), *_time_tables(rows)]) + "\n"


def _pace_table(rows: Sequence[PaceRow]) -> list[str]:
    dimensions = sorted({row.n for row in rows})
    lines = []
    for solver in dict.fromkeys(row.solver for row in rows):
        own = {n: [row for row in rows if (row.solver, row.n) == (solver, n)] for n in dimensions}
        lines.append([solver, *(_pace(found) for found in own.values())])
    return [
        "Microseconds per iteration, and in parentheses per evaluation, the median over problems:",
        table(["scheme", *(f"n = {n}" for n in dimensions)], lines),
    ]


def _pace(rows: Sequence[PaceRow]) -> str:
    if not rows:
        return ""
    iteration = np.median([row.iteration for row in rows])
    evaluation = np.median([row.evaluation for row in rows])
    return f"{brief(float(iteration))} ({brief(float(evaluation))})"


def _time_tables(rows: Sequence[PaceRow]) -> list[str]:
    parts = []
    for n in sorted({row.n for row in rows}):
        chosen = {(row.solver, row.problem, row.L): row.seconds for row in rows if row.n == n}
        problems = list(dict.fromkeys((problem, condition) for _, problem, condition in chosen))
        header = [
            name if condition is None else f"{name}, L = {power(condition)}" for name, condition in problems
        ]
        lines = [
            [
                solver,
                *(
                    brief(chosen[place]) if (place := (solver, *problem)) in chosen else ""
                    for problem in problems
                ),
            ]
            for solver in dict.fromkeys(solver for solver, _, _ in chosen)
        ]
        parts += [
            f"Seconds to the target, the median of all runs, n = {n}:",
            table(["scheme", *header], lines),
        ]
    return parts


if __name__ == "__main__":
    main()
