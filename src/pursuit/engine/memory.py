"""What a run of a step method needs to continue as if it had never stopped."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from pursuit.checks import Vector
from pursuit.engine.counters import Counters, Trace, first_counters
from pursuit.methods.contract import Scheme, State


class Memory(NamedTuple):
    """All that a run needs to continue as if it had never stopped."""

    state: State
    counters: Counters
    trace: Trace
    generator: Mapping[str, Any]
    """The generator's state before it drew the normals of the current iteration."""
    received: list[list[float]]
    """The values that this iteration has received so far, round by round; some of the last may be missing."""
    past: Any = None
    """What the run remembers besides its present stage, a `Past`; None if there can be no other."""
    points: Any = None
    """The best points so far at entries of the trace, by iteration; None if they are not kept."""

    @property
    def x(self) -> Vector:
        """The best point, as the scheme sees it."""
        best: Vector = self.state.arrays.x
        return best

    def best(self, scheme: Scheme) -> tuple[Vector, float, float]:
        """Return the best point, its value, and the noise of a value."""
        return self.x, self.state.numbers.fx, 0.0


class Unstarted(NamedTuple):
    """The memory of a run, or of a stage of it, whose start has not been evaluated."""

    x0: Vector
    generator: Mapping[str, Any]
    past: Any = None
    points: Any = None


def first_memory(
    scheme: Scheme, x0: Vector, fx: float, sigma0: float, rng: np.random.Generator, at_bound: int = 0
) -> Memory:
    """Return the memory of a run that has evaluated its start, which it may overwrite, and nothing else."""
    if not math.isfinite(fx):
        raise ValueError(f"The objective must be finite at x0, but it is {fx} there.")
    counters, trace = first_counters(fx, sigma0, at_bound)
    state = scheme.init(x0, fx, sigma0)
    return Memory(state=state, counters=counters, trace=trace, generator=rng.bit_generator.state, received=[])
