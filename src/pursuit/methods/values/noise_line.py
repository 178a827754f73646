"""The noise of `values`: when and from which points on a line it is measured, and what follows from it."""

from __future__ import annotations

import math

from pursuit.compiling.inner import inner
from pursuit.methods.values.curvature import (
    ONE_SIDE,
    REACH,
    TWO_SIDED,
    WALL_AHEAD,
    WALL_BEFORE,
    P,
    Y,
    quantile,
    sampled,
)
from pursuit.methods.values.directions import forget_curvature
from pursuit.methods.values.noise import VALUES, are_told_apart, noise_level
from pursuit.methods.values.probes import begin_ahead, sign
from pursuit.methods.values.state import (
    BLOCK_BEGIN,
    FIRST,
    MEASURE_NOISE,
    ROUNDING,
    SECOND,
    SEEN,
    begin_plan,
    noise_of_value,
    scale_by,
)

# The noise is measured again after so many steps.
_NOISE_EVERY = 10
# How much closer points are from which it is confirmed.
_CLOSER = 0.01
# It is measured anew where f has fallen to this part of what it was.
_LESS = 0.3
# Second differences that exceed the noise by so much show a curvature.
_VISIBLE = 20.0
# Those that should have exceeded it by so many times as much, and have not, show that it is something else.
_CLEARLY = 1e3
# The places of these values on the line.
_MIDDLE, _ASIDE = VALUES // 2, VALUES // 2 - 1
# Noise from few values that is more than this part of another may be the same.
_ALIKE = 0.1
# Kinks of less than this part of the first |f| may be those of rounding.
_DEEP = 1e-9
ATTEMPTS = 6
"""At how many distances noise is measured at most."""
# The first distance of the points from which noise is measured, as a multiple of a probe.
APART = 1e-2
# Values are noisy if their noise is more than this part of them: then blocks of coordinates tell nothing.
NOISY = 1e-11


@inner
def begin_sweep(state):
    """Plan the probes from y, or to measure the noise first if that is due."""
    now = state.now[0]
    sides = state.vectors[TWO_SIDED]
    for i in range(sides.shape[0]):
        sides[i] = WALL_BEFORE if sides[i] >= WALL_AHEAD else ONE_SIDE
    now.taken = now.rest = 0
    if now.due > 0 and not abs(now.f) < _LESS * now.noise_at:
        now.due -= 1
        begin_ahead(state)
        return
    reach = max(median_reach(state), 1e-300)
    now.apart = max(APART, min(0.1 * now.spacing / reach, 10.0, (now.sigma0 + now.travelled) / reach))
    now.attempt = 0
    plan_line(state)


