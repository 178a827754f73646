"""The vector operations that schemes and problems are written in, and the team that executes them.

The first argument of every operation is the team, whose type decides on the implementation. `Serial` is one
CPU thread: called from Python an operation is NumPy's, on whole arrays, and in compiled code it is a loop,
with the same bits. A GPU's teams execute the same operations and leave every scheme as it is.

Operations that change an array take it as their second argument and work in place. Sums run in four fixed
lanes instead of being left to a library or a compiler to re-associate: so the same seed gives the same bits
on every machine and in every driver.
"""

from __future__ import annotations

import dis
import inspect
import itertools
from collections.abc import Callable
from typing import Any, Concatenate, NamedTuple, ParamSpec, cast

import numpy as np
from numpy.typing import NDArray

from pursuit.checks import Vector
from pursuit.compiling.dispatch import GenericFunction, generic
from pursuit.compiling.jit import compilable, inlined, loop_for

Matrix = NDArray[np.float64]
P = ParamSpec("P")
_CALLS = frozenset({"CALL", "CALL_FUNCTION_EX", "CALL_KW"})
_STORES = frozenset({"STORE_SUBSCR", "STORE_SLICE"})


class Serial(NamedTuple):
    """One thread of a CPU."""

    lanes: int = 1


SERIAL = Serial()


class Executor(NamedTuple):
    """How a class of teams executes what is written entry by entry."""

    setting: Callable[[Any], Callable[..., None]]
    """Returns the function `(team, out, *arguments)` that sets all entries of an array."""
    summing: Callable[[Any], Callable[..., float]]
    """Returns the function `(team, n, *arguments)` that sums a term over i < n."""
    repeating: Callable[[Any], Callable[..., None]]
    """Returns the function `(team, n, *arguments)` that calls a function for all i < n."""


_by_entry: list[tuple[Any, Any, str]] = []
"""Generic functions that are written entry by entry, what they do for an entry, and how."""
_executors: dict[type, Executor] = {}


def join(team: type, executor: Executor) -> None:
    """Let a class of teams execute what is written entry by entry, whenever that was or will be declared."""
    _executors[team] = executor
    for operation, by_entry, how in _by_entry:
        operation.register(team)(getattr(executor, how)(by_entry))


def _operation(by_entry: Any, how: str, serial: Any, loop: Any) -> Any:
    """Return the operation of all teams that does something entry by entry.

    Python executes `serial`, compiled code on a CPU `loop`, and a class of teams what its executor makes.
    """

    @generic(on="team")
    def operation(team: Any, *arguments: Any) -> Any:
        """Do it for all entries."""

    operation.__name__, operation.__doc__ = by_entry.__name__, by_entry.__doc__ or operation.__doc__
    operation.register(Serial)(serial)
    loop_for(serial)(loop)
    _by_entry.append((operation, by_entry, how))
    for team, executor in _executors.items():
        operation.register(team)(getattr(executor, how)(by_entry))
    return operation


def entrywise(entry: Callable[Concatenate[int, P], Any]) -> GenericFunction[Concatenate[Any, P], None]:
    """Turn `entry(i, out, *arguments)` into the operation `(team, out, *arguments)` that sets every out[i].

    Of every array an entry depends on entry i alone.

    Examples
    --------
    >>> import numpy as np
    >>> from pursuit.compiling.vectors import SERIAL, entrywise
    >>> @entrywise
    ... def subtract(i, x, y):
    ...     return x[i] - y[i]
    >>> x = np.array([3.0, 4.0])
    >>> subtract(SERIAL, x, np.ones(2))
    >>> x
    array([2., 3.])
    """
    by_entry: Any = compilable(entry)

    def serial(team: Any, out: Vector, *arguments: Any) -> None:
        out[:] = by_entry(slice(None), out, *arguments)

    def loop(team: Any, out: Vector, *arguments: Any) -> None:
        for i in range(out.shape[0]):
            out[i] = by_entry(i, out, *arguments)

    operation = _operation(entry, "setting", serial, loop)
    shown = inspect.signature(entry)
    first, *others = shown.parameters.values()
    operation.__signature__ = shown.replace(parameters=[first.replace(name="team"), *others])
    return cast("GenericFunction[Concatenate[Any, P], None]", operation)


