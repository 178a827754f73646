"""The order in which `values` takes coordinates, or mixtures of them, into blocks: as good as at random.

No list of it is kept: what is at a place is computed.
"""

from __future__ import annotations

import numpy as np

from pursuit.compiling.inner import inner


@inner
def block_coordinate(state, j):
    """Return the j-th coordinate of the block."""
    now, n = state.now[0], state.vectors.shape[1]
    return shuffled(int(now.position + j) % n, n, int(now.shift), int(now.factor))


@inner
def draw_order(state, seed):
    """Choose the order of the coordinates for the blocks to come."""
    now = state.now[0]
    now.shift, now.factor = float(seed >> np.uint64(40)), float(seed & np.uint64(0xFFFFFF))


@inner
def shuffled(place, n, shift, factor):
    """Return which of n things is at a place of the order that the two other numbers select."""
    bits = 1
    while (1 << bits) < n:
        bits += 1
    while True:
        # Each of these steps can be undone, so that no two places have the same thing.
        for _ in range(3):
            place = ((place + shift) * (2 * factor + 1)) & ((1 << bits) - 1)
            place ^= place >> (bits + 1) // 2
        if place < n:
            return place
