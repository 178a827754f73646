"""Who minimises: a method of this library, or anybody's function, by its name."""

from __future__ import annotations

import functools
import hashlib
import importlib
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from pursuit.checks import Vector
from pursuit.compiling.cache import code_hash
from pursuit.experiments.common.errors import StudyError
from pursuit.methods.catalogue import methods, options_of
from pursuit.minimize import minimize
from pursuit.result import Result

# A run has settled where its steps are no longer than this part of the first one,
_SMALL = 1e-6
# and the best value falls by less than this. The suites ask for 1e-8.
_FALL = 1e-12


class Solve(Protocol):
    """Minimise a function, evaluating it at most `maxfev` times."""

    def __call__(
        self, fun: Callable[[Any], float], x0: Vector, *, sigma0: float, maxfev: int, seed: int
    ) -> object:
        """Start at x0, with a step size of sigma0; random numbers follow from the seed alone."""


class Solver(NamedTuple):
    """What minimises."""

    name: str
    """A short name, for figures."""
    solve: Solve
    code: str
    """A hash of the code that it is."""


def solver_named(text: str) -> Solver:
    """Return the solver that a method's name or "module:function" stands for."""
    return _foreign(text) if ":" in text else _own(text)


def hash_of(file: str, other: str = "") -> str:
    """Return a hash of a file, and of another hash."""
    return hashlib.sha256(Path(file).read_bytes() + other.encode()).hexdigest()[:16]


def _own(method: str) -> Solver:
    try:
        options = options_of(method, 2)
    except ValueError:
        raise StudyError(
            f"A method is one of {', '.join(methods())}, ep-cma-<m> or module:function, "
            f"but {method!r} was given."
        ) from None
    if "kappa" in options:
        raise StudyError(
            f"{method} needs to know the condition number kappa, which no problem of a suite tells: "
            "choose auto."
        )
    return Solver(method, functools.partial(_pursue, method), hash_of(__file__, code_hash()))


def _pursue(
    method: str, fun: Callable[[Any], float], x0: Vector, *, sigma0: float, maxfev: int, seed: int
) -> None:
    stop = _Stagnation(x0.size, _SMALL * sigma0)
    minimize(fun, x0, method=method, sigma0=sigma0, maxfev=maxfev, rng=seed, callback=stop)


class _Stagnation:
    """Ends a run that has settled in a minimum, so that another one may look elsewhere.

    `minimize` goes on for thousands of iterations, since it has nothing better to do. Where steps are small
    and the best value falls no further, these are better spent on a restart. Values alone tell too little:
    momentum may carry a run through worse ones for long, but not in small steps.
    """

    def __init__(self, n: int, small: float) -> None:
        self._window = 100 + 30 * n
        self._small = small
        self._value = math.inf
        self._since = 0

    def __call__(self, intermediate_result: Result) -> None:
        """Look at a run after an iteration."""
        run = intermediate_result
        if run.fun < self._value - _FALL:
            self._value, self._since = run.fun, run.nfev
        elif run.nfev - self._since > self._window and run.sigma < self._small:
            raise StopIteration


def _foreign(text: str) -> Solver:
    name, _, function = text.partition(":")
    # Where the command is called is where people keep their modules.
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        raise StudyError(f"The method {text} cannot be imported: {error}.") from error
    solve = getattr(module, function, None)
    if not callable(solve):
        raise StudyError(f"The method {text} is not there: the module {name} has no function {function!r}.")
    if module.__file__ is None:
        raise StudyError(f"The method {text} cannot be used: the module {name} is not a file.")
    return Solver(function, solve, hash_of(module.__file__))
