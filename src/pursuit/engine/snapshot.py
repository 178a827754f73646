"""What a run needs to continue as if it had never stopped."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from pursuit.checks import Vector
from pursuit.engine.archive import require
from pursuit.engine.counters import UNLIMITED, Trace
from pursuit.engine.outcome import Known, Past


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
