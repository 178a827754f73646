"""A trial: one problem of a suite, with restarts until the target is hit or the budget is spent.

A solver gets a starting point, the first step size, the number of evaluations that are left, a seed, and a
function to evaluate. The problem's identity is used for the seed only, so that a trial gives the same data
whatever else is run, and in any number of processes.
"""

from __future__ import annotations

import contextlib
from typing import Any, NamedTuple

import numpy as np

from pursuit.checks import Vector
from pursuit.engine.counting import CountedFunction, RunEnded
from pursuit.experiments.coco.solvers import Solve
from pursuit.experiments.common.errors import StudyError

# The first step size, as a fraction of the width of the region of interest.
_FIRST_STEP = 0.2
_SOLVED = "solved"
BOXED, CONSTRAINED = "bbob-boxed", "bbob-constrained"
"""The suites with bounds, and with constraints."""


class TrialResult(NamedTuple):
    """How a trial ended."""

    runs: int
    evaluations: int
    solved: bool


def run_trial(problem: Any, observer: Any, *, suite: str, solve: Solve, budget: int) -> TrialResult:
    """Minimise a problem, with a restart whenever the solver stops before the budget is spent.

    Parameters
    ----------
    problem : cocoex.Problem
        The problem, already observed.
    observer : cocoex.Observer
        The observer, which records restarts.
    suite : str
        The name of the problem's suite.
    solve : callable
        The solver, called as ``solve(fun, x0, sigma0=..., maxfev=..., seed=...)``, with ``bounds`` or a
        ``constraint`` where the suite has them.
    budget : int
        The number of evaluations of all runs together.
    """

    def value(x: Any) -> float:
        return float(problem(np.asarray(x, dtype=np.float64)))

    def reason_to_end(value: float) -> str:
        return _SOLVED if problem.final_target_hit else ""

    fun = CountedFunction(value, budget, reason_to_end)
    sigma0 = _FIRST_STEP * float(np.min(problem.upper_bounds - problem.lower_bounds))
    limits: dict[str, Any] = {}
    if suite == BOXED:
        limits["bounds"] = problem.lower_bounds, problem.upper_bounds
    if suite == CONSTRAINED:
        limits["constraint"] = problem.constraint
    runs = 0
    # Fewer evaluations than variables are too few for a restart.
    while fun.status != _SOLVED and fun.left >= (1 if runs == 0 else problem.dimension):
        x0, seed = start_of(problem, suite, runs)
        before = fun.left
        if runs > 0:
            observer.signal_restart(problem)
        with contextlib.suppress(RunEnded):
            solve(fun, x0, sigma0=sigma0, maxfev=fun.left, seed=seed, **limits)
        runs += 1
        if fun.left == before:
            # What is left may be too little for another run, but the whole budget is not.
            if runs > 1:
                break
            raise StudyError(f"the solver returned without an evaluation of {problem.id}")
    return TrialResult(runs, fun.evaluations, fun.status == _SOLVED)


def start_of(problem: Any, suite: str, run: int) -> tuple[Vector, int]:
    """Return the starting point and the seed of a run.

    The first run starts where the suite proposes, later ones anywhere in its box, uniformly.
    """
    rng = np.random.default_rng(list(f"{suite} {problem.id} {run}".encode()))
    # Some solvers take 0 to mean no seed, and others accept only 31 bits.
    seed = int(rng.integers(1, 2**31))
    x0 = problem.initial_solution if run == 0 else rng.uniform(problem.lower_bounds, problem.upper_bounds)
    return np.array(x0, dtype=np.float64), seed
