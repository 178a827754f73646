"""What a run counts, records and stops by: iterations, evaluations, the best so far, a trace, limits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pursuit.checks import checked_limit, checked_number
from pursuit.compiling.jit import inlined
from pursuit.engine.stopping import FTOL, LARGEST_STEP, RUNAWAY, SMALLEST_STEP, XTOL, Reason
from pursuit.methods.contract import Scheme, elitist_patience, patience_of

_POINTS_PER_DECADE = 50
GROWTH: float = 10.0 ** (1.0 / _POINTS_PER_DECADE)
# Enough for as many iterations as a 64-bit integer counts.
_CAPACITY = 19 * _POINTS_PER_DECADE + 74

# In one iteration in eight the length of the trial is measured, which takes a pass over a vector: in those
# for which these bits of a pseudo-random number are 0.
_MEASURED = 7

LIMITS = ("ftarget", "xtol", "ftol", "maxiter", "maxfev")
"""The names of the limits that callers pass in."""
UNLIMITED = 2**62
"""More iterations or evaluations than any run will see."""


class Limits(NamedTuple):
    """When to stop."""

    target: float
    iterations: int
    evaluations: int
    patience: int
    """The most iterations without a better point."""
    repeats: int = UNLIMITED
    """The most iterations without a better point whose value equals the best, to the last bit."""
    share: float = 0.0
    """More patience, as a share of the iterations before the best point."""
    xtol: float = 0.0
    """How far the latest iterations may lead in all, as a multiple of the longest step that helped."""
    ftol: float = 0.0
    """How much the latest values may differ, as a multiple of the best."""
    window: int = UNLIMITED
    """The fewest iterations that these two judge."""
    measured: int = _MEASURED
    """Which iterations are measured: see `is_measured`."""

    @classmethod
    def of(
        cls,
        scheme: Scheme,
        n: int,
        *,
        ftarget: Any = None,
        xtol: Any = XTOL,
        ftol: Any = FTOL,
        maxiter: Any = None,
        maxfev: Any = None,
    ) -> Limits:
        """Return the limits passed in, checked, and the patience of a scheme for n variables."""
        patience = patience_of(scheme, n)
        return cls(
            target=-math.inf if ftarget is None else checked_number("ftarget", ftarget),
            iterations=checked_limit("maxiter", maxiter, UNLIMITED),
            evaluations=checked_limit("maxfev", maxfev, UNLIMITED),
            patience=patience.iterations,
            repeats=elitist_patience(n),
            share=patience.share,
            xtol=checked_number("xtol", xtol, at_least=0.0),
            ftol=checked_number("ftol", ftol, at_least=0.0),
            window=500 + 10 * n if patience.window is None else patience.window,
            measured=_MEASURED if patience.window is None else 0,
        )


class Trace(NamedTuple):
    """The course of a run at selected iterations."""

    nit: NDArray[np.int64]
    nfev: NDArray[np.int64]
    fun: NDArray[np.float64]
    """The value of the latest iterate."""
    sigma: NDArray[np.float64]
    """The step size."""
    at_bound: NDArray[np.int64]
    """How many variables of the best point are at a bound."""


class Best(NamedTuple):
    """The best value so far, and when it was found."""

    value: float
    nit: int
    nfev: int
    sigma: float
    """The step size after the iteration that has found it."""
    repeats: int
    """How many iterates since then had exactly that value."""


class Recent(NamedTuple):
    """What the latest iterations, a tenth of all, were like: little may be left to gain."""

    since: int
    """The iteration after which they began."""
    until: int
    """The iteration with which they end."""
    highest: float
    """The highest value found in them that is finite."""
    longest: float
    """The longest trial that was measured in them, divided by sqrt(n)."""


class Counters(NamedTuple):
    """The numbers a run keeps."""

    nit: int
    nfev: int
    faulty: int
    """How many values were NaN and counted as infinite."""
    start: float
    """f(x0)."""
    best: Best
    largest_sigma: float
    """The largest step size that has led to a better point than all before."""
    longest: float
    """The longest trial that was measured and led to a better point, divided by sqrt(n)."""
    recent: Recent
    due: int
    """The next iteration that goes into the trace."""
    rows: int
    """How many rows of the trace are filled."""


class Unfinished(NamedTuple):
    """The evaluations made in an iteration that is not finished yet.

    They were paid for, whatever becomes of the iteration: if a run is interrupted, they count, and the best
    of them may be the best of all.
    """

    nfev: int
    faulty: int
    """How many of their values were NaN and counted as infinite."""
    value: float
    """The smallest value, infinite if there is none."""
    position: float
    """Where it was found, in the sense of `position_of`."""
    highest: float
    """The highest finite value, minus infinity if there is none."""


class Counting(NamedTuple):
    """A run's counters, the trace that it fills, and the limits that it is compared with."""

    counters: Counters
    trace: Trace
    limits: Limits


