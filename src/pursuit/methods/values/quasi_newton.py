"""A memory of steps and of the changes of the slopes along them: the two-loop recursion of L-BFGS."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pursuit.compiling.inner import inner
from pursuit.compiling.vectors import Matrix, add, copy, dot

# The rows of a table of pairs, and what the last of them holds.
_PRODUCTS, _FACTORS, _PLACES = range(3)
_NEWEST, _COUNT, _CHAIN = range(3)
# Pairs whose step and change are closer to a right angle than this say nothing about curvature.
_FLAT = 1e-8
# Nor do those whose change is not so much larger than its error, in squares.
_CLEAR = 20.0


class Pairs(NamedTuple):
    """The latest steps, and what the slopes changed by along each: a ring."""

    steps: Matrix
    changes: Matrix
    table: Matrix
    """Its rows: step'change, 0 for a pair that is not used; room for the recursion; and three numbers, where
    the newest pair is, how many there are, and how many of these are an unbroken chain of steps."""

    @classmethod
    def create(cls, n: int, most: int) -> Pairs:
        """Return an empty memory of so many pairs."""
        table = np.zeros((3, max(3, most)))
        table[_PLACES, _NEWEST] = -1.0
        return cls(steps=np.zeros((most, n)), changes=np.zeros((most, n)), table=table)

    def is_valid(self) -> bool:
        """Say whether the numbers that compiled code uses as indices are some."""
        most = len(self.steps)
        newest, count, chain = self.table[_PLACES, :3]
        is_inside = -1 <= newest < most and 0 <= chain <= count <= most
        return bool(is_inside and newest.is_integer() and count.is_integer() and chain.is_integer())


@inner
def chain_of(pairs):
    """Return how many of the newest pairs are an unbroken chain of steps."""
    return int(pairs.table[_PLACES, _CHAIN])


@inner
def break_chain(pairs):
    """Take note that no step continues those before."""
    pairs.table[_PLACES, _CHAIN] = 0


@inner
def forget_pairs(pairs):
    """Forget all pairs."""
    pairs.table[_PLACES, _NEWEST] = -1.0
    pairs.table[_PLACES, _COUNT] = pairs.table[_PLACES, _CHAIN] = 0.0


@inner
def add_pair(team, pairs, step, slopes, slopes_before, error):
    """Remember a step, and the slopes after and before it, which may be off by `error` each."""
    most, places = pairs.steps.shape[0], pairs.table[_PLACES]
    newest = int(places[_NEWEST] + 1) % most
    s, c = pairs.steps[newest], pairs.changes[newest]
    copy(team, s, step)
    copy(team, c, slopes)
    add(team, c, -1.0, slopes_before)
    n = s.shape[0]
    product = dot(team, n, s, c)
    square = dot(team, n, c, c)
    useful = product > _FLAT * math.sqrt(dot(team, n, s, s) * square) and square > _CLEAR * error * error
    pairs.table[_PRODUCTS, newest] = product if useful else 0.0
    places[_NEWEST] = newest
    places[_COUNT] = min(places[_COUNT] + 1, most)
    places[_CHAIN] = min(places[_CHAIN] + 1, most)


@inner
def row_of(pairs, age):
    """Return where the pair of an age lies; the newest has the age 0."""
    return int(pairs.table[_PLACES, _NEWEST] - age) % pairs.steps.shape[0]


@inner
def apply_inverse(team, pairs, scales, q):
    """Replace q by the memory's estimate of H^-1 q; return False, and leave q alone, without a useful pair.

    The estimate without any pair is a multiple of 1/scales.
    """
    products, factors = pairs.table[_PRODUCTS], pairs.table[_FACTORS]
    count, newest = int(pairs.table[_PLACES, _COUNT]), -1
    n = q.shape[0]
    for age in range(count):
        row = row_of(pairs, age)
        if products[row] > 0.0:
            newest = row if newest < 0 else newest
            factor = dot(team, n, pairs.steps[row], q) / products[row]
            factors[row] = factor
            add(team, q, -factor, pairs.changes[row])
    if newest < 0:
        return False
    change = pairs.changes[newest]
    energy = 0.0
    for i in range(n):
        energy += change[i] * change[i] / scales[i]
    fit = products[newest] / energy
    for i in range(n):
        q[i] *= fit / scales[i]
    for age in range(count - 1, -1, -1):
        row = row_of(pairs, age)
        if products[row] > 0.0:
            back = dot(team, n, pairs.changes[row], q) / products[row]
            add(team, q, factors[row] - back, pairs.steps[row])
    return True
