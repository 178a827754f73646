"""What a run of `evolution` knows."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from pursuit.checks import Vector
from pursuit.methods.evolution.matrix import Array, Matrix, first_matrix
from pursuit.methods.programs import STUCK, Box, Ending

# A run ends after so many searches.
_MOST_SEARCHES = 12


@dataclass(frozen=True)
class Noise:
    """The noise of a value, and how much of what values differ by is not noise."""

    level: float = 0.0
    """Its standard deviation; 0 while values repeat."""
    spread: float = 0.0
    """By how much the values of a round differ."""
    repeats: int = 0

    @property
    def signal(self) -> float:
        """The part of the variance of a round that is not noise."""
        return 1.0 - min(1.0, self.level / max(self.spread, 1e-300)) ** 2

    def learnt(self, values: Vector, k: int, again: float) -> Noise:
        """Return the noise after a round in which the value of point k was measured again."""
        if not (np.isfinite(values).all() and math.isfinite(again)):
            return self
        repeats = self.repeats + 1
        slow, fast = max(0.1, 1.0 / repeats), max(0.2, 1.0 / repeats)
        # By absolute values, which a few wild ones do not spoil; the factors are those of normal noise.
        level = 0.886 * abs(float(values[k]) - again)
        spread = 1.32 * float(np.mean(np.abs(values - np.median(values))))
        return Noise(
            self.level + slow * (level - self.level), self.spread + fast * (spread - self.spread), repeats
        )


@dataclass(frozen=True)
class Average:
    """Averages over the latest rounds, under noise."""

    mean: Vector
    """That of the means."""
    slow: float
    """That of the median values,"""
    fast: float
    """and one that forgets faster: while they differ, f still falls."""
    rounds: int = 0
    sigma: float = 1.0
    """How long steps were."""
    noise: float = 0.0
    """The noise of a value there."""

    def moved(self, mean: Vector, value: float, memory: float) -> Average:
        """Return the averages after another round."""
        if not math.isfinite(value):
            return self
        slow = min(memory, 1.0 + self.rounds / 3.0)
        fast = max(1.0, slow / 4.0)
        if self.rounds == 0:
            return Average(mean, value, value, 1)
        return Average(
            mean=self.mean + (mean - self.mean) / slow,
            slow=self.slow + (value - self.slow) / slow,
            fast=self.fast + (value - self.fast) / fast,
            rounds=self.rounds + 1,
        )


@dataclass(frozen=True)
class Answer:
    """The point that the evidence supports, where noise hides which is the best."""

    x: Vector
    f: float
    error: float
    """The standard error of f."""


@dataclass
class State:
    """Where a run is, and what it knows there. Arrays are replaced, never written into."""

    x: Vector
    """The mean of the next round."""
    f: float
    """The lowest value of the last round; under noise the average of values."""
    scale: float
    """sigma in the units of the box, and of all other lengths here."""
    box: Box
    """Its sigma0 are the step sizes of the variables where sigma is 1."""
    xtol: float
    ftol: float
    popsize: int
    matrix: Matrix
    path: Vector
    start_x: Vector
    start: float
    """f at the start."""
    lowest_x: Vector
    lowest: float
    """The lowest value so far."""
    average: Average
    record: Average
    """The lowest of all averages."""
    noise_model: Noise = field(default_factory=Noise)
    seen: Array | None = None
    """The latest points, if there are few variables, under noise,"""
    seen_values: Vector | None = None
    rounds: int = 0
    evaluations: int = 0
    flat: int = 0
    """Rounds in a row all of whose values were equal."""
    longest: float = 0.0
    """The longest steps that have found something better, in units of sigma0."""
    gained_at: int = 0
    """The round of the last gain that counts,"""
    gained: float = math.inf
    """and the value that it led to."""
    began: int = 0
    """The round in which the present search began,"""
    began_with: float = math.inf
    """and the lowest value at that time; infinite for the first one."""
    searches: int = 0
    lap: int = 0
    """Under noise: the evaluations when progress was last judged,"""
    lap_value: float = math.inf
    """and the average of values at that time."""
    answer: Answer | None = None
    widest: float = 100.0
    """How far sigma may grow under noise: pure noise looks the same from everywhere."""
    ending: Ending | None = None

    def search_again(self, scale: float) -> None:
        """Begin another search at x with steps of this length, or end the run after many."""
        self.searches += 1
        if self.searches >= _MOST_SEARCHES:
            self.ending = Ending(STUCK, "Searches from x still find better points, but next to nothing.")
            return
        self.scale, self.matrix, self.path = scale, first_matrix(self.x.size), np.zeros_like(self.x)
        self.began, self.began_with = self.rounds, self.lowest
        self.lap, self.lap_value = self.evaluations, math.inf

    @property
    def sigma(self) -> float:
        """The step size of the variable that has the smallest one."""
        return self.scale * float(np.min(self.box.sigma0))

    @property
    def noise(self) -> float:
        """The noise of a value."""
        return self.noise_model.level

    @property
    def estimate(self) -> bool:
        """Whether noise hides which of the points seen is the best."""
        return self.noise_model.level > 0.0
