"""The vector operations that schemes and problems are written in, and the team that executes them.

The first argument of every operation is the team, whose type decides on the implementation. `Serial` is one
CPU thread; an accelerator would register the same operations for a team of its own and leave every scheme as
it is.

Operations that change an array take it as their second argument and work in place. Sums run in four fixed
lanes instead of being left to the compiler to re-associate: that costs 0.15 ns per element (a standard normal
costs 3 ns), and the same seed gives the same bits on every machine and in every driver.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from pursuit.checks import Vector
from pursuit.compiling.dispatch import GenericFunction, generic
from pursuit.compiling.inner import inner

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
    for i in range(out.shape[0]):
        out[i] = x[i] + a * u[i]


@generic(on="team")
def add(team: Any, x: Vector, a: float, u: Vector) -> None:
    """Add a u to x."""


@add.register(Serial)
def _add(team, x, a, u):
    for i in range(x.shape[0]):
        x[i] += a * u[i]


@generic(on="team")
def blend(team: Any, x: Vector, a: float, b: float, y: Vector) -> None:
    """Set x to a x + b y."""


@blend.register(Serial)
def _blend(team, x, a, b, y):
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
    for i in range(x.shape[0]):
        x[i] *= a


@generic(on="team")
def copy(team: Any, out: Vector, x: Vector) -> None:
    """Set out to x."""


@copy.register(Serial)
def _copy(team, out, x):
    for i in range(out.shape[0]):
        out[i] = x[i]


@generic(on="team")
def fill(team: Any, x: Vector, a: float) -> None:
    """Set every entry of x to a."""


@fill.register(Serial)
def _fill(team, x, a):
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
    for i in range(x.shape[0]):
        x[i] *= y[i]


SLICE = 512
"""A slice of so many numbers of some rows stays in a CPU's cache."""


@generic(on="team")
def mix_rows(team: Any, x: Vector, a: float, weights: Vector, rows: Matrix) -> None:
    """Set x to a x + sum_i weights[i] rows[i], slice by slice, so that x passes through memory once."""


@mix_rows.register(Serial)
def _mix_rows(team, x, a, weights, rows):
    n = x.shape[0]
    for start in range(0, n, SLICE):
        mix_slice(x[start : min(start + SLICE, n)], a, weights, rows, start)


@inner
def mix_slice(x, a, weights, rows, start):
    """Set x to a x + sum_i weights[i] rows[i, start : start + x.size], on one thread.

    Four rows at a time, so that x is read and written less often; the order of the sum is that of the rows.
    """
    size, fours = x.shape[0], rows.shape[0] - rows.shape[0] % 4
    end = start + size
    for i in range(size):
        x[i] *= a
    for r in range(0, fours, 4):
        first, second, third, fourth = weights[r], weights[r + 1], weights[r + 2], weights[r + 3]
        u, v = rows[r, start:end], rows[r + 1, start:end]
        w, y = rows[r + 2, start:end], rows[r + 3, start:end]
        for i in range(size):
            x[i] = x[i] + first * u[i] + second * v[i] + third * w[i] + fourth * y[i]
    for r in range(fours, rows.shape[0]):
        weight, u = weights[r], rows[r, start:end]
        for i in range(size):
            x[i] += weight * u[i]


@generic(on="team")
def push(team: Any, rows: Matrix) -> None:
    """Move every row one place up: the first is lost, and the last appears twice."""


@push.register(Serial)
def _push(team, rows):
    for r in range(rows.shape[0] - 1):
        # `rows[r] = ...` would first ask whether the two overlap.
        copy(team, rows[r], rows[r + 1])


@generic(on="team")
def apply_matrix(team: Any, out: Vector, matrix: Matrix, x: Vector) -> None:
    """Set out to matrix x."""


@apply_matrix.register(Serial)
def _apply_matrix(team, out, matrix, x):
    for i in range(out.shape[0]):
        out[i] = dot(team, x.shape[0], matrix[i], x)


@generic(on="team")
def apply_factor(team: Any, out: Vector, columns: Matrix, x: Vector) -> None:
    """Set out to A x, A lower triangular, its column j stored from columns[j, j] on."""


@apply_factor.register(Serial)
def _apply_factor(team, out, columns, x):
    n = out.shape[0]
    for i in range(n):
        out[i] = 0.0
    for j in range(n):
        weight = x[j]
        below = out[j:]
        column = columns[j, j:]
        for i in range(n - j):
            below[i] += weight * column[i]


