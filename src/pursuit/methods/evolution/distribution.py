"""The normal distribution of a round: its points, and the matrix M by which normal vectors are stretched.

M is full for few variables, and limited for many. Both kinds are values: learning returns a new one.

- `Full` is the n x n matrix of MA-ES (Beyer and Sendhoff, 2017), with active weights.
- `Limited` is a diagonal times the low-rank factors of LM-MA-ES (Loshchilov, Glasmachers and Beyer, 2019).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pursuit.checks import Vector
from pursuit.methods.programs import Box

Array = NDArray[np.float64]
Normals = Iterable[tuple[slice, Array]]
"""The normal vectors of a round, one per row, in parts that fit into memory: which ones, and these."""

# Up to this many variables M is a matrix: a round takes n^2 operations for each of its values. Beyond, memory
# is linear.
DENSE = 200
# The most numbers that the directions of `Limited` may hold, but for the fewest of them: 8 MB.
_DIRECTION_NUMBERS, _FEWEST_DIRECTIONS = 1_000_000, 2
# Up to this many numbers a round is held in memory; the points of larger ones are computed again, one by one,
# when they are needed.
_HELD = 1_000_000
# How many times as fast as sep-CMA-ES the diagonal learns. Beside low-rank factors it may: on a weighted sum
# of |x_i| in 300 variables this takes a tenth of the evaluations.
_DIAGONAL_SPEED = 5.0


class Rates(NamedTuple):
    """How much the points of a round count by their ranks, and how fast things are learnt.

    Rates are those of the CMA-ES, or of LM-MA-ES.
    """

    positive: Vector
    """The weights by which the mean moves: they add up to 1, and are 0 for the worse half."""
    signed: Vector
    """Those by which M learns: negative for the worse half."""
    mass: float
    """The variance-effective number of points, mu_eff."""
    path: float
    """c_sigma, of the path of the mean."""
    damping: float
    one: float
    """c_1, of M along that path,"""
    many: float
    """and c_mu, along the points of a round."""


def rates_of(n: int, popsize: int) -> Rates:
    """Return logarithmic weights by rank, and the rates for n variables."""
    raw = math.log((popsize + 1) / 2.0) - np.log(np.arange(1.0, popsize + 1.0))
    up, down = np.maximum(raw, 0.0), np.minimum(raw, 0.0)
    mass = float(up.sum() ** 2 / np.sum(up**2))
    if n <= DENSE:
        path = (mass + 2.0) / (n + mass + 5.0)
        one = 2.0 / ((n + 1.3) ** 2 + mass)
        many = min(1.0 - one, 2.0 * (mass - 2.0 + 1.0 / mass) / ((n + 2.0) ** 2 + mass))
        # M stays regular, and what negative weights take away is no more than what positive ones give.
        most = min(1.0 + one / many, (1.0 - one - many) / (n * many))
    else:
        path, one, most = min(0.5, 2.0 * popsize / n), 0.0, 1.0
        many = min(0.5, _DIAGONAL_SPEED * 2.0 * (mass - 2.0 + 1.0 / mass) / (3.0 * (n + 2.0)))
    damping = 1.0 + path + 2.0 * max(0.0, math.sqrt((mass - 1.0) / (n + 1.0)) - 1.0)
    up /= up.sum()
    return Rates(up, up - most * down / down.sum(), mass, path, damping, one, many)


@dataclass(frozen=True)
class Full:
    """M itself."""

    M: Array

    def stretched(self, Z: Array) -> Array:
        """Return M z for each row z."""
        return Z @ self.M.T

    def shrunk(self, y: Vector) -> Vector:
        """Return the vector that M stretches to y."""
        return np.asarray(np.linalg.lstsq(self.M, y, rcond=None)[0], dtype=np.float64)

    @property
    def longest(self) -> float:
        """The largest standard deviation of an entry of M z."""
        return math.sqrt(float(np.sum(self.M**2, axis=1).max()))

    def learnt(self, path: Vector, step: Vector, normals: Normals, w: Vector, rates: Rates) -> Full:
        """Return the matrix that is longer along the path and good points, and shorter along bad ones.

        M <- M + M (c_1 (p p' - 1) + c_mu (sum_i w_i z_i z_i' - 1)) / 2
        """
        along = rates.one * np.outer(self.M @ path, path)
        for part, Z in normals:
            # Long vectors that were bad would shorten M too much.
            norms = np.maximum(np.sum(Z * Z, axis=1), 1e-300)
            scaled = np.where(w[part] < 0.0, w[part] * path.size / norms, w[part])
            along += rates.many * (self.stretched(Z).T * scaled) @ Z
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

    def shrunk(self, y: Vector) -> Vector:
        """Return the vector that the diagonal alone stretches to y."""
        return y / self.diagonal

    @property
    def longest(self) -> float:
        """The largest standard deviation of an entry of M z, by the diagonal."""
        return float(self.diagonal.max())

    def learnt(self, path: Vector, step: Vector, normals: Normals, w: Vector, rates: Rates) -> Limited:
        """Return the matrix that is longer along the mean step, and scaled by sum_i w_i (z_i^2 - 1)."""
        n, paths = self.diagonal.size, []
        squares = np.zeros(n)
        for part, Z in normals:
            squares += w[part] @ (Z * Z - 1.0)
        for k, v in enumerate(self.paths):
            c = min(0.5, w.size / (4.0**k * n))
            paths.append((1.0 - c) * v + math.sqrt(rates.mass * c * (2.0 - c)) * step)
        return Limited(self.diagonal * np.exp(0.5 * rates.many * squares), tuple(paths))


Matrix = Full | Limited


def first_matrix(n: int) -> Matrix:
    """Return the matrix that knows nothing."""
    if n <= DENSE:
        return Full(np.eye(n))
    count = min(4 + int(3.0 * math.log(n)), max(_FEWEST_DIRECTIONS, _DIRECTION_NUMBERS // n))
    return Limited(np.ones(n), tuple(np.zeros(n) for _ in range(count)))


@dataclass(frozen=True)
class Cloud:
    """The points mean + spread * M z_i, projected into the bounds."""

    mean: Vector
    spread: Vector | float
    """The standard deviation of each variable where M is the identity."""
    matrix: Matrix
    box: Box
    popsize: int
    seed: int
    """That of the normal vectors z_i."""
    is_noisy: bool
    """Whether one of the points is evaluated again, after all others."""

    def __len__(self) -> int:
        return self.popsize + self.is_noisy

    def rows(self, first: int, end: int) -> Array:
        """Return some of the points, one per row, in an array of their own."""
        which = [*range(self.popsize), self.seed % self.popsize][first:end]
        points = np.concatenate([self._part(slice(j, j + 1))[1] for j in which])
        return self.box.clip(points) if self.box.is_bounded else points

    def normals(self) -> Iterator[tuple[slice, Array]]:
        """Yield parts that fit into memory: which points, and their z_i, one per row."""
        size = 1 if self._held is None else self.popsize
        for some in (slice(j, j + size) for j in range(0, self.popsize, size)):
            yield some, self._part(some)[0]

    @cached_property
    def _held(self) -> tuple[Array, Array] | None:
        if self.popsize * self.mean.size > _HELD:
            return None
        Z = np.random.default_rng(self.seed).standard_normal((self.popsize, self.mean.size))
        return Z, self.mean + self.spread * self.matrix.stretched(Z)

    def _part(self, some: slice) -> tuple[Array, Array]:
        if self._held is not None:
            return self._held[0][some], self._held[1][some]
        # Sums of one row and of several may differ in their last digits, so rows are always computed alone.
        z = np.random.default_rng([self.seed, some.start]).standard_normal((1, self.mean.size))
        return z, self.mean + self.spread * self.matrix.stretched(z)
