"""Evaluations that fail: with ``on_error="nan"`` an exception of the function counts as NaN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pursuit.checks import Vector, checked_choice, cut
from pursuit.problems.objective import as_value

ON_ERROR = ("raise", "nan")
"""What may happen with an exception of the function."""


class Failure(float):
    """The value of an evaluation that raised an exception: NaN, with the exception in words."""

    text: str = ""


class Excused:
    """A function that returns a `Failure` where the one that it calls raises an exception.

    Examples
    --------
    >>> from pursuit.engine.failures import Excused
    >>> value = Excused(lambda x: 1.0 / x)(0.0)
    >>> value, value.text
    (nan, 'ZeroDivisionError: float division by zero')
    """

    def __init__(self, fun: Callable[..., Any]) -> None:
        self._fun = fun

    def __call__(self, x: Vector) -> Any:
        """Return f(x), or that it failed."""
        try:
            return self._fun(x)
        except StopIteration:
            raise
        except Exception as error:
            failure = Failure("nan")
            failure.text = _text_of(error)
            return failure


class Failures:
    """Counts the evaluations of a run that failed, wherever they were made."""

    def __init__(self) -> None:
        self._count, self._last = 0, ""

    def read(self, result: Any) -> float:
        """Return the value of what a function returned, and count a failure."""
        self.note(result)
        return as_value(result)

    def read_parts(self, result: Any) -> tuple[Any, ...]:
        """Do the same for a value and the constraints beside it."""
        self.note(result[0])
        return tuple(result)

    def excused(self, fun: Callable[[NDArray[np.float64]], Any]) -> Callable[[NDArray[np.float64]], Any]:
        """Return a function of all points of a round, in which an exception makes all values NaN."""
        excused = Excused(fun)

        def values(points: NDArray[np.float64]) -> Any:
            found = excused(points)
            if not isinstance(found, Failure):
                return found
            self.note(found, len(points))
            return np.full(len(points), np.nan)

        return values

    def note(self, result: Any, count: int = 1) -> None:
        """Count a result if it is a failure."""
        if isinstance(result, Failure):
            self._count += count
            self._last = result.text

    def told_in(self, result: Any) -> Any:
        """Return a result whose message says what has failed."""
        result.message = f"{result.message} {self.remark}".rstrip()
        return result

    @property
    def remark(self) -> str:
        """A sentence on what has failed; empty if nothing has."""
        if self._count == 0:
            return ""
        evaluations = "evaluation" if self._count == 1 else "evaluations"
        return f"{self._count} {evaluations} raised an exception and count as NaN, the last one {self._last}."


def failures_for(on_error: Any) -> Failures | None:
    """Return what counts exceptions; None if they are to reach the caller."""
    return Failures() if checked_choice("on_error", on_error, ON_ERROR) == "nan" else None


def _text_of(error: Exception) -> str:
    """Return an exception in words, on one line without a full stop."""
    text = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(":. ")
    return cut(text, 100)
