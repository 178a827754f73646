"""Second derivatives around a minimum, by differences of values, and the covariance that follows from them.

    h_i <- so long that f rises by delta to both sides of x along each variable
    P <- diag(h)
    repeat: G, H <- slopes and second derivatives along the columns of P, by central differences
            until the eigenvalues of H are of about the same size
            P <- such columns that f rises by delta along each, and that H would be diagonal

delta is so large that noise changes H by no more than a given part. Correlated parameters need the
repetition: along the axes their valley would drown in that noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pursuit.checks import Vector

Array = NDArray[np.float64]
# The accuracy without noise, and with much of it.
_FINE, _COARSE = 1e-7, 0.05
# The first steps, as a part of x; how often they are adapted, by which factor at most, and until they change
# by less than that one.
_SHORTEST, _MOST_ROUNDS, _LONGER, _SETTLED = 1e-9, 15, 100.0, 3.0
# So many values, so close together as a part of x, show by differences of order four how noisy they are.
_VALUES, _CLOSE = 8, 1e-11
# Directions are chosen anew while the least eigenvalue is below this part of the largest; so often, and as if
# none was below that part of it.
_ROUND, _MOST_PASSES, _SMALLEST = 0.1, 6, 1e-4
# The noise of a second difference, in units of that of a value.
_NOISE_OF_D = 6.0**0.5
_EPS = 2.0**-52


class Curvature(NamedTuple):
    """What was measured."""

    gradient: Vector
    hessian: Array


def measured_curvature(
    values_at: Callable[[Array], Vector], x: Vector, room: Vector, noise: float, accuracy: float | None
) -> Curvature:
    """Return gradient and Hessian at x, for about n^2 + 9 n evaluations.

    Parameters
    ----------
    values_at : callable
        Returns the values of points, one per row.
    x : ndarray
        Where, next to a minimum.
    room : ndarray
        How far x is from the nearest bound, for each variable.
    noise : float
        The standard deviation of the noise of a value.
    accuracy : float or None
        Which part of second derivatives noise may make up; None for one that suits the noise.
    """
    shortest = np.where(x == 0.0, float(np.abs(x).max(initial=0.0)) or 1.0, np.abs(x))
    shortest = _SHORTEST * np.minimum(shortest, room)
    values = values_at(x + np.arange(_VALUES)[:, np.newaxis] * (_CLOSE / _SHORTEST * shortest))
    f, seen = float(values[0]), float(np.sqrt(np.mean(np.diff(values, 4) ** 2) / 70.0))
    noise = max(noise, seen, 2.0 * _EPS * abs(f), 1e-300)
    if accuracy is None:
        accuracy = min(max(math.sqrt(noise / (abs(f) + noise)), _FINE), _COARSE)
    steps, rise = _first_steps(values_at, x, f, shortest, room, _NOISE_OF_D * noise / (2.0 * accuracy))
    directions = np.diag(steps)
    for _ in range(_MOST_PASSES):
        with np.errstate(divide="ignore"):
            directions *= np.minimum(1.0, (0.5 * room[:, np.newaxis] / np.abs(directions)).min(axis=0))
        slopes, bends = _differences(values_at, x, f, directions)
        sizes, axes = np.linalg.eigh(bends)
        if not sizes[0] < _ROUND * sizes[-1]:
            break
        directions = directions @ axes * np.sqrt(2.0 * rise / np.maximum(sizes, _SMALLEST * sizes[-1]))
    inverse = np.linalg.inv(directions)
    hessian = inverse.T @ bends @ inverse
    return Curvature(inverse.T @ slopes, (hessian + hessian.T) / 2.0)


def _first_steps(
    values_at: Callable[[Array], Vector], x: Vector, f: float, shortest: Vector, room: Vector, rise: float
) -> tuple[Vector, float]:
    """Return steps along which f rises by about `rise`, or as much as along the shortest, and that rise."""
    steps = shortest
    for _ in range(_MOST_ROUNDS):
        values = values_at(np.concatenate([x + np.diag(steps), x - np.diag(steps)]))
        rises = np.nan_to_num((values[: x.size] + values[x.size :]) / 2.0 - f, nan=np.inf)
        if steps is shortest:
            rise = max(rise, float(rises.max()))
        factors = np.sqrt(rise / np.maximum(rises, rise / _LONGER**2))
        before, steps = steps, np.clip(steps * factors, shortest, np.maximum(0.5 * room, shortest))
        if np.abs(np.log(steps / before)).max() < math.log(_SETTLED):
            break
    return steps, rise


def _differences(
    values_at: Callable[[Array], Vector], x: Vector, f: float, directions: Array
) -> tuple[Vector, Array]:
    """Return slopes and second derivatives along the columns of a matrix."""
    n = x.size
    first, second = np.triu_indices(n, 1)
    pairs = directions.T[first] + directions.T[second]
    points = np.concatenate([directions.T, -directions.T, pairs, -pairs])
    up, down, ahead, behind = np.split(values_at(x + points), [n, 2 * n, 2 * n + len(pairs)])
    bends = np.diag(up + down - 2.0 * f)
    both = up + down
    bends[first, second] = bends[second, first] = (
        ahead + behind - both[first] - both[second] + 2.0 * f
    ) / 2.0
    return (up - down) / 2.0, bends


def covariance_of(gradient: Vector, hessian: Array, factor: float) -> Array:
    """Return the covariance of the parameters at x.

    It is `factor` times the inverse of the Hessian, and the square of how far x is from the minimum, by its
    slopes, which noise may have hidden. Variables whose second derivatives are NaN are at a bound.
    """
    free = np.flatnonzero(~np.isnan(np.diag(hessian)))
    inner = hessian[np.ix_(free, free)]
    scale = np.sqrt(np.maximum(np.diag(inner), 0.0))
    if not (scale.all() and (np.linalg.eigvalsh(inner / np.outer(scale, scale)) > 0.0).all()):
        raise ValueError(
            "The Hessian must be positive definite, but it is not: x is no minimum, or f does not determine "
            "all parameters."
        )
    covariance = np.full(hessian.shape, np.nan)
    offset = np.linalg.solve(inner, gradient[free])
    covariance[np.ix_(free, free)] = factor * np.linalg.inv(inner) + np.outer(offset, offset)
    return covariance
