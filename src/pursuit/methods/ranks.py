"""Ranks, which are all that a comparison-based scheme sees of the values of a round."""

from __future__ import annotations

from pursuit.compiling.inner import inner


@inner
def write_ranks(ranks, values):
    """Write the ranks of values, scaled to [-1, 1]: -1 for the lowest, 1 for the highest, ties averaged.

    There are about 2 sqrt(n) values, so comparing all pairs of them takes as long as computing a few points.
    """
    count = values.shape[0]
    for k in range(count):
        balance = 0
        for other in range(count):
            if values[other] < values[k]:
                balance += 1
            elif values[other] > values[k]:
                balance -= 1
        ranks[k] = balance / (count - 1)
