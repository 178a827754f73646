"""Changes of variables: where the points of a scheme are evaluated, and problems rotated.

A scheme moves z, whose entries are all alike, and f is evaluated at x:

    x_i = offset_i + factor_i z_i,    factor_i = sigma0_i / min_j sigma0_j

So a first step of the size min_j sigma0_j along every z_i is one of the size sigma0_i along x_i. The offset
is what rounding leaves of the start, x0 - factor (x0 / factor): the start is evaluated exactly where it was
put, and no digits are lost near x = 0. It is 0 where every factor is a power of two.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pursuit.checks import Vector, checked_generator, checked_memory, shown
from pursuit.compiling.cache import compiled
from pursuit.compiling.dispatch import generic
from pursuit.compiling.jit import inlined
from pursuit.compiling.rows import apply_matrix
from pursuit.compiling.vectors import SERIAL, Matrix, copy, repeated
from pursuit.problems.boxes import Box, active_mask, number_of_active, reflect_point
from pursuit.problems.contract import Problem, evaluate, line_minimizer, value


class Scale(NamedTuple):
    """How x follows from z."""

    factor: Vector
    offset: Vector

    @property
    def constants(self) -> tuple[str, ...]:
        """The names of the arrays that are never written."""
        return self._fields


def factors(sigma0: Vector) -> Vector:
    """Return the first step sizes, one for each variable, as multiples of the smallest."""
    return sigma0 / np.min(sigma0)


def scale_around(sigma0: Vector, x0: Vector) -> tuple[Scale, Vector]:
    """Return the scale of these first step sizes, and the z that stands for x0, to the last bit."""
    factor = factors(sigma0)
    z0 = x0 / factor
    with np.errstate(over="ignore", invalid="ignore"):
        offset = x0 - factor * z0
        inexact = offset + factor * z0 != x0
    # Where factor and x0 are so far apart that z0 has lost its digits.
    return Scale(factor, np.where(inexact, x0, offset)), np.where(inexact, 0.0, z0)


class Transform(NamedTuple):
    """What moves the points of a scheme to where they are evaluated, of one type whatever there is to do.

    So compiled code that knows only this, and not the problem, is compiled once for all.

    Examples
    --------
    >>> import numpy as np
    >>> from pursuit.problems.boxes import make_box
    >>> from pursuit.problems.transform import Transform
    >>> transform = Transform.of(None, make_box(np.zeros(2), np.ones(2), 0.0))
    >>> transform.moved(np.array([0.5, 3.0])), transform.at_bound(np.array([0.5, 3.0]))
    (array([0.5, 1. ]), 1)
    """

    scale: Scale = Scale(np.empty(0), np.empty(0))
    """Empty arrays where points are not scaled."""
    box: Box = Box(np.empty(0), np.empty(0), np.empty(0))
    """Empty arrays where there are no bounds."""

    @classmethod
    def of(cls, scale: Scale | None, box: Box | None) -> Transform:
        """Return the transform with a scale and bounds, where there are any."""
        nothing = cls()
        return cls(nothing.scale if scale is None else scale, nothing.box if box is None else box)

    @property
    def move(self) -> Callable[[Matrix], None] | None:
        """What replaces points as a scheme sees them, one a row, by those that they stand for.

        None where these are the same.
        """
        if self.scale.factor.size + self.box.lower.size == 0:
            return None
        move = compiled(move_rows)
        return lambda points: move(points, self)

    def moved(self, point: Vector) -> Vector:
        """Return the point that one as a scheme sees it stands for, as a copy."""
        image, move = point.copy(), self.move
        if move is not None:
            move(image[np.newaxis])
        return image

    def at_bound(self, point: Vector) -> int:
        """Return how many variables are at a bound, at the point that one as a scheme sees it stands for."""
        if self.box.lower.size == 0:
            return 0
        return int(np.count_nonzero(active_mask(self.moved(point), self.box)))


def move_rows(points: Any, transform: Any) -> Any:
    """Replace every row of `points` by the point that it stands for."""
    for j in range(points.shape[0]):
        move_point(SERIAL, points[j], transform)


@inlined
def move_point(team: Any, x: Any, transform: Any) -> Any:
    """Replace a point by that which it stands for."""
    if transform.scale.factor.shape[0] > 0:
        _scale_point(team, x.shape[0], x, x, transform.scale)
    if transform.box.lower.shape[0] > 0:
        reflect_point(team, x.shape[0], x, transform.box)


@repeated
def _scale_point(i, x, z, scale):
    x[i] = scale.offset[i] + scale.factor[i] * z[i]


@repeated
def _scale_direction(i, x, z, scale):
    x[i] = scale.factor[i] * z[i]


@inlined
def transformed_at_bound(team: Any, transform: Any, x: Any, room: Any) -> Any:
    """Return how many variables are at a bound at the point that x stands for, written into `room`."""
    if transform.box.lower.shape[0] == 0:
        return 0
    copy(team, room, x)
    move_point(team, room, transform)
    return int(number_of_active(team, room.shape[0], room, transform.box))


class Transformed(NamedTuple):
    """A problem as a scheme sees it: f of the points that its points stand for."""

    problem: Any
    transform: Transform
    x: Vector
    """Room for a point and a direction, as the problem sees them, where variables are scaled."""
    u: Vector

    @classmethod
    def of(cls, problem: Any, transform: Transform) -> Any:
        """Return the problem transformed, or the problem itself if nothing is to be done."""
        if transform.move is None:
            return problem
        room = np.empty((2, transform.scale.factor.size))
        return cls(problem, transform, room[0], room[1])

    @property
    def n(self) -> int:
        """The number of variables."""
        return int(self.problem.n)

    def __call__(self, x: Any) -> float:
        """Return f at the point that x stands for."""
        return evaluate(self, x)

    def __getattr__(self, name: str) -> Any:
        """Return the extreme curvatures, if the problem knows them; those of scaled variables are others."""
        if name not in {"m", "L"} or self.transform.scale.factor.size > 0:
            raise AttributeError(name)
        return getattr(self.problem, name)


@value.register(Transformed)
def _value(team, transformed, x):
    # The point belongs to the objective, so it can be moved where it stands.
    move_point(team, x, transformed.transform)
    return value(team, transformed.problem, x)


@line_minimizer.register(Transformed)
def _line_minimizer(team, transformed, z, u):
    scale = transformed.transform.scale
    _scale_point(team, z.shape[0], transformed.x, z, scale)
    _scale_direction(team, u.shape[0], transformed.u, u, scale)
    return line_minimizer(team, transformed.problem, transformed.x, transformed.u)


@generic(on="problem", default=True)
def at_bound(team: Any, problem: Any, x: Vector, room: Vector) -> int:
    """Return how many variables are at a bound, at the point that x stands for.

    Parameters
    ----------
    team : NamedTuple
        Who executes the vector operations.
    problem : NamedTuple
        The problem, whose class decides on the implementation; those without bounds need none.
    x : ndarray
        A point as a scheme sees it.
    room : ndarray
        As large as x, may be overwritten.
    """
    return 0


@at_bound.register(Transformed)
def _at_bound(team, transformed, x, room):
    return transformed_at_bound(team, transformed.transform, x, room)


def has_line_minimizer(problem: Any) -> bool:
    """Say whether a problem knows its line minimiser: so must the problem inside it, and no line is bent."""
    if isinstance(problem, Transformed) and problem.transform.box.lower.size > 0:
        return False
    inner = getattr(problem, "problem", None)
    return line_minimizer.handles(type(problem)) and (inner is None or has_line_minimizer(inner))


# --- a rotation, so that no method can exploit the axes -------------------------------------------


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
def _rotated_value(team, rotated, x):
    apply_matrix(team, rotated.turned_x, rotated.Q, x)
    return value(team, rotated.problem, rotated.turned_x)


@line_minimizer.register(Rotated)
def _rotated_minimizer(team, rotated, x, u):
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
