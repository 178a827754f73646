"""The probes of `values` along coordinates, for slopes and curvatures, and its planned points."""

from __future__ import annotations

import math

import numpy as np

from pursuit.compiling.hashing import hashed_at
from pursuit.compiling.inner import inner
from pursuit.methods.contract import COORDINATE, FIRST_MULTIPLE, LENGTH, SECOND_MULTIPLE
from pursuit.methods.values.curvature import (
    ALONG,
    BOTH_SIDES,
    HALFWAY,
    ONE_SIDE,
    OTHER_SIDE,
    REACH,
    SLOPES,
    TWO_SIDED,
    WALL_AHEAD,
    WALL_BACK,
    WALL_BEFORE,
    Y,
    error_of,
    known,
    slope_from_one,
    slope_from_two,
)
from pursuit.methods.values.state import (
    CONCLUDE,
    FIRST,
    MOST_SAMPLES,
    PROBE_AHEAD,
    PROBE_BACK,
    SAMPLES,
    SECOND,
    SEEN,
    noise_of_value,
)

# A probe is no longer than so many times the way so far.
_FAR = 10.0
# How much of the mean slope the change of curvature may spoil.
_SPOILT = 2e-3
# No probe is shorter than this part of the coordinate itself.
_SHORTEST = 4e-10
# Nor than this, whose square is a number.
_TINY = 1e-140
# One in so many coordinates is probed on both sides, more under noise.
_IN_TURN, _IN_TURN_UNDER_NOISE = 32, 8


@inner
def seed_of(now):
    """Return a seed that all probes of a sweep or of a block share, however many of them are in a round."""
    return hashed_at(np.uint64(abs(now.key) * 1e15), max(int(now.spent - now.cursor), 0))


@inner
def sign(seed, i):
    """Return 1 or -1, as good as at random: a hash of the coordinate."""
    return 1.0 if (hashed_at(seed, i + 1) >> np.uint64(40)) & np.uint64(1) else -1.0


@inner
def place_planned(scheme, state):
    """Write where the next planned points are, and return how many."""
    moves, now = state.lists, state.now[0]
    made = int(now.made)
    count = min(scheme.room, int(now.planned) - made)
    for j in range(count):
        moves[FIRST_MULTIPLE, j], moves[SECOND_MULTIPLE, j] = (
            state.lists[FIRST, made + j],
            state.lists[SECOND, made + j],
        )
        moves[COORDINATE, j] = -1
    return count


@inner
def take_planned(state, values):
    """Take the values of planned points, and say whether these were the last."""
    now = state.now[0]
    for j in range(values.shape[0]):
        state.lists[SEEN, int(now.made) + j] = values[j]
    now.made += values.shape[0]
    return now.made >= now.planned


@inner
def place_ahead(scheme, state, seed):
    """Write where the next probes are, and return how many.

    Where many points are evaluated at once, a round that has room for it goes on with those on other sides.
    """
    moves, reach = state.lists, state.vectors[REACH]
    cursor = int(state.now[0].cursor)
    count = min(scheme.room, reach.shape[0] - cursor)
    noise = noise_of_value(state)
    for j in range(count):
        i = cursor + j
        h = probe_length(scheme, state, i, reach[i], noise)
        reach[i] = inside(scheme, state.vectors[Y], i, sign(seed, i), h)
        moves[FIRST_MULTIPLE, j] = moves[SECOND_MULTIPLE, j] = 0.0
        moves[COORDINATE, j], moves[LENGTH, j] = i, reach[i]
    if scheme.at_once > 1:
        count = write_back(scheme, state, next_back(state, 0), count)
    return count


@inner
def probe_length(scheme, state, i, reach, noise):
    """Return how long a probe shall be, about as long as `reach`."""
    now = state.now[0]
    shortest = max(_SHORTEST * abs(state.vectors[Y, i]), _TINY)
    h = max(abs(reach), shortest)
    is_known = known(state.vectors, i)
    bend = abs(state.vectors[ALONG, i]) if is_known else now.typical
    if bend > 0.0:
        if now.slope > 0.0 and is_known and not now.meets_wall:
            h = max(min(h, _SPOILT * now.slope / (max(now.change, 1e-9) * bend)), shortest)
        # Where noise is a part of f, it grows along a probe that leads up.
        seen = min(now.caution * noise, 2.0 * abs(now.f)) if now.is_relative else now.caution * noise
        h = max(h, math.sqrt(seen / bend))
    return min(h, longest_probe(scheme, now, i))


@inner
def longest_probe(scheme, now, i):
    """Return how long a probe may be: not much farther than f has led already, or than it was told to go."""
    size = scheme.sizes[i] if scheme.sizes.shape[0] > 0 else now.sigma0
    return _FAR * (size + now.travelled)


@inner
def inside(scheme, y, i, sign, h):
    """Return a probe of this length, on the other side or shorter where bounds want it."""
    if scheme.lower.shape[0] == 0:
        return sign * h
    below, above = y[i] - scheme.lower[i], scheme.upper[i] - y[i]
    if h > below and h > above:
        return above if above >= below else -below
    if sign > 0.0:
        return h if h <= above else -h
    return -h if h <= below else h


