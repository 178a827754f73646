"""Evaluations that fail, and what is said of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pursuit.checks import Vector, checked_choice, cut
from pursuit.problems.objective import as_value

ON_ERROR = ("raise", "nan")
"""What may happen with an exception of the function."""


RAISED, LATE, DIED = "raised an exception", "took longer than eval_timeout", "died with the process"
"""How an evaluation may fail."""


class Failure(float):
    """The value of an evaluation that failed: NaN, with how it failed, and more in words."""

    kind: str = RAISED
    text: str = ""

    @classmethod
    def of(cls, kind: str, text: str) -> Failure:
        """Return a failure."""
        failure = cls("nan")
        failure.kind, failure.text = kind, text
        return failure


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
            return Failure.of(RAISED, _text_of(error))


class Failures:
    """Counts the evaluations of a run that failed, wherever they were made."""

    def __init__(self, *, excuses: bool) -> None:
        self.excuses: bool = excuses
        """Whether exceptions count as failures, and do not end the run."""
        self._counts: dict[str, int] = {}
        self._last: dict[str, str] = {}

    def read(self, result: Any) -> float:
        """Return the value of what a function returned, and count a failure."""
        self.note(result)
        return as_value(result)

    def read_parts(self, nothing: Vector, result: Any) -> tuple[Any, ...]:
        """Do the same for a value and the constraints beside it, which are `nothing` if both have failed."""
        parts = (result, nothing) if isinstance(result, Failure) else tuple(result)
        self.note(parts[0])
        return parts

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
            self._counts[result.kind] = self._counts.get(result.kind, 0) + count
            self._last[result.kind] = result.text

    def said_after(self, message: str) -> str:
        """Return a message that also says what has failed."""
        return f"{message} {self.remark}".rstrip()

    @property
    def remark(self) -> str:
        """Sentences on what has failed; empty if nothing has."""
        return " ".join(
            f"{count} evaluation{'s' * (count > 1)} {kind} and count{'s' * (count == 1)} as NaN, "
            f"the last one {self._last[kind]}."
            for kind, count in self._counts.items()
        )


def failures_for(on_error: Any) -> Failures:
    """Return what counts failures."""
    return Failures(excuses=checked_choice("on_error", on_error, ON_ERROR) == "nan")


def _text_of(error: Exception) -> str:
    """Return an exception in words, on one line without a full stop."""
    text = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(":. ")
    return cut(text, 100)
