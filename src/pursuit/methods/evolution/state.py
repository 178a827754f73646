"""What a run of `evolution` knows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pursuit.checks import Vector
from pursuit.methods.evolution.distribution import Array, Matrix, first_matrix
from pursuit.methods.programs import Box, Ending, Ranges, check_bounds, check_numbers

# A single difference of values is no more than so many times the noise known before: some noise is wild.
_WILD = 3.0
_RANGES = Ranges(
    positive=frozenset({"scale", "sigma", "sigma0", "batch", "diagonal"}),
    not_negative=frozenset({"level", "spread", "longest", "error"}),
    perhaps_infinite=frozenset({"xtol", "ftol"}),
    # All values of a round may be infinite; so is what is compared with the first of its kind.
    unlimited=frozenset({"f", "gained", "began_with", "box.lower", "box.upper"}),
)


@dataclass(frozen=True)
class Average:
    """What the latest rounds say on average, under noise."""

    mean: Vector
    """That of the means."""
    value: float
    """That of the median values."""
    level: float = 0.0
    """The standard deviation of the noise of a value; 0 while values repeat."""
    spread: float = 0.0
    """By how much the values of a round differ."""
    rounds: int = 0

    @property
    def signal(self) -> float:
        """The part of the variance of a round that is not noise."""
        return 1.0 - min(1.0, self.level / max(self.spread, 1e-300)) ** 2

    def after(self, state: State, values: Vector, difference: float) -> Average:
        """Return the average after another round, in which a point has had two values that differ so much."""
        if not math.isfinite(float(values.sum()) + difference):
            return self
        # By absolute values, which a few wild ones do not spoil; the factors are those of normal noise.
        median, level = float(np.median(values)), min(0.886 * difference, _WILD * self.level)
        spread = 1.32 * float(np.mean(np.abs(values - median)))
        part = 1.0 / min(10.0 + 7.0 * state.x.size / values.size, 1.0 + self.rounds / 3.0)
        return Average(
            mean=self.mean + part * (state.x - self.mean),
            value=self.value + part * (median - self.value),
            level=self.level + max(0.1, 1.0 / (self.rounds + 4.0)) * (level - self.level),
            spread=self.spread + max(0.2, 1.0 / (self.rounds + 1.0)) * (spread - self.spread),
            rounds=self.rounds + 1,
        )


@dataclass
class State:
    """Where a run is, and what it knows there. Arrays are replaced, never written into."""

    x: Vector
    """The mean of the next round; at the end the point that the evidence supports."""
    f: float
    """The lowest value of the last round, under noise the median; at the end an estimate of f(x)."""
    box: Box
    """Its sigma0 are the step sizes of the variables where sigma is 1."""
    xtol: float
    ftol: float
    batch: int
    matrix: Matrix
    path: Vector
    start: float
    """f at the start."""
    lowest_x: Vector
    lowest: float
    """The lowest value so far."""
    average: Average
    record: Average
    """The lowest of all averages."""
    seen: Array | None = None
    """The latest points under noise, if there are few variables; the last column has their values."""
    scale: float = 1.0
    """sigma in the units of the box, and of all other lengths here."""
    rounds: int = 0
    evaluations: int = 0
    flat: int = 0
    """Values in a row that were all equal."""
    longest: float = 0.0
    """The longest steps that have found something better."""
    gained: float = math.inf
    """The last value that was a gain that counts, of the present search,"""
    gained_at: int = 0
    """and the evaluations at that time."""
    began_with: float = math.inf
    """The lowest value when the present search began; infinite for the first one."""
    error: float | None = None
    """The standard error of f at the end, where that is an estimate."""
    ending: Ending | None = None

    @property
    def sigma(self) -> float:
        """The step size of the variable that has the smallest one."""
        return self.scale * float(np.min(self.box.sigma0))

    @property
    def noise(self) -> float:
        """The noise of a value."""
        return self.average.level

    @property
    def estimate(self) -> bool:
        """Whether noise hides which of the points seen is the best."""
        return self.average.level > 0.0


def check_state(state: State, n: int) -> None:
    """Raise a `ValueError` if a state is not one for n variables."""
    count = 0 if state.seen is None else len(state.seen)
    check_numbers(state, n, _RANGES, {"M": (n, n), "seen": (count, n + 1)})
    check_bounds(state.box, state.x, state.lowest_x)
    kinds = [(type(one).__name__, len(getattr(one, "paths", ()))) for one in (state.matrix, first_matrix(n))]
    if kinds[0] != kinds[1]:
        raise ValueError(
            "its matrix must be {1[0]} with {1[1]} paths, but is {0[0]} with {0[1]}".format(*kinds)
        )
