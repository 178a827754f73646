"""A program of a few lines, to test what runs programs: steps along the coordinates, and along their sum."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from pursuit.checks import Vector
from pursuit.methods.programs import CONVERGED, Ending, Probes, Request, Start


@dataclass(frozen=True)
class Box:
    """Bounds."""

    lower: Vector
    upper: Vector


@dataclass(frozen=True)
class Lengths:
    """How long steps are."""

    sigma: float
    each: Vector


@dataclass(frozen=True)
class Guess:
    """How long steps are, once they have failed."""

    sigma: float


@dataclass
class State:
    """Where a search is."""

    x: Vector
    f: float
    box: Box
    lengths: Lengths | Guess
    xtol: float
    ftol: float
    steps: tuple[Vector, ...] = ()
    failed: Vector | None = None
    noise: float | None = None
    estimate: bool = False
    remark: str = ""
    order: np.ndarray[tuple[int], np.dtype[np.int64]] = field(default_factory=lambda: np.arange(0))
    ending: Ending | None = None

    @property
    def sigma(self) -> float:
        """How long steps are at present."""
        return self.lengths.sigma


class Searching(NamedTuple):
    """Probes along all coordinates in random order, a step along their slopes, then one of random length."""

    factor: float

    @classmethod
    def create(cls, n: int, *, factor: float = 0.5) -> Searching:
        """Return the program; steps that fail are shortened by a factor."""
        return cls(factor)

    def begin(self, start: Start) -> State:
        """Return the first state."""
        return State(
            x=start.x,
            f=start.value,
            box=Box(start.lower, start.upper),
            lengths=Lengths(float(np.min(start.sigma0)), start.sigma0),
            xtol=start.xtol,
            ftol=start.ftol,
        )

    def iterate(self, state: State, rng: np.random.Generator) -> Generator[Request, Vector, None]:
        """Make one iteration."""
        n, box = state.x.size, state.box
        state.order = rng.permutation(n)
        h = 1e-6 * state.sigma
        outside = state.x[state.order] + h > box.upper[state.order]
        steps = np.where(outside, -h, h)
        values = yield Probes(state.x, state.order, steps)
        slopes = np.zeros(n)
        slopes[state.order] = (values - state.f) / steps
        direction = slopes / max(float(np.linalg.norm(slopes)), 1e-300)
        lengths = state.sigma * rng.uniform(0.5, 2.0, size=3)
        points = np.clip(state.x - lengths[:, np.newaxis] * direction, box.lower, box.upper)
        values = yield points
        best = int(np.argmin(values))
        if values[best] < state.f:
            state.steps = (*state.steps, points[best] - state.x)[-2:]
            state.x, state.f = points[best].copy(), float(values[best])
            state.remark = "better"
        else:
            yield np.empty((0, n))
            state.lengths = Guess(self.factor * state.sigma)
            state.failed = points[best].copy()
            state.remark = "no better"
        if state.sigma < state.xtol:
            state.ending = Ending(CONVERGED, "Converged: steps are shorter than xtol.")

    def best(self, state: State) -> tuple[Vector, float]:
        """Return the best point."""
        return state.x, state.f

    def check(self, state: State, n: int) -> None:
        """Reject a state that is not one for n variables."""
        arrays = [state.box.lower, state.box.upper, *state.steps]
        if any(array.shape != (n,) for array in arrays) or not 0.0 < state.sigma < 1e100:
            raise ValueError("its state is not one of this program")
