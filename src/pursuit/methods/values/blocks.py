"""How `values` begins: accelerated steps in blocks of coordinates, of use from the first few evaluations on.

    x <- x_0;  z <- x_0;  theta <- tau/n
    repeat, with tau coordinates of a random order as the block B:
        y <- (1 - theta) x + theta z
        g_B <- slopes at y along the block, from one side, corrected by the mean curvature L;
               one of the probes from both sides, for L
        step <- -g_B/(beta L);  x <- y + step;  z <- z + tau/(n theta) step
        beta follows the curvature along the step, from f(y), f(x) and the slope
        theta <- (sqrt(theta^4 + 4 theta^2) - theta^2)/2

This is the accelerated method of Fercoq and Richtarik, with step sizes that are measured. It ends where f
rises, where curvatures cannot be measured, and after 10 n or n^2/10 evaluations. Then whole sweeps of probes
are worth more.

Where the curvatures D along the coordinates of the first block differ a lot, or are negative, all blocks are
probed on both sides once, and each is left by the step -g_B/|D_B| if f falls. Then D is known for all
coordinates, and sweeps follow.
"""

from __future__ import annotations

import math

import numpy as np

from pursuit.compiling.inner import inner
from pursuit.compiling.vectors import copy
from pursuit.methods.contract import COORDINATE, FIRST_MULTIPLE, LENGTH, SECOND_MULTIPLE
from pursuit.methods.values.curvature import (
    ALONG,
    BEFORE,
    MEAN,
    MEASURED,
    SCALE,
    SLOPES,
    P,
    Y,
    quantile,
    sort,
)
from pursuit.methods.values.state import (
    BLOCK_AHEAD,
    BLOCK_AT,
    BLOCK_BACK,
    BLOCK_END,
    BLOCK_NEXT,
    BLOCK_SLOPES,
    BLOCK_TRY,
    FIRST,
    SECOND,
    SEEN,
    SWEEP,
    begin_plan,
)

# x and z are kept where a sweep of probes keeps the slopes before and the mean.
X, Z = BEFORE, MEAN
_EPS = 2.2e-16
# Curvatures that differ by more than this factor are not alike.
_ALIKE = 4.0
# A step along a coordinate by its own curvature is at most so many sigma0 long.
_LONGEST = 2.0
# Steps that fail in a row end it.
_FAILURES = 5


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


@inner
def begin_blocks(team, state):
    """Begin with blocks, from the start."""
    now = state.now[0]
    copy(team, state.vectors[X], state.vectors[Y])
    copy(team, state.vectors[Z], state.vectors[Y])
    state.vectors[P][:] = 0.0
    now.value = now.f
    now.theta = now.tau / state.vectors.shape[1]
    now.phase, now.cursor, now.position = BLOCK_AHEAD, 0, 0


@inner
def place_block(scheme, state, seed):
    """Write where the next probes of the block are, and return how many."""
    now, moves = state.now[0], state.lists
    if now.phase == BLOCK_AHEAD and now.cursor == 0 and now.position == 0:
        draw_order(state, seed)
    is_back = now.phase == BLOCK_BACK
    last = now.tau if not is_back or now.mean_curvature == 0.0 else now.cursor + 1
    count = min(scheme.room, int(last - now.cursor))
    for k in range(count):
        moves[FIRST_MULTIPLE, k] = moves[SECOND_MULTIPLE, k] = 0.0
        moves[COORDINATE, k] = block_coordinate(state, now.cursor + k)
        moves[LENGTH, k] = -now.probe if is_back else now.probe
    return count


@inner
def probed_block(state, values):
    """Take the values of probes ahead: plan those to the other side."""
    now = state.now[0]
    for k in range(values.shape[0]):
        state.vectors[SLOPES, block_coordinate(state, now.cursor + k)] = values[k] - now.f
    now.cursor += values.shape[0]
    if now.cursor >= now.tau:
        # One of them in turn, or all of them while no curvature is known.
        now.phase = BLOCK_BACK
        now.cursor = 0.0 if now.mean_curvature == 0.0 else now.blocks % now.tau


@inner
def probed_block_back(state, values):
    """Take the values of probes to the other side, with which the curvature is known."""
    now, h, g = state.now[0], state.now[0].probe, state.vectors[SLOPES]
    is_first = now.mean_curvature == 0.0
    for k in range(values.shape[0]):
        i = block_coordinate(state, now.cursor + k)
        back = values[k] - now.f
        bend = (g[i] + back) / (h * h)
        slope = (g[i] - back) / (2.0 * h)
        if is_first:
            # Kept in the block's direction until all are there.
            state.vectors[P, i] = bend
            g[i] = slope
        elif math.isfinite(bend):
            share = 1.0 / max(now.tau, min(now.blocks + now.tau, 4.0 * now.tau))
            now.mean_curvature += (abs(bend) - now.mean_curvature) * share
            # What the correction by the mean curvature will make of it.
            g[i] = slope * h + 0.5 * h * h * now.mean_curvature
    now.cursor += values.shape[0]
    if not is_first or now.cursor >= now.tau:
        now.phase = BLOCK_SLOPES


