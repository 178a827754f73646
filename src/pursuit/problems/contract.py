"""What a problem is.

A problem is a `NamedTuple` that holds its data (arrays and numbers, nothing else, so that Numba can take it
apart) and has

- an implementation of `value` registered for its class: f(x);
- where it exists in closed form, one of `line_minimizer`: the global minimiser of f along a line;
- `n`, `x0`, `minimizer`, and `m` and `L`, the extremes of the spectrum (at the minimiser, where the Hessian
  is not constant);
- `__call__`, for users: `problem(x)` is `evaluate(problem, x)`, a float.

It may have `constants`, the names of its arrays that `value` and `line_minimizer` never write: runs in
several threads, and those on a GPU, share these and have copies of the others. On a GPU, arrays of more than
8 kB are always shared.

`ProblemBase` has what most problems share.
"""

from __future__ import annotations

from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from pursuit.checks import Vector, checked_array
from pursuit.compiling.cache import compiled
from pursuit.compiling.dispatch import generic
from pursuit.compiling.vectors import SERIAL


@runtime_checkable
class Problem(Protocol):
    """A problem, as users and the library see it.

    Examples
    --------
    >>> import pursuit
    >>> isinstance(pursuit.problems.exp(3, 1e2), pursuit.problems.Problem)
    True
    """

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


@generic(on="problem")
def value(team: Any, problem: Any, x: Vector) -> float:
    """Return f(x).

    Parameters
    ----------
    team : NamedTuple
        What executes the vector operations: `pursuit.compiling.vectors.SERIAL`.
    problem : NamedTuple
        The problem, whose class decides on the implementation.
    x : ndarray
        The point. It belongs to the implementation, which may overwrite it.

    Examples
    --------
    >>> import numpy as np
    >>> import pursuit
    >>> from pursuit.compiling.vectors import SERIAL
    >>> pursuit.problems.value(SERIAL, pursuit.problems.lin(2, 3.0), np.array([1.0, 1.0]))
    2.0
    """


@generic(on="problem")
def line_minimizer(team: Any, problem: Any, x: Vector, u: Vector) -> float:
    """Return the global minimiser of t -> f(x + t u), for exact line search.

    Parameters
    ----------
    team : NamedTuple
        What executes the vector operations: `pursuit.compiling.vectors.SERIAL`.
    problem : NamedTuple
        The problem, whose class decides on the implementation.
    x, u : ndarray
        A point on the line, and its direction.

    Examples
    --------
    >>> import numpy as np
    >>> import pursuit
    >>> from pursuit.compiling.vectors import SERIAL
    >>> problem = pursuit.problems.lin(2, 3.0)
    >>> pursuit.problems.line_minimizer(SERIAL, problem, np.array([1.0, 0.0]), np.array([1.0, 0.0]))
    -1.0
    """


class ProblemBase:
    """What most problems share, for a class that derives from the `NamedTuple` of its data and from this."""

    __slots__ = ()
    start: ClassVar[float] = 1.0
    """Every entry of the start."""
    optimum: ClassVar[float] = 0.0
    """Every entry of the minimiser."""

    @property
    def x0(self: Any) -> Vector:
        """A new copy of the start."""
        return np.full(self.n, self.start)

    @property
    def minimizer(self: Any) -> Vector:
        """A new copy of the minimiser."""
        return np.full(self.n, self.optimum)

    def __call__(self, x: Any) -> float:
        """Return f(x)."""
        return evaluate(self, x)


def with_own_arrays(problem: Any) -> Any:
    """Return a problem for another thread, with copies of the arrays that evaluating it may write."""
    constants = getattr(problem, "constants", ())
    return problem._replace(
        **{
            name: entry.copy() if isinstance(entry, np.ndarray) else with_own_arrays(entry)
            for name, entry in zip(problem._fields, problem, strict=True)
            if name not in constants and (isinstance(entry, np.ndarray) or hasattr(entry, "_fields"))
        }
    )


def evaluate(problem: Any, x: Any) -> float:
    """Return f(x) for any array-like x of the right shape.

    Examples
    --------
    >>> import pursuit
    >>> pursuit.problems.evaluate(pursuit.problems.lin(2, 3.0), [1.0, 1.0])
    2.0
    """
    point = checked_array("x", x)
    if point.shape != (problem.n,):
        raise ValueError(f"x must have shape ({problem.n},), but its shape is {point.shape}.")
    return float(compiled(value_at, problem)(SERIAL, problem, point))


def value_at(team: Any, problem: Any, x: Any) -> Any:
    """Return f(x); as a function of its own, so that it can be compiled alone."""
    return value(team, problem, x)
