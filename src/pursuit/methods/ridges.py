"""A look along ridges of kinks, where every slope leads back across the ridge and few directions lead down.

    repeat:
        g <- the slope beside x, or beside the last way that gained nothing
        p <- the shortest weighted mean of all slopes so far, less what bounds hold
        if p is so short that nothing is left to gain: end
        x <- the best point on the line x - t p, if it is better: then forget the slopes

At a minimum p vanishes; elsewhere on a ridge it leads up along it (Goldstein, Mathematical Programming 13,
1977). Where -p gains nothing, a slope on that way was missing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pursuit.checks import Vector
from pursuit.methods.programs import Box, Finding, Found, Probes

# The rounding of a value, and a positive number that is nothing beside any other.
_EPS, _TINY = 2.0**-52, 1e-300
# Steps are tried at lengths from the longest down to this part of it, if x has that many digits.
_LENGTHS, _DIGITS = 10.0 ** -np.arange(0.0, 9.0), 1e-9
# The shortest one is where the slope promises so many times the least gain that counts, which is no less than
# this part of |f|.
_PROMISED, _ROUNDING = 30.0, 1e-12
# Slopes are differences over a part of it in which f changes by so many roundings, within these limits.
# They are measured as far beside the way as the last part, so that no kink is between two of their values.
_CLEAR, _PARTS, _BESIDE = 100.0, (1e-6, 1e-3), 0.3
# How many slopes there may be, for each variable and beside these; and how many steps their mean may take,
# for each of them.
_EACH, _MORE, _TRIES = 3, 20, 20
# How far around the best point on a line better ones are looked for, again and again, and how many.
_AROUND, _FINER = (0.9, 0.2, 0.04), 10
# The mean takes n^2 operations for each slope, which is nothing for so many variables.
MOST_VARIABLES = 200


def follow_ridge(
    x: Vector, f: float, box: Box, rng: np.random.Generator, *, least: float, most: int
) -> Finding[Found]:
    """Return a point that is better by more than `least`, and its value; None if there is none.

    Steps are up to the first step sizes of the box long. After `most` values it ends.
    """
    start, least, spent = f, max(least, _ROUNDING * abs(f), _TINY), 0
    slopes: list[Vector] = []
    steps = lengths = _LENGTHS[_DIGITS * float(np.max(np.abs(x) / box.sigma0)) <= _LENGTHS]
    way, part = np.zeros_like(x), float(np.clip(_CLEAR * _EPS * abs(f) / (_PROMISED * least), *_PARTS))
    while lengths.size and spent < most and len(slopes) < _EACH * x.size + _MORE:
        # Beside the way, as along a ridge it may lead where f has no slope.
        aside = _BESIDE * box.sigma0 * rng.standard_normal(x.size)
        place = box.clip(x + lengths[-1] * (rng.random() * way + aside))
        slopes.append((yield from _slope(place, part * float(lengths[-1]), box, rng)))
        near = lengths[-1] * box.sigma0
        low, high = np.less_equal(x - near, box.lower), np.greater_equal(x + near, box.upper)
        p = _shortest_mean(np.array(slopes), low, high)
        size = float(np.linalg.norm(p))
        lengths, way = steps[size * steps > _PROMISED * least], -box.sigma0 * p / (size or 1.0)
        better = yield from _along(x, f - least, way, lengths, box)
        spent += x.size + 1 + len(lengths)
        if better is not None:
            spent += len(_AROUND) * _FINER
            (x, f), slopes, way = better, [], np.zeros_like(x)
    return (x, f) if f < start else None


def _along(x: Vector, below: float, way: Vector, lengths: Vector, box: Box) -> Finding[Found]:
    """Return the lowest point on a line, as far as few values tell, if it is below a value."""
    if not lengths.size:
        return None
    points = box.clip(x + lengths[:, np.newaxis] * way)
    values = yield points
    best = int(np.argmin(values))
    if not values[best] < below:
        return None
    t, f, y = float(lengths[best]), float(values[best]), points[best]
    for part in _AROUND:
        ts = t * (1.0 + part * np.linspace(-1.0, 1.0, _FINER))
        points = box.clip(x + ts[:, np.newaxis] * way)
        values = yield points
        best = int(np.argmin(values))
        if values[best] < f:
            t, f, y = float(ts[best]), float(values[best]), points[best]
    return y, f


def _slope(x: Vector, step: float, box: Box, rng: np.random.Generator) -> Finding[Vector]:
    """Return the slope at x by differences on random sides, in units of the first step sizes."""
    steps = step * box.sigma0 * rng.choice([-1.0, 1.0], x.size)
    is_inside = (box.lower <= x + steps) & (x + steps <= box.upper)
    steps = np.where(is_inside, steps, -steps)
    f = float((yield x[np.newaxis])[0])
    values = yield Probes(x, np.arange(x.size), steps)
    slope: Vector = np.nan_to_num((values - f) / steps * box.sigma0, posinf=0.0, neginf=0.0)
    return slope


def _shortest_mean(slopes: NDArray[np.float64], low: NDArray[np.bool_], high: NDArray[np.bool_]) -> Vector:
    """Return the shortest weighted mean of slopes, without what presses variables against their bounds."""
    from scipy.optimize import nnls

    size, identity = float(np.abs(slopes).max()) or 1.0, np.eye(slopes.shape[1])
    columns = np.hstack([slopes.T / size, -identity[:, low], identity[:, high]])
    # The weights of slopes are to add up to 1. That they add up to less makes the mean no longer.
    is_slope = np.arange(columns.shape[1]) < len(slopes)
    target = np.append(np.zeros(slopes.shape[1]), 1.0)
    try:
        weights, _ = nnls(np.vstack([columns, is_slope]), target, maxiter=_TRIES * is_slope.size)
        mean: Vector = size * (columns @ weights) / weights[is_slope].sum()
    except RuntimeError:  # rounding keeps it from an end
        mean = slopes[-1]
    return mean
