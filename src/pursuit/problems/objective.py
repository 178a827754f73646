"""From the function that a caller passes in to the objective that a run evaluates."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from pursuit.checks import Vector, as_float, entries_of, shown
from pursuit.problems.contract import value
from pursuit.problems.jitted import check_compiles, is_jitted, jitted_problem
from pursuit.problems.transform import Transform, Transformed


def checked_objective(fun: Any, args: Any, n: int, transform: Transform) -> Any:
    """Return the objective of a run: a problem for what can be compiled, else a function of x alone.

    A problem takes points as the scheme sees them, a function takes those at which it is evaluated.
    """
    if not callable(fun):
        raise TypeError(f"fun must be callable, but {shown(fun)} was given.")
    if not isinstance(args, tuple):
        args = (args,)
    if is_jitted(fun):
        problem, is_ours = jitted_problem(fun, args, n), False
    elif not value.handles(type(fun)):
        return function_of_point(fun, args)
    elif args:
        raise ValueError(f"A problem takes no further arguments, but args={shown(args)} was given.")
    elif fun.n != n:
        raise ValueError(f"x0 must have the problem's {fun.n} entries, but it has {n}.")
    else:
        problem, is_ours = fun, type(fun).__module__.partition(".")[0] == "pursuit"
    whole = Transformed.of(problem, transform)
    if not is_ours:
        check_compiles(problem, whole)
    return whole


def function_of_point(fun: Callable[..., Any], args: Any) -> Callable[[Vector], Any]:
    """Return `fun` as a function of the point alone, which pickles if `fun` does."""
    if not isinstance(args, tuple):
        args = (args,)
    return functools.partial(_with_arguments, fun, args) if args else fun


def _with_arguments(fun: Callable[..., Any], args: tuple[Any, ...], x: Vector) -> Any:
    return fun(x, *args)


def row_by_row(fun: Any, args: Any) -> Callable[[Vector], Any]:
    """Return a function of one point, given one that takes an array of points and returns their values."""
    if not callable(fun):
        raise TypeError(f"fun must be callable, but {shown(fun)} was given.")
    return functools.partial(_first_of, function_of_point(fun, args))


def _first_of(fun: Callable[[Any], Any], x: Vector) -> Any:
    return fun(x[np.newaxis])[0]


# A value and something beside it.
_PAIR = 2


class Extended(float):
    """A value with what the objective returned beside it."""

    extra: Any

    @classmethod
    def of(cls, value: float, extra: Any) -> Extended:
        """Return a value with something beside it."""
        extended = cls(value)
        extended.extra = extra
        return extended


class Extras:
    """What an objective returns beside its values, at the first and the last point with the lowest one.

    Examples
    --------
    >>> import numpy as np
    >>> from pursuit.problems.objective import Extras, as_value
    >>> extras, points = Extras(), [np.zeros(1), np.ones(1)]
    >>> values = [as_value((2.0, "some")), as_value((1.0, "more"))]
    >>> extras.take(values, points)
    >>> values, extras.beside(points[1]), extras.beside(points[0])
    ([2.0, 1.0], ('more',), (None,))
    """

    def __init__(self) -> None:
        self._lowest, self._are_there = math.inf, False
        self._kept: list[tuple[Vector, Any]] = []

    def copies(self, points: list[Vector]) -> list[Vector]:
        """Return copies of points, which the objective may overwrite, if they may be kept."""
        return [point.copy() for point in points] if self._are_there else points

    def take(self, values: list[Any], points: list[Vector]) -> None:
        """Turn values into floats; None where one is missing."""
        if Extended not in map(type, values):
            return
        self._are_there = True
        for j, found in enumerate(values):
            if found is not None:
                values[j] = float(found)
                if found <= self._lowest:
                    # Some methods go to a point that is as good as theirs, others stay.
                    first = self._kept[:1] if found == self._lowest else []
                    self._kept = [*first, (points[j], getattr(found, "extra", None))]
                    self._lowest = values[j]

    def settle(self, x: Vector) -> None:
        """Count the point at which a stage has ended as the first."""
        self._kept.sort(key=lambda kept: not np.array_equal(kept[0], x))

    def beside(self, x: Vector) -> tuple[Any, ...]:
        """Return what came with the value at a point, None if that was not kept; nothing if nothing came."""
        found = [extra for point, extra in self._kept if np.array_equal(point, x)]
        return (found[0] if found else None,) if self._are_there else ()


def as_value(result: Any) -> float:
    """Return what an objective returned as a float, and what is beside it; arrays of size one will do."""
    if isinstance(result, float):
        return float(result)
    if isinstance(result, tuple) and len(result) == _PAIR:
        try:
            return Extended.of(_only_number(result[0]), result[1])
        except TypeError:
            raise TypeError(
                "The objective must return a real number, or a pair of one and anything else, but it "
                f"returned a pair that begins with {_described(result[0])}."
            ) from None
    try:
        return _only_number(result)
    except TypeError:
        raise TypeError(
            f"The objective must return a real number, but it returned {_described(result)}."
        ) from None


def values_at_once(found: Any, count: int) -> list[float]:
    """Return the values of `count` points that one call has returned, perhaps with more for each."""
    name, extras = "With vectorized=True the result of fun", None
    if isinstance(found, tuple) and len(found) == _PAIR and math.prod(np.shape(found[0])) == count:
        found, extras = found
    # A tensor of torch may be on a GPU, and may remember how to be differentiated.
    if hasattr(found, "detach"):
        found = found.detach().cpu()
    values = checked_values(found, count, name)
    if extras is None:
        return values
    try:
        return [Extended.of(value, extra) for value, extra in zip(values, extras, strict=True)]
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} must be values, or a pair of them and one thing more for each of {count} points, but "
            f"{shown(extras)} was returned beside them."
        ) from None


def checked_values(F: Any, count: int, name: str = "F") -> list[float]:  # noqa: N803 (the convention's)
    """Return the values of `count` points, which the caller evaluated, as floats."""
    try:
        entries = entries_of(F)
    except Exception:
        # Also whatever a foreign class raises when it is asked for its entries.
        raise TypeError(f"{name} must hold real numbers, but {_described(F)} was given.") from None
    if entries.size != count:
        raise ValueError(
            f"{name} must hold one value for each of {count} points, but it holds {entries.size}."
        )
    values = []
    for j, entry in enumerate(entries.flat):
        try:
            values.append(_only_number(entry))
        except TypeError:
            raise TypeError(f"{name} must hold real numbers, but F[{j}] is {_described(entry)}.") from None
    return values


def _only_number(result: Any) -> float:
    """Return a real number, or the only entry of an array, as a float; raise TypeError for anything else."""
    if isinstance(result, list | tuple | np.ndarray):
        try:
            entries = entries_of(result)
        except Exception:
            raise TypeError from None
        if entries.size != 1:
            raise TypeError
        result = entries.flat[0]
    return as_float(result)


def _described(result: Any) -> str:
    """Describe something that is not a real number."""
    if result is None:
        return "None (did you forget return?)"
    if isinstance(result, str | bytes):
        return f"the text {shown(result)}"
    if isinstance(result, complex | np.complexfloating):
        return f"the complex number {shown(result)}"
    if isinstance(result, np.ma.MaskedArray):
        return "a masked array"
    if isinstance(result, np.ndarray):
        return f"an array of shape {result.shape} and type {result.dtype}"
    return shown(result)
