"""The points of a round: a cloud around the mean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pursuit.checks import Vector
from pursuit.methods.evolution.matrix import Array, Matrix
from pursuit.methods.programs import Box

# Up to this many numbers a round is held in memory; the points of larger ones are computed again, one by one,
# when they are needed.
_HELD = 1_000_000


@dataclass(frozen=True)
class Cloud:
    """The points mean + spread * M z_i, projected into the bounds; some of them are evaluated again."""

    mean: Vector
    spread: Vector | float
    """The standard deviation of each variable where M is the identity."""
    matrix: Matrix
    box: Box
    popsize: int
    seed: int
    held: tuple[Array, Array] | None
    """The normal vectors z_i and the points before they are projected; None if drawn from the seed."""
    again: tuple[int, ...] = ()
    """Which points are evaluated a second time, after all others."""

    def __len__(self) -> int:
        return self.popsize + len(self.again)

    def normals(self, part: slice) -> Array:
        """Return some of the normal vectors, one per row."""
        if self.held is not None:
            return self.held[0][part]
        generators = [np.random.default_rng([self.seed, j]) for j in range(part.start, part.stop)]
        return np.array([generator.standard_normal(self.mean.size) for generator in generators])

    def unbounded(self, part: slice) -> Array:
        """Return some of the points as they were before they were projected."""
        if self.held is not None:
            return self.held[1][part]
        # Sums of one row and of several may differ in their last digits, so rows are always computed alone.
        single = [self.matrix.stretched(z[np.newaxis])[0] for z in self.normals(part)]
        points: Array = self.mean + self.spread * np.array(single)
        return points

    def rows(self, first: int, end: int) -> Array:
        """Return some of the points, one per row, in an array of their own."""
        which = [*range(self.popsize), *self.again][first:end]
        points = np.concatenate([self.unbounded(slice(j, j + 1)) for j in which])
        return self.box.clip(points) if self.box.is_bounded else points

    def outside(self) -> Vector:
        """Return the squared distance of each point from the bounds before it was projected, in steps."""
        if not self.box.is_bounded:
            return np.zeros(self.popsize)
        distances = np.empty(self.popsize)
        for part in self.parts():
            points = self.unbounded(part)
            distances[part] = np.sum(((points - self.box.clip(points)) / self.spread) ** 2, axis=1)
        return distances

    def parts(self) -> list[slice]:
        """Return the points in parts that fit into memory."""
        size = self.popsize if self.held is not None else 1
        return [slice(j, min(j + size, self.popsize)) for j in range(0, self.popsize, size)]


def drawn(
    mean: Vector, spread: Vector | float, matrix: Matrix, box: Box, popsize: int, rng: np.random.Generator
) -> Cloud:
    """Draw a cloud."""
    if popsize * mean.size > _HELD:
        return Cloud(mean, spread, matrix, box, popsize, int(rng.integers(2**63)), None)
    Z = rng.standard_normal((popsize, mean.size))
    return Cloud(mean, spread, matrix, box, popsize, 0, (Z, mean + spread * matrix.stretched(Z)))
