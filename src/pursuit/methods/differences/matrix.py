"""The quasi-Newton matrix B: BFGS over measured curvatures, dense for few variables, limited for many.

Both kinds are values: an update returns a new matrix.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pursuit.checks import Vector

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Up to this many variables B and its inverse are held as matrices: an update takes n^2 operations, once for a
# sweep of n values. Beyond, memory is linear: a diagonal and the last pairs of a step and a change of the
# gradient.
DENSE = 200
# As many pairs as variables are full memory; more than this have brought nothing.
_PAIRS = 100
# The most numbers that pairs may hold, 32 MB.
_PAIR_NUMBERS = 4_000_000
# A pair is left out if the curvature along its step is not positive, up to rounding.
_POSITIVE = 1e-10


def norm(v: Vector) -> float:
    """Return the length of a vector; for short ones much faster than `np.linalg.norm`."""
    return math.sqrt(float(v @ v))


@dataclass(frozen=True)
class Dense:
    """B and its inverse."""

    B: Array
    inverse: Array
    fresh: bool = True
    """Whether it has learnt nothing but its diagonal."""

    @property
    def diagonal(self) -> Vector:
        """The diagonal of B."""
        return self.B.diagonal().copy()

    def updated(self, s: Vector, change: Vector) -> Dense:
        """Return the BFGS matrix that knows by how much the gradient changes along s."""
        Bs, Hy = self.B @ s, self.inverse @ change
        curvature, before = float(s @ change), float(s @ Bs)
        if not (before > 0.0 and _POSITIVE * before < curvature < math.inf):
            return self
        u, v = s / curvature, (1.0 + float(change @ Hy) / curvature) / curvature * s - Hy / curvature
        return Dense(
            B=self.B + np.multiply.outer(change / curvature, change) - np.multiply.outer(Bs / before, Bs),
            inverse=self.inverse + np.multiply.outer(s, v) - np.multiply.outer(Hy, u),
            fresh=False,
        )

    def step(self, g: Vector, free: Mask, low: Vector | float, high: Vector | float) -> Vector:
        """Return the minimum of the model g'p + p'Bp/2 between bounds.

        Variables that would cross a bound stop on it, and the others are solved for again: p = -H (g + w),
        where w acts on those that are held.
        """
        p = np.zeros_like(g)
        newton = self.inverse @ g
        while True:
            held = np.flatnonzero(~free)
            if held.size == 0:
                p = -newton
            elif held.size == g.size:
                return p
            else:
                H, fixed = self.inverse[:, held], p[held]
                try:
                    p = -newton - H @ np.linalg.solve(H[held], -newton[held] - fixed)
                except np.linalg.LinAlgError:
                    return np.clip(np.where(free, -g / self.diagonal, p), low, high)
                p[held] = fixed
            crossing = free & ((p < low) | (p > high))
            p = np.clip(p, low, high)
            if not crossing.any():
                return p
            free = free & ~crossing


@dataclass(frozen=True)
class Limited:
    """A diagonal, and the last pairs (s, change of the gradient) for the two-loop recursion of L-BFGS."""

    diagonal: Vector | float
    steps: tuple[Vector, ...] = ()
    changes: tuple[Vector, ...] = ()
    fresh: bool = True

    def updated(self, s: Vector, change: Vector) -> Limited:
        """Return the matrix with one more pair, its diagonal scaled to the curvature along s."""
        curvature = float(s @ change)
        if not _POSITIVE * norm(s) * norm(change) < curvature < math.inf:
            return self
        most = max(1, min(_PAIRS, _PAIR_NUMBERS // (2 * s.size)))
        factor = float(change @ (change / self.diagonal)) / curvature
        return Limited(
            self.diagonal * factor, (*self.steps, s)[-most:], (*self.changes, change)[-most:], False
        )

    def step(self, g: Vector, free: Mask, low: Vector | float, high: Vector | float) -> Vector:
        """Return the step of L-BFGS among the free variables, cut at the bounds."""
        q, used = np.where(free, g, 0.0), []
        for s, y in zip(reversed(self.steps), reversed(self.changes), strict=True):
            curvature = float(s @ (free * y))
            if curvature > 0.0:
                part = float(s @ q) / curvature
                q -= part * (free * y)
                used.append((s, y, curvature, part))
        q /= self.diagonal
        for s, y, curvature, part in reversed(used):
            q += (part - float(y @ q) / curvature) * (free * s)
        return np.clip(np.where(free, -q, 0.0), low, high)


Matrix = Dense | Limited


def first_matrix(n: int, diagonal: Vector | float) -> Matrix:
    """Return the matrix that knows its diagonal alone; a number where it is the same for all variables."""
    if n > DENSE:
        return Limited(diagonal)
    return Dense(np.diag(np.broadcast_to(diagonal, n)), np.diag(np.broadcast_to(1.0 / diagonal, n)))
