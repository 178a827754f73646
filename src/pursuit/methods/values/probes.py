"""The probes of `values`: along coordinates, for slopes and curvatures, and on a line, for the noise."""

from __future__ import annotations

import math

import numpy as np

from pursuit.compiling.inner import inner
from pursuit.methods.contract import COORDINATE, FIRST_MULTIPLE, LENGTH, SECOND_MULTIPLE
from pursuit.methods.values.curvature import (
    ALONG,
    HALFWAY,
    MEASURED,
    OTHER_SIDE,
    REACH,
    SCALE,
    SLOPES,
    TWO_SIDED,
    P,
    Y,
    error_of,
    known,
    quantile,
    sampled,
    slope_from_one,
    slope_from_two,
)
from pursuit.methods.values.noise import VALUES, are_told_apart, noise_level
from pursuit.methods.values.quasi_newton import forget_pairs
from pursuit.methods.values.state import (
    BLOCK_BEGIN,
    CONCLUDE,
    FIRST,
    MEASURE_NOISE,
    PROBE_AHEAD,
    PROBE_BACK,
    ROOM,
    SAMPLES,
    SECOND,
    SEEN,
    begin_plan,
    noise_of_value,
    scale_by,
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
# The noise is measured again after so many steps.
_NOISE_EVERY = 10
# How much closer points are from which it is confirmed.
_CLOSER = 0.01
# It is measured anew where f has fallen to this part of what it was.
_LESS = 0.3
# Second differences that exceed the noise by so much show a curvature.
_VISIBLE = 20.0
# The first distance of the points from which noise is measured, as a multiple of a probe.
APART = 1e-2
# Values are noisy if their noise is more than this part of them: then blocks of coordinates tell nothing.
NOISY = 1e-11


@inner
def seed_of(normal):
    """Return a seed for signs, from a standard normal."""
    return np.uint64(abs(normal) * 1e15)


@inner
def sign(seed, i):
    """Return 1 or -1, as good as at random: a hash of the coordinate."""
    z = seed + np.uint64(i + 1) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return 1.0 if (z >> np.uint64(40)) & np.uint64(1) else -1.0


@inner
def draw_line(scheme, state, seed):
    """Write a random direction into p, along each coordinate as long as a probe, or 0 where a bound is near.

    Points that are moved onto a bound would make kinks that look like noise.
    """
    y, reach, p = state.vectors[Y], state.vectors[REACH], state.vectors[P]
    ends = VALUES // 2 * state.now[0].apart
    for i in range(y.shape[0]):
        p[i] = sign(seed, i) * abs(reach[i])
        if scheme.lower.shape[0] > 0:
            way = ends * abs(reach[i])
            if y[i] - way < scheme.lower[i] or y[i] + way > scheme.upper[i]:
                p[i] = 0.0


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
    """Write where the next probes are, and return how many."""
    moves, reach = state.lists, state.vectors[REACH]
    cursor = int(state.now[0].cursor)
    count = min(scheme.room, reach.shape[0] - cursor)
    noise = noise_of_value(state)
    for j in range(count):
        i = cursor + j
        reach[i] = inside(scheme, state.vectors[Y], i, sign(seed, i), probe_length(scheme, state, i, noise))
        moves[FIRST_MULTIPLE, j] = moves[SECOND_MULTIPLE, j] = 0.0
        moves[COORDINATE, j], moves[LENGTH, j] = i, reach[i]
    return count


@inner
def probe_length(scheme, state, i, noise):
    """Return how long a probe shall be."""
    now = state.now[0]
    shortest = max(_SHORTEST * abs(state.vectors[Y, i]), _TINY)
    h = max(abs(state.vectors[REACH, i]), shortest)
    is_known = known(state.vectors, i)
    bend = abs(state.vectors[ALONG, i]) if is_known else now.typical
    if bend > 0.0:
        if now.slope > 0.0 and is_known:
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
    if state.vectors[TWO_SIDED, i] or state.vectors[REACH, i] == 0.0:
        return False
    if (
        now.both_sides
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
    moves, reach, n = state.lists, state.vectors[REACH], state.vectors.shape[1]
    i, count = int(state.now[0].cursor), 0
    while i < n and count < scheme.room:
        moves[FIRST_MULTIPLE, count] = moves[SECOND_MULTIPLE, count] = 0.0
        moves[COORDINATE, count] = i
        moves[LENGTH, count] = back_ratio(scheme, state.vectors[Y], i, reach[i]) * reach[i]
        count += 1
        i = next_back(state, i + 1)
    return count


@inner
def measured_noise(state):
    """Take the values on a line: note the noise, or plan longer or shorter distances."""
    now, values = state.now[0], state.lists[SEEN, :VALUES]
    finite = True
    for j in range(VALUES):
        finite = finite and math.isfinite(values[j])
    if (not finite or not are_told_apart(values)) and now.attempt < 5 and now.suspect == 0.0:
        now.attempt += 1
        now.apart *= 10.0 if finite else 0.1
        plan_line(state)
        return
    level = noise_level(values) if finite else 0.0
    if now.suspect > 0.0:
        if level > 0.3 * now.suspect:
            forget_curvature(state)
        else:
            now.rough += 1
        now.suspect = 0.0
    elif 0.0 <= 10.0 * noise_of_value(state) < level and now.noise >= 0.0:
        # Noise is the same at any distance, but not what kinks and jumps look like.
        now.suspect = level
        now.apart *= _CLOSER
        plan_line(state)
        return
    is_first = now.noise < 0.0
    if is_first and finite:
        now.first_noise = level = now.first_noise if now.first_noise > 0.0 else level
        if not first_probes_are_chosen(state, values, level):
            now.attempt += 1
            now.apart *= 10.0
            plan_line(state)
            return
    note_kind_of_noise(now, level)
    if now.noise >= 0.0 and not abs(now.f) < _LESS * now.noise_at:
        level = math.sqrt(0.6 * now.noise * now.noise + 0.4 * level * level)
    now.noise, now.noise_at, now.due = level, abs(now.f), _NOISE_EVERY
    now.spacing = now.apart * median_reach(state) if now.apart > APART else 0.0
    begins = is_first and now.spent <= 100.0 and now.tau > 0.0 and level <= NOISY * abs(now.f)
    now.phase, now.cursor = BLOCK_BEGIN if begins else PROBE_AHEAD, 0


@inner
def note_kind_of_noise(now, level):
    """Note whether noise is a part of |f|: it is if the part stays the same while |f| falls."""
    if now.noise < 0.0:
        now.first_at, now.is_relative = abs(now.f), 0
    elif level > 1e-12 * abs(now.f) and abs(now.f) < 0.1 * now.first_at:
        ratio = level * now.first_at / (abs(now.f) * now.first_noise + 1e-300)
        now.is_relative = 0.25 < ratio < 3.0


@inner
def forget_curvature(state):
    """Begin anew where much more noise has appeared than there was: it has spoilt all that was measured."""
    now = state.now[0]
    state.vectors[ALONG][:] = math.nan
    state.vectors[SCALE][:] = 0.0
    state.vectors[MEASURED][:] = 0.0
    forget_pairs(state.pairs)
    now.noise, now.first_noise, now.change = -1.0, 0.0, 1e-4
    now.radius, now.has_before, now.both_sides = now.sigma0 * math.sqrt(state.vectors.shape[1]), 0, 1


@inner
def first_probes_are_chosen(state, values, noise):
    """Lengthen the first probes until noise does not hide curvature; return False if that is not seen yet.

    The second difference along a line with random signs is on average the sum of those along the coordinates.
    """
    now, n, reach = state.now[0], state.vectors.shape[1], state.vectors[REACH]
    middle, aside = VALUES // 2, VALUES // 2 - 1
    bend = abs(values[middle - aside] + values[middle + aside] - 2.0 * values[middle])
    most = now.sigma0 / max(median_reach(state), 1e-300)
    if bend < _VISIBLE * noise and 10.0 * now.apart * aside < most:
        return False
    wanted = aside * now.apart * math.sqrt(now.caution * noise * n / max(bend, noise))
    if wanted > 1.0:
        scale_by(reach, min(wanted, most))
    return True


@inner
def median_reach(state):
    """Return the median length of the probes."""
    lengths = sampled(state.vectors[REACH])
    return quantile(lengths, 0.5) if lengths.shape[0] > 0 else 1e-300


@inner
def plan_line(state):
    """Plan the values on a line from which noise is measured."""
    now = state.now[0]
    for j in range(VALUES):
        state.lists[FIRST, j], state.lists[SECOND, j] = now.apart * (j - VALUES // 2), 0.0
    begin_plan(now, MEASURE_NOISE, VALUES)


@inner
def begin_sweep(state):
    """Plan the probes from y, or to measure the noise first if that is due."""
    now = state.now[0]
    state.vectors[TWO_SIDED][:] = 0
    now.taken = now.rest = 0
    if now.due > 0 and not abs(now.f) < _LESS * now.noise_at:
        now.due -= 1
        now.phase, now.cursor = PROBE_AHEAD, 0
        return
    reach = max(median_reach(state), 1e-300)
    now.apart = max(APART, min(0.1 * now.spacing / reach, 10.0, (now.sigma0 + now.travelled) / reach))
    now.attempt = 0
    plan_line(state)


@inner
def probed_ahead(state, values):
    """Take the values of probes on one side."""
    now = state.now[0]
    cursor = int(now.cursor)
    for j in range(values.shape[0]):
        state.vectors[SLOPES, cursor + j] = values[j] - now.f
    now.cursor += values.shape[0]
    if now.cursor == state.vectors.shape[1]:
        probe_back(state)


@inner
def probe_back(state):
    """Plan the probes on other sides; if there are none, conclude."""
    now = state.now[0]
    now.phase, now.cursor = PROBE_BACK, next_back(state, 0)
    if now.cursor == state.vectors.shape[1]:
        now.phase = CONCLUDE


@inner
def probed_back(state, values):
    """Take the values of probes on the other side."""
    now, moves, last = state.now[0], state.lists, 0
    noise = noise_of_value(state)
    for j in range(values.shape[0]):
        last = int(moves[COORDINATE, j])
        ratio = moves[LENGTH, j] / state.vectors[REACH, last]
        ahead, back = state.vectors[SLOPES, last], values[j] - now.f
        state.vectors[SLOPES, last], change = slope_from_two(
            state.vectors, last, ahead, ratio, back, noise, now.old_noise
        )
        state.vectors[TWO_SIDED, last] = 1
        if math.isfinite(change) and now.taken < ROOM:
            state.lists[SAMPLES, int(now.taken)] = change
            now.taken += 1
    now.cursor = next_back(state, last + 1)
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
        if not state.vectors[TWO_SIDED, i] and h != 0.0:
            one = slope_from_one(state.vectors, i, state.vectors[SLOPES, i])
            slope += one * one
            error += (0.5 * h * error_of(state.vectors, i, now.old_noise)) ** 2
            blur += (noise / h) ** 2
    return error > 1e-6 * slope and error > 100.0 * blur
