"""The points that `values` evaluates for a block of coordinates, or of mixtures: f(y), and probes from y."""

from __future__ import annotations

import math

from pursuit.compiling.inner import inner
from pursuit.compiling.vectors import copy
from pursuit.methods.contract import COORDINATE, FIRST_MULTIPLE, LENGTH, SECOND_MULTIPLE
from pursuit.methods.values.curvature import BEFORE, MEAN, SLOPES, P, S, Y
from pursuit.methods.values.mixtures import add_mixture
from pursuit.methods.values.order import block_coordinate, draw_order
from pursuit.methods.values.state import BENDS, BLOCK_JUDGE, BLOCK_PROBE, BLOCK_SLOPES, points_of_block

# x and z are kept where a sweep of probes keeps the slopes before and the mean.
X, Z = BEFORE, MEAN


@inner
def begin_blocks(team, state):
    """Begin with blocks from y, where f is known, without momentum."""
    now, vectors = state.now[0], state.vectors
    copy(team, vectors[X], vectors[Y])
    copy(team, vectors[Z], vectors[Y])
    vectors[P][:] = 0.0
    now.value, now.theta, now.chain = now.f, now.tau / vectors.shape[1], 0
    begin_probes(now, 0, 0)


@inner
def begin_probes(now, untried, unknown):
    """Plan the probes of a block, after a step that is untried and f(y) that is unknown, if so."""
    now.phase, now.cursor = BLOCK_PROBE, 0
    now.untried, now.unknown = untried, unknown


@inner
def probed_coordinate(state, k):
    """Return the coordinate of the block that the k-th of these points is for, and its side, 0 for none."""
    now = state.now[0]
    j = k - now.untried - now.unknown
    if j < 0:
        return -1, 0.0
    if j < now.tau:
        return block_coordinate(state, j), 1.0
    # One of them in turn.
    in_turn = (now.blocks + now.untried) % now.tau
    return block_coordinate(state, in_turn if now.mean_curvature > 0.0 else j - now.tau), -1.0


@inner
def place_block(scheme, state, seed):
    """Write where the next points for a block are, and return how many."""
    now, moves = state.now[0], state.lists
    if now.cursor == 0 and now.position == 0:
        draw_order(state, seed)
    if now.is_mixed:
        return place_mixture(state)
    count = min(scheme.room, int(points_of_block(now) - now.cursor))
    for k in range(count):
        i, side = probed_coordinate(state, now.cursor + k)
        moves[FIRST_MULTIPLE, k] = 0.0
        moves[SECOND_MULTIPLE, k] = 1.0 if now.cursor + k < now.untried else 0.0
        moves[COORDINATE, k], moves[LENGTH, k] = i, side * now.probe
    return count


@inner
def place_mixture(state):
    """Write where the next point for a block of mixtures is, one at a time."""
    now, moves, p = state.now[0], state.lists, state.vectors[P]
    k, side = probed_coordinate(state, now.cursor)
    p[:] = 0.0
    if k >= 0:
        add_mixture(state, k, 1.0, p)
    moves[FIRST_MULTIPLE, 0], moves[SECOND_MULTIPLE, 0] = side * now.probe, 0.0
    moves[COORDINATE, 0] = -1
    return 1


@inner
def probed_block(state, values):
    """Take the values of points for a block."""
    now, back = state.now[0], back_values(state)
    for k in range(values.shape[0]):
        i, side = probed_coordinate(state, now.cursor)
        if side > 0.0:
            state.vectors[SLOPES, i] = values[k]
        elif side < 0.0:
            back[i] = values[k]
        elif now.cursor < now.untried:
            now.trial = values[k]
        else:
            now.here = values[k]
        now.cursor += 1
    if now.cursor < points_of_block(now):
        return
    if now.untried:
        now.phase = BLOCK_JUDGE
    else:
        now.f, now.phase = now.here if now.unknown else now.f, BLOCK_SLOPES


@inner
def back_values(state):
    """Return where the values on other sides are kept: in the block's direction, or the one that is free."""
    return state.vectors[S] if state.now[0].is_mixed else state.vectors[P]


@inner
def take_two_sided(state):
    """Make differences of the values ahead, and the curvature of those on both sides."""
    now, h, g, p = state.now[0], state.now[0].probe, state.vectors[SLOPES], back_values(state)
    for j in range(int(now.tau)):
        g[block_coordinate(state, j)] -= now.f
    for k in range(now.untried + now.unknown + now.tau, points_of_block(now)):
        i, _ = probed_coordinate(state, k)
        back = p[i] - now.f
        p[i] = 0.0
        bend = (g[i] + back) / (h * h)
        slope = (g[i] - back) / (2.0 * h)
        if now.mean_curvature == 0.0:
            # Kept in the block's direction until all are there.
            p[i], g[i] = bend, slope
        elif math.isfinite(bend):
            # Along coordinates, tau were measured in the first block; along mixtures, this is the first.
            before = 1.0 if now.is_mixed else now.tau
            share = 1.0 / min(before + now.blocks / BENDS, 4.0 * now.tau)
            now.mean_curvature += (abs(bend) - now.mean_curvature) * share
            # What the correction by the mean curvature will make of it.
            g[i] = slope * h + 0.5 * h * h * now.mean_curvature
