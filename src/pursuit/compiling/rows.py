"""Vector operations on the rows of matrices, and on triangular matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pursuit.checks import Vector
from pursuit.compiling.dispatch import generic
from pursuit.compiling.jit import compilable, loop_for
from pursuit.compiling.vectors import SERIAL, Matrix, Serial, add, copy, dot, entrywise, fill, repeated, scale

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


@compilable
def mix_slice(x: Any, a: Any, weights: Any, rows: Any, start: Any) -> Any:
    """Set x to a x + sum_i weights[i] rows[i, start : start + x.size], on one thread."""
    # Four rows at a time, so that x is read and written less often; the order of the sum is that of the rows.
    end, m = start + x.shape[0], rows.shape[0]
    fours = m - m % 4
    scale(SERIAL, x, a)
    for r in range(0, fours, 4):
        u, v = rows[r, start:end], rows[r + 1, start:end]
        w, y = rows[r + 2, start:end], rows[r + 3, start:end]
        _add_four(SERIAL, x, (weights[r], weights[r + 1], weights[r + 2], weights[r + 3]), (u, v, w, y))
    for r in range(fours, m):
        add(SERIAL, x, weights[r], rows[r, start:end])


@entrywise
def _add_four(i, x, weights, vectors):
    """Add multiples of four vectors to x, one after the other."""
    u, v, w, y = vectors
    return x[i] + weights[0] * u[i] + weights[1] * v[i] + weights[2] * w[i] + weights[3] * y[i]


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
    fill(team, out, 0.0)
    for j in range(x.shape[0]):
        add(team, out[j:], x[j], columns[j, j:])


@generic(on="team")
def update_factor(team: Any, columns: Matrix, keep: float, gain: float, p: Vector, work: Vector) -> None:
    """Replace A A^T by keep A A^T + gain p p^T, A lower triangular, in Theta(n^2) operations."""


@update_factor.register(Serial)
def _update_factor(team, columns, keep, gain, p, work):
    n, root = p.shape[0], math.sqrt(keep)
    copy(team, work, p)
    scale(team, work, math.sqrt(gain))
    for j in range(n):
        # One Givens rotation folds work[j] into the diagonal and what is left of it into the rest.
        diagonal = root * columns[j, j]
        new = math.sqrt(diagonal * diagonal + work[j] * work[j])
        cosine, sine = diagonal / new, work[j] / new
        columns[j, j] = new
        _rotate(team, n - j - 1, columns[j, j + 1 :], work[j + 1 :], (root, cosine, sine))


@repeated
def _rotate(i, column, rest, factors):
    root, cosine, sine = factors
    old = column[i]
    column[i] = cosine * root * old + sine * rest[i]
    rest[i] = cosine * rest[i] - sine * root * old


@compilable
def add_products(out: Any, rows: Any, x: Any, start: Any) -> Any:
    """Add the inner product of x with rows[i, start : start + x.size] to every out[i], on one thread."""
    fours, even = rows.shape[0] - rows.shape[0] % 4, x.size - x.size % 2
    for r, row in enumerate(rows[:, start : start + x.size]):
        if r < fours:
            terms = row * x
            first, second = (0.0 + lane for lane in np.add.reduce(terms[:even].reshape(-1, 2), axis=0))
            out[r] += first + second if even == x.size else first + terms[-1] + second
        else:
            out[r] += dot(SERIAL, x.size, row, x)


@loop_for(add_products)
def _loop_add_products(out, rows, x, start):
    # Four rows at a time, each in two lanes: of eight sums, a processor need not wait for the one before.
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
