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

Where many points are evaluated at once, blocks are so large that their points fill rounds, and end the
earlier the larger they are; f(x) is evaluated together with the probes from the next y.

Where the curvatures D along the coordinates of the first block differ a lot, or are negative, all blocks are
probed on both sides once, and each is left by the step -g_B/|D_B| if f falls. Then D is known for all
coordinates, and sweeps follow.
"""

from __future__ import annotations

import math

import numpy as np

from pursuit.compiling.inner import inner
from pursuit.compiling.vectors import add, copy
from pursuit.methods.contract import COORDINATE, FIRST_MULTIPLE, LENGTH, SECOND_MULTIPLE
from pursuit.methods.values.curvature import (
    ALONG,
    BEFORE,
    MEAN,
    MEASURED,
    SCALE,
    SLOPES,
    P,
    S,
    Y,
    quantile,
    sort,
)
from pursuit.methods.values.order import block_coordinate, draw_order
from pursuit.methods.values.state import (
    BLOCK_END,
    BLOCK_JUDGE,
    BLOCK_PROBE,
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
# How many coordinates a block has at least, and how many other points there are: the step before, f(y), and
# the other side of a probe.
_SMALLEST, _OTHERS = 8, 3


def block_size(n: int, room: int) -> int:
    """Return how many coordinates a block has: about sqrt(n), such that its points fill rounds."""
    points = max(_SMALLEST, round(math.sqrt(n))) + _OTHERS
    if room > 1:
        points = room * max(1, round(points / room))
    return min(n, max(1, points - _OTHERS))


@inner
def begin_blocks(team, state):
    """Begin with blocks, from the start."""
    now = state.now[0]
    copy(team, state.vectors[X], state.vectors[Y])
    copy(team, state.vectors[Z], state.vectors[Y])
    state.vectors[P][:] = 0.0
    now.value = now.f
    now.theta = now.tau / state.vectors.shape[1]
    now.position = 0
    begin_probes(now, 0, 0)


@inner
def begin_probes(now, untried, unknown):
    """Plan the probes of a block, after a step that is untried and f(y) that is unknown, if so."""
    now.phase, now.cursor = BLOCK_PROBE, 0
    now.untried, now.unknown = untried, unknown


@inner
def points_of_block(now):
    """Return how many points that makes: one probe is two-sided, or all while no curvature is known."""
    return now.untried + now.unknown + now.tau + (1 if now.mean_curvature > 0.0 else now.tau)


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
    count = min(scheme.room, int(points_of_block(now) - now.cursor))
    for k in range(count):
        i, side = probed_coordinate(state, now.cursor + k)
        moves[FIRST_MULTIPLE, k] = 0.0
        moves[SECOND_MULTIPLE, k] = 1.0 if now.cursor + k < now.untried else 0.0
        moves[COORDINATE, k], moves[LENGTH, k] = i, side * now.probe
    return count


@inner
def probed_block(state, values):
    """Take the values of points for a block."""
    now = state.now[0]
    for k in range(values.shape[0]):
        i, side = probed_coordinate(state, now.cursor)
        if side > 0.0:
            state.vectors[SLOPES, i] = values[k]
        elif side < 0.0:
            state.vectors[P, i] = values[k]
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
def take_two_sided(state):
    """Make differences of the values ahead, and the curvature of those on both sides."""
    now, h, g, p = state.now[0], state.now[0].probe, state.vectors[SLOPES], state.vectors[P]
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
            share = 1.0 / max(now.tau, min(now.blocks + now.tau, 4.0 * now.tau))
            now.mean_curvature += (abs(bend) - now.mean_curvature) * share
            # What the correction by the mean curvature will make of it.
            g[i] = slope * h + 0.5 * h * h * now.mean_curvature


@inner
def take_block_slopes(scheme, state):
    """Go along the slopes of a block, or end."""
    now, g, p, tau = state.now[0], state.vectors[SLOPES], state.vectors[P], int(state.now[0].tau)
    h = now.probe
    take_two_sided(state)
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
    if scheme.at_once > 1:
        go_ahead(state)
    else:
        state.lists[FIRST, 0], state.lists[SECOND, 0] = 1.0, 0.0
        begin_plan(now, BLOCK_TRY, 1)


@inner
def go_ahead(state):
    """Go to the next y before the step is tried: it is tried together with the probes from there.

    One that fails, as few do, costs these probes, but the others save a round each.
    """
    now, n = state.now[0], state.vectors.shape[1]
    y, z, p, s = state.vectors[Y], state.vectors[Z], state.vectors[P], state.vectors[S]
    for j in range(int(now.tau)):
        i = block_coordinate(state, j)
        y[i] += p[i]
        z[i] += now.tau / (n * now.theta) * p[i]
        p[i] = 0.0
    now.theta = next_theta(now.theta)
    for i in range(n):
        # The step led to y + s.
        s[i] = now.theta * (y[i] - z[i])
        y[i] -= s[i]
    next_position(now, n)
    now.probe = next_probe(now, now.f)
    begin_probes(now, 1, 1)


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
    begin_probes(now, 0, 0)
    if now.position >= y.shape[0]:
        now.both_sides, now.phase = 0, BLOCK_END


@inner
def judge_step(team, state):
    """Take the value after a block's step: adapt the length of steps, and go on from there or from x."""
    now, n, tau = state.now[0], state.vectors.shape[1], int(state.now[0].tau)
    value, length = now.trial, 1.0 / (now.beta * now.mean_curvature)
    bend = 2.0 * (value - now.f + length * now.block_square) / (length * length * now.block_square)
    bend = bend / now.mean_curvature if value < math.inf else 4.0 * now.beta
    if value < now.f:
        now.failures = 0
        now.sigma = length * math.sqrt(now.block_square / tau)
        now.travelled += length * math.sqrt(now.block_square)
        if now.untried:
            copy(team, state.vectors[X], state.vectors[Y])
            add(team, state.vectors[X], 1.0, state.vectors[S])
            now.untried, now.f, now.phase = 0, now.here, BLOCK_SLOPES
        else:
            now.probe = next_probe(now, value)
            take_step(team, state)
        now.beta += (0.5 if bend > 1.5 * now.beta else 0.1) * (max(bend, 0.5) - now.beta)
        now.blocks += 1
        now.chain += 1
        rises = value > now.value and now.chain > 2
        now.value = value
    else:
        now.failures += 1
        now.beta = min(2.0 * max(now.beta, min(bend, 8.0)), 1e6)
        if not now.untried:
            next_position(now, n)
        forget_momentum(team, state)
        rises = now.failures > _FAILURES
    # Blocks that are larger than usual are worth less, beside whole sweeps.
    most = max(10.0 * n, 0.1 * n * n) * min(1.0, max(_SMALLEST, math.sqrt(n)) / now.tau)
    if rises or now.spent > most:
        now.phase = BLOCK_END


