"""The vector operations that schemes and problems are written in, and the team that executes them.

Every operation takes its team first and is resolved on the team's type. `Serial` is one CPU thread; an
accelerator would register the same operations for a team of its own and leave every scheme as it is.

Operations that change an array name it second and work in place. Sums run in four fixed lanes instead
of being left to the compiler to re-associate: that costs 0.15 ns per element (a standard normal costs
3 ns), and the same seed gives the same bits on every machine and in every driver.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numba

from pursuit.compiling.dispatch import Generic


class Serial(NamedTuple):
    """One thread of a CPU."""

    lanes: int = 1


SERIAL = Serial()

shift = Generic("shift", on=0)
add = Generic("add", on=0)
blend = Generic("blend", on=0)
scale = Generic("scale", on=0)
copy = Generic("copy", on=0)
mix_rows = Generic("mix_rows", on=0)
push = Generic("push", on=0)
apply_matrix = Generic("apply_matrix", on=0)
apply_factor = Generic("apply_factor", on=0)
update_factor = Generic("update_factor", on=0)


@shift.register(Serial)
def _shift(team, out, x, a, u):
    """Set out to x + a u."""
    for i in range(out.shape[0]):
        out[i] = x[i] + a * u[i]


@add.register(Serial)
def _add(team, x, a, u):
    """Add a u to x."""
    for i in range(x.shape[0]):
        x[i] += a * u[i]


@blend.register(Serial)
def _blend(team, x, a, b, y):
    """Set x to a x + b y."""
    for i in range(x.shape[0]):
        x[i] = a * x[i] + b * y[i]


@scale.register(Serial)
def _scale(team, x, a):
    """Multiply x by a."""
    for i in range(x.shape[0]):
        x[i] *= a


@copy.register(Serial)
def _copy(team, out, x):
    """Set out to x."""
    for i in range(out.shape[0]):
        out[i] = x[i]


# A slice of this many numbers of every row stays in a CPU's first-level cache.
_SLICE = 512


@mix_rows.register(Serial)
def _mix_rows(team, x, a, weights, rows):
    """Set x to a x + sum_i weights[i] rows[i], slice by slice, so that x passes through memory once."""
    n = x.shape[0]
    for start in range(0, n, _SLICE):
        end = min(start + _SLICE, n)
        part = x[start:end]
        for i in range(part.shape[0]):
            part[i] *= a
        for r in range(rows.shape[0]):
            weight = weights[r]
            row = rows[r, start:end]
            for i in range(part.shape[0]):
                part[i] += weight * row[i]


@push.register(Serial)
def _push(team, rows):
    """Move every row one place up: the first is lost, the last stands twice."""
    for r in range(rows.shape[0] - 1):
        rows[r] = rows[r + 1]


@apply_matrix.register(Serial)
def _apply_matrix(team, out, matrix, x):
    """Set out to matrix x."""
    for i in range(out.shape[0]):
        out[i] = dot(team, x.shape[0], matrix[i], x)


@apply_factor.register(Serial)
def _apply_factor(team, out, columns, x):
    """Set out to A x, A lower triangular, its column j stored from columns[j, j] on."""
    n = out.shape[0]
    for i in range(n):
        out[i] = 0.0
    for j in range(n):
        weight = x[j]
        below = out[j:]
        column = columns[j, j:]
        for i in range(n - j):
            below[i] += weight * column[i]


@update_factor.register(Serial)
def _update_factor(team, columns, keep, gain, p, work):
    """Replace A A^T by keep A A^T + gain p p^T, A lower triangular, in Theta(n^2) operations."""
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


def summed(term: Callable[..., float]) -> Generic:
    """Turn `term(i, *arrays)` into the function `(team, n, *arrays)` that sums it over i < n."""
    compiled_term = numba.njit(term)
    total = Generic(f"sum of {term.__name__}", on=0)

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

    total.register(Serial)(serial)
    return total


@summed
def dot(i, x, y):
    """Return x'y."""
    return x[i] * y[i]
