"""The outcome of a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pursuit.checks import Vector
from pursuit.engine.counters import Counting, Row, Trace, Unfinished, finished_trace
from pursuit.engine.stopping import Reason
from pursuit.methods.contract import State
from pursuit.methods.stages import Stage

if TYPE_CHECKING:
    # Numba compiles it, and is imported only for step methods.
    from pursuit.problems.transform import Transform


class Outcome(NamedTuple):
    """The outcome of a run."""

    x: Vector
    fun: float
    nit: int
    nfev: int
    best_nfev: int
    """The evaluations when the best point was found."""
    faulty: int
    sigma: float
    reason: Reason
    message: str
    """The reason as a sentence."""
    trace: Callable[[], Trace]
    """Puts the trace together, which takes a while."""
    noise: float | None = None
    """The standard deviation of the noise of a value; None if it was not measured."""
    is_estimate: bool = False
    """Whether `fun` is an estimate of the value at `x`, and not a value seen."""
    error: float | None = None
    """The standard error of an estimate."""
    stages: tuple[Stage, ...] = ()
    """The outcome of each stage, if there may be several."""
    points: Callable[[], NDArray[np.float64]] | None = None
    """Returns the best point so far at each row of the trace; None if they were not kept."""
    extra: tuple[Any, ...] = ()
    """What the function returned beside the value at `x`, or None; empty if it returns values alone."""
    missed: bool = False
    """Whether the run has ended without reaching a target that it was given."""

    @property
    def is_success(self) -> bool:
        """Whether the run has reached its target; without one, whether a look around found nothing better."""
        return self.reason.is_success and not self.missed

    def judged(self, target: float) -> Outcome:
        """Return the outcome of a run with a target, which is -inf if there was none."""
        if target == -math.inf or self.reason == Reason.TARGET or not self.reason.is_success:
            return self
        return self._replace(missed=True, message=f"{self.message} The target value ftarget was not reached.")


class BestPoint(NamedTuple):
    """The best point of a run."""

    x: Vector
    z: Vector
    """The point as the scheme sees it."""
    fun: float


def outcome_of(
    best: BestPoint,
    state: State,
    counting: Counting,
    *,
    unfinished: Unfinished,
    reason: Reason,
    transform: Transform,
) -> Outcome:
    """Return the outcome of a run; `transform` is what moves the points of its scheme."""
    counters, trace, limits = counting
    arrays, numbers = state
    if reason != Reason.RUNNING and best.fun <= limits.target:
        # It may have been reached in an iteration that did not end.
        reason = Reason.at_target(limits.target)
    nfev = counters.nfev + unfinished.nfev

    def whole_trace() -> Trace:
        last = Row(counters.nfev, numbers.f, numbers.sigma, transform.at_bound(arrays.x))
        end = (
            Row(nfev, unfinished.value, numbers.sigma, transform.at_bound(best.z))
            if unfinished.nfev
            else None
        )
        return finished_trace(counters, trace, last, end)

    return Outcome(
        x=best.x,
        fun=best.fun,
        nit=counters.nit,
        nfev=nfev,
        best_nfev=counters.best.nfev,
        faulty=counters.faulty + unfinished.faulty,
        sigma=numbers.sigma,
        reason=reason,
        message=reason.sentence(idle=nfev - counters.best.nfev),
        trace=whole_trace,
    )


def points_at(trace: Callable[[], Trace], kept: Mapping[int, Vector], best: Vector) -> NDArray[np.float64]:
    """Return the best point so far at each row of a trace; `best` is that of the run.

    Points are kept when their row is written. A trace also has rows for when the best point was found and for
    the end: there the best point was that of the run.
    """
    points = [kept.get(nit, best) for nit in trace().nit.tolist()]
    points[-1] = best
    return np.array(points)


def points_by_iteration(outcome: Outcome) -> dict[int, Vector]:
    """Return the points of an outcome by the iterations of its trace."""
    assert outcome.points is not None
    return dict(zip(outcome.trace().nit.tolist(), outcome.points(), strict=True))