@generic(on="team")
def update_factor(team: Any, columns: Matrix, keep: float, gain: float, p: Vector, work: Vector) -> None:
    """Replace A A^T by keep A A^T + gain p p^T, A lower triangular, in Theta(n^2) operations."""


@update_factor.register(Serial)
def _update_factor(team, columns, keep, gain, p, work):
    n = p.shape[0]
    root = math.sqrt(keep)
    weight = math.sqrt(gain)
    for i in range(n):
        work[i] = weight * p[i]
    for j in range(n):
        # One Givens rotation folds work[j] into the diagonal and what is left of it into the rest.
        diagonal = root * columns[j, j]
        new = math.sqrt(diagonal * diagonal + work[j] * work[j])
        cosine = diagonal / new
        sine = work[j] / new
        columns[j, j] = new
        kept = cosine * root
        column = columns[j, j + 1 :]
        rest = work[j + 1 :]
        for i in range(n - j - 1):
            old = column[i]
            column[i] = kept * old + sine * rest[i]
            rest[i] = cosine * rest[i] - sine * root * old


class Executor(NamedTuple):
    """How a class of teams executes what is written entry by entry."""

    summing: Callable[[Any], Callable[..., float]]
    """Returns the function `(team, n, *arguments)` that sums a compiled term over i < n."""
    repeating: Callable[[Any], Callable[..., None]]
    """Returns the function `(team, n, *arguments)` that calls a compiled function for all i < n."""


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
    compiled_term = numba.njit(term)

    @generic(on="team")
    def total(team: Any, n: int, *arrays: Any) -> float:
        """Return the sum over i < n."""

    total.__name__ = f"sum of {term.__name__}"
    total.__doc__ = term.__doc__ or total.__doc__

    @total.register(Serial)
    def serial(team: Any, n: int, *arrays: Any) -> float:
        first = second = third = fourth = 0.0
        whole = n - n % 4
        for i in range(0, whole, 4):
            first += compiled_term(i, *arrays)
            second += compiled_term(i + 1, *arrays)
            third += compiled_term(i + 2, *arrays)
            fourth += compiled_term(i + 3, *arrays)
        for i in range(whole, n):
            first += compiled_term(i, *arrays)
        return (first + third) + (second + fourth)

    _declare(total, compiled_term, "summing")
    return total


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
    compiled_step = numba.njit(step)

    @generic(on="team")
    def all_steps(team: Any, n: int, *arguments: Any) -> None:
        """Do it for all i < n."""

    all_steps.__name__ = f"{step.__name__} of all"
    all_steps.__doc__ = step.__doc__ or all_steps.__doc__

    @all_steps.register(Serial)
    def serial(team: Any, n: int, *arguments: Any) -> None:
        for i in range(n):
            compiled_step(i, *arguments)

    _declare(all_steps, compiled_step, "repeating")
    return all_steps


@summed
def dot(i, x, y):
    """Return x'y."""
    return x[i] * y[i]


@inner
def add_products(out, rows, x, start):
    """Add the inner product of x with rows[i, start : start + x.size] to every out[i], on one thread.

    Four rows at a time, each in two lanes: of eight sums, a processor need not wait for the one before.
    """
    size, fours = x.shape[0], rows.shape[0] - rows.shape[0] % 4
    end, even = start + size, size - size % 2
    for r in range(0, fours, 4):
        u, v = rows[r, start:end], rows[r + 1, start:end]
        w, y = rows[r + 2, start:end], rows[r + 3, start:end]
        of_u = of_v = of_w = of_y = more_of_u = more_of_v = more_of_w = more_of_y = 0.0
        for i in range(0, even, 2):
            of_u += u[i] * x[i]
            of_v += v[i] * x[i]
            of_w += w[i] * x[i]
            of_y += y[i] * x[i]
            more_of_u += u[i + 1] * x[i + 1]
            more_of_v += v[i + 1] * x[i + 1]
            more_of_w += w[i + 1] * x[i + 1]
            more_of_y += y[i + 1] * x[i + 1]
        for i in range(even, size):
            of_u += u[i] * x[i]
            of_v += v[i] * x[i]
            of_w += w[i] * x[i]
            of_y += y[i] * x[i]
        out[r] += of_u + more_of_u
        out[r + 1] += of_v + more_of_v
        out[r + 2] += of_w + more_of_w
        out[r + 3] += of_y + more_of_y
    for r in range(fours, rows.shape[0]):
        out[r] += dot(SERIAL, size, rows[r, start:end], x)
