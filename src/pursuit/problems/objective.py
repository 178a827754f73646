"""From the function that a caller passes in to the objective that a run evaluates."""

from __future__ import annotations

import functools
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


def as_value(result: Any) -> float:
    """Return what an objective returned as a float; arrays of size one will do."""
    if isinstance(result, float):
        return float(result)
    try:
        return _only_number(result)
    except TypeError:
        raise TypeError(
            f"The objective must return a real number, but it returned {_described(result)}."
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
