"""Eigenvectors of small symmetric matrices, the same bits on every machine, unlike those of LAPACK."""

from __future__ import annotations

import math

import numpy as np

from pursuit.compiling.inner import inner
from pursuit.compiling.vectors import mix_slice

# Relative to the diagonal, what counts as 0 beside it.
_NOTHING = 2.0**-53
# Ten sweeps are many; this guarantees an end.
_SWEEPS = 30
# This many columns of all rows fit into a CPU's cache.
_SLICE = 256


@inner
def diagonalise(matrix):
    """Turn a symmetric matrix into the diagonal of its eigenvalues; return the eigenvectors, one per row.

    By Jacobi's rotations, pair after pair of rows.
    """
    size = matrix.shape[0]
    vectors = np.eye(size)
    for _ in range(_SWEEPS):
        is_diagonal = True
        for p in range(size - 1):
            for q in range(p + 1, size):
                if abs(matrix[p, q]) > _NOTHING * math.sqrt(abs(matrix[p, p] * matrix[q, q])):
                    _rotate(matrix, vectors, p, q)
                    is_diagonal = False
        if is_diagonal:
            break
    return vectors


@inner
def _rotate(matrix, vectors, p, q):
    """Rotate rows and columns p and q so that the entry between them becomes 0."""
    ratio = (matrix[q, q] - matrix[p, p]) / (2.0 * matrix[p, q])
    tangent = (1.0 if ratio >= 0.0 else -1.0) / (abs(ratio) + math.sqrt(ratio * ratio + 1.0))
    cosine = 1.0 / math.sqrt(tangent * tangent + 1.0)
    sine = tangent * cosine
    change = tangent * matrix[p, q]
    matrix[p, p] -= change
    matrix[q, q] += change
    matrix[p, q] = matrix[q, p] = 0.0
    for k in range(matrix.shape[0]):
        if k not in (p, q):
            first, second = matrix[p, k], matrix[q, k]
            matrix[p, k] = matrix[k, p] = cosine * first - sine * second
            matrix[q, k] = matrix[k, q] = sine * first + cosine * second
        first, second = vectors[p, k], vectors[q, k]
        vectors[p, k] = cosine * first - sine * second
        vectors[q, k] = sine * first + cosine * second


@inner
def largest_first(matrix):
    """Return the indices of the diagonal, largest entry first; equal entries keep their order."""
    order = np.empty(matrix.shape[0], dtype=np.int64)
    for j in range(matrix.shape[0]):
        k = j
        while k > 0 and matrix[order[k - 1], order[k - 1]] < matrix[j, j]:
            order[k] = order[k - 1]
            k -= 1
        order[k] = j
    return order


@inner
def turn_rows(rows, vectors, chosen):
    """Replace the first rows by the sums of rows that the chosen vectors stand for, slice by slice."""
    size, n = vectors.shape[0], rows.shape[1]
    old = np.empty((size, min(n, _SLICE)))
    for start in range(0, n, _SLICE):
        end = min(start + _SLICE, n)
        for k in range(size):
            for i in range(end - start):
                old[k, i] = rows[k, start + i]
        for j in range(chosen.shape[0]):
            new = rows[j, start:end]
            for i in range(end - start):
                new[i] = 0.0
            mix_slice(new, 1.0, vectors[chosen[j]], old, 0)
