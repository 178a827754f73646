"""The reasons why a run stops, each with a sentence for users."""

from __future__ import annotations

import enum
import math

# A step size this many times the largest one that led to a better point shows that the iterates run away,
# over a function that is flat or has valleys everywhere. Of thousands of runs that converged in the end, none
# reached a factor of 1e6.
RUNAWAY = 1e10
# No step of this length means anything in double precision: its square is near the largest number. Where
# steps have grown so long while better points were found all along, there is no minimum.
LARGEST_STEP = 1e150
# And a step of this length moves no point.
SMALLEST_STEP = 1e-300
# Where precision ends. Values of f tell points apart only down to the square root of their own precision, and
# of two values that are equal but for the rounding of long sums, neither is better. On the paper's problems
# with condition numbers up to 1e6, no run that reached 1e-9 was cut short by an xtol of 1e-4.
XTOL, FTOL = 1e-8, 1e-13


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
    XTOL = 9
    FTOL = 10
    UNBOUNDED = 11
    CONVERGED = 12
    NOISE = 13
    FLAT = 14
    KINKS = 15
    STUCK = 16
    LOUD = 17

    @classmethod
    def at_target(cls, target: float) -> Reason:
        """Return why a run stops whose best value is not above the target; without one, that is -inf."""
        return cls.TARGET if target > -math.inf else cls.UNBOUNDED

    def sentence(self, idle: int = 0) -> str:
        """Return the reason as a sentence; `idle` is the number of evaluations since the best one."""
        if self == Reason.STALLED and idle < _WORTH_A_WORD:
            return "Stalled: no further improvement."
        return _SENTENCES[self].format(idle=idle)

    @property
    def is_success(self) -> bool:
        """Whether the target was reached, or a look around has found nothing better."""
        return self in (Reason.TARGET, *_CHECKED)

    @property
    def is_own(self) -> bool:
        """Whether the method itself has ended, so that another may continue."""
        return self in (*_SETTLED, *_CHECKED, *_UNSUITED, Reason.FLAT, Reason.LOUD)

    @property
    def is_unsuited(self) -> bool:
        """Whether the method ended because the function does not suit it."""
        return self in _UNSUITED


# So few evaluations without a better one are not why a run ends.
_WORTH_A_WORD = 10
# Step methods end so, without a look around; programs only after one.
_SETTLED = (Reason.STALLED, Reason.XTOL, Reason.FTOL)
_CHECKED = (Reason.CONVERGED, Reason.NOISE)
_UNSUITED = (Reason.DIVERGED, Reason.KINKS, Reason.STUCK)
# A program says the last six in its own words.
_SENTENCES = {
    Reason.RUNNING: "The run has not stopped.",
    Reason.TARGET: "The target value ftarget was reached.",
    Reason.MAXITER: "The iteration limit maxiter was reached.",
    Reason.MAXFEV: "The evaluation limit maxfev was reached.",
    Reason.MAXTIME: "The time limit maxtime was reached.",
    Reason.DIVERGED: (
        "The iterates diverged: the step size grew without bound while nothing better was found. "
        "The best point seen is returned."
    ),
    Reason.UNBOUNDED: (
        "The function seems to be unbounded below: its values kept falling as far as floating-point "
        "numbers reach. The best point seen is returned."
    ),
    Reason.STALLED: "Stalled: no improvement in the last {idle} evaluations.",
    Reason.INTERRUPTED: "The run was interrupted from the keyboard.",
    Reason.CALLBACK: "`callback` raised `StopIteration`.",
    Reason.XTOL: "Converged: the steps have become so short that x no longer changes by more than xtol.",
    Reason.FTOL: "Converged: the latest values differ by no more than ftol.",
    Reason.CONVERGED: "Converged: nothing is left to gain.",
    Reason.NOISE: "Noise masks whatever is left to gain.",
    Reason.FLAT: "All values are equal: nothing shows where a minimum is.",
    Reason.KINKS: "The function has kinks, where differences of values are no slopes.",
    Reason.LOUD: "Noise is a large part of what values differ by.",
    Reason.STUCK: "No better point was found, but the last one is not known to be a minimum.",
}
