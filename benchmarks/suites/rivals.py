"""Our versions of the methods of others beside independent implementations: evaluations, and time.

A solver that the cap stops with its first three seeds is not run with the others; its rows say so. Times are
those of |x|^2, on which no solver is done within the evaluations that are timed; both take turns in one
process.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.measure import evaluate, replaying, seconds, seconds_each
from benchmarks.problems.paper import Task
from benchmarks.runs import SKIPPED, Part, Skip, Table, Wanted
from benchmarks.solvers import Fun, Solver, using_fcmaes, using_pycma
from benchmarks.suites.declared import USES, declaration_of, solver_of
from benchmarks.suites.peers import RunRow, planned_row, run_to_target
from pursuit.engine.counting import CAP
from pursuit.methods.rivals.populations import CmaRates, usual_population

FOLDER = Path("docs/results/rivals")
RUNS, TIMES = "runs.csv", "times.csv"
PROBLEMS = (("exp", 1.0), ("exp", 100.0), ("rosenbrock", None))
"""A sphere, an ellipsoid along the axes and Rosenbrock's function."""
DIMENSIONS, TIMED_DIMENSIONS = (20, 100), (100, 1_000, 10_000)
_SEEDS = 11
_PER_VARIABLE = 5_000
"""The cap of evaluations, divided by n."""
_TRIED = 3
"""After so many seeds a solver that the cap stops with all of them is given up."""
# Seconds of processor time, which no run of so many evaluations should need.
_MOST_SECONDS = 600.0
# Several populations, about so many seconds in a turn, and not so many that a solver could end by itself.
_FEWEST, _TURN, _MOST, _ROUNDS = 150, 0.3, 5_000, 5


def _rates_of_2006(strategy: Any) -> None:
    """Give pycma's strategy the rates of 2006 in place of those that it has now."""
    rates = CmaRates.create(strategy.N, strategy.popsize)
    strategy.sp.cc = rates.c_c
    strategy.sp.c1, strategy.sp.cmu = rates.c_cov / rates.mu_eff, rates.c_cov * (1.0 - 1.0 / rates.mu_eff)
    strategy.adapt_sigma.cs, strategy.adapt_sigma.damps = rates.c_sigma, rates.d_sigma


class Pair(NamedTuple):
    """A method of ours and an independent implementation of it."""

    ours: Solver
    theirs: Solver
    note: str = ""
    """Where theirs differs from the source that ours follows."""


# The population of ours, and their rates.
_USES = {
    **USES,
    "fcmaes of our size": lambda: using_fcmaes(usual_population),
    "pycma of 2006": lambda: using_pycma(_rates_of_2006, CMA_active=False),
}
PAIRS = tuple(
    Pair(solver_of(pair["ours"]), solver_of(pair["theirs"], _USES), pair.get("note", ""))
    for pair in declaration_of("rivals")["pairs"]
)
TIMED = ("cr-fm-nes", "lm-cma", "lm-cma of 2017")
"""Those of ours whose time is measured."""


def solvers() -> dict[str, Solver]:
    """Return all solvers by name, each once."""
    return {solver.name: solver for pair in PAIRS for solver in (pair.ours, pair.theirs)}


def plan_runs(wanted: Wanted) -> Iterator[RunRow]:
    """Yield a row without a result for every run, all solvers with one seed before the next."""
    for seed in wanted.seeds_of(_SEEDS):
        for n in DIMENSIONS[: 1 if wanted.quick else None]:
            for problem, L in PROBLEMS:
                for name in wanted.solvers or solvers():
                    task = Task(problem, L, False, n)
                    maxtime = wanted.maxtime or _MOST_SECONDS
                    yield planned_row(solvers()[name], task, seed, _PER_VARIABLE * n, maxtime)


def work(row: RunRow) -> RunRow:
    """Make a run; what a child process does."""
    return run_to_target(row, solvers()[row.solver])


def reason_to_skip(row: RunRow, table: Table[RunRow]) -> Skip | None:
    """Return why a run is not to be made, None if it is."""
    if row.seed > _TRIED:
        tried = [table.get(row._replace(seed=seed)) for seed in range(1, _TRIED + 1)]
        if all(first is not None and first.status == CAP for first in tried):
            return Skip(SKIPPED, f"It does not reach the target with {_TRIED} other seeds.")
    return None


class TimeRow(NamedTuple):
    """The time per evaluation of a pair, in microseconds, that of the objective included."""

    solver: str
    """Ours."""
    other: str
    version: str
    """That of ours, and that of the other."""
    n: int
    ours: float | None = None
    theirs: float | None = None


def plan_times(wanted: Wanted) -> Iterator[TimeRow]:
    """Yield a row without a result for every pair that is timed and can run here."""
    for n in TIMED_DIMENSIONS[: 1 if wanted.quick else None]:
        for pair in PAIRS:
            if pair.ours.name in (wanted.solvers or TIMED) and pair.theirs.installed:
                yield TimeRow(
                    pair.ours.name, pair.theirs.name, f"{pair.ours.version}, {pair.theirs.version}", n
                )


def measure_times(row: TimeRow) -> TimeRow:
    """Return the times of a pair; what a child process does."""
    pair = (solvers()[name] for name in (row.solver, row.other))
    runs = {solver.name: partial(evaluate, solver, _sphere, np.ones(row.n)) for solver in pair}
    for run in runs.values():
        run(_FEWEST)  # compiles and imports
    slowest = max(seconds(partial(run, _FEWEST), time.process_time) for run in runs.values()) / _FEWEST
    times = min(_MOST, max(_FEWEST, int(_TURN / slowest)))
    each = seconds_each(runs, times, _ROUNDS, time.process_time)
    return row._replace(ours=1e6 * each[row.solver], theirs=1e6 * each[row.other])


def _sphere(count: int) -> Fun:
    following = replaying(itertools.repeat(0.0, count))
    return lambda x: following(x) + float(x @ x)


named = solvers().__getitem__
_RUNS = Part(RUNS, RunRow, plan_runs, work, named, stage=lambda row: row.seed > _TRIED, skip=reason_to_skip)
PARTS = {"runs": _RUNS, "times": Part(TIMES, TimeRow, plan_times, measure_times, named, alone=True)}
