"""A problem seen through a fixed random rotation, so that no method can exploit the axes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pursuit.checks import Vector, checked_generator, checked_memory, shown
from pursuit.compiling.rows import apply_matrix
from pursuit.problems.contract import evaluate, line_minimizer, value
from pursuit.problems.protocol import Problem

# How many matrices there are while one is decomposed.
_MATRICES = 3


class Rotated(NamedTuple):
    """The problem f(Qx) with an orthogonal matrix Q; start and minimiser are rotated with it."""

    problem: Any
    Q: NDArray[np.float64]
    turned_x: Vector
    turned_u: Vector

    @property
    def constants(self) -> tuple[str, ...]:
        """The names of the arrays that are never written."""
        return ("Q",)

    @property
    def n(self) -> int:
        """The number of variables."""
        return int(self.problem.n)

    @property
    def x0(self) -> Vector:
        """A new copy of the start, Q^T x0."""
        start: Vector = self.Q.T @ self.problem.x0
        return start

    @property
    def minimizer(self) -> Vector:
        """A new copy of the minimiser, Q^T x*."""
        turned: Vector = self.Q.T @ self.problem.minimizer
        return turned

    @property
    def m(self) -> float:
        """The smallest eigenvalue, which a rotation does not change."""
        return float(self.problem.m)

    @property
    def L(self) -> float:  # noqa: N802 (the paper's name)
        """The largest eigenvalue, which a rotation does not change."""
        return float(self.problem.L)

    def __call__(self, x: Any) -> float:
        """Return f(Qx)."""
        return evaluate(self, x)


@value.register(Rotated)
def _value(team, rotated, x):
    apply_matrix(team, rotated.turned_x, rotated.Q, x)
    return value(team, rotated.problem, rotated.turned_x)


@line_minimizer.register(Rotated)
def _line_minimizer(team, rotated, x, u):
    apply_matrix(team, rotated.turned_x, rotated.Q, x)
    apply_matrix(team, rotated.turned_u, rotated.Q, u)
    return line_minimizer(team, rotated.problem, rotated.turned_x, rotated.turned_u)


def rotated(problem: Problem, rng: Any = None) -> Rotated:
    """Return `problem` after a random orthogonal change of variables, f(Qx).

    Parameters
    ----------
    problem : Problem
        Any problem, including your own.
    rng : int, numpy.random.Generator or None
        What `numpy.random.default_rng` takes. Q is uniform over the orthogonal matrices.

    Notes
    -----
    Q is a full n by n matrix and every value costs n^2 operations: this is for studies, not for speed.

    Examples
    --------
    >>> import pursuit
    >>> plain = pursuit.problems.exp(5, 100.0)
    >>> turned = pursuit.problems.rotated(plain, rng=1)
    >>> abs(turned(turned.x0) - plain(plain.x0)) < 1e-12
    True
    """
    if not (isinstance(problem, Problem) and value.handles(type(problem))):
        raise TypeError(f"problem must be one of pursuit.problems, but {shown(problem)} was given.")
    n, generator = problem.n, checked_generator(rng)
    checked_memory(f"A rotation of n={n} variables", _MATRICES * n * n)
    orthogonal, triangular = np.linalg.qr(generator.standard_normal((n, n)))
    # Without the signs of the triangle's diagonal, Q would not be uniformly distributed.
    signed = np.ascontiguousarray(orthogonal * np.sign(np.diag(triangular)))
    inner: Any = problem
    if isinstance(problem, Rotated):
        # Two rotations make one, and compiled code does not take a rotated problem inside another.
        inner, signed = problem.problem, np.ascontiguousarray(problem.Q @ signed)
    return Rotated(inner, signed, np.empty(n), np.empty(n))
