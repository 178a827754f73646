"""Solvers by their names, and their trials: one problem of a suite, with restarts until the target is hit.

A solver is a method of this library, or any function as "module:function". It gets a starting point, the
first step size, the number of evaluations that are left, a seed, and a function to evaluate. The problem's
identity is used for the seed only, so that a trial gives the same data whatever else is run, and in any
number of processes.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from pursuit.checks import Vector
from pursuit.compiling.cache import code_hash
from pursuit.engine.counting import CountedFunction, RunEnded
from pursuit.experiments.common import StudyError
from pursuit.methods.catalogue import list_methods, options_of
from pursuit.minimize import minimize


class Solve(Protocol):
    """Minimise a function, evaluating it at most `maxfev` times."""

    def __call__(
        self, fun: Callable[[Any], float], x0: Vector, *, sigma0: float, maxfev: int, seed: int, **limits: Any
    ) -> object:
        """Start at x0 with the step size sigma0; all random numbers come from the seed.

        On ``bbob-boxed`` `limits` has ``bounds=(lower, upper)``, and on ``bbob-constrained`` a function
        ``constraint``, whose entries must not be positive.
        """


class Solver(NamedTuple):
    """An optimiser under the name that the data carry."""

    name: str
    """A short name for folders and figures."""
    solve: Solve
    code: str
    """A hash of its code."""


def solver_named(text: str) -> Solver:
    """Return the solver of a method's name, or the function that "module:function" names."""
    return _foreign(text) if ":" in text else _own(text)


def hash_of(file: str, other: str = "") -> str:
    """Return a hash of a file's content together with another hash."""
    return hashlib.sha256(Path(file).read_bytes() + other.encode()).hexdigest()[:16]


def _own(method: str) -> Solver:
    try:
        options = options_of(method, 2)
    except ValueError:
        raise StudyError(
            f"A method is one of {', '.join(list_methods())}, ep-cma-<m> or module:function, "
            f"but {method!r} was given."
        ) from None
    if "kappa" in options or method in ("rg", "ars"):
        wanted = "condition number kappa" if "kappa" in options else "largest curvature L"
        raise StudyError(
            f"{method} needs to know the {wanted}, which is unknown for the problems of a suite: choose auto."
        )
    return Solver(method, functools.partial(_pursue, method), code_hash())


def _pursue(
    method: str,
    fun: Callable[[Any], float],
    x0: Vector,
    *,
    sigma0: float,
    maxfev: int,
    seed: int,
    **limits: Any,
) -> None:
    from scipy.optimize import Bounds, NonlinearConstraint

    found: dict[str, Any] = {"restarts": maxfev}
    if "bounds" in limits:
        found["bounds"] = Bounds(*limits["bounds"])
    if "constraint" in limits:
        # Points that violate a constraint, however little, do not count for COCO.
        found = {"constraints": NonlinearConstraint(limits["constraint"], -np.inf, 0.0), "ctol": 0.0}
    minimize(fun, x0, method=method, sigma0=sigma0, maxfev=maxfev, rng=seed, **found)


def _foreign(text: str) -> Solver:
    name, _, function = text.partition(":")
    # Users keep their modules in the folder in which they run the command.
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        raise StudyError(f"The method {text} cannot be imported: {error}.") from error
    solve = getattr(module, function, None)
    if not callable(solve):
        raise StudyError(f"The method {text} does not exist: the module {name} has no function {function!r}.")
    if module.__file__ is None:
        raise StudyError(f"The method {text} cannot be used: the module {name} is not a file.")
    return Solver(function, solve, hash_of(module.__file__))


# --- trials ---------------------------------------------------------------------------------------


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