@inner
def plan_line(state):
    """Plan the values on a line from which noise is measured."""
    now = state.now[0]
    for j in range(VALUES):
        state.lists[FIRST, j], state.lists[SECOND, j] = now.apart * (j - VALUES // 2), 0.0
    begin_plan(now, MEASURE_NOISE, VALUES)


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
def measured_noise(state):
    """Take the values on a line: note the noise, or plan longer or shorter distances."""
    now, values = state.now[0], state.lists[SEEN, :VALUES]
    finite = True
    for j in range(VALUES):
        finite = finite and math.isfinite(values[j])
    # The one in the middle is f(y) again.
    now.repeats = values[VALUES // 2] == now.f
    if (not finite or not are_told_apart(values)) and now.attempt < ATTEMPTS - 1 and now.suspect == 0.0:
        now.attempt += 1
        now.apart *= 10.0 if finite else 0.1
        plan_line(state)
        return
    level = noise_level(values) if finite else 0.0
    if now.suspect > 0.0:
        if level > 0.3 * now.suspect:
            begin_anew(state)
        else:
            now.rough += 1
            if finite and is_kink(now, values):
                # It says nothing of the noise, which is measured again soon.
                now.kinks += 1
                now.suspect, now.due = 0.0, 0
                begin_ahead(state)
                return
        now.suspect = 0.0
    elif 0.0 <= 10.0 * noise_of_value(state) < level and now.noise >= 0.0:
        # Noise is the same at any distance, but not what kinks and jumps look like.
        now.suspect = level
        now.apart *= _CLOSER
        plan_line(state)
        return
    is_first = now.noise < 0.0
    if is_first and finite:
        if not now.first_noise > 0.0 or hid_curvature(now, values):
            now.first_noise, now.first_apart = level, now.apart
        level = now.first_noise
        if not first_probes_are_chosen(state, values, level):
            now.attempt += 1
            now.apart *= 10.0
            plan_line(state)
            return
    note_kind_of_noise(now, level)
    due = _NOISE_EVERY
    if level <= ROUNDING * abs(now.f) and noise_of_value(state) > ROUNDING * abs(now.f):
        # A few rounded values may lie on a line by chance: noise does not vanish at once.
        level, due = _ALIKE * now.noise, 0
    elif now.noise >= 0.0 and (not abs(now.f) < _LESS * now.noise_at or is_the_same(now, level)):
        level = math.sqrt(0.6 * now.noise * now.noise + 0.4 * level * level)
    now.noise, now.noise_at, now.due = level, abs(now.f), due
    now.spacing = now.apart * median_reach(state) if now.apart > APART else 0.0
    begins = is_first and now.spent <= 100.0 and now.tau > 0.0 and level <= NOISY * abs(now.f)
    if begins:
        now.phase, now.cursor, now.probe = BLOCK_BEGIN, 0, median_reach(state)
    else:
        begin_ahead(state)


@inner
def is_kink(now, values):
    """Say whether values close by, which have not confirmed noise, are those of a kink.

    They are not if they do not tell points apart, as rounded ones, or if what they show may be rounding.
    """
    return now.repeats and are_told_apart(values) and now.suspect > _DEEP * now.first_at


@inner
def is_the_same(now, level):
    """Say whether noise has the size that it had where f was larger: then both measurements count."""
    return not now.is_relative and _ALIKE * now.noise < level < now.noise / _ALIKE


@inner
def note_kind_of_noise(now, level):
    """Note whether noise is a part of |f|: it is if the part stays the same while |f| falls."""
    if now.noise < 0.0:
        now.first_at, now.is_relative = abs(now.f), 0
    elif level > 1e-12 * abs(now.f) and abs(now.f) < 0.1 * now.first_at:
        ratio = level * now.first_at / (abs(now.f) * now.first_noise + 1e-300)
        now.is_relative = 0.25 < ratio < 3.0


@inner
def begin_anew(state):
    """Begin anew where much more noise has appeared than there was: it has spoilt all that was measured."""
    now = state.now[0]
    forget_curvature(state)
    now.noise, now.first_noise, now.change = -1.0, 0.0, 1e-4
    now.radius = now.sigma0 * math.sqrt(state.vectors.shape[1])


@inner
def second_difference(values):
    """Return that of the values on a line, with the points as far apart as there are any."""
    return abs(values[_MIDDLE - _ASIDE] + values[_MIDDLE + _ASIDE] - 2.0 * values[_MIDDLE])


@inner
def hid_curvature(now, values):
    """Say whether closer values, whose noise seemed to be so small, should have shown the curvature of these.

    Rounded values may lie on a line by chance. They are not told apart where they are closer still.
    """
    closer = now.first_apart / now.apart
    return (
        now.first_apart > APART
        and second_difference(values) * closer * closer > _CLEARLY * _VISIBLE * now.first_noise
    )


@inner
def first_probes_are_chosen(state, values, noise):
    """Lengthen the first probes until noise does not hide curvature; return False if that is not seen yet.

    The second difference along a line with random signs is on average the sum of those along the coordinates.
    """
    now, n, reach = state.now[0], state.vectors.shape[1], state.vectors[REACH]
    bend = second_difference(values)
    most = now.sigma0 / max(median_reach(state), 1e-300)
    if bend < _VISIBLE * noise and 10.0 * now.apart * _ASIDE < most:
        return False
    wanted = _ASIDE * now.apart * math.sqrt(now.caution * noise * n / max(bend, noise))
    if wanted > 1.0:
        scale_by(reach, min(wanted, most))
    return True


@inner
def median_reach(state):
    """Return the median length of the probes."""
    lengths = sampled(state.vectors[REACH])
    return quantile(lengths, 0.5) if lengths.shape[0] > 0 else 1e-300
