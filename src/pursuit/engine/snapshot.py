"""What a run needs to continue as if it had never stopped."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from pursuit.checks import Vector
from pursuit.engine.counters import UNLIMITED, Row, Trace, first_counters, trace_of
from pursuit.methods.contract import Scheme
from pursuit.methods.programs import Program, Start


class Known(NamedTuple):
    """A point and its value, from elsewhere."""

    x: Vector
    value: float


class Counts(NamedTuple):
    """The numbers that a run of a program keeps."""

    nit: int
    nfev: int
    faulty: int
    """How many values were NaN and counted as infinite."""
    fun: float
    """The best value."""
    best_nit: int
    """The iteration in which it was found."""
    best_nfev: int
    """The evaluations up to then."""
    best_sigma: float
    """The step size after that iteration."""


class Snapshot(NamedTuple):
    """A run at the beginning of an iteration, and the values received since."""

    x: Vector
    """The best point, as the method sees it; the start, while that has not been evaluated."""
    generator: Mapping[str, Any]
    """The state of the generator."""
    state: Any = None
    """That of the method; None while the start has not been evaluated."""
    counters: Any = None
    """`Counters` of a step method, `Counts` of a program."""
    trace: Any = None
    """Its `Trace`."""
    received: Any = None
    """The values that this iteration has received so far, an array."""
    past: Any = None
    """What the run remembers besides its present stage, a `Past`; None if there can be no other."""
    points: dict[int, Vector] | None = None
    """The best points so far at entries of the trace, by iteration; None if they are not kept."""
    known: Known | None = None
    """A point that the caller has told the value of, to go on from if it is better than the start."""


def first_snapshot(
    scheme: Scheme, x0: Vector, fx: float, sigma0: float, rng: np.random.Generator, at_bound: int = 0
) -> Snapshot:
    """Return that of a step method that has evaluated its start, which it may overwrite, and nothing else."""
    _check_finite(fx)
    counters, trace = first_counters(fx, sigma0, at_bound)
    state = scheme.init(x0, fx, sigma0)
    return Snapshot(state.arrays.x, rng.bit_generator.state, state, counters, trace, received=np.empty(0))


def first_program_snapshot(
    program: Program, start: Start, rng: np.random.Generator, at_bound: int
) -> Snapshot:
    """Return that of a program that has evaluated its start and nothing else."""
    _check_finite(start.value)
    sigma = float(np.min(start.sigma0))
    return Snapshot(
        x=start.x,
        generator=rng.bit_generator.state,
        state=program.begin(start),
        counters=Counts(0, nfev=1, faulty=0, fun=start.value, best_nit=0, best_nfev=1, best_sigma=sigma),
        trace=trace_of({0: Row(1, start.value, sigma, at_bound)}),
        received=np.empty(0),
    )


def _check_finite(value: float) -> None:
    if not math.isfinite(value):
        raise ValueError(f"The objective must be finite at x0, but it is {value} there.")


def check_counts(counts: Counts, trace: Trace) -> None:
    """Reject counts and a trace, which come from a file, that no run of a program can have."""
    numbers = counts._replace(fun=0, best_sigma=0)
    if not (
        all(0 <= number < UNLIMITED for number in numbers)
        and counts.best_nit <= counts.nit + 1
        and 1 <= counts.best_nfev <= counts.nfev >= counts.faulty
    ):
        raise ValueError("its counts contradict each other")
    if math.isnan(counts.fun):
        raise ValueError("its best value must be a number")
    if not math.isfinite(counts.best_sigma):
        raise ValueError("its step size must be finite")
    rows = trace.nit.shape
    if len(rows) != 1 or rows[0] < 1 or any(column.shape != rows for column in trace):
        raise ValueError("the columns of its trace must have the same length")
    if trace.nit[0] != 0 or (np.diff(trace.nit) <= 0).any() or (np.diff(trace.nfev) < 0).any():
        raise ValueError("the counts of its trace must rise")
    if np.isnan(trace.fun).any() or not np.isfinite(trace.sigma).all():
        raise ValueError("the values of its trace must be numbers, and the step sizes finite ones")
    if trace.nit[-1] > counts.nit or trace.nfev[-1] > counts.nfev:
        raise ValueError("its counts contradict each other")