def summed(term: Callable[..., float]) -> GenericFunction[..., float]:
    """Turn `term(i, *arguments)` into the generic function `(team, n, *arguments)` that sums it over i < n.

    Examples
    --------
    >>> import numpy as np
    >>> from pursuit.compiling.vectors import SERIAL, summed
    >>> @summed
    ... def sum_of_squares(i, x):
    ...     return x[i] * x[i]
    >>> sum_of_squares(SERIAL, 2, np.array([3.0, 4.0]))
    25.0
    """
    index = index_of_all(compilable(term))

    def serial(team: Any, n: int, *arrays: Any) -> float:
        if index is None:
            return sum_in_lanes(np.array([term(i, *arrays) for i in range(n)], dtype=np.float64))
        return sum_in_lanes(np.broadcast_to(term(index(n), *arrays), (n,)))

    def loop(team: Any, n: int, *arrays: Any) -> float:
        first = second = third = fourth = 0.0
        whole = n - n % 4
        for i in range(0, whole, 4):
            first += term(i, *arrays)
            second += term(i + 1, *arrays)
            third += term(i + 2, *arrays)
            fourth += term(i + 3, *arrays)
        for i in range(whole, n):
            first += term(i, *arrays)
        return (first + third) + (second + fourth)

    return cast("GenericFunction[..., float]", _operation(term, "summing", serial, loop))


def sum_in_lanes(terms: Vector) -> float:
    """Return the sum of numbers in four lanes, of which the first one takes what is left over."""
    whole = terms.size - terms.size % 4
    lanes = np.add.reduce(terms[:whole].reshape(-1, 4), axis=0).tolist()
    first, second, third, fourth = (0.0 + lane for lane in lanes)
    for term in terms[whole:].tolist():
        first += term
    return float((first + third) + (second + fourth))


def repeated(step: Callable[..., None]) -> GenericFunction[..., None]:
    """Turn `step(i, *arguments)` into the generic function `(team, n, *arguments)` that does it for i < n.

    A step may read any entry of what no step writes, and of what steps write, entry i alone.

    Examples
    --------
    >>> import numpy as np
    >>> from pursuit.compiling.vectors import SERIAL, repeated
    >>> @repeated
    ... def square(i, x):
    ...     x[i] *= x[i]
    >>> x = np.array([3.0, 4.0])
    >>> square(SERIAL, 2, x)
    >>> x
    array([ 9., 16.])
    """
    index = index_of_all(compilable(step))

    def serial(team: Any, n: int, *arguments: Any) -> None:
        for i in range(n) if index is None else (index(n),):
            step(i, *arguments)

    def loop(team: Any, n: int, *arguments: Any) -> None:
        for i in range(n):
            step(i, *arguments)

    return cast("GenericFunction[..., None]", _operation(step, "repeating", serial, loop))


def index_of_all(function: Callable[..., Any]) -> Callable[[int], Any] | None:
    """Return what makes of n an index with which `function(i, *arrays)` works for all i < n at once.

    None if it has to be called for one i after the other: if it branches, calls functions, or takes powers,
    whose last bits are not the same for whole arrays.

    Examples
    --------
    >>> from pursuit.compiling.vectors import index_of_all
    >>> index_of_all(lambda i, x: x[i] * x[i])(3)
    slice(None, 3, None)
    >>> index_of_all(lambda i, x: x[i] * x[i + 1])(3)
    array([0, 1, 2])
    >>> index_of_all(lambda i, x: abs(x[i])) is None
    True
    """
    names = [f"{code.opname} {code.argrepr}" for code in dis.get_instructions(function)]
    if any(name.split()[0] in _CALLS or "JUMP" in name or "**" in name for name in names):
        return None
    # A slice is faster, but what it reads changes with the array.
    writes = any(name.split()[0] in _STORES for name in names)
    return np.arange if writes or not reads_own_entries_only(function) else slice


