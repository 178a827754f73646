"""What a run needs to continue as if it had never stopped."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from pursuit.checks import Vector
from pursuit.engine.archive import require
from pursuit.engine.counters import UNLIMITED, Row, Trace, first_counters, trace_of
from pursuit.engine.outcome import Known, Past
from pursuit.methods.programs import Start


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
    """That of the method; None, like the next three, while the start has not been evaluated."""
    counters: Any = None
    """`Counters` of a step method, `Counts` of a program."""
    trace: Any = None
    """Its `Trace`."""
    received: Any = None
    """The values that this iteration has received so far, an array."""
    past: Past | None = None
    """What the run remembers besides its present stage; None if there can be no other."""
    points: dict[int, Vector] | None = None
    """The best points so far at entries of the trace, by iteration; None if they are not kept."""
    known: Known | None = None
    """A point that the caller has told the value of, to go on from if it is better than the start."""


def first_snapshot(
    method: Any,
    x0: Vector,
    fx: float,
    sigma0: float,
    rng: np.random.Generator,
    *,
    at_bound: int = 0,
    start: Start | None = None,
) -> Snapshot:
    """Return that of a run that has evaluated its start, which it may overwrite, and nothing else.

    A program has more to begin with than a step method: a `start`.
    """
    if not math.isfinite(fx):
        raise ValueError(f"The objective must be finite at x0, but it is {fx} there.")
    begun = Snapshot(x0, rng.bit_generator.state, received=np.empty(0))
    if start is None:
        counters, trace = first_counters(fx, sigma0, at_bound)
        state = method.init(x0, fx, sigma0)
        return begun._replace(x=state.arrays.x, state=state, counters=counters, trace=trace)
    counts = Counts(0, nfev=1, faulty=0, fun=fx, best_nit=0, best_nfev=1, best_sigma=sigma0)
    trace = trace_of({0: Row(1, fx, sigma0, at_bound)})
    return begun._replace(state=method.begin(start), counters=counts, trace=trace)


def check_counts(counts: Counts, trace: Trace) -> None:
    """Reject counts and a trace, which come from a file, that no run of a program can have."""
    require(not math.isnan(counts.fun), "its best value must be a number")
    require(math.isfinite(counts.best_sigma), "its step size must be finite")
    rows = trace.nit.shape
    is_table = len(rows) == 1 and rows[0] > 0 and all(column.shape == rows for column in trace)
    require(is_table, "the columns of its trace must have the same length")
    rises = trace.nit[0] == 0 and (np.diff(trace.nit) > 0).all() and (np.diff(trace.nfev) >= 0).all()
    require(rises, "the counts of its trace must rise")
    are_numbers = not np.isnan(trace.fun).any() and np.isfinite(trace.sigma).all()
    require(are_numbers, "the values of its trace must be numbers, and the step sizes finite ones")
    require(
        all(0 <= number < UNLIMITED for number in counts._replace(fun=0, best_sigma=0))
        and counts.best_nit <= counts.nit + 1
        and 1 <= counts.best_nfev <= counts.nfev >= max(counts.faulty, trace.nfev[-1])
        and trace.nit[-1] <= counts.nit,
        "its counts contradict each other",
    )
