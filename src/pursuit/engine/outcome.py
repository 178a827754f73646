"""What a run has come to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from pursuit.checks import Vector
from pursuit.engine.iteration import Unfinished
from pursuit.engine.stopping import Reason
from pursuit.engine.tally import Counting, Trace, finished_trace, reason_at_target
from pursuit.methods.contract import Findings


class Outcome(NamedTuple):
    """What a run has come to."""

    x: Vector
    fun: float
    nit: int
    nfev: int
    faulty: int
    sigma: float
    reason: Reason
    message: str
    """The reason as a sentence."""
    findings: Findings
    """What the scheme has found out about the function."""
    trace: Callable[[], Trace]
    """Puts the trace together, which takes a while."""


def outcome_of(
    x: Vector,
    fun: float,
    state: Any,
    counting: Counting,
    *,
    unfinished: Unfinished,
    findings: Findings,
    reason: Reason,
) -> Outcome:
    """Return what a run has come to, given the best point and its value."""
    tally, trace, limits = counting
    if reason != Reason.RUNNING and fun <= limits.target:
        # It may have been reached in an iteration that did not end.
        reason = reason_at_target(limits)
    nfev = tally.nfev + unfinished.nfev
    return Outcome(
        x=x,
        fun=fun,
        nit=tally.nit,
        nfev=nfev,
        faulty=tally.faulty + unfinished.faulty,
        sigma=state.sigma,
        reason=reason,
        message=reason.sentence(idle=nfev - tally.best.nfev),
        findings=findings,
        trace=lambda: finished_trace(tally, trace, state.f, unfinished.nfev, unfinished.value),
    )
