"""Bounds, as callers give them, and kept by reflection: f is evaluated at the mirror image inside.

A plain mirror would fold f into a sharp edge along the bounds, and at a minimum on several bounds, as minima
in practice often are, schemes with isotropic steps would get stuck between the edges. So the mirror is
rounded, as pycma's is: within a margin of a bound the image approaches it along a parabola, and turns there
with slope 0. Farther inside, a point is its own image.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pursuit.checks import Vector, checked_array, shown
from pursuit.compiling.cache import compiled
from pursuit.compiling.jit import compilable
from pursuit.compiling.vectors import SERIAL, repeated, summed

# How close to a bound a variable is at it, as a share of the bound or of 1.
AT_BOUND = 1e-9
# How many neighbouring numbers are tried for one whose image is exact.
_NEIGHBOURS = 4


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


@summed
def number_of_active(i, x, box):
    """Return how many variables are at a bound."""
    return 1.0 if _is_at(x[i], box.lower[i]) or _is_at(x[i], box.upper[i]) else 0.0


@compilable
def _is_at(t, bound):
    return math.isfinite(bound) and abs(t - bound) <= AT_BOUND * max(1.0, abs(bound))


def reflect(points: Any, box: Any) -> Any:
    """Replace every row of `points` by its image inside the box."""
    for j in range(points.shape[0]):
        reflect_point(SERIAL, points.shape[1], points[j], box)


@repeated
def reflect_point(i, x, box):
    """Replace a point by its image inside the box."""
    lower, upper, margin = box.lower[i], box.upper[i], box.margin[i]
    if not lower + margin <= x[i] <= upper - margin:
        x[i] = _image(x[i], lower, upper, margin)


@compilable
def _image(t, lower, upper, margin):
    """Return the image of t, which is outside the bounds or within a margin of them, inside."""
    if margin > 0.0 and math.isfinite(t):
        first, last = lower - margin, upper + margin  # where the mirrors stand
        if t < first and math.isinf(last):
            t = first + (first - t)
        elif t > last and math.isinf(first):
            t = last - (t - last)
        elif t < first or t > last:
            # Mirrors on both sides repeat with twice the width as their period.
            width = last - first
            t = (t - first) % (2.0 * width)
            t = first + (t if t <= width else 2.0 * width - t)
        if t < lower + margin:
            t = lower + (t - first) * (t - first) / (4.0 * margin)
        elif t > upper - margin:
            t = upper - (last - t) * (last - t) / (4.0 * margin)
    # Rounding may leave t a hair outside, and what is not finite has no image.
    if not t >= lower:
        t = lower if math.isfinite(lower) else upper
    if not t <= upper:
        t = upper if math.isfinite(upper) else lower
    return t


def preimage(x: Vector, box: Box) -> Vector:
    """Return a point whose image is x, which lies within the bounds, to the last bit if there is one."""
    with np.errstate(invalid="ignore", over="ignore"):
        below, above = x - box.lower, box.upper - x
        margin = box.margin
        up = box.lower - margin + 2.0 * np.sqrt(margin * below)
        down = box.upper + margin - 2.0 * np.sqrt(margin * above)
    found = np.where(below < margin, up, np.where(above < margin, down, x))
    for side in (-np.inf, np.inf):
        neighbour = found
        for _ in range(_NEIGHBOURS):
            with np.errstate(over="ignore"):
                neighbour = np.nextafter(neighbour, side)
            found = np.where(_images(found, box) == x, found, neighbour)
    return found


def _images(points: Vector, box: Box) -> Vector:
    images = points.copy()
    compiled(reflect)(images[np.newaxis], box)
    return images


def make_box(lower: Vector, upper: Vector, sigma0: float | Vector) -> Box:
    """Return the box with margins of one step size, or half the width where that is less.

    With margins of 0 there are no mirrors: a point inside is its own image, and one outside is projected.
    """
    with np.errstate(over="ignore"):
        return Box(lower, upper, np.minimum(sigma0, 0.5 * (upper - lower)))


def with_margins(box: Box, x0: Vector, sigma0: float | Vector) -> Box:
    """Return bounds with the margins of rounded mirrors, for which x0 is the image of some point.

    It is so to the last bit. Where rounding lets no point have that image, as with a margin that dwarfs x0,
    the margin is made smaller, so that x0 is its own image.
    """
    box = make_box(box.lower, box.upper, sigma0)
    inexact = _images(preimage(x0, box), box) != x0
    with np.errstate(over="ignore"):
        distance = np.minimum(x0 - box.lower, box.upper - x0)
    return box._replace(margin=np.where(inexact, np.minimum(box.margin, 0.5 * distance), box.margin))
