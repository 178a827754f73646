"""What a run of `differences` knows."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pursuit.checks import Vector
from pursuit.methods.differences.matrix import Dense, Limited, Mask, norm
from pursuit.methods.programs import Box, Ending, Ranges, check_bounds, check_numbers

EPS = 2.0**-52
# A positive number that is nothing beside any other, to divide by.
TINY = 1e-300
# The standard error of a running mean of values, in units of their noise; and how far apart it and the latest
# value, which is the mean of a few, are by chance.
_AVERAGED, _APART = 0.3, 2.0
_RANGES = Ranges(
    positive=frozenset({"batch", "sigma0", "radius", "lengths", "probe_factor", "diagonal"}),
    not_negative=frozenset({"doubt", "level", "lowest_noise", "grain", "spacing"}),
    perhaps_infinite=frozenset({"xtol", "ftol", "at", "longest"}),
    # Sweeps that lie before the first one have not been.
    unlimited=frozenset({"box.lower", "box.upper", "measured", "looked"}),
    # The inverse of what is nearly 0 is infinite.
    anything=frozenset({"matrix.inverse"}),
)


@dataclass(frozen=True)
class Noise:
    """The noise of a value."""

    level: float = 0.0
    """Its standard deviation."""
    at: float = math.inf
    """|f| where it was measured."""
    is_known: bool = False
    """Whether there is more noise than rounding."""
    grain: float = 0.0
    """How far apart points must be for rounded values to differ."""
    is_random: bool = False
    """Whether repeated values differ."""

    def of_value(self, f: float) -> float:
        """Return the noise of a value near f; that of rounding falls with f."""
        falls = 1.0 if self.is_known else math.sqrt(min(1.0, abs(f) / (self.at + TINY)))
        return max(self.level * falls, 2.0 * EPS * abs(f))


@dataclass(frozen=True)
class Opening:
    """The opening for few variables: the points and the model of `interpolation.py`.

    Gradient, Hessian and distances are in units of sigma0.
    """

    points: NDArray[np.float64]
    values: Vector
    gradient: Vector
    """That of the model at the current iterate, the best of the points."""
    hessian: NDArray[np.float64]
    evaluations: int
    radius: float = 1.0
    """The trust radius."""
    spacing: float = 1.0
    """The distance of the points; it falls when nothing is left to gain at that distance."""


@dataclass(frozen=True)
class Masked:
    """The phase in which noise masks the slopes: see `masked.py`."""

    mean: Vector
    """The running mean of the iterates."""
    value: float
    """That of their values."""
    lowest: float
    """The lowest running mean of values,"""
    lowest_x: Vector
    """the running mean of the iterates"""
    lowest_noise: float
    """and the noise at that time."""


@dataclass
class State:
    """Where a run is, and what it knows there. No array is written into that is older than the iteration."""

    x: Vector
    f: float
    box: Box
    xtol: float
    ftol: float
    batch: int
    gradient: Vector
    curvature: Vector
    """Second derivatives along the coordinates, 0 where they were not measured."""
    doubt: Vector
    """By which part of themselves the curvatures may be wrong."""
    matrix: Dense | Limited
    lengths: Vector
    """Of the next probes."""
    probes: Vector
    """The last probes, with signs."""
    start: float
    """f at the start."""
    noise_model: Noise = field(default_factory=Noise)
    opening: Opening | None = None
    masked: Masked | None = None
    last_step: Vector | None = None
    last_gradient: Vector | None = None
    """The gradient before the last step, until the matrix has learnt from it."""
    last_decrease: float = 0.0
    is_open: bool = False
    """Whether the start has been looked at."""
    is_scaled: bool = False
    """Whether curvatures were measured."""
    is_suspicious: bool = False
    """Whether noise would explain what has happened."""
    measured: int = -10
    """The sweep before which noise was measured."""
    sweeps: int = 0
    failures: int = 0
    """Searches in a row that have found nothing better."""
    idle: int = 0
    """Sweeps in a row that have gained next to nothing; under noise, since the mean value has fallen."""
    flat: int = 0
    """How often in a row all values of probes were equal: they may have been too short for rounded ones."""
    masked_at: float | None = None
    """f when noise last began to mask the slopes."""
    probe_factor: float = 60.0
    """How many times the noise of a value probes are to change f, under noise."""
    kept: float = 1.0
    """How much of what the model predicts steps have gained of late."""
    longest: float = 0.0
    """The longest step so far."""
    looked: int = -10
    """The sweep after which kinks were looked for."""
    ending: Ending | None = None

    @property
    def sigma(self) -> float:
        """How long steps are at present, per variable."""
        if self.last_step is None:
            return float(np.min(self.box.sigma0))
        return norm(self.last_step) / math.sqrt(self.x.size)

    @property
    def noise(self) -> float:
        """The noise of a value at x, rounding included."""
        return self.noise_model.of_value(self.f)

    @property
    def estimate(self) -> bool:
        """Whether noise hides which of the points seen is the best."""
        return self.noise_model.is_random and (self.masked is not None or self.noise_model.is_known)

    def answer(self) -> tuple[Vector, float, float]:
        """Return the current iterate, or the mean of the latest ones once f has stopped falling."""
        masked = self.masked
        if masked is None or abs(masked.value - self.f) > _APART * self.noise:
            return self.x, self.f, self.noise
        return masked.mean, masked.value, _AVERAGED * self.noise

    def move(self, x: Vector, f: float, is_clear: bool = True) -> Vector:
        """Go to a point, and return the step; how long it is counts if it is clear that it was worth it."""
        step = x - self.x
        if is_clear:
            self.longest = max(self.longest, norm(step))
        self.x, self.f = x, f
        return step

    @property
    def known_curvatures(self) -> Vector:
        """The curvatures that were measured."""
        known: Vector = self.curvature[self.curvature != 0.0]
        return known

    def typical_curvature(self) -> float:
        """Return the median size of the measured curvatures; 0 if there are none."""
        known = self.known_curvatures
        return float(np.median(np.abs(known))) if known.size else 0.0

    def free(self) -> Mask:
        """Return which variables may move: not those that f presses against a bound."""
        free: Mask = np.not_equal(self.gradient, 0.0)
        return free & ~self.pressed(self.gradient) if self.box.is_bounded else free

    def pressed(self, gradient: Vector) -> Mask:
        """Return which variables are on a bound, and pressed against it by such a gradient."""
        if not self.box.is_bounded:
            return np.zeros(self.x.size, dtype=bool)
        low, high = np.less_equal(self.x, self.box.lower), np.greater_equal(self.x, self.box.upper)
        pressed: Mask = np.where(gradient > 0.0, low, high & (gradient < 0.0))
        return pressed

    def slope_noise(self) -> float:
        """Return by how much noise disturbs the gradient, relative to it."""
        values, curvatures = 1.2 * self.noise / self.probes, 0.5 * self.probes * self.curvature * self.doubt
        noise = math.sqrt(float(values @ values + curvatures @ curvatures))
        return noise / max(norm(self.gradient), TINY)


def check_state(state: State, n: int) -> None:
    """Raise a `ValueError` if a state is not one for n variables."""
    opening, matrix = state.opening, state.matrix
    points = 0 if opening is None else opening.values.size
    shapes = {"points": (points, n), "values": (points,), "hessian": (n, n), "B": (n, n), "inverse": (n, n)}
    check_numbers(state, n, _RANGES, shapes)
    means = () if state.masked is None else (state.masked.mean, state.masked.lowest_x)
    check_bounds(state.box, state.x, *means)
    if isinstance(matrix, Limited) and len(matrix.steps) != len(matrix.changes):
        raise ValueError("its matrix must have as many steps as changes of the gradient")
    if not state.probes.all():
        raise ValueError("its probes must not be 0")