@inner
def take_block_slopes(state):
    """Go along the slopes of a block, or end."""
    now, g, p, tau = state.now[0], state.vectors[SLOPES], state.vectors[P], int(state.now[0].tau)
    h = now.probe
    if now.mean_curvature == 0.0:
        bends = np.empty(tau)
        negative = 0
        for j in range(tau):
            bends[j] = p[block_coordinate(state, j)]
            if not bends[j] > 0.0:
                negative += 1
            bends[j] = abs(bends[j])
        sort(bends)
        if not math.isfinite(bends[-1]):
            now.phase = BLOCK_END
            return
        differ = quantile(bends, 0.9) > _ALIKE * quantile(bends, 0.1)
        if now.is_single or differ or negative > 0.2 * tau:
            step_singly(state)
            return
        now.mean_curvature = np.mean(bends)
    else:
        for j in range(tau):
            i = block_coordinate(state, j)
            g[i] = g[i] / h - 0.5 * h * now.mean_curvature
    square = 0.0
    for j in range(tau):
        i = block_coordinate(state, j)
        square += g[i] * g[i]
    if not math.isfinite(square) or square == 0.0:
        now.phase = BLOCK_END
        return
    now.block_square = square
    length = 1.0 / (now.beta * now.mean_curvature)
    for j in range(tau):
        i = block_coordinate(state, j)
        p[i] = -length * g[i]
    state.lists[FIRST, 0], state.lists[SECOND, 0] = 1.0, 0.0
    begin_plan(now, BLOCK_TRY, 1)


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
def tried_singly(state):
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
    now.cursor, now.phase = 0, BLOCK_AHEAD
    if now.position >= y.shape[0]:
        now.both_sides, now.phase = 0, BLOCK_END


@inner
def tried_block(team, state):
    """Take the value after a block's step."""
    now, n, tau = state.now[0], state.vectors.shape[1], int(state.now[0].tau)
    x, z, p = state.vectors[X], state.vectors[Z], state.vectors[P]
    value, length = state.lists[SEEN, 0], 1.0 / (now.beta * now.mean_curvature)
    bend = 2.0 * (value - now.f + length * now.block_square) / (length * length * now.block_square)
    bend = bend / now.mean_curvature if value < math.inf else 4.0 * now.beta
    if value < now.f:
        now.failures = 0
        now.beta += (0.5 if bend > 1.5 * now.beta else 0.1) * (max(bend, 0.5) - now.beta)
        copy(team, x, state.vectors[Y])
        for j in range(tau):
            i = block_coordinate(state, j)
            x[i] += p[i]
            z[i] += tau / (n * now.theta) * p[i]
        before, now.value = now.value, value
        mean_step = length * math.sqrt(now.block_square / tau)
        rounding = math.sqrt(120.0 * _EPS * abs(value) / now.mean_curvature)
        now.probe = max(0.1 * mean_step, 1e-9 * now.sigma0, rounding)
        now.sigma = mean_step
        now.travelled += length * math.sqrt(now.block_square)
        theta = now.theta * now.theta
        now.theta = 0.5 * (math.sqrt(theta * theta + 4.0 * theta) - theta)
        now.blocks += 1
        now.chain += 1
        rises = value > before and now.chain > 2
    else:
        now.failures += 1
        now.beta = min(2.0 * max(now.beta, min(bend, 8.0)), 1e6)
        _forget_momentum(team, state)
        rises = now.failures > _FAILURES
    for j in range(tau):
        p[block_coordinate(state, j)] = 0.0
    now.phase = BLOCK_NEXT
    if rises or now.spent > max(10.0 * n, 0.1 * n * n):
        now.phase = BLOCK_END


@inner
def _forget_momentum(team, state):
    now = state.now[0]
    now.theta, now.chain = now.tau / state.vectors.shape[1], 0
    copy(team, state.vectors[Z], state.vectors[X])


@inner
def next_block(team, state):
    """Go to the next y, and to the next block."""
    now, n = state.now[0], state.vectors.shape[1]
    x, y, z = state.vectors[X], state.vectors[Y], state.vectors[Z]
    now.position += now.tau
    if now.position + now.tau > n:
        now.position = 0
    now.cursor = 0
    if now.chain == 0:
        copy(team, y, x)
        now.f, now.phase = now.value, BLOCK_AHEAD
        return
    for i in range(n):
        y[i] = (1.0 - now.theta) * x[i] + now.theta * z[i]
    state.lists[FIRST, 0] = state.lists[SECOND, 0] = 0.0
    begin_plan(now, BLOCK_AT, 1)


@inner
def end_blocks(team, state):
    """End the beginning: whole sweeps of probes from the best point on."""
    now = state.now[0]
    copy(team, state.vectors[Y], state.x)
    now.f = now.fx
    state.vectors[P][:] = 0.0
    state.vectors[BEFORE][:] = 0.0
    state.vectors[MEAN][:] = 0.0
    now.failures, now.phase = 0, SWEEP
