"""How `values` begins: accelerated steps in blocks of coordinates, which pay from the first evaluations on.

    x <- x_0;  z <- x_0;  theta <- tau/n
    repeat, with tau coordinates of a random order as the block B:
        y <- (1 - theta) x + theta z
        g_B <- slopes at y along the block, from one side, corrected by the mean curvature L;
               in every fourth block one of the probes from both sides, for L
        p <- -g_B/(beta L);  f(y), f(y + p) and the slope make a parabola along p
        step <- p times what leads to its minimum, 2 at most;  x <- y + step;  z <- z + tau/(n theta) step
        beta follows the curvature along p
        theta <- (sqrt(theta^4 + 4 theta^2) - theta^2)/2

This is the accelerated method of Fercoq and Richtarik, with step sizes that are measured. It ends where f
rises, where curvatures cannot be measured, and after 15 n or n^2/10 evaluations. Then whole sweeps of probes
are worth more.

Where many points are evaluated at once, blocks are so large that their points fill rounds, and end the
earlier the larger they are; the step is p, and f(y + p) is evaluated together with the probes from the
next y.

Where the curvatures along the coordinates of the first block differ a lot, or are negative, `singles.py` says
how it goes on.
"""

from __future__ import annotations

import math

import numpy as np

from pursuit.compiling.inner import inner
from pursuit.compiling.vectors import add, copy
from pursuit.methods.values.block_probes import X, Z, begin_probes, take_two_sided
from pursuit.methods.values.curvature import BEFORE, MEAN, SLOPES, P, S, Y, quantile, sort
from pursuit.methods.values.mixtures import add_mixture
from pursuit.methods.values.order import block_coordinate
from pursuit.methods.values.singles import end_mixtures, step_singly
from pursuit.methods.values.state import (
    BLOCK_END,
    BLOCK_SLOPES,
    BLOCK_TRY,
    FIRST,
    SECOND,
    SWEEP,
    begin_plan,
    noise_of_value,
)

# Curvatures that differ by more than this factor are not alike.
_ALIKE = 4.0
# A curvature is seen that is so many times as large as what noise makes of none. This share of them is many.
_BLUR, _MANY = 10.0, 0.2
# Steps that fail in a row end it.
_FAILURES = 5
# How many coordinates a block has at least, and how many other points there are: the step before, f(y), and
# the other side of a probe.
_SMALLEST, _OTHERS = 8, 3
# A step is at most so many times as long as the one that was tried.
_LEAP = 2.0
# There are mixtures where there are more blocks than this.
_BLOCKS = 8


def block_size(n: int, room: int) -> int:
    """Return how many coordinates a block has: about sqrt(n), such that its points fill rounds."""
    points = max(_SMALLEST, round(math.sqrt(n))) + _OTHERS
    if room > 1:
        points = room * max(1, round(points / room))
    return min(n, max(1, points - _OTHERS))


@inner
def take_block_slopes(scheme, state):
    """Go along the slopes of a block, or end."""
    now, g, p, tau = state.now[0], state.vectors[SLOPES], state.vectors[P], int(state.now[0].tau)
    h = now.probe
    take_two_sided(state)
    if now.mean_curvature == 0.0:
        bends = np.empty(tau)
        negative = downward = upward = 0
        blur = _BLUR * noise_of_value(state) / (h * h)
        for j in range(tau):
            bends[j] = p[block_coordinate(state, j)]
            negative += not bends[j] > 0.0
            downward += bends[j] < -blur
            upward += bends[j] > blur
            bends[j] = abs(bends[j])
        sort(bends)
        if not math.isfinite(bends[-1]):
            now.phase = BLOCK_END
            return
        differ = quantile(bends, 0.9) > _ALIKE * quantile(bends, 0.1)
        if now.is_single or differ or negative > _MANY * tau:
            is_bowl = downward <= _MANY * tau <= upward
            # Whoever evaluates many points at once needs no mixtures.
            if is_bowl and not now.is_single and scheme.at_once == 1 and g.shape[0] > _BLOCKS * tau:
                now.mean_curvature = np.mean(bends)
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
    write_step(state)
    if scheme.at_once > 1:
        go_ahead(state)
    else:
        state.lists[FIRST, 0], state.lists[SECOND, 0] = 1.0 - now.is_mixed, now.is_mixed
        begin_plan(now, BLOCK_TRY, 1)


@inner
def write_step(state):
    """Write the step that is to be tried: into p, or if it is along mixtures into s."""
    now, g, p, s = state.now[0], state.vectors[SLOPES], state.vectors[P], state.vectors[S]
    length = 1.0 / (now.beta * now.mean_curvature)
    if now.is_mixed:
        s[:] = 0.0
    for j in range(int(now.tau)):
        i = block_coordinate(state, j)
        if now.is_mixed:
            add_mixture(state, i, -length * g[i], s)
        else:
            p[i] = -length * g[i]


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
    now.probe = next_probe(state)
    begin_probes(now, 1, 1)


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
            now.probe = next_probe(state)
            # The minimum of the parabola through f(y), with its slope there, and the value that was seen.
            multiple = min(now.beta / bend, _LEAP) if bend > 0.0 else _LEAP
            fall = length * now.block_square
            value = now.f + multiple * (multiple * (value - now.f + fall) - fall)
            take_step(team, state, multiple)
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
    most = max(15.0 * n, 0.1 * n * n) * min(1.0, max(_SMALLEST, math.sqrt(n)) / now.tau)
    if now.is_mixed:
        # Single coordinates take 2 n + n/(2 tau) evaluations, and everything together 3 n.
        if rises or now.spent + now.tau + _OTHERS > n - n / (2.0 * now.tau):
            end_mixtures(team, state)
    elif rises or now.spent > most:
        now.phase = BLOCK_END


@inner
def take_step(team, state, multiple):
    """Go to x, a multiple of p away from y, and from there to the next y."""
    now, n = state.now[0], state.vectors.shape[1]
    x, y, z, p = state.vectors[X], state.vectors[Y], state.vectors[Z], state.vectors[P]
    copy(team, x, y)
    if now.is_mixed:
        add(team, x, multiple, state.vectors[S])
        add(team, z, multiple * now.tau / (n * now.theta), state.vectors[S])
    else:
        for j in range(int(now.tau)):
            i = block_coordinate(state, j)
            x[i] += multiple * p[i]
            z[i] += multiple * now.tau / (n * now.theta) * p[i]
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
    begin_probes(now, 0, 1)


@inner
def next_theta(theta):
    """Return the next weight of z in y."""
    square = theta * theta
    return 0.5 * (math.sqrt(square * square + 4.0 * square) - square)


@inner
def next_probe(state):
    """Return how long the next probes shall be: a part of the step, but not hidden by noise."""
    now = state.now[0]
    step = 1.0 / (now.beta * now.mean_curvature) * math.sqrt(now.block_square / now.tau)
    visible = math.sqrt(60.0 * noise_of_value(state) / now.mean_curvature)
    return max(0.1 * step, 1e-9 * now.sigma0, visible)


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
