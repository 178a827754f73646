"""Minima within constraints, from random starts: the default beside SciPy's COBYLA and COBYQA."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.optimize

import pursuit
from benchmarks.problems.constrained import PROBLEMS
from benchmarks.recording import Recorder
from benchmarks.runs import MEASURED, Part, Wanted
from benchmarks.solvers import Solver, our, using_scipy

FOLDER = Path("docs/results/constraints")
FILE = "runs.csv"
# A run has found the minimum if it is no more than this part above it, and violates no constraint by more.
PRECISION, VIOLATION = 1e-4, 1e-5
_SEEDS, _MAXFEV = 7, 10_000
# Both others take seconds for each hundred evaluations where they do not converge.
_LIMITS = {"COBYLA": {"maxiter": 1000}, "COBYQA": {"maxfev": 300}}
SOLVERS = ("auto", *_LIMITS)


class Row(NamedTuple):
    """What a run has come to."""

    problem: str
    n: int
    solver: str
    version: str
    seed: int
    status: str = ""
    detail: str = ""
    evaluations: int | None = None
    error: float | None = None
    """Relative to the minimum."""
    violation: float | None = None

    @property
    def is_right(self) -> bool:
        """Whether this is the minimum, within the constraints."""
        return self.error is not None and self.error <= PRECISION and (self.violation or 0.0) <= VIOLATION


def named(name: str) -> Solver:
    """Return the solver of that name."""
    return Solver(name, "scipy", using_scipy(name)) if name in _LIMITS else our(name)


def plan(wanted: Wanted) -> Iterator[Row]:
    """Yield a row without a result for every run."""
    for problem in list(PROBLEMS)[: 2 if wanted.quick else None]:
        for solver in map(named, wanted.solvers or SOLVERS):
            for seed in wanted.seeds_of(_SEEDS):
                yield Row(problem, len(PROBLEMS[problem].lower), solver.name, solver.version, seed)


def work(row: Row) -> Row:
    """Return a row with what a method finds; what a child process does."""
    problem = PROBLEMS[row.problem]
    lower, upper = np.array(problem.lower), np.array(problem.upper)
    x0 = lower + (upper - lower) * np.random.default_rng(row.seed).random(lower.size)
    record = Recorder(problem.f)
    given: dict[str, Any] = {
        "bounds": list(zip(lower, upper, strict=True)),
        "constraints": problem.constraints(),
    }
    if row.solver in _LIMITS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            x = scipy.optimize.minimize(record, x0, method=row.solver, options=_LIMITS[row.solver], **given).x
    else:
        x = pursuit.minimize(
            record, x0, method=row.solver, rng=row.seed, sigma0=0.2 * (upper - lower), maxfev=_MAXFEV, **given
        ).x
    error = (problem.f(x) - problem.minimum) / max(1.0, abs(problem.minimum))
    return row._replace(
        status=MEASURED,
        evaluations=record.evaluations,
        error=float(error),
        violation=float(problem.violation(x)),
    )


PARTS = {"runs": Part(FILE, Row, plan, work, named, seconds=120.0)}
