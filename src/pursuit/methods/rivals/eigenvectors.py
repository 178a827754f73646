"""Eigenvectors of small symmetric matrices, the same bits on every machine, unlike those of LAPACK."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pursuit.compiling.jit import compilable

# Relative to the diagonal, what counts as 0 beside it.
_NOTHING = 2.0**-53
# Two steps for each eigenvalue are usual; this guarantees an end.
_STEPS = 60


@compilable
def diagonalise(matrix: Any) -> Any:
    """Turn a symmetric matrix into the diagonal of its eigenvalues; return the eigenvectors, one per row.

    By Householder's reflections to three diagonals, and from there by the implicit QL algorithm. What the
    matrix holds beside its diagonal is lost.
    """
    # By a power of 2, which changes no digits, so that no square is too small or too large.
    exponent = min(1000, max(-1000, math.frexp(np.max(np.abs(matrix)))[1]))
    matrix *= math.ldexp(1.0, -exponent)
    vectors, beside = _tridiagonalise(matrix)
    for first in range(matrix.shape[0]):
        for _ in range(_STEPS):
            last = _end_of_block(matrix, beside, first)
            if last == first:
                break
            _step(matrix, beside, vectors, first, last)
    matrix *= math.ldexp(1.0, exponent)
    return vectors


@compilable
def _tridiagonalise(matrix):
    """Leave the diagonal of a tridiagonal matrix; return the basis, one vector per row, and what is beside.

    Row k is reflected onto its first two entries from the diagonal on: by I - factor v v^T, with v where that
    row was.
    """
    size = matrix.shape[0]
    beside, factors, image = np.zeros(size), np.zeros(size), np.empty(size)
    for k in range(size - 1):
        v, first = matrix[k], matrix[k, k + 1]
        others = _inner_product(v, v, k + 2)
        beside[k] = first
        if others > 0.0:
            beside[k] = -math.copysign(math.sqrt(first * first + others), first)
            v[k + 1] = first - beside[k]
            factors[k] = 2.0 / (v[k + 1] * v[k + 1] + others)
            _reflect_both_sides(matrix, v, factors[k], image, k + 1)
    vectors = np.eye(size)
    for k in range(size - 2, -1, -1):
        v = matrix[k]
        for i in range(k + 1, size):
            along = factors[k] * _inner_product(vectors[i], v, k + 1)
            for j in range(k + 1, size):
                vectors[i, j] -= along * v[j]
    return vectors, beside


@compilable
def _inner_product(x, y, start):
    total = 0.0
    for j in range(start, x.shape[0]):
        total += x[j] * y[j]
    return total


@compilable
def _reflect_both_sides(matrix, v, factor, image, start):
    """Multiply the part of a symmetric matrix from `start` on by I - factor v v^T from both sides."""
    size = matrix.shape[0]
    for i in range(start, size):
        image[i] = factor * _inner_product(matrix[i], v, start)
    half = 0.5 * factor * _inner_product(image, v, start)
    image[start:] -= half * v[start:]
    for i in range(start, size):
        for j in range(start, size):
            matrix[i, j] -= v[i] * image[j] + image[i] * v[j]


@compilable
def _end_of_block(matrix, beside, first):
    """Return the last row, from the first one on, that is tied to it by entries beside the diagonal."""
    last = first
    while last < matrix.shape[0] - 1:
        size = abs(matrix[last, last]) + abs(matrix[last + 1, last + 1])
        if abs(beside[last]) <= _NOTHING * size:
            break
        last += 1
    return last


@compilable
def _step(matrix, beside, vectors, first, last):
    """Take a QL step on the rows from the first to the last, with Wilkinson's shift, by rotations."""
    half = (matrix[first + 1, first + 1] - matrix[first, first]) / (2.0 * beside[first])
    root = math.copysign(math.sqrt(half * half + 1.0), half)
    chased = matrix[last, last] - matrix[first, first] + beside[first] / (half + root)
    sine = cosine = 1.0
    moved = 0.0
    for i in range(last - 1, first - 1, -1):
        across, along = sine * beside[i], cosine * beside[i]
        length = math.sqrt(across * across + chased * chased)
        beside[i + 1] = length
        if length == 0.0:
            # The block falls apart here.
            matrix[i + 1, i + 1] -= moved
            beside[last] = 0.0
            return
        sine, cosine = across / length, chased / length
        lower = matrix[i + 1, i + 1] - moved
        turned = (matrix[i, i] - lower) * sine + 2.0 * cosine * along
        moved = sine * turned
        matrix[i + 1, i + 1] = lower + moved
        chased = cosine * turned - along
        for k in range(vectors.shape[1]):
            x, y = vectors[i, k], vectors[i + 1, k]
            vectors[i, k] = cosine * x - sine * y
            vectors[i + 1, k] = sine * x + cosine * y
    matrix[first, first] -= moved
    beside[first], beside[last] = chased, 0.0
