"""From the function that a caller passes in to the objective that a run evaluates.

When Numba cannot compile a user's code, its error also describes all the code around it. So the user's code
is then compiled alone, and the error names the line that is wrong.
"""

from __future__ import annotations

import functools
import inspect
import linecache
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pursuit.checks import Vector, as_float, cut, entries_of, shown
from pursuit.compiling import jit
from pursuit.compiling.cache import compiled
from pursuit.compiling.dispatch import implementation_for
from pursuit.compiling.vectors import SERIAL
from pursuit.problems.contract import evaluate, value, value_at
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


# --- what Numba compiles into the loop: a user's jitted function, or a problem of their own -------


def is_jitted(fun: Any) -> bool:
    """Say whether a function is one that Numba can compile into a loop."""
    if "numba" not in sys.modules or not jit.has_compiler():
        return False
    return bool(jit.numba().extending.is_jitted(fun)) and not fun.targetoptions.get("forceobj", False)


def jitted_problem(function: Any, args: tuple[Any, ...], n: int) -> Any:
    """Return the problem of n variables whose value is a jitted function of x and `args`."""
    try:
        inspect.signature(function.py_func).bind(None, *args)
    except TypeError as error:
        raise TypeError(f"fun must take the point and the entries of args: {error}.") from None
    for i, argument in enumerate(args):
        _type_of(f"args[{i}]", argument)
    return _jitted_class(function)(n, args)


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

    _functions[Jitted] = function
    return Jitted


_functions: dict[type, Any] = {}
"""The functions of the classes that are made of them."""


def check_compiles(problem: Any, whole: Any) -> None:
    """Reject a problem whose value Numba cannot compile, or whose value is not a real number.

    Parameters
    ----------
    problem : Problem
        The problem.
    whole : Problem
        The same inside bounds, if there are any: what has to be compiled anyway.
    """
    if not jit.has_compiler():
        return
    numba = jit.numba()
    _type_of("fun", whole)
    try:
        dispatcher, _ = compiled(value_at, whole).compile(SERIAL, whole, np.empty(whole.n))
    except numba.NumbaError as error:
        own = _error_alone(problem)
        if own is None:
            raise TypeError("Numba cannot compile fun for a point of type float64[::1].") from error
        raise TypeError(f"Numba cannot compile fun{_place(own)}: {reason_in(own)}.") from own
    returned = dispatcher.nopython_signatures[0].return_type
    if not isinstance(returned, numba.types.Integer | numba.types.Float):
        raise TypeError(
            f"The objective must return a real number, but it returns {_described_type(returned)}."
        )


def _described_type(returned: Any) -> str:
    types = jit.numba().types
    if isinstance(returned, types.NoneType):
        return "None (did you forget return?)"
    if isinstance(returned, types.Optional):
        return "None in some cases (did you forget return?)"
    return f"what Numba calls {shown(returned)}"


def _type_of(name: str, argument: Any) -> Any:
    try:
        return jit.numba().typeof(argument)
    except Exception:
        # Numba raises errors of many kinds for what it does not know.
        raise TypeError(
            f"{name} must be of a type that Numba can compile for, but {shown(argument)} was given."
        ) from None


def _error_alone(problem: Any) -> Any:
    """Return what Numba says about a user's function without anything around it; None if it has no error."""
    numba, function, point = jit.numba(), _functions.get(type(problem)), np.empty(problem.n)
    if function is not None:
        arguments = [point, *problem.args]
    else:
        function = numba.njit(implementation_for(value, type(problem)))
        arguments = [SERIAL, problem, point]
    try:
        function.compile(tuple(map(numba.typeof, arguments)))
    except numba.NumbaError as error:
        return error
    except RuntimeError:
        pass  # It was jitted for other types, and for no more.
    return None


def _place(error: Any) -> str:
    """Return where the user's code is wrong, as far as Numba says."""
    if error.loc is None:
        return ""
    line = linecache.getline(error.loc.filename, error.loc.line).strip()
    text = f" at line {error.loc.line} of {Path(error.loc.filename).name}"
    return f"{text}, {shown(line)}" if line else text


def reason_in(error: Exception, where: str = "") -> str:
    """Return the most informative line of a Numba error; `where` follows what there is none of."""
    lines = [line.strip() for line in str(error).splitlines()]
    lines = [line for line in lines if line and not line.startswith(("Failed in", "During:", "File "))]
    missing = [line.removeprefix(">>>").strip() for line in lines if line.startswith(">>>")]
    if missing and lines[0].startswith("No implementation"):
        return f"there is no {cut(missing[0], 200)}{where}"
    return cut(lines[0].rstrip(".:"), 200) if lines else type(error).__name__
