"""The opening for many variables: steps along the slopes of a block of variables at a time.

    for each block of a random permutation of the variables:
        probe along its coordinates: slopes g
        x <- the best point that is found on the line x - t g/c, which moves this block alone
        c <- the curvature along it

A sweep over all variables takes n evaluations before the first step; this makes sqrt(n) steps meanwhile.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from pursuit.methods.differences.line import first_multiple, search
from pursuit.methods.differences.matrix import first_matrix, norm
from pursuit.methods.differences.state import Blocks, State
from pursuit.methods.differences.sweep import choose_probes, probe, probe_back
from pursuit.methods.programs import Asking

# From this many variables on.
FEWEST = 500
# The most passes, and the part of f that one must gain for another to follow.
PASSES, HALF = 3, 0.6
# Curvatures differ if they do so by more than this factor.
_SPREAD = 4.0
# The fewest variables in a block.
_LEAST = 16


def begin_blocks(state: State, rng: np.random.Generator) -> None:
    """Divide the variables into blocks."""
    state.blocks = Blocks(order=rng.permutation(state.x.size), before=state.f)


def iterate_blocks(state: State, rng: np.random.Generator) -> Asking:
    """Make a step along the slopes of the next block."""
    blocks, n = state.blocks, state.x.size
    assert blocks is not None
    i = blocks.order[blocks.done : blocks.done + max(_LEAST, math.isqrt(n))]
    state.gradient = np.zeros(n)
    choose_probes(state, state.lengths, rng)
    ahead = yield from probe(state, i)
    if blocks.passes == 0:
        # One curvature of each block shows whether they differ.
        yield from probe_back(state, i[:1], ahead[:1])
    g = np.where(np.isfinite(state.gradient) & state.free(), state.gradient, 0.0)
    curvature, slope = blocks.curvature, -float(g @ g)
    if slope < 0.0:
        curvature = curvature or 1.0 / first_multiple(state, -g, slope)
        t, f = yield from search(state, -g / curvature, slope / curvature, 1.0, 10.0)
        if f < state.f:
            state.last_step = state.move(state.box.after(state.x, t * (-g / curvature)), f)
        curvature = curvature / t if t > 0.0 else 4.0 * curvature
    state.blocks = replace(blocks, done=blocks.done + i.size, curvature=curvature)
    if state.blocks.done == n:
        _end_pass(state, state.blocks, rng)


def _end_pass(state: State, blocks: Blocks, rng: np.random.Generator) -> None:
    """Begin another pass if this one was worth it, or continue with sweeps."""
    sizes = np.abs(state.curvature[state.curvature != 0.0])
    alike = sizes.size > 0 and sizes.max() <= _SPREAD * sizes.min()
    if alike and blocks.passes + 1 < PASSES and state.f < blocks.before - HALF * abs(blocks.before):
        order = rng.permutation(state.x.size)
        state.blocks = replace(blocks, order=order, done=0, passes=blocks.passes + 1, before=state.f)
        return
    state.blocks = None
    state.matrix = first_matrix(state.x.size, blocks.curvature or 1.0)
    if state.last_step is not None:
        least = 1e-2 * norm(state.last_step) / math.isqrt(math.isqrt(state.x.size))
        state.lengths = np.maximum(state.lengths, least)
    state.last_step, state.curvature = None, np.zeros(state.x.size)
