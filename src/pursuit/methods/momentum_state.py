"""The state of `momentum`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pursuit.checks import Vector
from pursuit.methods.acceleration import MomentumPast
from pursuit.methods.diagonal import Diagonal
from pursuit.methods.flat_direction import FlatDirection

# What is evaluated: all that does not depend on other values, y + s, or y again; and what follows from it.
TRIALS, SUM, AGAIN, MOVE, BACK = range(5)

_NUMBERS = {
    "fx": "f at the best point",
    "f": "f(y)",
    "sigma": "the step size",
    "best_sigma": "the step size when the best point was found",
    "widest": "the largest step size that led to a better point",
    "eta": "by how much sums are shortened",
    "flat_sigma": "the step size along the flat direction; 0 if there is none",
    "flat_step": "how far s goes along it",
    # The round.
    "phase": "what is evaluated",
    "number": "how many there were before",
    "pairs": "how many it has",
    "key": "the number that all directions come from",
    "place": "how many of its values are known",
    "until": "how many have to be known before anything follows from them",
    # What is learnt.
    "variance": "N, that of the evidence for other scales",
    "trust": "how far that evidence exceeds chance",
    "drift": "e, whether steps oppose momentum",
    "since": "pairs since momentum began",
    "doubt": "the share of comparisons that turn out otherwise when they are made again",
    "is_noisy": "whether values have turned out to be noisy",
    "steps": "how many steps of Random Pursuit the round counts for",
    "successes": "the share of pairs with a side that is no worse than y",
    "mean_value": "the mean of the latest f(y)",
}
NUMBERS = np.dtype([(name, np.float64) for name in _NUMBERS])
"""The numbers of a state, in a record that is changed in place."""


class RankedState(NamedTuple):
    """The state of `momentum`; `f` is f(y)."""

    x: Vector
    fx: float
    f: float
    sigma: float
    y: Vector
    v: Vector
    s: Vector
    """The step from y."""
    mean: Vector
    """The mean of the latest y."""
    diagonal: Diagonal
    flat: FlatDirection
    past: MomentumPast
    seen: Vector
    """The values of a round, by place."""
    now: Any
    """The numbers, a record."""

    def is_valid(self) -> bool:
        """Say whether all that compiled code uses as an index or a count is one."""
        number, m, place, until, phase = map(
            float, self.now[["number", "pairs", "place", "until", "phase"]][0]
        )
        begins = {TRIALS: 0, SUM: 2 * m + 3, AGAIN: 2 * m + 4}
        ends = {TRIALS: (2 * m + 1, 2 * m + 3), SUM: (2 * m + 4,), AGAIN: (2 * m + 5,)}
        return (
            0.0 <= number < 2**53 and number.is_integer()
            and 1.0 <= m <= (self.seen.size - 5) // 2 and m.is_integer()
            and phase in begins and until in ends[int(phase)] and begins[int(phase)] <= place < until
            and place.is_integer()
        )  # fmt: skip
