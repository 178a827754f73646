"""The trials of a step of `values`, and what follows from them."""

from __future__ import annotations

import math

from pursuit.compiling.inner import inner
from pursuit.compiling.vectors import copy, dot
from pursuit.methods.contract import COORDINATE, FIRST_MULTIPLE, LENGTH, SECOND_MULTIPLE
from pursuit.methods.values.curvature import (
    BEFORE,
    MEAN,
    REACH,
    SLOPES,
    TWO_SIDED,
    WALL_AHEAD,
    P,
    S,
    Y,
)
from pursuit.methods.values.directions import (
    energy_of,
    forget_curvature,
    lose_track,
    meet_wall,
    turn_from_walls,
    weight,
)
from pursuit.methods.values.ending import note_fall
from pursuit.methods.values.probes import coordinates_in_turn, probe_length, sign
from pursuit.methods.values.quasi_newton import forget_pairs
from pursuit.methods.values.state import (
    END,
    EVALUATE_AGAIN,
    FIRST,
    MOVE,
    SECOND,
    SEEN,
    STAY,
    SWEEP,
    TRY,
    begin_plan,
    is_blurred,
    is_noisy,
    noise_of_value,
    scale_by,
)

# No step is longer: f may have no minimum, and points must stay finite.
_FARTHEST = 1e100
# How much another value at the same point counts for the noise.
_SHARE = 0.1
# Probes as a part of the latest step along a coordinate: at most, and divided by the change of curvature.
_PROBE, _PROBE_BY_CHANGE, _LEAST_PROBE = 0.3, 0.003, 0.01

# Curvature that changes by more than this part of itself from step to step may be that of kinks.
_ROUGH_CHANGE = 0.2
# Where curvature changes by so much and predictions are so far off, even steps that lead down cross kinks.
_CROOKED_CHANGE, _CROOKED = 0.5, 0.3
# Predictions that are off by more than this are no predictions.
_MISLED = 0.5
# A step that is to win so many times the noise promises much.
_MUCH = 1e3
# A step so many times as long as the model's, after which f is this part of what it was, leads to where
# nothing is left of the curvature before: f falls exponentially there, say.
_MUCH_FARTHER, _MUCH_LESS = 4.0, 1e-6
# Over how many points the mean under noise goes at most.
_MOST_AVERAGED = 40.0


@inner
def try_step(team, scheme, state):
    """Try y + s."""
    now, n, s = state.now[0], state.vectors.shape[1], state.vectors[S]
    length = math.sqrt(dot(team, n, s, s))
    if not math.isfinite(length) and not now.noise_rules and now.along < now.f:
        # f falls along p as on a straight line, on which the model has no minimum.
        copy(team, s, state.vectors[P])
        length, now.predicted = math.sqrt(dot(team, n, s, s)), now.f - now.along
    if not math.isfinite(length):
        scale_by(state.vectors[REACH], 0.3)
        lose_track(state)
        now.phase = SWEEP
        return
    now.is_cut = length > now.radius
    if now.is_cut:
        scale_by(s, now.radius / length)
    for i in range(scheme.lower.shape[0]):
        s[i] = min(max(state.vectors[Y, i] + s[i], scheme.lower[i]), scheme.upper[i]) - state.vectors[Y, i]
    turn_from_walls(state, s)
    now.tries, now.value = 0, math.inf
    try_multiple(state, 1.0)


@inner
def try_multiple(state, multiple):
    """Plan to try a multiple of s."""
    now = state.now[0]
    now.multiple = multiple
    state.lists[FIRST, 0], state.lists[SECOND, 0] = 0.0, multiple
    begin_plan(now, TRY, 1)


@inner
def place_after_step(scheme, state, seed):
    """Write the first probes of the next sweep after the step that is tried, and return how many.

    They are those that would not fill a round of as many points as are evaluated at once: nobody waits for
    them. They count if the step is taken as it is.
    """
    now, n, s, moves = state.now[0], state.vectors.shape[1], state.vectors[S], state.lists
    now.looked = 0
    if now.multiple != 1.0 or now.noise_rules or scheme.lower.shape[0] > 0 or scheme.at_once == 1:
        return 0
    part, energy, noise = probe_share(now), energy_of(state, s) / n, noise_of_value(state)
    count = min((n + coordinates_in_turn(state)) % scheme.at_once, scheme.room - 1, n - 1)
    for i in range(count):
        h = probe_length(scheme, state, i, part * share_of_step(state, i, energy), noise)
        moves[FIRST_MULTIPLE, 1 + i], moves[SECOND_MULTIPLE, 1 + i] = 0.0, 1.0
        moves[COORDINATE, 1 + i], moves[LENGTH, 1 + i] = i, sign(seed, i) * h
    now.looked = count
    return count


