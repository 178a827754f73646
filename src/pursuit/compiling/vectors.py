"""The vector operations that schemes and problems are written in, and the team that executes them.

The first argument of every operation is the team, whose type decides on the implementation. `Serial` is one
CPU thread: called from Python an operation is NumPy's, on whole arrays, and in compiled code it is a loop
(`loops.py`), with the same bits. A GPU's teams register the same operations and leave every scheme as it is.

Operations that change an array take it as their second argument and work in place. Sums run in four fixed
lanes instead of being left to a library or a compiler to re-associate: so the same seed gives the same bits
on every machine and in every driver.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pursuit.checks import Vector
from pursuit.compiling.dispatch import GenericFunction, generic
from pursuit.compiling.jit import compilable, loop_for
from pursuit.compiling.terms import index_of_all

Matrix = NDArray[np.float64]


class Serial(NamedTuple):
    """One thread of a CPU."""

    lanes: int = 1


SERIAL = Serial()


@generic(on="team")
def shift(team: Any, out: Vector, x: Vector, a: float, u: Vector) -> None:
    """Set out to x + a u."""


@shift.register(Serial)
def _shift(team, out, x, a, u):
    out[:] = x + a * u


@loop_for(_shift)
def _loop_shift(team, out, x, a, u):
    for i in range(out.shape[0]):
        out[i] = x[i] + a * u[i]


@generic(on="team")
def add(team: Any, x: Vector, a: float, u: Vector) -> None:
    """Add a u to x."""


@add.register(Serial)
def _add(team, x, a, u):
    x += a * u


@loop_for(_add)
def _loop_add(team, x, a, u):
    for i in range(x.shape[0]):
        x[i] += a * u[i]


@generic(on="team")
def blend(team: Any, x: Vector, a: float, b: float, y: Vector) -> None:
    """Set x to a x + b y."""


@blend.register(Serial)
def _blend(team, x, a, b, y):
    x[:] = a * x + b * y


@loop_for(_blend)
def _loop_blend(team, x, a, b, y):
    for i in range(x.shape[0]):
        x[i] = a * x[i] + b * y[i]


@generic(on="team")
def drift(team: Any, y: Vector, v: Vector, theta: float, a: float, b: float, u: Vector) -> None:
    """Set y to (y + a u + theta v) / (1 + theta), and v to (1 - theta) v + theta y + b u, in one pass.

    Where a is 0, so is b, and u need not be finite.
    """


@drift.register(Serial)
def _drift(team, y, v, theta, a, b, u):
    keep, part, rest = 1.0 / (1.0 + theta), theta / (1.0 + theta), 1.0 - theta
    if a == 0.0:
        y[:] = keep * y + part * v
        v[:] = rest * v + theta * y
    else:
        y[:] = keep * (y + a * u) + part * v
        v[:] = rest * v + theta * y + b * u


@loop_for(_drift)
def _loop_drift(team, y, v, theta, a, b, u):
    keep, part, rest = 1.0 / (1.0 + theta), theta / (1.0 + theta), 1.0 - theta
    if a == 0.0:
        for i in range(y.shape[0]):
            new, old = keep * y[i] + part * v[i], v[i]
            y[i] = new
            v[i] = rest * old + theta * new
    else:
        for i in range(y.shape[0]):
            way, old = u[i], v[i]
            new = keep * (y[i] + a * way) + part * old
            y[i] = new
            v[i] = rest * old + theta * new + b * way


@generic(on="team")
def scale(team: Any, x: Vector, a: float) -> None:
    """Multiply x by a."""


@scale.register(Serial)
def _scale(team, x, a):
    x *= a


@loop_for(_scale)
def _loop_scale(team, x, a):
    for i in range(x.shape[0]):
        x[i] *= a


@generic(on="team")
def copy(team: Any, out: Vector, x: Vector) -> None:
    """Set out to x."""


@copy.register(Serial)
def _copy(team, out, x):
    out[:] = x


@loop_for(_copy)
def _loop_copy(team, out, x):
    for i in range(out.shape[0]):
        out[i] = x[i]


@generic(on="team")
def fill(team: Any, x: Vector, a: float) -> None:
    """Set every entry of x to a."""


@fill.register(Serial)
def _fill(team, x, a):
    x[:] = a


@loop_for(_fill)
def _loop_fill(team, x, a):
    for i in range(x.shape[0]):
        x[i] = a


@generic(on="team")
def exchange(team: Any, x: Vector, i: int, value: float) -> float:
    """Set x[i] to a value and return what it was."""


@exchange.register(Serial)
def _exchange(team, x, i, value):
    before = x[i]
    x[i] = value
    return before


@generic(on="team")
def multiply(team: Any, x: Vector, y: Vector) -> None:
    """Multiply every entry of x by that of y."""


@multiply.register(Serial)
def _multiply(team, x, y):
    x *= y


@loop_for(_multiply)
def _loop_multiply(team, x, y):
    for i in range(x.shape[0]):
        x[i] *= y[i]


class Executor(NamedTuple):
    """How a class of teams executes what is written entry by entry."""

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
    for function, by_entry, how in _by_entry:
        function.register(team)(getattr(executor, how)(by_entry))


def _declare(function: Any, by_entry: Any, how: str) -> None:
    _by_entry.append((function, by_entry, how))
    for team, executor in _executors.items():
        function.register(team)(getattr(executor, how)(by_entry))


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
    compilable(term)

    @generic(on="team")
    def total(team: Any, n: int, *arrays: Any) -> float:
        """Return the sum over i < n."""

    total.__name__ = f"sum of {term.__name__}"
    total.__doc__ = term.__doc__ or total.__doc__
    index = index_of_all(term)

    @total.register(Serial)
    def serial(team: Any, n: int, *arrays: Any) -> float:
        if index is None:
            return sum_in_lanes(np.array([term(i, *arrays) for i in range(n)], dtype=np.float64))
        return sum_in_lanes(np.broadcast_to(term(index(n), *arrays), (n,)))

    @loop_for(serial)
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

    _declare(total, term, "summing")
    return total


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
    compilable(step)

    @generic(on="team")
    def all_steps(team: Any, n: int, *arguments: Any) -> None:
        """Do it for all i < n."""

    all_steps.__name__ = f"{step.__name__} of all"
    all_steps.__doc__ = step.__doc__ or all_steps.__doc__
    index = index_of_all(step)

    @all_steps.register(Serial)
    def serial(team: Any, n: int, *arguments: Any) -> None:
        for i in range(n) if index is None else (index(n),):
            step(i, *arguments)

    @loop_for(serial)
    def loop(team: Any, n: int, *arguments: Any) -> None:
        for i in range(n):
            step(i, *arguments)

    _declare(all_steps, step, "repeating")
    return all_steps


@summed
def dot(i, x, y):
    """Return x'y."""
    return x[i] * y[i]
