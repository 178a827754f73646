"""What schemes that accelerate by themselves learn on their way: a direction in which f is flat.

    before y and v are carried along (`acceleration.py`):  y' <- y
    after that:  way <- (1 - m/(5n)) way + y - y'
    every 50n directions:  p <- way, scaled to the length sqrt(n)

y goes slowly, and so for long, where f is flat. What a scheme does along p it measures there, and nowhere
else: how long a step may be. So f is as if stretched until it is no flatter along p than elsewhere. When it
falls no further along p, y goes another way, and that is what is learnt next.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np

from pursuit.checks import Vector, checked_number
from pursuit.compiling.vectors import add, blend, copy, dot, scale
from pursuit.methods.acceleration import carry

LEARNING = 50.0
"""After how many directions, divided by n, p is chosen anew."""
FARTHEST = 1e5
"""How many times as far as elsewhere to go along p, at the most: f may not depend on p at all."""
# How far back the way goes, divided by n. What is older has faded.
_WAY = 5.0


class Flat(NamedTuple):
    """A direction that y keeps going in."""

    p: Vector
    way: Vector
    size: float
    """What a scheme knows of f along p; 0 if there is no p."""
    due: float
    """Directions until p is chosen anew."""

    @classmethod
    def create(cls, n: int, learning: float) -> Flat:
        """Return what a run begins with."""
        return cls(np.zeros(n), np.zeros(n), 0.0, learning * n)


def checked_learning(learning: float) -> float:
    """Return the option of that name, checked."""
    return checked_number("learning", learning, above=0.0)


@numba.njit(forceinline=True)
def carried_and_learnt(team, scheme, state, m, value, size):
    """Carry y and v along after m directions; return the past and the flat direction, a new one of a size."""
    flat, n = state.flat, state.y.shape[0]
    blend(team, flat.way, 1.0 - m / (_WAY * n), -1.0, state.y)
    past = carry(team, scheme.momentum, state.past, state.y, state.v, state.s, m, value)
    add(team, flat.way, 1.0, state.y)
    due, square = flat.due - m, 0.0
    if due <= 0.0:
        due += scheme.learning * n
        square = dot(team, n, flat.way, flat.way)
    if 0.0 < square < math.inf:
        copy(team, flat.p, flat.way)
        scale(team, flat.p, math.sqrt(n / square))
    else:
        size = flat.size
    return past, Flat(flat.p, flat.way, size, due)


@numba.njit(forceinline=True)
def resized(flat, size):
    """Return a flat direction of which something else is known now; with 0 it is given up."""
    return Flat(flat.p, flat.way, size, flat.due)
