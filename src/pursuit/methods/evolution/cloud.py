"""The points of a round: a cloud around the mean, written when they are wanted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pursuit.checks import Vector
from pursuit.methods.evolution.matrix import Array, Matrix
from pursuit.methods.programs import Box

# Up to this many numbers a round is held in memory; larger ones are drawn again when they are needed.
_HELD = 1_000_000


@dataclass(frozen=True)
class Cloud:
    """The points mean + spread * M z_i, projected into the bounds; some of them are evaluated again."""

    mean: Vector
    spread: Vector | float
    """The standard deviation of each variable where M is the identity."""
    matrix: Matrix
    box: Box
    held: Array | None
    """The normal vectors z_i, None if they are drawn again from a seed."""
    seed: int
    popsize: int
    again: tuple[int, ...] = ()
    """Which points are evaluated a second time, after all others."""

    def __len__(self) -> int:
        return self.popsize + len(self.again)

    def normals(self, first: int, end: int) -> Array:
        """Return some of the normal vectors, one per row."""
        which = [*range(self.popsize), *self.again][first:end]
        if self.held is not None:
            return self.held[which]
        n = self.mean.size
        return np.array([np.random.default_rng([self.seed, j]).standard_normal(n) for j in which])

    def unbounded(self, first: int, end: int) -> Array:
        """Return some of the points as they were before they were projected."""
        points: Array = self.mean + self.spread * self.matrix.stretched(self.normals(first, end))
        return points

    def rows(self, first: int, end: int) -> Array:
        """Return some of the points, one per row."""
        points = self.unbounded(first, end)
        return self.box.clip(points) if self.box.is_bounded else points

    def outside(self) -> Vector:
        """Return the squared distance of each point from the bounds before it was projected, in steps."""
        if not self.box.is_bounded:
            return np.zeros(self.popsize)
        distances = np.empty(self.popsize)
        for rows in self.parts():
            points = self.unbounded(rows.start, rows.stop)
            distances[rows] = np.sum(((points - self.box.clip(points)) / self.spread) ** 2, axis=1)
        return distances

    def parts(self) -> list[slice]:
        """Return the points in parts that fit into memory."""
        size = self.popsize if self.held is not None else 1
        return [slice(j, min(j + size, self.popsize)) for j in range(0, self.popsize, size)]


def drawn(
    mean: Vector, spread: Vector | float, matrix: Matrix, box: Box, popsize: int, rng: np.random.Generator
) -> Cloud:
    """Draw a cloud."""
    n = mean.size
    if popsize * n <= _HELD:
        return Cloud(mean, spread, matrix, box, rng.standard_normal((popsize, n)), 0, popsize)
    return Cloud(mean, spread, matrix, box, None, int(rng.integers(2**63)), popsize)
