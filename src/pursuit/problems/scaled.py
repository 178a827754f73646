"""Variables of different sizes: a scheme moves z, whose entries are all alike, and f is evaluated at x.

    x_i = offset_i + factor_i z_i,    factor_i = sigma0_i / min_j sigma0_j

So a first step of the size min_j sigma0_j along every z_i is one of the size sigma0_i along x_i. The offset
is what rounding leaves of the start, x0 - factor (x0 / factor): the start is evaluated exactly where it was
put, and no digits are lost near x = 0. It is 0 where every factor is a power of two.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pursuit.checks import Vector
from pursuit.compiling.vectors import SERIAL, repeated
from pursuit.problems.bounds import Box, at_bound
from pursuit.problems.contract import evaluate, line_minimizer, value

# By how many rounding errors bounds are moved outwards, so that the images of both lie on them or beyond.
_SLACK = 4.0


class Scale(NamedTuple):
    """How x follows from z."""

    factor: Vector
    offset: Vector

    @property
    def constants(self) -> tuple[str, ...]:
        """The names of the arrays that are never written."""
        return self._fields

    def bounds(self, box: Box) -> tuple[Vector, Vector]:
        """Return the bounds of z, a few rounding errors too wide: the box then brings x onto its own."""
        slack = _SLACK * np.finfo(np.float64).eps
        with np.errstate(over="ignore"):
            lower, upper = (
                (side - self.offset + sign * slack * (np.abs(side) + np.abs(self.offset))) / self.factor
                for side, sign in ((box.lower, -1.0), (box.upper, 1.0))
            )
            # One number more, for bounds so near 0 that there is no smaller rounding error.
            return np.nextafter(lower, -np.inf), np.nextafter(upper, np.inf)


class Scaled(NamedTuple):
    """A problem in scaled variables: f(offset + factor z).

    It has no condition number: that of f is for x, not for z.
    """

    problem: Any
    scale: Scale
    x: Vector
    u: Vector
    """A point and a direction, as the problem sees them."""

    @property
    def n(self) -> int:
        """The number of variables."""
        return int(self.problem.n)

    def __call__(self, z: Any) -> float:
        """Return f at the point that z stands for."""
        return evaluate(self, z)


@value.register(Scaled)
def _value(team, scaled, z):
    # The point belongs to the objective, so it can be moved where it stands.
    to_x(team, z.shape[0], z, z, scaled.scale)
    return value(team, scaled.problem, z)


@at_bound.register(Scaled)
def _at_bound(team, scaled, z, room):
    to_x(team, room.shape[0], room, z, scaled.scale)
    return at_bound(team, scaled.problem, room, room)


@line_minimizer.register(Scaled)
def _line_minimizer(team, scaled, z, u):
    to_x(team, z.shape[0], scaled.x, z, scaled.scale)
    _to_direction(team, u.shape[0], scaled.u, u, scaled.scale)
    return line_minimizer(team, scaled.problem, scaled.x, scaled.u)


@repeated
def to_x(i, x, z, scale):
    """Set x to the point that z stands for."""
    x[i] = scale.offset[i] + scale.factor[i] * z[i]


@repeated
def _to_direction(i, x, z, scale):
    x[i] = scale.factor[i] * z[i]


def rescale(points: Any, scale: Any) -> Any:
    """Replace every row z of `points` by the x that it stands for."""
    for j in range(points.shape[0]):
        to_x(SERIAL, points.shape[1], points[j], points[j], scale)


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
