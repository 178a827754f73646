"""Momentum that grows with age, and the test that ends it.

    root <- max(1, zeta t/n);  theta <- m / (n sqrt(c) root);  gamma <- root / sqrt(c)
    y' <- (theta v + y + s) / (1 + theta)
    v' <- (1 - theta) v + theta y' + gamma s
    t <- t + m
    if f(y) was lately higher than 2n iterations earlier more often than not: v <- y, halve t

is SARP's step (`sarp.py`) for m of its iterations at once, with `root` for the square root of kappa. It
grows with the age t, as in Nesterov's method for functions that are not strongly convex, until momentum has
begun to hurt. The test uses only comparisons of f.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from pursuit.checks import Vector, checked_number
from pursuit.compiling.dispatch import generic
from pursuit.compiling.jit import inlined
from pursuit.compiling.vectors import copy, drift, exchange, fill
from pursuit.methods.contract import Patience

# How many values of f(y) are kept, evenly spread over the iterations that the test spans. In few dimensions
# f(y) is known only every few iterations, and more values would reach too far back.
_KEPT = 16
# How many iterations lie between two values that are compared, divided by n.
_SPAN = 2.0
# What a restart leaves of the age.
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

    def first_past(self) -> MomentumPast:
        """Return what a run begins with."""
        return MomentumPast(age=0.0, oldest=0, rises=0, due=0.0)

    def first_values(self) -> Vector:
        """Return room for earlier values of f(y)."""
        return np.full(_KEPT, math.inf)


class MomentumPast(NamedTuple):
    """The age of momentum, and what is known of earlier values of f(y)."""

    age: float
    oldest: int
    """The index of the value that is replaced next."""
    rises: int
    """How often a value was higher than the one that it replaced, since the index was 0."""
    due: float
    """Iterations until the next value is kept."""


def is_valid_past(past: MomentumPast) -> bool:
    """Say whether the index is that of a value."""
    return 0 <= past.oldest < _KEPT


def drifting_patience(n: int) -> Patience:
    """Return the patience of a scheme whose momentum grows with its age.

    So does the time for which momentum may carry it past its best point and back.
    """
    return Patience(10_000 + 1_000 * n, share=1.0)


@generic(on="momentum")
def carry(team: Any, momentum: Any, past: Any, arrays: Any, m: int, value: float) -> Any:
    """Move y and v after m iterations whose steps from y add up to s; return the past with f(y) in it."""


@carry.register(Momentum)
def _carry(team, momentum, past, arrays, m, value):
    n = arrays.y.shape[0]
    root = max(1.0, momentum.growth * past.age / n)
    theta = m / (n * math.sqrt(momentum.damping) * root)
    drift(team, arrays.y, arrays.v, theta, 1.0, root / math.sqrt(momentum.damping), arrays.s)
    age = past.age + m
    due = past.due - m
    if due > 0.0:
        return MomentumPast(age=age, oldest=past.oldest, rises=past.rises, due=due)
    due += max(1.0, _SPAN * n / _KEPT)
    replaced = exchange(team, arrays.values, past.oldest, value)
    rises = past.rises + (1 if value > replaced else 0)
    if past.oldest + 1 < _KEPT:
        return MomentumPast(age=age, oldest=past.oldest + 1, rises=rises, due=due)
    past = MomentumPast(age=age, oldest=0, rises=0, due=due)
    return _restarted(team, past, arrays) if 2 * rises > _KEPT else past


@inlined
def _restarted(team: Any, past: Any, arrays: Any) -> Any:
    """Let momentum begin anew at y; return the past that it begins with."""
    copy(team, arrays.v, arrays.y)
    fill(team, arrays.values, math.inf)
    return MomentumPast(age=_AGE_LEFT * past.age, oldest=0, rises=0, due=past.due)
