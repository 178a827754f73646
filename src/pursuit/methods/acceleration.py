"""What schemes that accelerate by themselves share: momentum that grows with age, and the test that ends it.

    root <- max(1, zeta t/n);  theta <- m / (n sqrt(c) root);  gamma <- root / sqrt(c)
    y' <- (theta v + y + s) / (1 + theta)
    v' <- (1 - theta) v + theta y' + gamma s
    t <- t + m
    if f(y) was higher than 2n iterations earlier more often than not, of late: v <- y, halve t

is SARP's step (`sarp.py`) after m of its iterations at once, with `root` for the square root of kappa. It
grows with the age t, as in Nesterov's method for functions that are not strongly convex, until momentum has
begun to hurt. The test compares values and does nothing else with them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pursuit.checks import checked_number
from pursuit.compiling.dispatch import Generic
from pursuit.compiling.vectors import add, blend, copy
from pursuit.methods.contract import Patience

# How many values of f(y) are kept, evenly spread over the iterations to look back on. In few dimensions f(y)
# is known every few iterations only, and more values would look back too far.
_KEPT = 16
_LOOK_BACK = 2.0
_AGE_LEFT = 0.5


class Momentum(NamedTuple):
    """How momentum grows."""

    damping: float
    """c: how much of it is lost to noise."""
    growth: float
    """zeta: how fast it grows with age."""

    @classmethod
    def create(cls, damping: float, growth: float) -> Momentum:
        """Return the rule, its numbers checked."""
        return cls(checked_number("damping", damping, above=0.0), checked_number("growth", growth, above=0.0))

    def no_past(self, n: int) -> Past:
        """Return what a run begins with."""
        return Past(0.0, np.full(_KEPT, math.inf), 0, 0, 0.0)


class Past(NamedTuple):
    """The age, and values of f(y) of old."""

    age: float
    values: NDArray[np.float64]
    seat: int
    """Which of them is replaced next."""
    higher: int
    """How often a value was higher than the one it has replaced, in this round."""
    due: float
    """Iterations until the next look."""


def drifting_patience(n: int) -> Patience:
    """Return the patience of a scheme whose momentum grows with its age.

    So does the time for which momentum may carry it past its best point and back.
    """
    return Patience(10_000 + 1_000 * n, share=1.0)


carry = Generic("carry", on=1)


@carry.register(Momentum)
def _carry(team, momentum, past, y, v, s, m, value):
    """Move y and v after m iterations whose steps from y add up to s; return the past with f(y) in it."""
    n = y.shape[0]
    root = max(1.0, momentum.growth * past.age / n)
    theta = m / (n * math.sqrt(momentum.damping) * root)
    add(team, y, 1.0, s)
    blend(team, y, 1.0 / (1.0 + theta), theta / (1.0 + theta), v)
    blend(team, v, 1.0 - theta, theta, y)
    add(team, v, root / math.sqrt(momentum.damping), s)
    age = past.age + m
    due = past.due - m
    if due > 0.0:
        return Past(age, past.values, past.seat, past.higher, due)
    due += max(1.0, _LOOK_BACK * n / _KEPT)
    higher = past.higher + (1 if value > past.values[past.seat] else 0)
    past.values[past.seat] = value
    if past.seat + 1 < _KEPT:
        return Past(age, past.values, past.seat + 1, higher, due)
    if 2 * higher > _KEPT:
        copy(team, v, y)
        past.values[:] = math.inf
        age *= _AGE_LEFT
    return Past(age, past.values, 0, 0, due)
