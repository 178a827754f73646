"""Evaluations to a target, of all solvers on three problems.

A solver that the cap stops with its first three seeds is not run with the others; its rows say so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from benchmarks.peers.counting import REACHED, Counted, run_solver
from benchmarks.peers.evaluations import SIGMA0
from benchmarks.peers.problems import Task, make_objective
from benchmarks.peers.records import SKIPPED, Table
from benchmarks.peers.versions import version_of
from benchmarks.rivals.pairs import solvers
from pursuit.counting import CAP

PROBLEMS = (("exp", 1.0), ("exp", 100.0), ("rosenbrock", None))
"""A sphere, an ellipsoid along the axes and Rosenbrock's function."""
DIMENSIONS = (20, 100)
_PER_VARIABLE = 5_000
"""The cap of evaluations, divided by n."""
_TRIED = 3
"""After so many seeds a solver that the cap stops with all of them is given up."""
# Seconds of processor time, which no run of so many evaluations should need.
_MOST_SECONDS = 600.0


class RivalRow(NamedTuple):
    """One run."""

    solver: str
    package: str
    version: str
    problem: str
    L: float | None
    n: int
    seed: int
    status: str = ""
    evaluations: int | None = None


def rows_of(seeds: int) -> Iterator[RivalRow]:
    """Yield what is to be measured, all solvers with one seed before the next."""
    for seed in range(1, seeds + 1):
        for n in DIMENSIONS:
            for problem, L in PROBLEMS:
                for solver in solvers().values():
                    yield RivalRow(solver.name, solver.package, version_of(solver), problem, L, n, seed)


def run_missing(seeds: int, table: Table[RivalRow], say: Callable[[str], None]) -> None:
    """Make the runs that the table does not have, or has of other versions, if they can be made here."""
    for row in rows_of(seeds):
        found = table.get(row)
        if not row.version or (found is not None and found.version == row.version):
            continue
        tried = [table.get(row._replace(seed=seed)) for seed in range(1, _TRIED + 1)]
        hopeless = row.seed > _TRIED and all(first is not None and first.status == CAP for first in tried)
        table.add(done := row._replace(status=SKIPPED) if hopeless else run(row))
        say(f"{row.solver} on {row.problem} {row.L or ''}, n = {row.n}, seed {row.seed}: {done.evaluations}")


def run(row: RivalRow) -> RivalRow:
    """Return a row with its result."""
    task = Task(row.problem, row.L, False, row.n)
    objective, maxfev = make_objective(task, row.seed), _PER_VARIABLE * row.n
    counted = Counted(objective.fun, target=objective.target, maxfev=maxfev, maxtime=_MOST_SECONDS)
    solve = solvers()[row.solver].solve
    result = run_solver(
        lambda fun: solve(fun, objective.x0.copy(), sigma0=SIGMA0, maxfev=maxfev, seed=row.seed), counted
    )
    evaluations = result.evaluations if result.status == REACHED else None
    return row._replace(status=result.status, evaluations=evaluations)
