"""How `values` begins where coordinates have curvatures of their own.

    first block:  D_B, g_B <- curvatures and slopes, from both sides;  y <- y - g_B/|D_B| if f falls
    until n evaluations:  accelerated blocks (`blocks.py`) of directions that mix all coordinates
    every block:  D_B, g_B <- curvatures and slopes, from both sides;  y <- y - g_B/|D_B| if f falls

Then D is known for all coordinates, after 3 n evaluations, and sweeps of probes follow. Alone, the last of
the three would take 2 n of them and be the shortest way to the minimum of a separable function; but after n
evaluations it would have seen half of the coordinates, where mixtures have won most of what there is to win.
They are left out where D is negative along many coordinates, or hardly seen along any, where there are few
blocks, and where many points are evaluated at once.
"""

from __future__ import annotations

import math

from pursuit.compiling.inner import inner
from pursuit.compiling.vectors import copy
from pursuit.methods.values.block_probes import begin_blocks, begin_probes
from pursuit.methods.values.curvature import (
    ALONG,
    MEASURED,
    REACH,
    SCALE,
    SLOPES,
    P,
    Y,
)
from pursuit.methods.values.mixtures import draw_signs
from pursuit.methods.values.order import block_coordinate
from pursuit.methods.values.probes import seed_of
from pursuit.methods.values.state import BLOCK_END, BLOCK_TRY, FIRST, SECOND, SEEN, begin_plan

# A step along a coordinate by its own curvature is at most so many sigma0 long.
_LONGEST = 2.0
# After mixtures, probes are so many times as long as the first ones: f is a bowl, with curvatures to be seen.
_LONGER = 10.0


@inner
def step_singly(state):
    """Go as far along each coordinate of the block as its own curvature suggests, and keep that."""
    now, vectors = state.now[0], state.vectors
    now.is_single = 1
    for j in range(int(now.tau)):
        i = block_coordinate(state, j)
        bend = vectors[P, i]
        vectors[ALONG, i], vectors[SCALE, i], vectors[MEASURED, i] = bend, abs(bend), now.probe
        most = _LONGEST * now.sigma0
        vectors[P, i] = min(max(-vectors[SLOPES, i] / (abs(bend) + 1e-300), -most), most)
    state.lists[FIRST, 0], state.lists[SECOND, 0] = 1.0, 0.0
    begin_plan(now, BLOCK_TRY, 1)


@inner
def tried_singly(team, state):
    """Take the value after the step of a block whose coordinates have their own curvatures."""
    now, y, p = state.now[0], state.vectors[Y], state.vectors[P]
    value, falls = state.lists[SEEN, 0], state.lists[SEEN, 0] < now.f
    square = 0.0
    for j in range(int(now.tau)):
        i = block_coordinate(state, j)
        if falls:
            y[i] += p[i]
            square += p[i] * p[i]
        p[i] = 0.0
    if falls:
        now.f, now.sigma = value, math.sqrt(square / now.tau)
        now.travelled += math.sqrt(square)
    now.position += now.tau
    begin_probes(now, 0, 0)
    if now.mean_curvature > 0.0:
        begin_mixtures(team, state)
    elif now.position >= y.shape[0]:
        now.both_sides, now.phase = 0, BLOCK_END


@inner
def begin_mixtures(team, state):
    """Go on with blocks of directions that mix all coordinates."""
    now = state.now[0]
    draw_signs(state, seed_of(now))
    now.is_mixed, now.is_single = 1, 0
    begin_blocks(team, state)


@inner
def end_mixtures(team, state):
    """Go on with single coordinates, in blocks twice as large, from the best point."""
    now = state.now[0]
    copy(team, state.vectors[Y], state.x)
    state.vectors[P][:] = 0.0
    now.f, now.is_mixed, now.is_single, now.mean_curvature = now.fx, 0, 1, 0.0
    now.tau, now.position, now.probe = 2 * now.tau, 0, _LONGER * state.vectors[REACH, 0]
    begin_probes(now, 0, 0)
