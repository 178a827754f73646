"""A function that counts its evaluations and stops the solver when the run is over."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NoReturn

CAP = "cap"
"""The status of a run that has spent its evaluations."""


class RunEnded(BaseException):
    """The run is over. It is not an `Exception`, since some solvers catch those and continue."""


class CountedFunction:
    """A function that counts its evaluations, and raises `RunEnded` at the end of the run and thereafter.

    A run ends when the budget is spent, when `reason_to_end` gives a reason after an evaluation, or by `end`.

    Parameters
    ----------
    fun : callable
        The function of a point.
    maxfev : int
        The maximum number of evaluations.
    reason_to_end : callable, optional
        Called with every value; returns why the run ends with it, or "" if it continues.

    Attributes
    ----------
    evaluations : int
        How many there were, including one that raised an exception.
    best : float
        The smallest value.
    status : str
        Why the run ended; "" while it has not.

    Examples
    --------
    >>> from pursuit.engine.counting import CountedFunction, RunEnded
    >>> fun = CountedFunction(abs, 100, lambda value: "target" if value <= 1 else "")
    >>> try:
    ...     for x in range(-9, 9):
    ...         _ = fun(x)
    ... except RunEnded:
    ...     print(fun.status, fun.evaluations, fun.best)
    target 9 1
    """

    def __init__(
        self, fun: Callable[[Any], float], maxfev: int, reason_to_end: Callable[[float], str] | None = None
    ) -> None:
        self.evaluations: int = 0
        self.best: float = math.inf
        self.status: str = ""
        self._fun = fun
        self._maxfev = maxfev
        self._reason_to_end = reason_to_end

    @property
    def left(self) -> int:
        """How many evaluations are left."""
        return self._maxfev - self.evaluations

    def __call__(self, x: Any) -> float:
        """Return f(x)."""
        if self.status:
            raise RunEnded
        if self.left <= 0:
            self.end(CAP)
        self.evaluations += 1
        value = self._fun(x)
        self.best = min(self.best, value)
        if self._reason_to_end is not None and (reason := self._reason_to_end(value)):
            self.end(reason)
        return value

    def end(self, status: str) -> NoReturn:
        """End the run for a reason, and raise `RunEnded`."""
        self.status = status
        raise RunEnded
