"""What a run counts and records: iterations, evaluations, the best so far, and a trace."""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from pursuit.engine.stopping import LARGEST_STEP, RUNAWAY, SMALLEST_STEP, Reason
from pursuit.methods.contract import Patience, Scheme, elitist_patience

_POINTS_PER_DECADE = 50
_GROWTH = 10.0 ** (1.0 / _POINTS_PER_DECADE)
# Enough for as many iterations as a 64-bit integer counts.
_CAPACITY = 19 * _POINTS_PER_DECADE + 74


# More iterations or evaluations than any run will see.
UNLIMITED = 2**62


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
        patience = scheme.patience(n)
        if not isinstance(patience, Patience):
            patience = Patience(patience)
        return cls(target, iterations, evaluations, patience.iterations, elitist_patience(n), patience.share)


class Trace(NamedTuple):
    """The course of a run at selected iterations."""

    nit: NDArray[np.int64]
    nfev: NDArray[np.int64]
    fun: NDArray[np.float64]


class Tally(NamedTuple):
    """The numbers a run keeps."""

    nit: int
    nfev: int
    faulty: int
    """How many values were NaN and counted as infinite."""
    start: float
    """f(x0)."""
    best: float
    best_nit: int
    best_nfev: int
    repeats: int
    """How many iterates since the best had its very value."""
    largest_sigma: float
    """The largest step size among iterates no worse than the start."""
    due: int
    """The next iteration to go into the trace."""
    rows: int
    """The rows of the trace that are filled."""


def open_books(start: float, sigma: float) -> tuple[Tally, Trace]:
    """Return the tally and the trace of a run that has evaluated its start and nothing else."""
    trace = Trace(
        np.empty(_CAPACITY, dtype=np.int64),
        np.empty(_CAPACITY, dtype=np.int64),
        np.empty(_CAPACITY),
    )
    trace.nit[0], trace.nfev[0], trace.fun[0] = 0, 1, start
    return Tally(0, 1, 0, start, start, 0, 1, 0, sigma, 1, 1), trace


@numba.njit(forceinline=True)
def count_evaluations(tally, count, faulty):
    """Return the tally after some evaluations."""
    return Tally(
        tally.nit, tally.nfev + count, tally.faulty + faulty, tally.start, tally.best,
        tally.best_nit, tally.best_nfev, tally.repeats, tally.largest_sigma, tally.due, tally.rows,
    )  # fmt: skip


@numba.njit(forceinline=True)
def count_iteration(tally, trace, state):
    """Return the tally after an iteration that led to `state`; put it into the trace if it is due."""
    nit = tally.nit + 1
    best, best_nit, best_nfev, repeats = tally.best, tally.best_nit, tally.best_nfev, tally.repeats
    if state.fx < best:
        best, best_nit, best_nfev, repeats = state.fx, nit, tally.nfev, 0
    elif state.f == best:
        repeats += 1
    largest_sigma = tally.largest_sigma
    if state.sigma > largest_sigma and state.f <= tally.start:
        largest_sigma = state.sigma
    due, rows = tally.due, tally.rows
    if nit == due:
        trace.nit[rows], trace.nfev[rows], trace.fun[rows] = nit, tally.nfev, state.f
        rows += 1
        due = max(nit + 1, math.ceil(nit * _GROWTH))
    return Tally(
        nit, tally.nfev, tally.faulty, tally.start, best, best_nit, best_nfev, repeats, largest_sigma,
        due, rows,
    )  # fmt: skip


@numba.njit(forceinline=True)
def reason_to_stop(tally, limits, state):
    """Return why a run in this state has to stop, or `Reason.RUNNING`."""
    if tally.best <= limits.target:
        return Reason.TARGET
    if state.f > tally.start and state.sigma > RUNAWAY * tally.largest_sigma:
        return Reason.DIVERGED
    if not state.sigma < LARGEST_STEP:
        return Reason.DIVERGED
    if tally.nit - tally.best_nit >= limits.patience + limits.share * tally.best_nit:
        return Reason.STALLED
    if tally.repeats >= limits.repeats:
        return Reason.STALLED
    if state.sigma < SMALLEST_STEP:
        return Reason.STALLED
    if tally.nit >= limits.iterations:
        return Reason.MAXITER
    return Reason.RUNNING


def finished_trace(tally: Tally, trace: Trace, last: float) -> Trace:
    """Return the filled rows of the trace, with the last iteration and the best one among them."""
    rows = {
        int(nit): (int(nfev), float(fun))
        for nit, nfev, fun in zip(*(column[: tally.rows] for column in trace), strict=True)
    }
    rows[tally.nit] = (tally.nfev, last)
    rows[tally.best_nit] = (tally.best_nfev, tally.best)
    nits = sorted(rows)
    return Trace(
        np.array(nits, dtype=np.int64),
        np.array([rows[nit][0] for nit in nits], dtype=np.int64),
        np.array([rows[nit][1] for nit in nits]),
    )
