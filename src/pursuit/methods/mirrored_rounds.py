"""Rounds of mirrored points, and the random directions that they lie in.

A round from y has 2m + 1 points that do not depend on each other's values,

    y,  y + sigma D z_1,  y - sigma D z_1,  ...,  y + sigma D z_m,  y - sigma D z_m,

and after these a few more that the scheme may want: y + s and y - s for two directions s, and y again.
Every point has its *place* in a round, counted from 0.

The z_i are needed three times: for the points on both sides, and when the values are known. Keeping them
would take m vectors. So they are computed again each time, from one number for each run, its *key*: an entry
of z_i is a hash of the key, of the number of the round, of i and of the coordinate. Hashing is integer
arithmetic, and an entry is the sum of the four parts of a hash, which is close enough to normal: it has mean
0, variance 1 and kurtosis 2.7. This needs no logarithm, whose last bit depends on the processor, and takes
half the time of a normal.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pursuit.checks import Vector
from pursuit.compiling.hashing import hashed_at, word_of
from pursuit.compiling.inner import inner

# An entry is the sum of four numbers of 16 bits, moved to mean 0 and scaled to variance 1.
_PART, _PARTS, _LOWEST = np.uint64(16), 4, np.uint64(0xFFFF)
_MEAN = _PARTS * (2.0**16 - 1.0) / 2.0
_SCALE = 1.0 / math.sqrt(_PARTS * (2.0**32 - 1.0) / 12.0)


class MirroredRound(NamedTuple):
    """A query of points of a round from y that follow each other, written one by one."""

    y: Vector
    scales: Vector
    """D."""
    first: Vector
    """A direction in which the points at the places 2m + 1 and 2m + 2 lie, on both sides."""
    second: Vector
    """A step from y to the point at the place 2m + 3. The one at 2m + 4 is y again."""
    key: float
    number: int
    """The number of the round."""
    sigma: float
    length: float
    """How far the first two of these points are, as a multiple of `first`."""
    m: int
    place: int
    """Where in the round the query begins."""
    size: int
    """How many points it has."""


@inner
def start_of(query, i):
    """Return the word from which the entries of z_i follow."""
    return hashed_at(hashed_at(word_of(query.key), query.number), i)


@inner
def entry_of(start, j):
    """Return the j-th entry of the direction with this start."""
    word = hashed_at(start, j)
    total = word & _LOWEST
    for _ in range(_PARTS - 1):
        word >>= _PART
        total += word & _LOWEST
    return (np.float64(np.int64(total)) - _MEAN) * _SCALE


@inner
def write_place(query, place, out):
    """Write the point at a place of a round into `out`."""
    n, last = out.shape[0], 2 * query.m
    for j in range(n):
        out[j] = query.y[j]
    if 0 < place <= last:
        start = start_of(query, (place - 1) // 2)
        length = query.sigma if place % 2 == 1 else -query.sigma
        for j in range(n):
            out[j] += length * query.scales[j] * entry_of(start, j)
    elif last < place <= last + 2:
        length = query.length if place == last + 1 else -query.length
        for j in range(n):
            out[j] += length * query.first[j]
    elif place == last + 3:
        for j in range(n):
            out[j] += query.second[j]


@inner
def length_of_trials(query):
    """Return how far the points of a round are from y, divided by sqrt(n)."""
    n, square = query.y.shape[0], 0.0
    for j in range(n):
        square += query.scales[j] * query.scales[j]
    return max(query.sigma * math.sqrt(square / n), query.length)
