"""The last look before a run ends, at what lies around x.

Values on both sides of x along random directions, at lengths from far below the first step sizes up to them.
A saddle, a ridge or a step that slopes and ranks have missed shows there; under noise a lower value counts
only if the same point is lower again.
"""

from __future__ import annotations

import math
from collections.abc import Generator

import numpy as np

from pursuit.checks import Vector
from pursuit.methods.programs import Box, Request

# There are so many directions and twice the square root of n more, but no more numbers in them than this;
# with both sides that is at most 2 n + 20 points.
_DIRECTIONS, _MOST_NUMBERS = 5, 400_000
# The shortest length, as a part of the longest.
_SHORTEST = 1e-3
# How much lower than x a point must be, in standard deviations of the noise, and how often it is evaluated
# again; the mean of these must be lower by this.
_CLEAR, _AGAIN, _CLEAR_AGAIN = 3.0, 4, 2.0


def find_better(
    x: Vector, f: float, box: Box, noise: float, rng: np.random.Generator
) -> Generator[Request, Vector, tuple[Vector, float] | None]:
    """Return a point around x that is better by more than noise explains, and its value; None without one."""
    n = x.size
    count = min(n + 10, _DIRECTIONS + 2 * math.isqrt(n), max(1, _MOST_NUMBERS // n))
    lengths = box.sigma0 * _SHORTEST ** (np.arange(count) / max(1, count - 1))[:, np.newaxis]
    directions = lengths * rng.standard_normal((count, n))
    points = box.clip(np.concatenate([x + directions, x - directions]))
    values = yield points
    lowest = int(np.argmin(values))
    point, value = points[lowest], float(values[lowest])
    if not value < f - _CLEAR * noise:
        return None
    if noise > 0.0:
        again = yield np.repeat(point[np.newaxis], _AGAIN, axis=0)
        value = float(np.mean(again))
        if not value < f - _CLEAR_AGAIN * noise:
            return None
    return point, value
