"""The runs behind targets of methods: how many evaluations to a target, and how far within a budget."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import pursuit
from benchmarks.peers.problems import TARGET, Task, make_objective
from benchmarks.peers.records import Table
from benchmarks.values import fitting, valleys
from benchmarks.values.problem import Problem, badly_scaled, in_single_precision, with_additive_noise
from benchmarks.values.running import SIGMA0
from benchmarks.values.solvers import PEERS, solver_named
from pursuit.checks import Vector
from pursuit.compiling.cache import code_hash

TO_TARGET, EARLY, NOISE = "to the target", "early", "noise"
ROTATED, ALONG_AXES, SCALED = "rotated", "along the axes", "badly scaled"
DEVIATION = 1e-3
"""That of the noise that is added; Rosenbrock's function is rounded to single precision instead."""
DIFFERENCES = "differences"
OTHER_PROBLEMS = {
    "logistic regression": fitting.logistic_regression,
    "Poisson regression": fitting.poisson_regression,
    "paired Rosenbrock": valleys.paired_rosenbrock,
    "Brown": valleys.brown,
}
"""Problems besides those of the comparison with other libraries, all along the axes."""


class ReachRow(NamedTuple):
    """A number that a run has given."""

    part: str
    solver: str
    problem: str
    L: float | None
    axes: str
    n: int
    seed: int
    budget: float
    """Evaluations, divided by n; that at which a run to the target is given up."""
    version: str = ""
    """A hash of the code; that of the package for another package's solver."""
    result: float | None = None
    """By part: evaluations, infinite where the target was not reached; f/f0; the true f at the point that the
    run returned."""


def run_missing(
    rows: list[ReachRow], table: Table[ReachRow], say: Callable[[str], None], *, keep: bool = False
) -> None:
    """Make the runs that the table does not have yet, or, unless these are to be kept, has from other code.

    Other packages are run where they are installed.
    """
    for case in _cases(rows):
        version = _version_of(case[0].solver)
        found = [table.get(row) for row in case]
        has_all = all(one is not None and (keep or one.version == version) for one in found)
        if has_all or not _can_run(case[0].solver):
            continue
        for row, result in zip(case, _RUNS[case[0].part](case), strict=True):
            table.add(row._replace(version=version, result=result))
        say(f"{case[0].part}: {case[0].solver} on {case[0].problem}, n = {case[0].n}, seed {case[0].seed}")


def _cases(rows: list[ReachRow]) -> Iterator[list[ReachRow]]:
    """Yield the rows that one run makes, which differ by their budgets alone."""
    cases: dict[ReachRow, list[ReachRow]] = {}
    for row in rows:
        cases.setdefault(row._replace(budget=0.0), []).append(row)
    yield from cases.values()


def _can_run(solver: str) -> bool:
    return solver not in PEERS or solver_named(solver).installed


def _version_of(solver: str) -> str:
    return solver_named(solver).version if solver in PEERS else code_hash()[:8]


def _problem_of(row: ReachRow) -> Problem:
    if row.problem in OTHER_PROBLEMS:
        return OTHER_PROBLEMS[row.problem](row.n)
    made = make_objective(Task(row.problem, row.L, row.axes == ROTATED, row.n), row.seed)
    problem = Problem(row.problem, row.part, made.fun, made.x0)
    return badly_scaled(problem) if row.axes == SCALED else problem


def _minimize(row: ReachRow, fun: Callable[[Vector], float], x0: Vector, **limits: Any) -> Any:
    return pursuit.minimize(fun, x0, method=row.solver, rng=row.seed, **limits)


def _to_target(case: list[ReachRow]) -> list[float]:
    (row,) = case
    problem = _problem_of(row)
    found = _minimize(row, problem.formula, problem.x0, ftarget=TARGET, maxfev=round(row.budget * row.n))
    return [found.nfev if found.fun <= TARGET else math.inf]


def _early(case: list[ReachRow]) -> list[float]:
    problem, ends = _problem_of(case[0]), [round(row.budget * row.n) for row in case]
    lowest = [math.inf] * len(ends)
    count = 0

    def fun(x: Vector) -> float:
        nonlocal count
        count += 1
        value: float = problem.formula(x)
        for place, end in enumerate(ends):
            if count <= end:
                lowest[place] = min(lowest[place], value)
        return value

    _minimize(case[0], fun, problem.x0, maxfev=max(ends))
    start = problem.formula(problem.x0)
    return [value / start for value in lowest]


def _under_noise(case: list[ReachRow]) -> list[float]:
    problem, found = _problem_of(case[0]), []
    noisy = (
        in_single_precision(problem)
        if problem.name == "rosenbrock"
        else with_additive_noise(problem, DEVIATION)
    )
    for row in case:
        observed = noisy.observer(row.seed)
        assert observed is not None
        point = _returned(
            row,
            lambda x, observed=observed: observed(problem.formula(x)),  # type: ignore[misc]
            problem.x0,
        )
        found.append(problem.true_value(point))
    return found


def _returned(row: ReachRow, fun: Callable[[Vector], float], x0: Vector) -> Vector:
    """Return the point that a solver recommends after its budget; it may be another package's."""
    maxfev = round(row.budget * row.n)
    if row.solver not in PEERS:
        return np.asarray(_minimize(row, fun, x0, maxfev=maxfev).x)
    point = solver_named(row.solver).solve(fun, x0, sigma0=SIGMA0, maxfev=maxfev, seed=row.seed)
    assert point is not None
    return point


_RUNS = {TO_TARGET: _to_target, EARLY: _early, NOISE: _under_noise}
