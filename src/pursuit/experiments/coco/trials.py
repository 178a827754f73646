"""One problem of a suite: runs from one start after another, until the target is hit or the budget is spent.

Of the problem a solver gets a start, the first step size, how many evaluations are left, and values. Which
problem it is only seeds the random numbers, so that a trial comes out the same whatever else is run, and by
however many processes.
"""

from __future__ import annotations

import contextlib
from typing import Any, NamedTuple

import numpy as np

from pursuit.checks import Vector
from pursuit.experiments.coco.solvers import Solve
from pursuit.experiments.common.errors import StudyError

# The first step size, as a part of the width of the region of interest.
_FIRST_STEP = 0.2


class Outcome(NamedTuple):
    """How a trial went."""

    runs: int
    evaluations: int
    solved: bool


class Over(BaseException):
    """Nothing more may be evaluated.

    It is no `Exception`, because there are solvers that go on after one of these.
    """


class Counted:
    """A problem that is evaluated within a budget, and not beyond its last target."""

    def __init__(self, problem: Any, budget: int) -> None:
        self._problem = problem
        self.left = budget
        self.solved = False

    @property
    def over(self) -> bool:
        """Whether nothing more may be evaluated."""
        return self.left == 0 or self.solved

    def __call__(self, x: Any) -> float:
        """Return the value at a point; where that is the last target, stop the solver at once."""
        if self.over:
            raise Over
        self.left -= 1
        value = float(self._problem(np.asarray(x, dtype=np.float64)))
        self.solved = bool(self._problem.final_target_hit)
        if self.solved:
            raise Over
        return value


def attempt(problem: Any, observer: Any, suite: str, solve: Solve, budget: int) -> Outcome:
    """Minimise a problem, with a restart whenever the solver stops before the budget is spent.

    Parameters
    ----------
    problem : cocoex.Problem
        The problem, already observed.
    observer : cocoex.Observer
        Who is told of restarts.
    suite : str
        The name of the problem's suite.
    solve : callable
        What minimises, as ``solve(fun, x0, sigma0=..., maxfev=..., seed=...)``.
    budget : int
        How many evaluations all runs have together.
    """
    counted = Counted(problem, budget)
    sigma0 = _FIRST_STEP * float(np.min(problem.upper_bounds - problem.lower_bounds))
    runs = 0
    # Fewer evaluations than variables are too few to begin anew with.
    while not counted.solved and counted.left >= (1 if runs == 0 else problem.dimension):
        x0, seed = start_of(problem, suite, runs)
        before = counted.left
        if runs > 0:
            observer.signal_restart(problem)
        with contextlib.suppress(Over):
            solve(counted, x0, sigma0=sigma0, maxfev=counted.left, seed=seed)
        runs += 1
        if counted.left == before:
            # What is left may be too little for another run, but the whole budget is not.
            if runs > 1:
                break
            raise StudyError(f"the solver returned without an evaluation of {problem.id}")
    return Outcome(runs, budget - counted.left, counted.solved)


def start_of(problem: Any, suite: str, run: int) -> tuple[Vector, int]:
    """Return where a run starts, and its seed: first where the suite says, then anywhere in its box."""
    rng = np.random.default_rng(list(f"{suite} {problem.id} {run}".encode()))
    # There are solvers that take 0 for no seed at all, and others that take 31 bits.
    seed = int(rng.integers(1, 2**31))
    x0 = problem.initial_solution if run == 0 else rng.uniform(problem.lower_bounds, problem.upper_bounds)
    return np.array(x0, dtype=np.float64), seed
