"""A quadratic through many noisy values, by least squares: where its minimum is, and how well it is known."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pursuit.checks import Vector

Array = NDArray[np.float64]

# Up to this many variables it is worth while to keep points for it.
FEW = 36
# The most terms of a quadratic, and how many values there must be for each of them.
_MOST_TERMS, _VALUES_PER_TERM = 100, 2.0
# How far from the points the minimum is believed, in their standard deviations.
_TRUST = 1.5
# The smallest curvature, as a part of the largest, that decides how far a step goes.
_SMALLEST = 1e-3


class Quadratic(NamedTuple):
    """c + g'z + z'Hz/2, where z = (x - center)/scales."""

    center: Vector
    scales: Vector
    c: float
    g: Vector
    H: Array
    noise: float
    """The standard deviation of values from it."""
    inverse: Array
    """That of the matrix of the normal equations."""
    kind: int
    """Which terms it has: see `_terms`."""

    def at(self, x: Vector) -> tuple[float, float]:
        """Return the value at a point, and its standard error."""
        z = (x - self.center) / self.scales
        row = _terms(z[np.newaxis], self.kind)[0]
        error = self.noise * math.sqrt(max(float(row @ self.inverse @ row), 0.0))
        return float(self.c + self.g @ z + z @ self.H @ z / 2.0), error

    def lowest(self, lower: Vector | float, upper: Vector | float, radius: float = _TRUST) -> Vector:
        """Return the lowest point within bounds and a radius in units of its scales."""
        low, high = (lower - self.center) / self.scales, (upper - self.center) / self.scales
        z = lowest_within(self.g, self.H, low, high, radius)
        return np.clip(self.center + self.scales * z, lower, upper)


def lowest_within(g: Vector, H: Array, low: Vector, high: Vector, radius: float) -> Vector:
    """Return the minimum of g'z + z'Hz/2 within bounds and, for free variables, a radius.

    Variables that would cross a bound stop on it, and the others are solved for again.
    """
    z, held = np.zeros(g.size), ((low >= 0.0) & (g >= 0.0)) | ((high <= 0.0) & (g <= 0.0))
    while not held.all():
        free = np.flatnonzero(~held)
        slope = (g + H @ np.where(held, z, 0.0))[free]
        z[free] = _step(H[np.ix_(free, free)], slope, radius)
        crossing = ~held & ((z < low) | (z > high))
        z = np.clip(z, low, high)
        if not crossing.any():
            break
        held |= crossing
    return z


def _step(H: Array, g: Vector, radius: float) -> Vector:
    """Return the minimum of g'z + z'Hz/2 within a radius, H made positive if it is not."""
    values, U = np.linalg.eigh(H)
    slopes = U.T @ g
    largest = max(float(np.abs(values).max()), float(np.linalg.norm(g)) / radius, 1e-300)
    shift = max(0.0, _SMALLEST * largest - float(values[0]))
    for _ in range(30):
        curvatures = values + shift
        step: Vector = -U @ (slopes / curvatures)
        length = float(np.linalg.norm(step))
        if length <= 1.01 * radius:
            break
        # Newton's method for 1/|z| = 1/radius, which is nearly linear in the shift.
        shift += (length - radius) / radius * length**2 / float(np.sum(slopes**2 / curvatures**3))
    return step


def _terms(Z: Array, kind: int) -> Array:
    """Return the columns of a quadratic in z: of second order |z|^2 (0), squares (1), or products too (2)."""
    parts = [np.ones((len(Z), 1)), Z]
    parts.append(np.sum(Z * Z, axis=1, keepdims=True) if kind == 0 else Z * Z)
    if kind == 2:
        i, j = np.triu_indices(Z.shape[1], 1)
        parts.append(Z[:, i] * Z[:, j])
    return np.hstack(parts)


def fitted(X: Array, f: Vector) -> Quadratic | None:
    """Return the quadratic that predicts left-out values best; None where their mean predicts them better."""
    n = X.shape[1]
    center, scales = X.mean(axis=0), X.std(axis=0) + 1e-300
    Z, best = (X - center) / scales, None
    least = float(np.var(f, ddof=1)) * (1.0 + 1.0 / len(f)) if len(f) > 1 else 0.0
    for kind, count in enumerate((n + 2, 2 * n + 1, (n + 1) * (n + 2) // 2)):
        if _VALUES_PER_TERM * count > len(f) or count > _MOST_TERMS:
            break
        A = _terms(Z, kind)
        inverse = np.asarray(np.linalg.pinv(A.T @ A, hermitian=True), dtype=np.float64)
        b = inverse @ (A.T @ f)
        off, leverage = f - A @ b, np.sum((A @ inverse) * A, axis=1)
        # The error in a value if that value had been left out.
        left_out = float(np.mean((off / np.maximum(1.0 - leverage, 1e-3)) ** 2))
        if left_out < least:
            least, best = left_out, (kind, b, inverse, math.sqrt(float(off @ off) / (len(f) - count)))
    if best is None:
        return None
    kind, b, inverse, noise = best
    H = np.zeros((n, n))
    H[np.diag_indices(n)] = 2.0 * (b[n + 1] if kind == 0 else b[n + 1 : 2 * n + 1])
    if kind == 2:
        i, j = np.triu_indices(n, 1)
        H[i, j] = H[j, i] = b[2 * n + 1 :]
    return Quadratic(center, scales, float(b[0]), b[1 : n + 1], H, noise, inverse, kind)


def fitted_around(x: Vector, X: Array, f: Vector) -> Quadratic | None:
    """Return the quadratic through those of the latest points that are nearest to x, or None."""
    n = x.size
    count = min(len(f), max(len(f) // 2, int(1.1 * (n + 1) * (n + 2))))
    scales = X[-count:].std(axis=0) + 1e-300
    nearest = np.argsort(np.sum(((X - x) / scales) ** 2, axis=1), kind="stable")[:count]
    return fitted(X[nearest], f[nearest])
