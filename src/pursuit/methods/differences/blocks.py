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
from pursuit.methods.differences.sweep import Indices, begin_probing, differ, probe, probe_back
from pursuit.methods.programs import Asking, Finding

# The most passes, and the part of f that blocks must gain in a pass, judged from so many blocks on.
_PASSES, _GAIN, _TRIAL = 4, 0.25, 4

# The length of probes, as a part of the last step.
_PROBE = 1e-2


def open_in_blocks(state: State, rng: np.random.Generator) -> Asking:
    """Pass over all blocks, and again, as long as that gains much and curvatures are alike."""
    n, c = state.x.size, 0.0
    count, before, shortest = math.isqrt(n), state.f, state.lengths
    blocks = (block for _ in range(_PASSES) for block in np.array_split(rng.permutation(n), count))
    for k, block in enumerate(blocks):
        done = k % count + 1
        before = state.f if done == 1 else before
        c = yield from _block_step(state, rng, block, c, measures=k < count)
        gains_little = before - state.f < _GAIN * abs(before) * done / count
        if (gains_little and done >= _TRIAL) or (k + 1 == count and differ(state.known_curvatures, 0.0)):
            break
        if state.last_step is not None:
            # Probes are long enough to tell curvatures, and short beside steps.
            state.lengths = np.maximum(shortest, _PROBE * norm(state.last_step) / math.sqrt(block.size))
    state.matrix = first_matrix(n, c or 1.0)
    state.curvature, state.last_step = np.zeros(n), None


def _block_step(
    state: State, rng: np.random.Generator, i: Indices, c: float, measures: bool
) -> Finding[float]:
    """Make a step along the slopes of a block, given the curvature along the last one; return a new one."""
    begin_probing(state, state.lengths, rng)
    state.gradient = np.zeros(state.x.size)
    ahead = yield from probe(state, i, state.curvature[i])
    if measures:
        # One curvature of each block shows whether they differ.
        yield from probe_back(state, i[:1], ahead[:1])
    g = np.where(state.free(), state.gradient, 0.0)
    slope = -float(g @ g)
    if not slope < 0.0:
        return c
    c = c or 1.0 / first_multiple(state, -g, slope)
    t, f = yield from search(state, -g / c, slope / c, 1.0, 10.0)
    if f < state.f:
        state.last_step = state.move(state.box.after(state.x, t * (-g / c)), f)
    return c / t if t > 0.0 else 4.0 * c