@inner
def probe_share(now):
    """Return how long probes are as a part of a step."""
    return min(_PROBE, max(_LEAST_PROBE, _PROBE_BY_CHANGE / max(now.change, 1e-9)))


@inner
def share_of_step(state, i, energy):
    """Return how long a step is along a coordinate, at least a tenth of an equal share of its energy."""
    return max(abs(state.vectors[S, i]), 0.1 * math.sqrt(energy / weight(state, i)))


@inner
def take_looks(state):
    """Take the values of probes that were made together with the step."""
    now, moves = state.now[0], state.lists
    for i in range(int(now.looked)):
        state.vectors[REACH, i] = moves[LENGTH, 1 + i]
        state.vectors[SLOPES, i] = state.lists[SEEN, 1 + i] - now.f


@inner
def tried(state):
    """Take the value of a trial: try a longer or a shorter step, or end."""
    now = state.now[0]
    value, before = state.lists[SEEN, 0], now.value
    enough = now.f + (3.0 * noise_of_value(state) if now.noise_rules else 0.0)
    is_longer = now.multiple > 1.0
    now.value, now.tries = value, now.tries + 1
    if value == math.inf:
        meet_wall(state, state.vectors[S], now.multiple)
    multiple = 0.0
    if is_longer and not value < before:
        now.value, now.multiple = before, 0.5 * now.multiple
    elif value < enough:
        grows = is_longer or now.is_cut or now.f - value > 1.5 * now.predicted
        if now.multiple >= 1.0 and grows and not now.noise_rules and now.tries < 7:
            multiple = 2.0 * now.multiple
    elif now.tries <= (4 if now.noise_rules else 12):
        multiple = 0.3 * now.multiple
    if multiple > 0.0:
        now.looked = 0
        try_multiple(state, multiple)
    else:
        now.phase = END


@inner
def end_trials(team, state):
    """Go where the best trial was, if f falls."""
    now, n, s = state.now[0], state.vectors.shape[1], state.vectors[S]
    rules, multiple = now.noise_rules, now.multiple
    length = multiple * math.sqrt(dot(team, n, s, s))
    if multiple < 1.0:
        now.radius = max(0.5 * now.radius if rules else 0.0, 2.0 * length)
        now.both_sides = not rules or now.meets_wall
    elif is_clear(state):
        now.radius = min(max(now.radius, 4.0 * length), _FARTHEST)
    if not rules and not now.is_cut:
        found = now.value if now.value < math.inf else now.f
        off = min(1.0, abs((now.f - found) / max(now.predicted, 1e-300) - 1.0))
        now.misjudged += 0.2 * (off - now.misjudged)
    if not rules and now.along < now.value:
        # p itself is better than what the model has made of it.
        copy(team, s, state.vectors[P])
        now.value, multiple, now.looked = now.along, 1.0, 0
    if not rules:
        note_roughness(state)
    if now.value < now.f + (3.0 * noise_of_value(state) if rules else 0.0):
        now.multiple, now.phase = multiple, MOVE
    else:
        now.phase = STAY


@inner
def is_clear(state):
    """Say whether the step leads down for certain, and not by the luck of noise."""
    now = state.now[0]
    return not now.noise_rules or now.value < now.f - 3.0 * noise_of_value(state)


@inner
def note_roughness(state):
    """Take note of steps that lead nowhere, as at kinks and jumps.

    Either curvature changes all the time, or the steps had promised much: few coordinates may have a kink.
    """
    now = state.now[0]
    promised = now.predicted > _MUCH * noise_of_value(state) and not now.meets_wall
    now.is_misled = promised and now.misjudged > _MISLED
    if (now.change > _ROUGH_CHANGE or promised) and (now.multiple < 0.01 or not now.value < now.f):
        now.rough += 1
    elif now.change > _CROOKED_CHANGE and now.misjudged > _CROOKED:
        now.rough += 0.25
    elif now.multiple >= 0.3 and now.misjudged < 0.5:
        now.rough = 0


