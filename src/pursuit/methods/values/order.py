"""The order in which `values` takes coordinates into blocks, as good as at random: every stride-th of all."""

from __future__ import annotations

import numpy as np

from pursuit.compiling.inner import inner


@inner
def block_coordinate(state, j):
    """Return the j-th coordinate of the block: every stride-th of all, from a random one on."""
    now, n = state.now[0], state.vectors.shape[1]
    return int((now.start + (now.position + j) * now.stride) % n)


@inner
def draw_order(state, seed):
    """Choose the order of the coordinates for the blocks to come."""
    now, n = state.now[0], state.vectors.shape[1]
    now.start = float(seed % np.uint64(n))
    stride = 1 + int((seed >> np.uint64(20)) % np.uint64(n))
    while _gcd(stride, n) != 1:
        stride += 1
    now.stride = stride


@inner
def _gcd(a, b):
    while b:
        a, b = b, a % b
    return a
