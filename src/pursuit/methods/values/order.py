"""The order in which `values` takes coordinates, or mixtures of them, into blocks: as good as at random.

No list of it is kept: what is at a place is computed.
"""

from __future__ import annotations

import numpy as np

from pursuit.compiling.hashing import hashed_at
from pursuit.compiling.inner import inner

_ROUNDS = 4


@inner
def block_coordinate(state, j):
    """Return the j-th coordinate of the block."""
    now, n = state.now[0], state.vectors.shape[1]
    return shuffled(int(now.position + j) % n, n, np.uint64(now.order))


@inner
def draw_order(state, seed):
    """Choose the order of the coordinates for the blocks to come."""
    # As a number without rounding.
    state.now[0].order = float(seed >> np.uint64(11))


@inner
def shuffled(place, n, key):
    """Return which of n things is at a place of the order that a key selects.

    The place is enciphered, by a Feistel network over as few bits as hold n, until what
    comes out is one of the n. That can be undone, so that no two places have the same thing.
    """
    half = 1
    while (1 << (2 * half)) < n:
        half += 1
    mask = (1 << half) - 1
    while True:
        left, right = place >> half, place & mask
        for i in range(_ROUNDS):
            mixed = int(hashed_at(key, (i << half) + right) & np.uint64(mask))
            left, right = right, left ^ mixed
        place = (left << half) + right
        if place < n:
            return place
