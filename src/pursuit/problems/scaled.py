"""A problem in scaled variables, in compiled code: see `scales.py`."""

from __future__ import annotations

from typing import Any, NamedTuple

from pursuit.checks import Vector
from pursuit.compiling.vectors import SERIAL, repeated
from pursuit.problems.bounds import at_bound
from pursuit.problems.contract import evaluate, line_minimizer, value
from pursuit.problems.scales import Scale


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
