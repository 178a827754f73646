"""Tasks that people bring, each with the tools that they use for it, beside our default.

Others get variables in units of their first steps, so that parameters of different sizes are no obstacle; our
methods get the variables as they are, and the step sizes. What keeps to no bounds is shown the nearest point
inside.
"""

from __future__ import annotations

import functools
import math
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.recording import ERROR, Recorder, run_solver
from benchmarks.runs import Part, Wanted
from benchmarks.solvers import Answer, solver_named
from benchmarks.suites.declared import declaration_of, solvers_of
from benchmarks.tasks.task import Case, Task
from pursuit.checks import Vector

FOLDER = Path("docs/results/tasks")
FILE = "runs.csv"
# What is violated by less is kept to.
_VIOLATION = 1e-6
# The noise of a value is that of so many at the point that is returned.
_REPEATS = 20
_SEEDS, _SECONDS = 5, 300.0


_PEERS = solvers_of("tasks")
PEERS = tuple(solver.name for solver in _PEERS)
named = functools.partial(solver_named, among=_PEERS)
SUITE = tuple(Task(**entry) for entry in declaration_of("tasks")["tasks"])


class Row(NamedTuple):
    """What a run has found."""

    task: str
    budget: int
    solver: str
    seed: int
    version: str = ""
    evaluations: int | None = None
    start: float | None = None
    """The true gap at the start."""
    gap: float | None = None
    """The true gap of the returned point."""
    noise: float | None = None
    """The standard deviation of values there."""
    fun: float | None = None
    fun_error: float | None = None
    success: bool | None = None
    seconds: float | None = None
    """Of processor time."""
    message: str = ""

    @property
    def true_gap(self) -> float:
        """The gap, infinite if it is not known."""
        return math.inf if self.gap is None else self.gap


class Simulated:
    """The function and the constraint of a case: one evaluation gives the values of both at a point."""

    def __init__(self, case: Case, rng: np.random.Generator, maxfev: float, maxtime: float) -> None:
        self.record = Recorder(lambda x: case.fun(x, rng), maxfev=maxfev, maxtime=maxtime)
        self.best, self.lowest, self._violated = case.x0, math.inf, math.inf
        self._case = case
        self._known: dict[bytes, tuple[float, float]] = {}

    def fun(self, x: Vector) -> float:
        """Return a value."""
        return self._at(x)[0]

    def constraint(self, x: Vector) -> float:
        """Return the constraint."""
        return self._at(x)[1]

    def _at(self, x: Vector) -> tuple[float, float]:
        place = x.tobytes() if self._case.constraint else b""
        if place in self._known:
            return self._known[place]
        values = self.record(x), self._case.constraint(x) if self._case.constraint else 0.0
        violated = max(values[1] - _VIOLATION, 0.0)
        if (violated, values[0]) < (self._violated, self.lowest):
            self.best, self.lowest, self._violated = x.copy(), values[0], violated
        if self._case.constraint:
            self._known[place] = values
        return values


def plan(wanted: Wanted) -> Iterator[Row]:
    """Yield a row without a result for every run; quick ones have a tenth of the first budget."""
    for task in SUITE:
        for budget in (task.budgets[0] // 10,) if wanted.quick else task.budgets:
            for solver in map(named, wanted.solvers or (*task.peers, "auto")):
                for seed in wanted.seeds_of(_SEEDS):
                    yield Row(task.name, budget, solver.name, seed, solver.version)


def scaled(case: Case) -> Case:
    """Return a case in units of the first steps."""
    size, inner = case.sigma0, case.constraint
    return case._replace(
        fun=lambda x, rng: case.fun(x * size, rng), gap=lambda x: case.gap(x * size), x0=case.x0 / size,
        sigma0=np.ones(size.size), lower=case.lower / size, upper=case.upper / size,
        constraint=None if inner is None else lambda x: inner(x * size),
    )  # fmt: skip


def work(row: Row) -> Row:
    """Make a run; if a tool does not end itself, or fails, it returns the best point that it has seen."""
    solver = named(row.solver)
    case = next(task for task in SUITE if task.name == row.task).case(row.seed)
    if not solver.ours:
        case = scaled(case)
    rng = np.random.default_rng([row.seed, zlib.crc32(row.task.encode())])
    # Ours keep to the budget themselves, or their rows show that they do not.
    seen = Simulated(case, rng, math.inf if solver.ours else row.budget, _SECONDS)
    found = run_solver(
        solver.solve, seen.record, case.x0, fun=seen.fun, maxfev=row.budget, seed=row.seed,
        sigma0=case.sigma0 if solver.ours else 1.0,
        bounds=(case.lower, case.upper) if np.isfinite(case.lower).any() else None,
        constraint=None if case.constraint is None else seen.constraint,
    )  # fmt: skip
    failed = found.status == ERROR
    message = found.detail if failed else "The budget is spent."
    answer = found.answer or Answer(seen.best, False if failed else None, message, seen.lowest)
    x = np.clip(answer.x, case.lower, case.upper)
    again = np.random.default_rng([row.seed, 1])
    noise = float(np.std([case.fun(x, again) for _ in range(_REPEATS)]))
    return row._replace(
        evaluations=found.evaluations, start=_rounded(case.gap(case.x0)), gap=_rounded(case.gap(x)),
        noise=_rounded(noise), fun=_rounded(answer.fun), fun_error=_rounded(answer.fun_error),
        success=None if answer.success is None else bool(answer.success), seconds=round(found.seconds, 2),
        message=" ".join(answer.message.split())[:200],
    )  # fmt: skip


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.8g}")


PARTS = {"runs": Part(FILE, Row, plan, work, named, seconds=_SECONDS)}
