"""Bounds, kept by reflection: a scheme moves freely, and f is evaluated at the mirror image inside.

A plain mirror would fold f into a sharp edge along the bounds, and at a minimum on several bounds, as minima
in practice often are, schemes with isotropic steps would get stuck between the edges. So the mirror is
rounded, as pycma's is: within a margin of a bound the image approaches it along a parabola, and turns there
with slope 0. Farther inside, a point is its own image.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pursuit.checks import Vector
from pursuit.compiling.cache import compiled
from pursuit.compiling.jit import compilable
from pursuit.compiling.vectors import SERIAL, repeated, summed
from pursuit.problems.boxes import AT_BOUND, Box


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


# How many neighbouring numbers are tried for one whose image is exact.
_NEIGHBOURS = 4


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
