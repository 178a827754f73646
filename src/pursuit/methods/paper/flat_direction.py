"""A direction in which f is flat, learnt during the run.

    before y and v are carried along (`acceleration.py`):  y' <- y
    after that:  d <- (1 - m/(5n)) d + y - y'
    every 50n directions:  p <- d, scaled to the length sqrt(n)

Where f is flat, y moves slowly and for a long time, and its displacement d points there. Along p, and only
there, a scheme measures how long a step may be, as if f were stretched until it is no flatter along p than
along other directions. When f falls no further along p, y moves in another direction, and that is learnt
next.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from pursuit.checks import Vector, checked_number
from pursuit.compiling.jit import inlined
from pursuit.compiling.vectors import add, blend, copy, dot, scale
from pursuit.methods.paper.acceleration import carry

LEARNING = 50.0
"""After how many directions, divided by n, p is chosen again."""
FARTHEST = 1e5
"""How many times as far as elsewhere to go along p, at most: f may not depend on p at all."""
# How many directions the displacement spans, divided by n. Older ones have faded.
_SPAN = 5.0


class FlatDirection(NamedTuple):
    """A direction in which y keeps moving."""

    p: Vector
    displacement: Vector
    """How far y has moved recently."""

    @classmethod
    def create(cls, n: int) -> FlatDirection:
        """Return what a run begins with."""
        return cls(np.zeros(n), np.zeros(n))


def checked_learning(learning: float) -> float:
    """Return the option of that name, checked."""
    return checked_number("learning", learning, above=0.0)


@inlined
def carry_and_learn(team: Any, scheme: Any, arrays: Any, numbers: Any, m: Any, value: Any) -> Any:
    """Carry y and v along after m directions; return the past, and what is known of the flat direction.

    That is in how many directions it is chosen again, and whether it is new.
    """
    flat, n = arrays.flat, arrays.y.shape[0]
    blend(team, flat.displacement, 1.0 - m / (_SPAN * n), -1.0, arrays.y)
    past = carry(team, scheme.momentum, numbers.past, arrays, m, value)
    add(team, flat.displacement, 1.0, arrays.y)
    due, square = numbers.due - m, 0.0
    if due <= 0.0:
        due += scheme.learning * n
        square = dot(team, n, flat.displacement, flat.displacement)
    is_new = 0.0 < square < math.inf
    if is_new:
        copy(team, flat.p, flat.displacement)
        scale(team, flat.p, math.sqrt(n / square))
    return past, due, is_new