@inner
def take_step(team, state):
    """Go to x = y + p, and from there to the next y."""
    now, n = state.now[0], state.vectors.shape[1]
    x, y, z, p = state.vectors[X], state.vectors[Y], state.vectors[Z], state.vectors[P]
    copy(team, x, y)
    for j in range(int(now.tau)):
        i = block_coordinate(state, j)
        x[i] += p[i]
        z[i] += now.tau / (n * now.theta) * p[i]
        p[i] = 0.0
    now.theta = next_theta(now.theta)
    for i in range(n):
        y[i] = (1.0 - now.theta) * x[i] + now.theta * z[i]
    next_position(now, n)
    begin_probes(now, 0, 1)


@inner
def forget_momentum(team, state):
    """Go back to x, and on from there with other coordinates, without momentum."""
    now, vectors = state.now[0], state.vectors
    now.theta, now.chain = now.tau / vectors.shape[1], 0
    copy(team, vectors[Z], vectors[X])
    copy(team, vectors[Y], vectors[X])
    vectors[P][:] = 0.0
    now.f = now.value
    begin_probes(now, 0, 0)


@inner
def next_theta(theta):
    """Return the next weight of z in y."""
    square = theta * theta
    return 0.5 * (math.sqrt(square * square + 4.0 * square) - square)


@inner
def next_probe(now, value):
    """Return how long the next probes shall be, from the step and a value near where it leads."""
    step = 1.0 / (now.beta * now.mean_curvature) * math.sqrt(now.block_square / now.tau)
    rounding = math.sqrt(120.0 * _EPS * abs(value) / now.mean_curvature)
    return max(0.1 * step, 1e-9 * now.sigma0, rounding)


@inner
def next_position(now, n):
    """Go to the next block."""
    now.position += now.tau
    if now.position + now.tau > n:
        now.position = 0


@inner
def end_blocks(team, state):
    """End the beginning: whole sweeps of probes from the best point on."""
    now = state.now[0]
    copy(team, state.vectors[Y], state.x)
    now.f = now.fx
    state.vectors[P][:] = 0.0
    state.vectors[BEFORE][:] = 0.0
    state.vectors[MEAN][:] = 0.0
    now.cursor, now.failures, now.phase = 0, 0, SWEEP
