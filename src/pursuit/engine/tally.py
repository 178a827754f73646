"""What a run counts and records: iterations, evaluations, the best so far, and a trace."""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from pursuit.engine.stopping import LARGEST_STEP, RUNAWAY, SMALLEST_STEP, Reason
from pursuit.methods.contract import Scheme, elitist_patience, patience_of

_POINTS_PER_DECADE = 50
_GROWTH = 10.0 ** (1.0 / _POINTS_PER_DECADE)
# Enough for as many iterations as a 64-bit integer counts.
_CAPACITY = 19 * _POINTS_PER_DECADE + 74

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
    """The most iterations without a better point whose value is that of the best, to the last bit."""
    share: float = 0.0
    """More patience, as a share of the iterations before the best point."""

    @classmethod
    def of(
        cls,
        scheme: Scheme,
        n: int,
        *,
        target: float = -math.inf,
        iterations: int = UNLIMITED,
        evaluations: int = UNLIMITED,
    ) -> Limits:
        """Return these limits, and the patience of a scheme for n variables."""
        patience = patience_of(scheme, n)
        return cls(
            target=target,
            iterations=iterations,
            evaluations=evaluations,
            patience=patience.iterations,
            repeats=elitist_patience(n),
            share=patience.share,
        )


class Trace(NamedTuple):
    """The course of a run at selected iterations."""

    nit: NDArray[np.int64]
    nfev: NDArray[np.int64]
    fun: NDArray[np.float64]


class Best(NamedTuple):
    """The best value so far, and when it was found."""

    value: float
    nit: int
    nfev: int
    repeats: int
    """How many iterates since then had that very value."""


class Tally(NamedTuple):
    """The numbers a run keeps."""

    nit: int
    nfev: int
    faulty: int
    """How many values were NaN and counted as infinite."""
    start: float
    """f(x0)."""
    best: Best
    largest_sigma: float
    """The largest step size among iterates no worse than the start."""
    due: int
    """The next iteration that goes into the trace."""
    rows: int
    """How many rows of the trace are filled."""


class Counting(NamedTuple):
    """A run's tally, the trace that it fills, and the limits that it is compared with."""

    tally: Tally
    trace: Trace
    limits: Limits


def start_tally(start: float, sigma: float) -> tuple[Tally, Trace]:
    """Return the tally and the trace of a run that has evaluated its start and nothing else."""
    trace = Trace(
        np.empty(_CAPACITY, dtype=np.int64),
        np.empty(_CAPACITY, dtype=np.int64),
        np.empty(_CAPACITY),
    )
    trace.nit[0], trace.nfev[0], trace.fun[0] = 0, 1, start
    best = Best(value=start, nit=0, nfev=1, repeats=0)
    tally = Tally(nit=0, nfev=1, faulty=0, start=start, best=best, largest_sigma=sigma, due=1, rows=1)
    return tally, trace


def check_tally(tally: Tally) -> None:
    """Complain of a tally that no run has: compiled code relies on it to fill the trace."""
    due, rows = 1, 1
    while due <= tally.nit:
        rows += 1
        due = max(due + 1, math.ceil(due * _GROWTH))
    best = tally.best
    if not (
        (tally.due, tally.rows) == (due, rows)
        and 0 <= best.nit <= tally.nit
        and 1 <= best.nfev <= tally.nfev < UNLIMITED
        and 0 <= tally.faulty <= tally.nfev
    ):
        raise ValueError("its counts contradict each other")


@numba.njit(forceinline=True)
def count_evaluations(tally, count, faulty):
    """Return the tally after some evaluations."""
    return Tally(
        nit=tally.nit,
        nfev=tally.nfev + count,
        faulty=tally.faulty + faulty,
        start=tally.start,
        best=tally.best,
        largest_sigma=tally.largest_sigma,
        due=tally.due,
        rows=tally.rows,
    )


@numba.njit(forceinline=True)
def count_iteration(tally, trace, state):
    """Return the tally after an iteration that led to `state`; put it into the trace if it is due."""
    nit, before = tally.nit + 1, tally.best
    # Choices between numbers, not branches, which no processor can foresee.
    is_better = state.fx < before.value
    repeats = before.repeats + (1 if state.f == before.value else 0)
    best = Best(
        value=state.fx if is_better else before.value,
        nit=nit if is_better else before.nit,
        nfev=tally.nfev if is_better else before.nfev,
        repeats=0 if is_better else repeats,
    )
    largest_sigma = tally.largest_sigma
    if state.sigma > largest_sigma and state.f <= tally.start:
        largest_sigma = state.sigma
    due, rows = tally.due, tally.rows
    if nit == due:
        trace.nit[rows], trace.nfev[rows], trace.fun[rows] = nit, tally.nfev, state.f
        rows += 1
        # math.ceil is a float on a GPU.
        due = max(nit + 1, int(math.ceil(nit * _GROWTH)))  # noqa: RUF046
    return Tally(
        nit=nit,
        nfev=tally.nfev,
        faulty=tally.faulty,
        start=tally.start,
        best=best,
        largest_sigma=largest_sigma,
        due=due,
        rows=rows,
    )


@numba.njit(forceinline=True)
def reason_to_stop(tally, limits, state):
    """Return why a run in this state has to stop, or `Reason.RUNNING`."""
    best = tally.best
    since = tally.nit - best.nit
    # One branch for all reasons together, since there is none in all iterations but the last.
    may_stop = (
        (best.value <= limits.target)
        | (state.sigma > RUNAWAY * tally.largest_sigma)
        | (not state.sigma < LARGEST_STEP)
        | (since >= limits.patience)
        | (best.repeats >= limits.repeats)
        | (state.sigma < SMALLEST_STEP)
        | (tally.nit >= limits.iterations)
    )
    if not may_stop:
        return Reason.RUNNING
    if best.value <= limits.target:
        return Reason.TARGET
    if state.f > tally.start and state.sigma > RUNAWAY * tally.largest_sigma:
        return Reason.DIVERGED
    if not state.sigma < LARGEST_STEP:
        return Reason.DIVERGED
    if since >= limits.patience + limits.share * best.nit:
        return Reason.STALLED
    if best.repeats >= limits.repeats:
        return Reason.STALLED
    if state.sigma < SMALLEST_STEP:
        return Reason.STALLED
    if tally.nit >= limits.iterations:
        return Reason.MAXITER
    return Reason.RUNNING


def finished_trace(tally: Tally, trace: Trace, last: float, unfinished: int, value: float) -> Trace:
    """Return the filled rows of the trace, with the last iteration and the best one among them.

    The last row has the `unfinished` evaluations of an iteration that did not end as well, and the smallest
    value among them, if there is none smaller.
    """
    rows = {
        int(nit): (int(nfev), float(fun))
        for nit, nfev, fun in zip(*(column[: tally.rows] for column in trace), strict=True)
    }
    rows[tally.nit] = (tally.nfev, last)
    rows[tally.best.nit] = (tally.best.nfev, tally.best.value)
    if unfinished:
        before = rows[tally.nit][1]
        rows[tally.nit] = (tally.nfev + unfinished, value if value < tally.best.value else before)
    nits = sorted(rows)
    return Trace(
        np.array(nits, dtype=np.int64),
        np.array([rows[nit][0] for nit in nits], dtype=np.int64),
        np.array([rows[nit][1] for nit in nits]),
    )
