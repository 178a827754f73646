"""An objective that counts every call, wherever it comes from, and ends the solver when the run is over.

The rule is the same for all solvers: a run ends at the first call that finds a value not above the target,
at the cap of evaluations, or at the cap of time. A solver that returns before that has quit.

Time is the processor's, of the process, so that it does not matter what else the machine does.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import NamedTuple

from pursuit.checks import Vector

REACHED, CAP, TIME, QUIT, ERROR = "reached", "cap", "time", "quit", "error"
"""How a run ends; `ERROR` where the solver failed with an exception of its own, or its process died."""

_NEARLY = 0.999

Solve = Callable[[Callable[[Vector], float]], object]


class Ended(BaseException):
    """The run is over. Not an `Exception`, since solvers catch those and go on."""


class Ending(NamedTuple):
    """How a run went."""

    status: str
    detail: str
    evaluations: int
    seconds: float
    best: float
    """The smallest value at any point that was evaluated, without noise."""


class Counted:
    """A function that counts its calls and raises `Ended` when the run is over.

    Parameters
    ----------
    fun : callable
        The function, by which the target is judged.
    target : float
        The value to reach.
    maxfev : int
        The cap of evaluations.
    maxtime : float
        The cap of seconds of the processor, from now on.
    observed : callable
        What the solver gets to see of a value. By default the value itself.
    """

    def __init__(
        self,
        fun: Callable[[Vector], float],
        *,
        target: float,
        maxfev: int,
        maxtime: float,
        observed: Callable[[float], float] | None = None,
    ) -> None:
        self.evaluations = 0
        self.best = math.inf
        self.status = ""
        self._fun = fun
        self._target = target
        self._maxfev = maxfev
        self._observed = observed
        self._begin = time.process_time()
        self._deadline = self._begin + maxtime
        self._end = math.inf

    def __call__(self, x: Vector) -> float:
        """Return what is seen of f(x)."""
        if self.status:
            raise Ended
        if self.evaluations >= self._maxfev:
            self._finish(CAP)
        value = self._fun(x)
        self.evaluations += 1
        if value < self.best:
            self.best = value
            if value <= self._target:
                self._finish(REACHED)
        if time.process_time() > self._deadline:
            self._finish(TIME)
        return value if self._observed is None else self._observed(value)

    @property
    def seconds(self) -> float:
        """From the beginning to the end of the run, or to now."""
        return min(self._end, time.process_time()) - self._begin

    @property
    def used_up(self) -> bool:
        """Whether a solver that returns now does so because of the cap; some stop a little before it."""
        return self.evaluations >= _NEARLY * self._maxfev

    def _finish(self, status: str) -> None:
        self.status = status
        self._end = time.process_time()
        raise Ended


def ending_of(solve: Solve, counted: Counted) -> Ending:
    """Let a solver work on a counted function; say how it ended.

    What a solver does after the end does not count: neither the calls it makes nor an exception, with which
    some answer to being stopped.
    """
    status, detail = QUIT, ""
    try:
        solve(counted)
    except Ended:
        pass
    except Exception as error:
        status, detail = ERROR, in_one_line(error)
    seconds = counted.seconds
    if counted.status:
        status, detail = counted.status, ""
    elif status == QUIT and counted.used_up:
        status = CAP
    return Ending(status, detail, counted.evaluations, seconds, counted.best)


def in_one_line(error: BaseException) -> str:
    """Return an exception as one line of text."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]
