"""The reasons for which a run stops, each with a sentence for people."""

from __future__ import annotations

import enum

# A step size this many times the largest one that ever served an iterate no worse than the start says
# that the iterates run away. Of thousands of runs that converged in the end, none reached a factor of 1e7.
RUNAWAY = 1e10
# No step of this length means anything in double precision: its square is near the largest number.
LARGEST_STEP = 1e150
# And none of this length moves any point.
SMALLEST_STEP = 1e-300


class Reason(enum.IntEnum):
    """Why a run stopped; `RUNNING` while it has not."""

    RUNNING = 0
    TARGET = 1
    MAXITER = 2
    MAXFEV = 3
    MAXTIME = 4
    DIVERGED = 5
    STALLED = 6
    INTERRUPTED = 7
    CALLBACK = 8

    @property
    def sentence(self) -> str:
        """Return the reason as a sentence."""
        return _SENTENCES[self]


_SENTENCES = {
    Reason.RUNNING: "The run has not stopped.",
    Reason.TARGET: "The target value ftarget was reached.",
    Reason.MAXITER: "The limit of iterations, maxiter, was reached.",
    Reason.MAXFEV: "The limit of evaluations, maxfev, was reached.",
    Reason.MAXTIME: "The limit of time, maxtime, was reached.",
    Reason.DIVERGED: (
        "The iterates diverged: the step size grew beyond bounds while nothing better was found. "
        "The best point seen is returned."
    ),
    Reason.STALLED: "No better point was found for so long that none is expected.",
    Reason.INTERRUPTED: "The run was interrupted from the keyboard.",
    Reason.CALLBACK: "`callback` raised `StopIteration`.",
}
