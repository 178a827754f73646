"""What people minimise, made into what a run evaluates."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba.core.registry import CPUDispatcher

from pursuit.checks import Vector
from pursuit.problems.bounds import Bounded, Box
from pursuit.problems.contract import evaluate, value


def checked_objective(fun: Any, args: Any, n: int, box: Box | None) -> Any:
    """Return the objective of a run: a problem for what can be compiled, else a function of x alone."""
    if not callable(fun):
        raise TypeError(f"fun must be callable, but {fun!r} was given.")
    if not isinstance(args, tuple):
        args = (args,)
    if value.handles(type(fun)):
        if args:
            raise ValueError(f"A problem takes no further arguments, but args={args!r} was given.")
        if fun.n != n:
            raise ValueError(f"x0 must have the problem's {fun.n} entries, but it has {n}.")
        return fun if box is None else Bounded(fun, box)
    if isinstance(fun, CPUDispatcher):
        problem = _jitted_class(fun)(n, args)
        return problem if box is None else Bounded(problem, box)
    return function_of_point(fun, args)


def function_of_point(fun: Callable[..., Any], args: Any) -> Callable[[Vector], Any]:
    """Return `fun` as a function of the point alone, which pickles if `fun` does."""
    if not isinstance(args, tuple):
        args = (args,)
    return functools.partial(_with_arguments, fun, args) if args else fun


def _with_arguments(fun: Callable[..., Any], args: tuple[Any, ...], x: Vector) -> Any:
    return fun(x, *args)


@functools.cache
def _jitted_class(function: Any) -> type:
    """Return the class of problems whose value is a function that Numba has jitted."""

    class Jitted(NamedTuple):
        n: int
        args: tuple[Any, ...]

        def __call__(self, x: Any) -> float:
            return evaluate(self, x)

    @value.register(Jitted)
    def _value(team, problem, x):
        return function(x, *problem.args)

    return Jitted


def as_value(result: Any) -> float:
    """Return what an objective returned as a float; arrays of size one will do."""
    if isinstance(result, bool | np.bool_) or not isinstance(result, int | float | np.generic | np.ndarray):
        result = _asarray(result)
    if isinstance(result, np.ndarray | np.generic):
        if result.size != 1 or result.dtype.kind not in "iuf":
            raise TypeError(
                "The objective must return a real number, but it returned "
                f"an array of shape {result.shape} and type {result.dtype}."
            )
        return float(result.item())
    return float(result)


def _asarray(result: Any) -> Any:
    try:
        return np.asarray(result)
    except ValueError:
        return np.asarray(None)