@inner
def move(team, scheme, state):
    """Go to the next y."""
    now, n, y, s, reach = (
        state.now[0],
        state.vectors.shape[1],
        state.vectors[Y],
        state.vectors[S],
        state.vectors[REACH],
    )
    for i in range(n):
        new = y[i] + now.multiple * s[i]
        if scheme.lower.shape[0] > 0:
            new = min(max(new, scheme.lower[i]), scheme.upper[i])
        s[i] = new - y[i]
        y[i] = new
    square = dot(team, n, s, s)
    if square == 0.0:
        # The step is less than the digits of y.
        now.phase = STAY
        return
    part, energy = probe_share(now), energy_of(state, s) / n
    for i in range(n):
        kept = abs(reach[i]) if now.meets_wall else 0.5 * abs(reach[i])
        reach[i] = part * share_of_step(state, i, energy)
        if now.meets_wall or state.vectors[TWO_SIDED, i] >= WALL_AHEAD:
            reach[i] = max(reach[i], kept)
    copy(team, state.vectors[BEFORE], state.vectors[SLOPES])
    if is_clear(state):
        now.travelled += math.sqrt(square)
    note_fall(now, n)
    is_elsewhere = now.multiple >= _MUCH_FARTHER and now.value < _MUCH_LESS * now.f
    now.f, now.sigma = now.value, math.sqrt(square / n)
    now.failures, now.has_before = 0, 1
    if is_elsewhere:
        forget_curvature(state)
    take_looks(state)
    if now.noise_rules:
        # The value that was accepted was a lucky one: another at the same point.
        plan_again(state, 1)
    else:
        now.averaged = 0
        now.phase = SWEEP


@inner
def stay(state):
    """Stay, and probe closer by."""
    now, reach = state.now[0], state.vectors[REACH]
    now.looked = 0
    for i in range(reach.shape[0]):
        shortest = 1e-14 * (now.sigma + abs(state.vectors[Y, i]))
        shorter = 1.0 if now.meets_wall else 0.5 if now.noise_rules else 0.1
        reach[i] = max(shorter * abs(reach[i]), shortest)
    if now.from_memory and now.failures > 0 and not now.noise_rules and not now.meets_wall:
        # Twice not even a short step along p has led down: the memory is of quite another place.
        forget_pairs(state.pairs)
    lose_track(state)
    now.due = 0
    if now.failures >= 2 and noise_of_value(state) > 1e-13 * abs(now.f):
        now.forced = 20
    if now.noise_rules:
        plan_again(state, 4)
    else:
        now.phase = SWEEP


@inner
def plan_again(state, times):
    """Plan to evaluate f(y) so many times more."""
    for j in range(times):
        state.lists[FIRST, j] = state.lists[SECOND, j] = 0.0
    begin_plan(state.now[0], EVALUATE_AGAIN, times)


@inner
def note_noise(now, count, square, offset):
    """Take note of the noise of values at the same point, from their squares around the first of them."""
    others = max(count - 1, 1)
    variance = 0.5 * square if count == 1 else max(square - count * offset * offset, 0.0) / others
    share = min(_SHARE * others, 1.0)
    now.noise = math.sqrt((1.0 - share) * now.noise * now.noise + share * variance)


@inner
def evaluated_again(team, state):
    """Take further values of f(y), under noise."""
    now, total, square = state.now[0], 0.0, 0.0
    count = int(now.planned)
    first = now.f if count == 1 else state.lists[SEEN, 0]
    for j in range(count):
        value = state.lists[SEEN, j]
        total += value
        square += (value - first) * (value - first)
    mean = total / count
    now.repeats = square == 0.0
    now.is_rough = now.repeats and is_blurred(state)
    if math.isfinite(mean):
        now.f = 0.5 * (now.f + mean) if count == 1 else mean
        if 0.0 < square < math.inf:
            note_noise(now, count, square, mean - first)
    if not is_noisy(state):
        now.phase = SWEEP
        return
    share = 1.0 / min(now.averaged + 1.0, _MOST_AVERAGED)
    for i in range(state.vectors.shape[1]):
        state.vectors[MEAN, i] += share * (state.vectors[Y, i] - state.vectors[MEAN, i])
    now.slow += share * (now.f - now.slow)
    now.fast += max(share, 0.4) * (now.f - now.fast)
    now.averaged += 1
    now.is_estimate = 1
    # Not the luckiest point is returned, but y, or the mean once f no longer falls.
    if abs(now.slow - now.fast) > noise_of_value(state):
        now.averaged = min(now.averaged, 6.0)
        copy(team, state.x, state.vectors[Y])
        now.fx = now.f
    else:
        copy(team, state.x, state.vectors[MEAN])
        now.fx = now.slow
    now.phase = SWEEP
