"""The opening for many variables: steps along the slopes of a block of variables at a time.

    for each block of a random permutation of the variables:
        probe along its coordinates: slopes g
        x <- the best point that is found on the line x - t g/c, which moves this block alone
        c <- the curvature along it

A sweep over all variables takes n evaluations before the first step; this makes sqrt(n) steps meanwhile.
"""

from __future__ import annotations

import math

import numpy as np

from pursuit.methods.differences.line import first_multiple, search
from pursuit.methods.differences.matrix import first_matrix, norm
from pursuit.methods.differences.state import State
from pursuit.methods.differences.sweep import Indices, choose_probes, probe, probe_back
from pursuit.methods.programs import Asking, Finding

# From this many variables on.
FEWEST = 500
# The most passes, and the part of f that one must gain for another to follow.
_PASSES, _HALF = 3, 0.6
# Curvatures differ if they do so by more than this factor.
_SPREAD = 4.0
# The fewest variables in a block.
_LEAST = 16


def open_in_blocks(state: State, rng: np.random.Generator) -> Asking:
    """Pass over all blocks, and again as long as that gains much and curvatures are alike."""
    n, c = state.x.size, 0.0
    size = max(_LEAST, math.isqrt(n))
    for k in range(_PASSES):
        order, before = rng.permutation(n), state.f
        for first in range(0, n, size):
            c = yield from _block_step(state, rng, order[first : first + size], c, measures=k == 0)
        sizes = np.abs(state.curvature[state.curvature != 0.0])
        is_alike = sizes.size > 0 and sizes.max() <= _SPREAD * sizes.min()
        if not (is_alike and state.f < before - _HALF * abs(before)):
            break
    state.matrix = first_matrix(n, c or 1.0)
    if state.last_step is not None:
        least = 1e-2 * norm(state.last_step) / math.isqrt(math.isqrt(n))
        state.lengths = np.maximum(state.lengths, least)
    state.last_step, state.curvature = None, np.zeros(n)


def _block_step(
    state: State, rng: np.random.Generator, i: Indices, c: float, measures: bool
) -> Finding[float]:
    """Make a step along the slopes of a block, given the curvature along the last one; return a new one."""
    state.gradient = np.zeros(state.x.size)
    choose_probes(state, state.lengths, rng)
    ahead = yield from probe(state, i)
    if measures:
        # One curvature of each block shows whether they differ.
        yield from probe_back(state, i[:1], ahead[:1])
    g = np.where(np.isfinite(state.gradient) & state.free(), state.gradient, 0.0)
    slope = -float(g @ g)
    if not slope < 0.0:
        return c
    c = c or 1.0 / first_multiple(state, -g, slope)
    t, f = yield from search(state, -g / c, slope / c, 1.0, 10.0)
    if f < state.f:
        state.last_step = state.move(state.box.after(state.x, t * (-g / c)), f)
    return c / t if t > 0.0 else 4.0 * c
