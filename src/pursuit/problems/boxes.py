"""Bounds, as callers give them."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pursuit.checks import Vector, checked_array, shown

# How close to a bound a variable is at it, as a share of the bound or of 1.
AT_BOUND = 1e-9


class Box(NamedTuple):
    """Lower and upper bounds, possibly infinite, of every variable, and the margin of the rounded mirrors."""

    lower: Vector
    upper: Vector
    margin: Vector

    @property
    def constants(self) -> tuple[str, ...]:
        """The names of the arrays that are never written."""
        return self._fields

    def clipped(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return points, one or one per row, moved inside where they stand."""
        np.maximum(points, self.lower, out=points)
        np.minimum(points, self.upper, out=points)
        return points


def active_mask(x: Vector, box: Box) -> NDArray[np.int64]:
    """Return -1 for variables at their lower bounds, 1 at the upper ones, and 0 between.

    Examples
    --------
    >>> import numpy as np
    >>> from pursuit.problems.boxes import Box, active_mask
    >>> box = Box(np.array([0.0, -np.inf, 0.0]), np.array([1.0, 1.0, np.inf]), np.zeros(3))
    >>> active_mask(np.array([0.5, 1.0, 0.0]), box)
    array([ 0,  1, -1])
    """

    def is_at(bounds: Vector) -> NDArray[np.bool_]:
        near: NDArray[np.bool_] = np.abs(x - bounds) <= AT_BOUND * np.maximum(1.0, np.abs(bounds))
        return near & np.isfinite(bounds)

    mask = np.where(is_at(box.upper), 1, 0)
    mask[is_at(box.lower)] = -1
    return mask


def number_at_bound(x: Vector, box: Box | None) -> int:
    """Return how many variables are at a bound."""
    return 0 if box is None else int(np.count_nonzero(active_mask(x, box)))


class Clipping(NamedTuple):
    """Where the points of a program lie: in the caller's variables, inside the bounds if there are any."""

    box: Box | None

    def moved(self, point: Vector) -> Vector:
        """Return a copy of a point that is inside."""
        return point.copy() if self.box is None else self.box.clipped(point.copy())

    def at_bound(self, point: Vector) -> int:
        """Return how many variables are at a bound."""
        return number_at_bound(point, self.box)


def checked_box(bounds: Any, x0: Vector) -> Box | None:
    """Return the bounds of `scipy.optimize.Bounds` or of a sequence of pairs as a box around x0.

    It has no margins: a point inside is its own image, and one outside is projected.
    """
    if bounds is None:
        return None
    lower, upper = _sides(bounds, x0.size)
    if not lower.shape == upper.shape == x0.shape:
        raise ValueError(
            f"bounds must be one pair for each of the {x0.size} variables, "
            f"but {max(lower.size, upper.size)} were given."
        )
    for name, wrong in (
        ("a bound that is not a number", np.isnan(lower) | np.isnan(upper)),
        ("a lower bound above the upper one", lower > upper),
        ("an infinite bound on the wrong side", np.isposinf(lower) | np.isneginf(upper)),
    ):
        if wrong.any():
            i = int(np.argmax(wrong))
            raise ValueError(
                f"bounds must leave room for every variable, but variable {i} has {name}: "
                f"({lower[i]:g}, {upper[i]:g})."
            )
    outside = (x0 < lower) | (x0 > upper)
    if outside.any():
        i = int(np.argmax(outside))
        raise ValueError(
            f"x0 must lie within the bounds, but x0[{i}] = {x0[i]:g} is outside ({lower[i]:g}, {upper[i]:g})."
        )
    return Box(lower, upper, np.zeros_like(lower))


def _sides(bounds: Any, n: int) -> tuple[Vector, Vector]:
    """Return the lower and the upper bounds; None in a pair stands for infinity, a scalar for all."""
    try:
        if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
            sides = [checked_array("bounds", side) for side in (bounds.lb, bounds.ub)]
            lower, upper = (np.full(n, side) if side.size == 1 else side for side in sides)
            return lower, upper
        pairs = [(lower, upper) for lower, upper in bounds]
        return (
            checked_array("bounds", [-math.inf if lower is None else lower for lower, _ in pairs]),
            checked_array("bounds", [math.inf if upper is None else upper for _, upper in pairs]),
        )
    except Exception:
        # Also whatever a foreign class raises when it is asked for its entries.
        raise TypeError(
            "bounds must be a scipy.optimize.Bounds or a sequence of pairs (lower, upper) of real numbers, "
            f"but {shown(bounds)} was given."
        ) from None
