"""Slopes and curvatures along the coordinates, from probes: values of f a little away from a point.

A probe at y + h e_i gives the slope g_i = (f(y + h e_i) - f(y))/h - h D_i/2 if the curvature D_i is known. A
second one at y + r h e_i, r = -1 unless a bound is in the way, gives both.
"""

from __future__ import annotations

import math

import numpy as np

from pursuit.compiling.inner import inner

# Where a second probe is, as a multiple of the first: on the other side, or halfway where a bound is there.
OTHER_SIDE, HALFWAY = -1.0, 0.5
# What is known of a second probe: there is none, or none yet where a wall was met before; both values are
# finite, or there is a wall, where f has no value, on the side of the first probe or on the other.
ONE_SIDE, WALL_BEFORE, BOTH_SIDES, WALL_AHEAD, WALL_BACK = 0.0, -1.0, 1.0, 2.0, 3.0
# How much a new curvature counts that noise has not blurred.
_TRUST = 0.3


# What is known at a point y and along each coordinate, the rows of a matrix.
(
    Y,
    SLOPES,  # at y; before all probes are made, the differences f(y + h e_i) - f(y)
    BEFORE,  # the slopes at the point before
    P,  # the direction p
    S,  # the step s
    MEAN,  # of the latest points, under noise
    WEIGHTS,  # by which p is scaled
    ALONG,  # D, the second derivatives; NaN where they are not known
    SCALE,  # their sizes, which may only halve from one measurement to the next
    REACH,  # h, the length and the side of the latest probe, or how long the next one shall be
    MEASURED,  # the length of the probes that D comes from
    TWO_SIDED,  # whether there was a second probe from y, and whether one of the two met a wall
    VECTORS,  # how many there are
) = range(13)


@inner
def known(vectors, i):
    """Say whether the curvature along a coordinate is known."""
    d = vectors[ALONG, i]
    return math.isfinite(d) and d != 0.0


@inner
def slope_from_one(vectors, i, difference):
    """Return the slope along a coordinate from f(y + h e_i) - f(y), 0 if that is not finite."""
    h = vectors[REACH, i]
    if h == 0.0 or not math.isfinite(difference):
        return 0.0
    return difference / h - (0.5 * h * vectors[ALONG, i] if known(vectors, i) else 0.0)


@inner
def slope_from_two(vectors, i, ahead, ratio, back, noise, old_noise):
    """Return the slope along a coordinate from f(y + h e_i) - f(y) and f(y + r h e_i) - f(y), and a change.

    Takes note of the curvature. The change is that of the curvature, relative to itself and beyond what noise
    explains; NaN if it was not known before.
    """
    h, before = vectors[REACH, i], vectors[ALONG, i]
    was_known = known(vectors, i)
    if not math.isfinite(back):
        return slope_from_one(vectors, i, ahead), math.nan
    if not math.isfinite(ahead):
        return back / (ratio * h) - (0.5 * ratio * h * before if was_known else 0.0), math.nan
    bend = 2.0 * (back - ratio * ahead) / (h * h * ratio * (ratio - 1.0))
    slope = ahead / h - 0.5 * h * bend
    change, weight = math.nan, 1.0
    if was_known:
        # How far off the new curvature may be, and the one before, which may have changed since.
        error, error_before = 2.5 * noise / (h * h), error_of(vectors, i, old_noise)
        doubt = _TRUST * before * before + error_before * error_before
        weight = doubt / (doubt + error * error + 1e-300)
        beyond = max(abs(bend - before) - 1.2 * (error + error_before), 0.0)
        change = beyond / (abs(bend) + abs(before) + 1e-300)
        bend = before + weight * (bend - before)
    vectors[ALONG, i] = bend
    # A probe ten times as short as the one before forgets the scale: f may look quite different there.
    kept = vectors[SCALE, i] if abs(h) > 0.1 * vectors[MEASURED, i] else 0.0
    vectors[SCALE, i] = max(abs(bend), 0.5 * kept)
    vectors[MEASURED, i] = abs(h) * weight**-0.25
    return slope, change


@inner
def error_of(vectors, i, noise):
    """Return the error of a curvature that the noise of the values has made that it comes from."""
    h = vectors[MEASURED, i]
    return 2.5 * noise / (h * h) if h > 0.0 else 0.0


@inner
def sampled(values):
    """Return up to 512 of the sizes of the values, but for 0 and infinity, in order; of many, every k-th."""
    n = values.shape[0]
    stride = 1 + (n - 1) // 512
    out = np.empty(1 + (n - 1) // stride)
    count = 0
    for i in range(0, n, stride):
        size = abs(values[i])
        if 0.0 < size < math.inf:
            out[count] = size
            count += 1
    sort(out[:count])
    return out[:count]


@inner
def sort(values):
    """Put values in order, by Shell's method: NumPy's would take longer to compile than all of this file."""
    n = values.shape[0]
    gap = n // 2
    while gap > 0:
        for i in range(gap, n):
            value, j = values[i], i
            while j >= gap and values[j - gap] > value:
                values[j] = values[j - gap]
                j -= gap
            values[j] = value
        gap //= 2


@inner
def quantile(ordered, share):
    """Return a quantile of values in order."""
    position = share * (ordered.shape[0] - 1)
    below = int(position)
    above = min(below + 1, ordered.shape[0] - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])
