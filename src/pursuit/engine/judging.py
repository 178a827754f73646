"""Counting an iteration, and judging whether to stop after it, in compiled code."""

from __future__ import annotations

import math
from typing import Any

from pursuit.compiling.jit import compilable, inlined
from pursuit.engine.counters import GROWTH, Best, Counters, Recent
from pursuit.engine.stopping import LARGEST_STEP, RUNAWAY, SMALLEST_STEP, Reason


@inlined
def is_measured(counters: Any, limits: Any) -> Any:
    """Say whether to measure the next trial: if it matters, some are measured, chosen pseudo-randomly.

    The trials of some schemes alternate, so that every eighth one might be of the same kind. If iterations
    are rounds of points, there are few of them, and all are measured.
    """
    return limits.xtol > 0.0 and (counters.nit * 0x9E3779B1 >> 20) & limits.measured == 0


@inlined
def count_iteration(counting: Any, numbers: Any, unfinished: Any, length: Any) -> Any:
    """Return the counters after an iteration that led to these numbers; put it into the trace if it is due.

    `unfinished` are its evaluations, and `length` is that of its trials, 0 if it was not measured. How many
    variables are at a bound is for the caller to count, who knows the problem.
    """
    counters, trace = counting.counters, counting.trace
    nit, nfev, before = counters.nit + 1, counters.nfev + unfinished.nfev, counters.best
    # Selections instead of branches, which no processor could predict.
    is_better = numbers.fx < before.value
    repeats = before.repeats + (1 if numbers.f == before.value else 0)
    best = Best(
        value=numbers.fx if is_better else before.value,
        nit=nit if is_better else before.nit,
        nfev=nfev if is_better else before.nfev,
        sigma=numbers.sigma if is_better else before.sigma,
        repeats=0 if is_better else repeats,
    )
    longest = max(counters.longest, length) if is_better else counters.longest
    recent = counters.recent
    if counters.nit == recent.until:
        span = max(counting.limits.window, counters.nit // 9)
        recent = Recent(since=counters.nit, until=counters.nit + span, highest=-math.inf, longest=0.0)
    recent = Recent(
        since=recent.since,
        until=recent.until,
        highest=max(recent.highest, unfinished.highest),
        longest=max(recent.longest, length),
    )
    largest_sigma = max(counters.largest_sigma, numbers.sigma) if is_better else counters.largest_sigma
    due, rows = counters.due, counters.rows
    if nit == due:
        trace.nit[rows], trace.nfev[rows], trace.fun[rows] = nit, nfev, numbers.f
        trace.sigma[rows] = numbers.sigma
        rows += 1
        # math.ceil is a float on a GPU.
        due = max(nit + 1, int(math.ceil(nit * GROWTH)))  # noqa: RUF046
    return Counters(
        nit=nit,
        nfev=nfev,
        faulty=counters.faulty + unfinished.faulty,
        start=counters.start,
        best=best,
        largest_sigma=largest_sigma,
        longest=longest,
        recent=recent,
        due=due,
        rows=rows,
    )


@compilable
def reason_at_target(limits: Any) -> Any:
    """Return why a run stops whose best value is not above the target; without one, it is minus infinity."""
    return Reason.TARGET if limits.target > -math.inf else Reason.UNBOUNDED


@inlined
def reason_to_stop(counters: Any, limits: Any, numbers: Any) -> Any:
    """Return why a run with these numbers has to stop, or `Reason.RUNNING`."""
    best = counters.best
    since = counters.nit - best.nit
    # One branch for all reasons together, since in most iterations there is none.
    may_stop = (
        (best.value <= limits.target)
        | (numbers.sigma > RUNAWAY * counters.largest_sigma)
        | (not numbers.sigma < LARGEST_STEP)
        | (since >= limits.patience)
        | (best.repeats >= limits.repeats)
        | (numbers.sigma < SMALLEST_STEP)
        | (counters.nit == counters.recent.until)
        | (counters.nit >= limits.iterations)
    )
    if not may_stop:
        return Reason.RUNNING
    if best.value <= limits.target:
        return reason_at_target(limits)
    if numbers.sigma == math.inf:
        return Reason.UNBOUNDED
    if numbers.sigma > RUNAWAY * counters.largest_sigma or math.isnan(numbers.sigma):
        return Reason.DIVERGED
    if not numbers.sigma < LARGEST_STEP:
        return Reason.UNBOUNDED
    if since >= limits.patience + limits.share * best.nit:
        return Reason.STALLED
    if best.repeats >= limits.repeats:
        return Reason.STALLED
    recent, agree = counters.recent, limits.ftol * abs(best.value)
    if numbers.sigma < SMALLEST_STEP:
        # If all values are equal, f is flat, which says nothing about its minimum.
        is_flat = recent.highest <= best.value
        is_converged = limits.ftol > 0.0 and not is_flat and abs(recent.highest - best.value) <= agree
        return Reason.FTOL if is_converged else Reason.STALLED
    if counters.nit == recent.until and counters.nit > 0:
        if 0.0 < (recent.until - recent.since) * recent.longest <= limits.xtol * counters.longest:
            return Reason.XTOL
        # If all trials are equal, they may be on a plateau.
        if 0.0 < recent.highest - best.value <= agree:
            return Reason.FTOL
    if counters.nit >= limits.iterations:
        return Reason.MAXITER
    return Reason.RUNNING
