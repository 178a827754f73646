"""Runs of solvers on an objective that counts every call and ends the run, by the same rule for all solvers.

A run ends at the first value not above the target, at the cap of evaluations, or at the cap of time. A solver
that returns before that has quit. Time is processor time of the process, so that other work on the machine
does not matter.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import NamedTuple, NoReturn

from pursuit.checks import Vector
from pursuit.counting import CAP, CountedFunction, RunEnded

REACHED, TIME, QUIT, ERROR = "reached", "time", "quit", "error"
"""How a run ends, besides `CAP`; `ERROR` if the solver raised an exception or its process died."""

# Solvers that evaluate populations return a little before the cap of evaluations.
_NEARLY = 0.999

Solve = Callable[[Callable[[Vector], float]], object]


class RunResult(NamedTuple):
    """How a run ended."""

    status: str
    detail: str
    evaluations: int
    seconds: float
    best: float
    """The smallest value at any point that was evaluated, without noise."""


class Counted(CountedFunction):
    """A function that counts its calls and raises `RunEnded` when the run is over.

    Parameters
    ----------
    fun : callable
        The function; the target is a value of it.
    target : float
        The value to reach.
    maxfev : int
        The cap of evaluations.
    maxtime : float
        The cap of processor time in seconds, from now on.
    observed : callable
        What the solver gets instead of a value. By default the value itself.
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
        super().__init__(fun, maxfev, self._target_or_time)
        self._cap = maxfev
        self._target = target
        self._observed = observed
        self._begin = time.process_time()
        self._deadline = self._begin + maxtime
        self._end = math.inf

    def __call__(self, x: Vector) -> float:
        """Return what the solver gets to see of f(x)."""
        value = super().__call__(x)
        return value if self._observed is None else self._observed(value)

    @property
    def seconds(self) -> float:
        """The processor time from the beginning to the end of the run, or to now."""
        return min(self._end, time.process_time()) - self._begin

    @property
    def nearly_spent(self) -> bool:
        """Whether a solver that returns now does so because of the cap of evaluations."""
        return self.evaluations >= _NEARLY * self._cap

    def end(self, status: str) -> NoReturn:
        """End the run for a reason, and raise `RunEnded`."""
        self._end = time.process_time()
        super().end(status)

    def _target_or_time(self, value: float) -> str:
        if value <= self._target:
            return REACHED
        return TIME if time.process_time() > self._deadline else ""


def run_solver(solve: Solve, counted: Counted) -> RunResult:
    """Let a solver minimise a counted function, and return how the run ended.

    What a solver does after the end does not count: neither its calls nor an exception, which some raise when
    they are stopped.
    """
    status, detail = QUIT, ""
    try:
        solve(counted)
    except RunEnded:
        pass
    except Exception as error:
        status, detail = ERROR, in_one_line(error)
    seconds = counted.seconds
    if counted.status:
        status, detail = counted.status, ""
    elif status == QUIT and counted.nearly_spent:
        status = CAP
    return RunResult(
        status=status, detail=detail, evaluations=counted.evaluations, seconds=seconds, best=counted.best
    )


def in_one_line(error: BaseException) -> str:
    """Return an exception as one line of text."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]
