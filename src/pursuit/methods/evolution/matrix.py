"""The matrix M by which normal vectors are stretched: full for few variables, limited for many.

Both kinds are values: learning returns a new one.

- `Full` is the n x n matrix of MA-ES (Beyer and Sendhoff, 2017), with active weights.
- `Limited` is a diagonal times the low-rank factors of LM-MA-ES (Loshchilov, Glasmachers and Beyer, 2019).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pursuit.checks import Vector

Array = NDArray[np.float64]

# Up to this many variables M is a matrix: a round takes n^2 operations for each of its values. Beyond, memory
# is linear.
DENSE = 200
# The most numbers that the directions of `Limited` may hold, but for the fewest of them: 8 MB.
_DIRECTION_NUMBERS, _FEWEST_DIRECTIONS = 1_000_000, 2
# How many times as fast as sep-CMA-ES the diagonal learns. Beside low-rank factors it may: on a weighted sum
# of |x_i| in 300 variables this takes a tenth of the evaluations.
_DIAGONAL_SPEED = 5.0


class Weights(NamedTuple):
    """How much the points of a round count, by their ranks."""

    positive: Vector
    """Those by which the mean moves: they add up to 1, and are 0 for the worse half."""
    signed: Vector
    """Those by which M learns: negative for the worse half."""
    mass: float
    """The variance-effective number of points, mu_eff."""


class Rates(NamedTuple):
    """How fast things are learnt; the defaults of the CMA-ES, or of LM-MA-ES."""

    path: float
    """c_sigma, of the path of the mean."""
    damping: float
    one: float
    """c_1, of M along that path,"""
    many: float
    """and c_mu, along the points of a round."""


def rates_of(n: int, popsize: int, mass: float) -> Rates:
    """Return the rates for n variables."""
    if n <= DENSE:
        path = (mass + 2.0) / (n + mass + 5.0)
        one = 2.0 / ((n + 1.3) ** 2 + mass)
        many = min(1.0 - one, 2.0 * (mass - 2.0 + 1.0 / mass) / ((n + 2.0) ** 2 + mass))
    else:
        path, one = min(0.5, 2.0 * popsize / n), 0.0
        many = min(0.5, _DIAGONAL_SPEED * 2.0 * (mass - 2.0 + 1.0 / mass) / (3.0 * (n + 2.0)))
    damping = 1.0 + path + 2.0 * max(0.0, math.sqrt((mass - 1.0) / (n + 1.0)) - 1.0)
    return Rates(path, damping, one, many)


def weights_of(n: int, popsize: int) -> Weights:
    """Return logarithmic weights by rank."""
    raw = math.log((popsize + 1) / 2.0) - np.log(np.arange(1.0, popsize + 1.0))
    up, down = np.maximum(raw, 0.0), np.minimum(raw, 0.0)
    mass = float(up.sum() ** 2 / np.sum(up**2))
    rates = rates_of(n, popsize, mass)
    most = 1.0
    if n <= DENSE:
        # M stays regular, and what negative weights take away is no more than what positive ones give.
        most = min(1.0 + rates.one / rates.many, (1.0 - rates.one - rates.many) / (n * rates.many))
    up = up / up.sum()
    return Weights(up, up - most * down / down.sum(), mass)


@dataclass(frozen=True)
class Full:
    """M itself."""

    M: Array

    def stretched(self, Z: Array) -> Array:
        """Return M z for each row z."""
        return Z @ self.M.T

    @property
    def longest(self) -> float:
        """The largest standard deviation of an entry of M z."""
        return math.sqrt(float(np.sum(self.M**2, axis=1).max()))

    def learnt(self, path: Vector, Z: Array, weights: Weights, rates: Rates) -> Full:
        """Return the matrix that is longer along the path and good points, and shorter along bad ones.

        M <- M + M (c_1 (p p' - 1) + c_mu (sum_i w_i z_i z_i' - 1)) / 2
        """
        n, w = path.size, weights.signed
        # Long vectors that were bad would shorten M too much.
        scaled = np.where(w < 0.0, w * n / np.maximum(np.sum(Z * Z, axis=1), 1e-300), w)
        along = rates.one * np.outer(self.M @ path, path) + rates.many * (self.stretched(Z).T * scaled) @ Z
        forgotten = rates.one + rates.many * float(w.sum())
        return Full(self.M + 0.5 * (along - forgotten * self.M))


@dataclass(frozen=True)
class Limited:
    """A diagonal times a product of 1 + c (v v' - 1), where the vectors v are paths of different memory."""

    diagonal: Vector
    paths: tuple[Vector, ...]

    def stretched(self, Z: Array) -> Array:
        """Return M z for each row z."""
        n = self.diagonal.size
        for k, v in enumerate(self.paths):
            c = 1.0 / (1.5**k * n)
            Z = (1.0 - c) * Z + (c * (Z @ v))[:, np.newaxis] * v
        return Z * self.diagonal

    @property
    def longest(self) -> float:
        """The largest standard deviation of an entry of M z, by the diagonal."""
        return float(self.diagonal.max())

    def learnt(self, step: Vector, squares: Vector, popsize: int, weights: Weights, rates: Rates) -> Limited:
        """Return the matrix that is longer along the mean step, and scaled by sum_i w_i (z_i^2 - 1)."""
        n = self.diagonal.size
        c = [min(0.5, popsize / (4.0**k * n)) for k in range(len(self.paths))]
        return Limited(
            diagonal=self.diagonal * np.exp(0.5 * rates.many * squares),
            paths=tuple(
                (1.0 - a) * v + math.sqrt(weights.mass * a * (2.0 - a)) * step
                for a, v in zip(c, self.paths, strict=True)
            ),
        )


Matrix = Full | Limited


def first_matrix(n: int) -> Matrix:
    """Return the matrix that knows nothing."""
    if n <= DENSE:
        return Full(np.eye(n))
    count = min(4 + int(3.0 * math.log(n)), max(_FEWEST_DIRECTIONS, _DIRECTION_NUMBERS // n))
    return Limited(np.ones(n), tuple(np.zeros(n) for _ in range(count)))