@inner
def back_ratio(scheme, y, i, h):
    """Return where the second probe is, as a multiple of the first."""
    if scheme.lower.shape[0] == 0:
        return OTHER_SIDE
    return OTHER_SIDE if scheme.lower[i] <= y[i] - h <= scheme.upper[i] else HALFWAY


@inner
def coordinates_in_turn(state):
    """Return how many coordinates are probed on both sides in turn."""
    return -(-state.vectors.shape[1] // (_IN_TURN_UNDER_NOISE if state.now[0].noise_rules else _IN_TURN))


@inner
def needs_back(state, i):
    """Say whether the other side of a coordinate is to be probed."""
    now = state.now[0]
    if state.vectors[TWO_SIDED, i] > ONE_SIDE or state.vectors[REACH, i] == 0.0:
        return False
    if (
        now.both_sides
        or state.vectors[TWO_SIDED, i] == WALL_BEFORE
        or now.rest
        or not known(state.vectors, i)
        or not math.isfinite(state.vectors[SLOPES, i])
    ):
        return True
    return (i - int(now.window)) % state.vectors.shape[1] < coordinates_in_turn(state)


@inner
def next_back(state, i):
    """Return the first coordinate from i on whose other side is to be probed; n if there is none."""
    n = state.vectors.shape[1]
    while i < n and not needs_back(state, i):
        i += 1
    return i


@inner
def place_back(scheme, state):
    """Write where the next probes on other sides are, and return how many."""
    return write_back(scheme, state, int(state.now[0].cursor), 0)


@inner
def write_back(scheme, state, i, count):
    """Write probes on other sides, from a coordinate on and after `count` points; return the new count."""
    moves, reach, n = state.lists, state.vectors[REACH], state.vectors.shape[1]
    while i < n and count < scheme.room:
        moves[FIRST_MULTIPLE, count] = moves[SECOND_MULTIPLE, count] = 0.0
        moves[COORDINATE, count] = i
        moves[LENGTH, count] = back_ratio(scheme, state.vectors[Y], i, reach[i]) * reach[i]
        count += 1
        i = next_back(state, i + 1)
    return count


@inner
def begin_ahead(state):
    """Plan the probes on one side, but for those that were made together with the step."""
    now = state.now[0]
    now.phase, now.cursor = PROBE_AHEAD, now.looked


@inner
def probed_ahead(state, values):
    """Take the values of probes on one side, and of those on other sides that follow them."""
    now, n = state.now[0], state.vectors.shape[1]
    cursor = int(now.cursor)
    count = min(values.shape[0], n - cursor)
    for j in range(count):
        state.vectors[SLOPES, cursor + j] = values[j] - now.f
    now.cursor += count
    if now.cursor == n:
        probe_back(state)
        if count < values.shape[0]:
            probed_back(state, values, count)


@inner
def probe_back(state):
    """Plan the probes on other sides; if there are none, conclude."""
    now = state.now[0]
    now.phase, now.cursor = PROBE_BACK, next_back(state, 0)
    if now.cursor == state.vectors.shape[1]:
        now.phase = CONCLUDE


@inner
def probed_back(state, values, first):
    """Take the values of probes on the other side, from one of them on."""
    now, moves = state.now[0], state.lists
    noise = noise_of_value(state)
    for j in range(first, values.shape[0]):
        last = int(moves[COORDINATE, j])
        ratio = moves[LENGTH, j] / state.vectors[REACH, last]
        ahead, back = state.vectors[SLOPES, last], values[j] - now.f
        state.vectors[SLOPES, last], change = slope_from_two(
            state.vectors, last, ahead, ratio, back, noise, now.old_noise
        )
        found = WALL_BACK if back == math.inf else BOTH_SIDES
        state.vectors[TWO_SIDED, last] = WALL_AHEAD if ahead == math.inf else found
        if math.isfinite(change) and now.taken < MOST_SAMPLES:
            state.lists[SAMPLES, int(now.taken)] = change
            now.taken += 1
    now.cursor = next_back(state, 0)
    if now.cursor < state.vectors.shape[1]:
        return
    if not now.rest and curvature_is_inexact(state):
        now.rest = 1
        probe_back(state)
    else:
        now.phase = CONCLUDE


@inner
def curvature_is_inexact(state):
    """Say whether curvatures from when f was larger, and its noise, spoil the slopes from one side."""
    now, noise = state.now[0], noise_of_value(state)
    error = slope = blur = 0.0
    for i in range(state.vectors.shape[1]):
        h = state.vectors[REACH, i]
        if not state.vectors[TWO_SIDED, i] > ONE_SIDE and h != 0.0:
            one = slope_from_one(state.vectors, i, state.vectors[SLOPES, i])
            slope += one * one
            error += (0.5 * h * error_of(state.vectors, i, now.old_noise)) ** 2
            blur += (noise / h) ** 2
    return error > 1e-6 * slope and error > 100.0 * blur
