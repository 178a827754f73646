"""What a problem is.

A problem is a `NamedTuple` that holds its data (arrays and numbers, nothing else, so that Numba can
take it apart) and has

- an implementation of `value(team, problem, x)` registered for its class: f(x);
- where it exists in closed form, one of `line_minimizer(team, problem, x, u)`: the global minimiser of
  lambda -> f(x + lambda u), which the oracle `exact` uses;
- `n`, `x0`, `minimizer`, and `m` and `L`, the extremes of the spectrum (at the minimiser, where the
  Hessian is not constant);
- `__call__`, for people: `problem(x)` is `evaluate(problem, x)`, a float.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np

from pursuit.checks import Vector
from pursuit.compiling.cache import compiled
from pursuit.compiling.dispatch import Generic
from pursuit.compiling.vectors import SERIAL

value = Generic("value", on=1)
line_minimizer = Generic("line_minimizer", on=1)


@runtime_checkable
class Problem(Protocol):
    """The view of a problem that people and the library share."""

    @property
    def n(self) -> int:
        """The number of variables."""

    @property
    def x0(self) -> Vector:
        """A new copy of the start."""

    @property
    def minimizer(self) -> Vector:
        """A new copy of the minimiser."""

    @property
    def m(self) -> float:
        """The smallest eigenvalue of the Hessian at the minimiser."""

    @property
    def L(self) -> float:  # noqa: N802 (the paper's name)
        """The largest eigenvalue of the Hessian at the minimiser."""

    def __call__(self, x: Any) -> float:
        """Return f(x)."""


def sources_of(problem: Any) -> list[Callable[..., Any] | None]:
    """Return the functions registered for a problem's class; None for one that cannot be found again."""
    cls = type(problem)
    if hasattr(problem, "anonymous"):
        return [None]
    return [generic.source_of(cls) for generic in (value, line_minimizer) if generic.handles(cls)]


def evaluate(problem: Any, x: Any) -> float:
    """Return f(x) for any array-like x of the right shape."""
    point = np.ascontiguousarray(x, dtype=np.float64)
    if point.shape != (problem.n,):
        raise ValueError(f"x must have shape ({problem.n},), but its shape is {point.shape}.")
    return float(compiled(_value_at, *sources_of(problem))(SERIAL, problem, point))


def _value_at(team, problem, x):
    return value(team, problem, x)
