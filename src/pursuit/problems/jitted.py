"""What Numba compiles into the loop of a run: a user's jitted function, or a problem of their own.

When Numba cannot compile a user's code, its error also describes all the code around it. So the user's code
is then compiled alone, and the error names the line that is wrong.
"""

from __future__ import annotations

import functools
import inspect
import linecache
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pursuit.checks import cut, shown
from pursuit.compiling import jit
from pursuit.compiling.cache import compiled
from pursuit.compiling.dispatch import implementation_for
from pursuit.compiling.vectors import SERIAL
from pursuit.problems.contract import evaluate, value, value_at


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
        raise TypeError(f"The objective must return a real number, but it returns {_described(returned)}.")


def _described(returned: Any) -> str:
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