def reads_own_entries_only(term: Callable[..., Any]) -> bool:
    """Say whether `term(i, *arrays)` uses i for its entries alone, as far as its code shows.

    Examples
    --------
    >>> from pursuit.compiling.vectors import reads_own_entries_only
    >>> reads_own_entries_only(lambda i, x, y: x[i] * y[i])
    True
    >>> reads_own_entries_only(lambda i, x: x[i] * x[i + 1])
    False
    """
    index = term.__code__.co_varnames[0]
    for before, code in itertools.pairwise(dis.get_instructions(term)):
        # Some instructions load or store two variables.
        names = before.argval if isinstance(before.argval, tuple) else (before.argval,)
        names = names if "_FAST" in before.opname else (None,)
        is_entry = reads_entries(code) or code.opname in _STORES
        if index in names[:-1] or is_entry != (names[-1] == index) or code.opname in _CALLS:
            return False
    return True


def reads_entries(instruction: dis.Instruction) -> bool:
    """Say whether an instruction of Python reads entries of an array; from Python 3.14 on as an operation."""
    return instruction.opname in ("BINARY_SUBSCR", "BINARY_SLICE") or (
        instruction.opname == "BINARY_OP" and instruction.argrepr == "[]"
    )


@summed
def dot(i, x, y):
    """Return x'y."""
    return x[i] * y[i]


@entrywise
def walk(i: int, out: Vector, x: Vector, a: float, u: Vector) -> Any:
    """Set out to x + a u, and to x where a is 0, whatever u is."""
    return x[i] if a == 0.0 else x[i] + a * u[i]


@entrywise
def add(i: int, x: Vector, a: float, u: Vector) -> Any:
    """Add a u to x."""
    return x[i] + a * u[i]


@entrywise
def blend(i: int, x: Vector, a: float, b: float, y: Vector) -> Any:
    """Set x to a x + b y."""
    return a * x[i] + b * y[i]


@entrywise
def scale(i: int, x: Vector, a: float) -> Any:
    """Multiply x by a."""
    return a * x[i]


@entrywise
def copy(i: int, out: Vector, x: Vector) -> Any:
    """Set out to x."""
    return x[i]


@entrywise
def fill(i: int, x: Vector, a: float) -> Any:
    """Set every entry of x to a."""
    return a


@entrywise
def multiply(i: int, x: Vector, y: Vector) -> Any:
    """Multiply every entry of x by that of y."""
    return x[i] * y[i]


@generic(on="team")
def exchange(team: Any, x: Vector, i: int, value: float) -> float:
    """Set x[i] to a value and return what it was."""


@exchange.register(Serial)
def _exchange(team, x, i, value):
    before = x[i]
    x[i] = value
    return before


@inlined
def drift(team: Any, y: Vector, v: Vector, theta: Any, along: Any, u: Vector) -> Any:
    """Set y to (y + a u + theta v) / (1 + theta), and v to (1 - theta) v + theta y + b u, in one pass.

    `along` is a and b. Where a is 0, so is b, and u need not be finite.
    """
    a, b = along
    keep, part, rest = 1.0 / (1.0 + theta), theta / (1.0 + theta), 1.0 - theta
    if a == 0.0:
        _drift(team, y.shape[0], y, v, (keep, part, rest, theta))
    else:
        _drift_along(team, y.shape[0], y, v, u, (keep, part, rest, theta, a, b))


@repeated
def _drift(i, y, v, factors):
    keep, part, rest, theta = factors
    new = keep * y[i] + part * v[i]
    v[i] = rest * v[i] + theta * new
    y[i] = new


@repeated
def _drift_along(i, y, v, u, factors):
    keep, part, rest, theta, a, b = factors
    new = keep * (y[i] + a * u[i]) + part * v[i]
    v[i] = rest * v[i] + theta * new + b * u[i]
    y[i] = new
