"""Runs of solvers on an objective that counts every call and ends the run, by the same rule for all solvers.

A run ends at the first value not above the target, at the cap of evaluations, or at the cap of time. A solver
that returns before that has quit. Time is processor time of the process, so that other work on the machine
does not matter.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from benchmarks.solvers import Answer, Fun, Solve
from pursuit.checks import Vector
from pursuit.engine.counting import CAP, CountedFunction, RunEnded

REACHED, TIME, QUIT, ERROR = "reached", "time", "quit", "error"
"""How a run ends, besides `CAP`; `ERROR` if the solver raised an exception or its process died."""
# Solvers that evaluate populations return a little before the cap of evaluations.
_NEARLY = 0.999
# A run of so many evaluations, and seconds, precedes a measured one, so that imports and compilation do not
# count.
_WARM_UP, _WARM_UP_SECONDS = 20, 60.0


class Recorder(CountedFunction):
    """A function that counts its calls, records its lowest values, and ends the run when it is over.

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

    Attributes
    ----------
    at, values : list
        The evaluations at which the lowest true value fell, and these values.
    point : array
        The point of the lowest value as the solver saw it; None before the first.
    """

    def __init__(
        self,
        fun: Callable[[Vector], float],
        *,
        target: float = -math.inf,
        maxfev: float = math.inf,
        maxtime: float = math.inf,
        observed: Callable[[float], float] | None = None,
    ) -> None:
        super().__init__(self._true, maxfev, self._target_or_time)  # type: ignore[arg-type]
        self._formula, self._cap, self._target, self._observed = fun, maxfev, target, observed
        self.at: list[int] = []
        self.values: list[float] = []
        self.point: Vector | None = None
        self._lowest = math.inf
        self._begin = time.process_time()
        self._deadline = self._begin + maxtime
        self._end = math.inf

    def __call__(self, x: Vector) -> float:
        """Return what the solver gets to see of f(x)."""
        value = super().__call__(x)
        seen = value if self._observed is None else self._observed(value)
        if seen < self._lowest:
            self._lowest, self.point = seen, np.array(x)
        return seen

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

    def evaluations_to(self, value: float) -> int | None:
        """Return how many evaluations it took to a true value, None if it was not reached."""
        return next((at for at, best in zip(self.at, self.values, strict=True) if best <= value), None)

    def lowest_by(self, evaluations: Sequence[int]) -> list[float]:
        """Return the lowest true value within so many evaluations, each."""
        return [
            min((best for at, best in zip(self.at, self.values, strict=True) if at <= most), default=math.inf)
            for most in evaluations
        ]

    def _true(self, x: Vector) -> float:
        value = self._formula(x)
        if value < self.best:
            self.at.append(self.evaluations)
            self.values.append(value)
        return value

    def _target_or_time(self, value: float) -> str:
        if value <= self._target:
            return REACHED
        return TIME if time.process_time() > self._deadline else ""


class Outcome(NamedTuple):
    """How a run ended."""

    status: str
    detail: str
    evaluations: int
    seconds: float
    answer: Answer | None
    """What the solver returned, None if it did not, or returned nothing."""


def run_solver(
    solve: Solve, record: Recorder, x0: Vector, *, fun: Fun | None = None, sigma0: Any = 1.0, **asked: Any
) -> Outcome:
    """Let a solver minimise a recorded function, or one that calls it, and return how the run ended.

    What a solver does after the end does not count: neither its calls nor an exception, which some raise when
    they are stopped.
    """
    status, detail, answer = QUIT, "", None
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            answer = solve(fun or record, x0.copy(), sigma0=sigma0, **asked)
        except RunEnded:
            pass
        except Exception as error:
            status, detail = ERROR, in_one_line(error)
    seconds = record.seconds
    if record.status:
        status, detail, answer = record.status, "", None
    elif status == QUIT and record.nearly_spent:
        status = CAP
    return Outcome(status, detail, record.evaluations, seconds, answer)


def warm_up(solve: Solve, fun: Fun, x0: Vector, maxfev: int) -> None:
    """Let a solver make a few evaluations, so that it is imported and compiled."""
    record = Recorder(fun, maxfev=_WARM_UP, maxtime=_WARM_UP_SECONDS)
    run_solver(solve, record, x0, maxfev=maxfev, seed=1)


def in_one_line(error: BaseException) -> str:
    """Return an exception as one line of text."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]
