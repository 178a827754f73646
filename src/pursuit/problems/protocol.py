"""A problem, as users and type checkers see it."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from pursuit.checks import Vector


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
