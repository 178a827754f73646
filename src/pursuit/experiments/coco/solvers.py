"""Solvers by their names: the methods of this library, and any function as "module:function"."""

from __future__ import annotations

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
from pursuit.experiments.common.errors import StudyError
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
    return Solver(method, functools.partial(_pursue, method), hash_of(__file__, code_hash()))


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
