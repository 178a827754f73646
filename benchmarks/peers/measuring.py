"""What overhead and memory have in common: one measurement for each solver and n, in a process of its own."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TypeVar

from benchmarks.peers.adapters import DENSE_LIMIT, NO_ROOM, Solver
from benchmarks.peers.counting import ERROR
from benchmarks.peers.isolation import Failure, Job, run_job
from benchmarks.peers.records import (
    MEASURED,
    MISSING,
    NOT_RUN,
    SKIPPED,
    MemoryRow,
    OverheadRow,
    Table,
)
from benchmarks.peers.versions import version_of

SolverRow = TypeVar("SolverRow", OverheadRow, MemoryRow)


def measure_missing(
    table: Table[SolverRow],
    solvers: Sequence[Solver],
    dimensions: Sequence[int],
    *,
    job: Callable[[Solver, int], Job],
    describe: Callable[[SolverRow], str],
    say: Callable[[str], None],
) -> None:
    """Measure what the table does not have yet, one after the other.

    Parameters
    ----------
    table : Table
        Where rows are read and written.
    solvers, dimensions : sequence
        A measurement is made for each pair of them.
    job : callable
        The job that measures a solver in n variables. Its result is a named tuple of fields of the row.
    describe : callable
        A measured row, in a line for people.
    say : callable
        Shows progress.
    """
    for n, solver in itertools.product(dimensions, solvers):
        row = table.kind(solver=solver.name, package=solver.package, version=version_of(solver), n=n)
        found = table.get(row)
        if found is not None and found.status not in NOT_RUN and found.version == row.version:
            continue
        row = _measured(solver, row, job)
        if row.status != MISSING or found is None:
            table.add(row)
        say(describe(row) if row.status == MEASURED else f"{solver.name}, n = {n}: {row.detail}")


def _measured(solver: Solver, row: SolverRow, job: Callable[[Solver, int], Job]) -> SolverRow:
    if not solver.installed:
        return row._replace(status=MISSING, detail=f"{solver.package} is not installed.")
    if solver.dense and row.n >= DENSE_LIMIT:
        return row._replace(status=SKIPPED, detail=NO_ROOM)
    result = run_job(job(solver, row.n))
    if isinstance(result, Failure):
        return row._replace(status=ERROR, detail=result.text)
    return row._replace(status=MEASURED, **result._asdict())