class Row(NamedTuple):
    """What a row of a trace has beside its iteration."""

    nfev: int
    fun: float
    sigma: float
    at_bound: int


def empty_trace(capacity: int) -> Trace:
    """Return a trace with room for so many rows."""
    kinds: Any = (np.int64, np.int64, np.float64, np.float64, np.int64)
    return Trace(*(np.empty(capacity, dtype=kind) for kind in kinds))


def first_counters(start: float, sigma: float, at_bound: int = 0) -> tuple[Counters, Trace]:
    """Return the counters and the trace of a run that has evaluated its start and nothing else."""
    trace, best = empty_trace(_CAPACITY), Best(value=start, nit=0, nfev=1, sigma=sigma, repeats=0)
    for column, entry in zip(trace, (0, *Row(1, start, sigma, at_bound)), strict=True):
        column[0] = entry
    recent = Recent(since=0, until=0, highest=-math.inf, longest=0.0)
    counters = Counters(
        nit=0, nfev=1, faulty=0, start=start, best=best,
        largest_sigma=sigma, longest=0.0, recent=recent, due=1, rows=1,
    )  # fmt: skip
    return counters, trace


def check_counters(counters: Counters) -> None:
    """Reject counters that no run can have: compiled code relies on it to fill the trace."""
    due, rows, best = 1, 1, counters.best
    while due <= counters.nit:
        due, rows = due_after(due), rows + 1
    if not (
        (counters.due, counters.rows) == (due, rows)
        and 0 <= best.nit <= counters.nit
        and 0 <= counters.recent.since <= counters.nit <= counters.recent.until
        and 1 <= best.nfev <= counters.nfev < UNLIMITED
        and 0 <= counters.faulty <= counters.nfev
    ):
        raise ValueError("its counts contradict each other")


def finished_trace(counters: Counters, trace: Trace, last: Row, end: Row | None) -> Trace:
    """Return the filled rows of the trace, with the last iteration and the best one among them.

    Parameters
    ----------
    counters, trace
        What the run has counted and recorded.
    last : Row
        That of the last iteration that has ended.
    end : Row or None
        The same with the evaluations of an iteration that did not end, if there were any, and their
        smallest value, which counts if it is the best.
    """
    rows = rows_in(trace, counters.rows)
    rows[counters.nit] = last
    best = counters.best
    if end is not None and end.fun < best.value:
        rows[counters.nit] = end
        return trace_of(rows)
    # The best point has not changed since.
    rows[best.nit] = Row(best.nfev, best.value, best.sigma, last.at_bound)
    if end is not None:
        rows[counters.nit] = rows[counters.nit]._replace(nfev=end.nfev)
    return trace_of(rows)


def rows_in(trace: Trace, count: int | None = None) -> dict[int, Row]:
    """Return the first rows of a trace, or all, by iteration."""
    columns = (column[:count].tolist() for column in trace)
    return {nit: Row(*row) for nit, *row in zip(*columns, strict=True)}


def trace_of(rows: Mapping[int, Row]) -> Trace:
    """Return rows as a trace, in the order of their iterations."""
    found = empty_trace(len(rows))
    for place, nit in enumerate(sorted(rows)):
        for column, entry in zip(found, (nit, *rows[nit]), strict=True):
            column[place] = entry
    return found


def due_after(nit: int) -> int:
    """Return the next iteration that goes into the trace, after one that does."""
    return max(nit + 1, math.ceil(nit * GROWTH))


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
    faulty = counters.faulty + unfinished.faulty
    return Counters(
        nit=nit, nfev=nfev, faulty=faulty, start=counters.start, best=best,
        largest_sigma=largest_sigma, longest=longest, recent=recent, due=due, rows=rows,
    )  # fmt: skip


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
        return Reason.TARGET if limits.target > -math.inf else Reason.UNBOUNDED
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
