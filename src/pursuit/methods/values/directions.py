"""Where `values` goes: from slopes and curvatures to the step that a model suggests."""

from __future__ import annotations

import math

import numpy as np

from pursuit.compiling.inner import inner
from pursuit.compiling.vectors import add, copy, dot
from pursuit.methods.values.curvature import (
    ALONG,
    BEFORE,
    MEASURED,
    ONE_SIDE,
    REACH,
    SCALE,
    SLOPES,
    TWO_SIDED,
    WALL_AHEAD,
    WEIGHTS,
    P,
    S,
    Y,
    error_of,
    known,
    quantile,
    sampled,
    slope_from_one,
    sort,
)
from pursuit.methods.values.model import model_minimizer
from pursuit.methods.values.probes import coordinates_in_turn
from pursuit.methods.values.quasi_newton import (
    add_pair,
    apply_inverse,
    break_chain,
    chain_of,
    forget_pairs,
    row_of,
)
from pursuit.methods.values.state import (
    CHOOSE,
    FIRST,
    LOOK_ALONG,
    LOOK_IN_PLANE,
    PLAN_PLANE,
    SAMPLES,
    SECOND,
    SEEN,
    STEP,
    SWEEP,
    begin_plan,
    is_noisy,
    noise_of_value,
    scale_by,
)

# A fall of f by so many times the noise is hardly luck.
_CERTAIN = 3.0
# Curvatures that differ by less than this factor are alike: a rotation makes such differences.
_ALIKE = 4.0
# A wall is oblique where it blocks at least this part of the square of a step.
_OBLIQUE = 0.99
# How many times as far as a step to look for what noise does not hide.
_LONGEST = 1e6
# The steps in whose span the model is.
_STEPS = 4
# Where curvature changes by more, or predictions are worse than this, the memory of L-BFGS is used.
_CURVED, _MISJUDGED = 0.01, 1e-3


@inner
def conclude(state):
    """Make slopes of all probes from y, and choose where to go."""
    now, g, n = state.now[0], state.vectors[SLOPES], state.vectors.shape[1]
    noise = noise_of_value(state)
    both = probes = 0
    square = blur = shift = spread = 0.0
    for i in range(n):
        if state.vectors[TWO_SIDED, i] > ONE_SIDE:
            both += 1
        else:
            g[i] = slope_from_one(state.vectors, i, g[i])
        h = state.vectors[REACH, i]
        if h != 0.0:
            # With random sides, the probes measure f(y) as well.
            shift += g[i] * h
            spread += g[i] * h * g[i] * h
            blur += 1.5 * (noise / h) ** 2
            probes += 1
        square += g[i] * g[i]
    if now.taken > 0:
        samples = state.lists[SAMPLES, : int(now.taken)]
        sort(samples)
        now.change += 0.3 * (quantile(samples, 0.5) - now.change)
    now.old_noise += (noise - now.old_noise) * both / n
    now.window = (now.window + coordinates_in_turn(state)) % n
    now.both_sides = now.looked = 0
    if probes > 8:
        mean = shift / probes
        variance = (spread / probes - mean * mean) / probes
        if variance < noise * noise:
            now.f += mean * noise * noise / (noise * noise + variance)
    now.slope = math.sqrt(square / n)
    scales = sampled(state.vectors[SCALE])
    if not square > 0.0:
        without_slope(state)
        return
    now.flat = 0
    if scales.shape[0] > 0:
        now.low, now.typical, now.high = quantile(scales, 0.1), quantile(scales, 0.5), quantile(scales, 0.9)
        now.largest = scales[-1]
    else:
        # f is linear as far as was seen: a curvature for which the step is as long as it may be.
        now.low = now.typical = now.high = now.largest = math.sqrt(square) / now.radius
    now.blur = math.sqrt(blur)
    is_hidden = 0.0 < now.predicted < _CERTAIN * noise
    is_blurred = now.blur / math.sqrt(square) > (0.01 if now.noise_rules else 0.1)
    now.noise_rules = is_blurred or is_hidden or now.forced > 0
    now.forced = max(0, now.forced - 1)
    if not now.noise_rules:
        now.caution = min(1e4, max(60.0, 0.1 / max(now.change, 1e-9)))
    now.phase = CHOOSE


@inner
def without_slope(state):
    """Probe farther, where f is flat as far as was seen."""
    reach, now = state.vectors[REACH], state.now[0]
    for i in range(reach.shape[0]):
        reach[i] = min(10.0 * abs(reach[i]), 1e100)
    lose_track(state)
    now.flat += 1
    now.phase = SWEEP


@inner
def forget_curvature(state):
    """Forget all that was measured of curvature."""
    now = state.now[0]
    state.vectors[ALONG][:] = math.nan
    state.vectors[SCALE][:] = 0.0
    state.vectors[MEASURED][:] = 0.0
    forget_pairs(state.pairs)
    now.has_before, now.both_sides = 0, 1


@inner
def lose_track(state):
    """Take note that a step has failed."""
    now = state.now[0]
    now.failures += 1
    now.has_before = 0
    break_chain(state.pairs)


@inner
def choose_direction(team, scheme, state):
    """Choose p, and look along it, or under noise in the plane of p and the last step."""
    now, g, p, n = state.now[0], state.vectors[SLOPES], state.vectors[P], state.vectors.shape[1]
    is_scaled = now.high > _ALIKE * now.low
    least = 1e-30 * now.largest
    for i in range(n):
        scale = (
            state.vectors[SCALE, i]
            if known(state.vectors, i) and state.vectors[SCALE, i] > 0.0
            else now.typical
        )
        error = 0.5 * error_of(state.vectors, i, now.old_noise)
        state.vectors[WEIGHTS, i] = max(scale, error, least) if is_scaled else 1.0
    if is_scaled != bool(now.is_scaled):
        break_chain(state.pairs)
    elif now.has_before:
        add_pair(team, state.pairs, state.vectors[S], g, state.vectors[BEFORE], now.blur)
    now.is_scaled, now.has_before = is_scaled, 0
    copy(team, p, g)
    release_bounds(scheme, state.vectors[Y], g, p)
    most = state.pairs.steps.shape[0]
    now.from_memory = now.noise_rules or now.change > _CURVED or now.misjudged > _MISJUDGED or most >= 0.6 * n
    if not (now.from_memory and apply_inverse(team, state.pairs, state.vectors[WEIGHTS], p)):
        for i in range(n):
            p[i] /= weight(state, i)
    scale_by(p, -1.0)
    release_bounds(scheme, state.vectors[Y], g, p)
    turn_from_walls(state, p)
    now.meets_wall = 0
    # Under noise a step must not be too short to be seen, but leads not much farther than f has led already.
    visible, first = math.sqrt(2.0 * noise_of_value(state) / now.typical), now.sigma0 * math.sqrt(n)
    now.radius = max(now.radius, min(visible, first + now.travelled))
    if is_noisy(state) and not now.has_won:
        now.radius = min(now.radius, first)
    length = math.sqrt(dot(team, n, p, p))
    if not math.isfinite(length):
        # Numbers are too large for all this.
        lose_track(state)
        now.phase = SWEEP
        return
    if length > now.radius:
        scale_by(p, now.radius / length)
    if now.noise_rules:
        now.phase = PLAN_PLANE
        return
    state.lists[FIRST, 0], state.lists[SECOND, 0] = 1.0, 0.0
    now.along_slope, now.tries = dot(team, n, g, p), 0
    begin_plan(now, LOOK_ALONG, 1)


@inner
def weight(state, i):
    """Return the curvature that p is scaled by."""
    return state.vectors[WEIGHTS, i] if state.now[0].is_scaled else state.now[0].typical


@inner
def release_bounds(scheme, y, g, p):
    """Set p to 0 where a bound is reached and the way down leads outside."""
    for i in range(scheme.lower.shape[0]):
        if (y[i] <= scheme.lower[i] and g[i] > 0.0) or (y[i] >= scheme.upper[i] and g[i] < 0.0):
            p[i] = 0.0


@inner
def turn_from_walls(state, p):
    """Let p lead to no wall that a probe has met.

    A wall along one coordinate is left by setting p to 0 there. Where that leaves next to nothing of p, the
    wall is taken to be oblique, and to cut all of these coordinates at the same angle: p goes along it.
    """
    total = blocked = along = freedom = 0.0
    for i in range(p.shape[0]):
        total += p[i] * p[i]
        if leads_to_wall(state.vectors, p, i):
            blocked += p[i] * p[i]
            along += abs(p[i])
            freedom += 1.0 / weight(state, i)
    if blocked == 0.0:
        return
    is_oblique = blocked > _OBLIQUE * total
    for i in range(p.shape[0]):
        if leads_to_wall(state.vectors, p, i):
            normal = math.copysign(1.0, p[i])
            p[i] = p[i] - normal * along / (freedom * weight(state, i)) if is_oblique else 0.0


@inner
def leads_to_wall(vectors, p, i):
    """Say whether p leads to where a probe along a coordinate has met a wall."""
    side = vectors[TWO_SIDED, i]
    return side >= WALL_AHEAD and p[i] != 0.0 and (p[i] * vectors[REACH, i] > 0.0) == (side == WALL_AHEAD)


@inner
def meet_wall(state, v, multiple):
    """Let the next probes be as long as a step along v after which f has no value, to find out where."""
    now, reach = state.now[0], state.vectors[REACH]
    for i in range(reach.shape[0]):
        # The sign is that of the latest probe, which says where walls were met before.
        reach[i] = math.copysign(max(multiple * abs(v[i]), 0.1 * abs(reach[i])), reach[i])
    now.meets_wall = now.both_sides = 1


@inner
def probed_along(team, state):
    """Take f(y + p), and try the step that the model in the span of p and the last steps suggests."""
    now, n, g, p, pairs = (
        state.now[0],
        state.vectors.shape[1],
        state.vectors[SLOPES],
        state.vectors[P],
        state.pairs,
    )
    now.along = state.lists[SEEN, 0]
    if now.along == math.inf and now.tries < 40:
        meet_wall(state, p, 1.0)
        scale_by(p, 0.1)
        now.along_slope *= 0.1
        now.tries += 1
        begin_plan(now, LOOK_ALONG, 1)
        return
    k = 1 + min(chain_of(pairs), 1 if now.from_memory else _STEPS)
    slopes, hessian = np.empty(k), np.empty((k, k))
    slopes[0] = now.along_slope
    hessian[0, 0] = 2.0 * (now.along - now.f - now.along_slope)
    for a in range(1, k):
        row = row_of(pairs, a - 1)
        slopes[a] = dot(team, n, g, pairs.steps[row])
        hessian[0, a] = hessian[a, 0] = dot(team, n, pairs.changes[row], p)
        for b in range(1, a + 1):
            other = row_of(pairs, b - 1)
            one = dot(team, n, pairs.changes[row], pairs.steps[other])
            two = dot(team, n, pairs.changes[other], pairs.steps[row])
            hessian[a, b] = hessian[b, a] = 0.5 * (one + two)
    minimizer = model_minimizer(slopes, hessian, 1e-10)
    for i in range(n):
        state.vectors[S, i] = minimizer[0] * p[i]
    for a in range(1, k):
        add(team, state.vectors[S], minimizer[a], pairs.steps[row_of(pairs, a - 1)])
    suggest(now, slopes, hessian, minimizer)


@inner
def plan_plane(team, state):
    """Plan points in the plane of p and the last step, far enough for noise not to hide them."""
    now, noise = state.now[0], noise_of_value(state)
    has_step = chain_of(state.pairs) > 0
    if has_step:
        copy(team, state.vectors[S], state.pairs.steps[row_of(state.pairs, 0)])
    along = min(math.sqrt(50.0 * noise / max(energy_of(state, state.vectors[P]), 1e-300)), _LONGEST)
    aside = min(math.sqrt(50.0 * noise / max(energy_of(state, state.vectors[S]), 1e-300)), _LONGEST)
    for j in range(6):
        sign = 1.0 if j % 2 == 0 else -1.0
        state.lists[FIRST, j] = sign * max(0.5, along) if j < 2 or j > 3 else 0.0
        state.lists[SECOND, j] = sign * max(0.5, aside) if j > 1 else 0.0
    begin_plan(now, LOOK_IN_PLANE, 6 if has_step else 2)


@inner
def energy_of(state, v):
    """Return v'Dv."""
    energy = 0.0
    for i in range(v.shape[0]):
        energy += weight(state, i) * v[i] * v[i]
    return energy


@inner
def probed_plane(team, state):
    """Take the values in the plane of p and the last step, and try the step that they suggest."""
    now, n, level = state.now[0], state.vectors.shape[1], noise_of_value(state)
    k = 2 if now.planned == 6 else 1
    slopes, hessian = np.zeros(k), np.zeros((k, k))
    for a in range(k):
        v = state.vectors[P] if a == 0 else state.vectors[S]
        length = state.lists[FIRST, 0] if a == 0 else state.lists[SECOND, 2]
        ahead, back = state.lists[SEEN, 2 * a], state.lists[SEEN, 2 * a + 1]
        slope = dot(team, n, state.vectors[SLOPES], v)
        if math.isfinite(ahead) and math.isfinite(back):
            slopes[a] = (ahead - back) / (2.0 * length)
            bend = (ahead + back - 2.0 * now.f) / (length * length)
            hessian[a, a] = max(bend, 0.05 * energy_of(state, v))
            if a == 0:
                judge_probes(state, slope, slopes[0], 3.0 * level / (1.4 * length))
        else:
            slopes[a], hessian[a, a] = slope, 1e300
    if k == 2:
        mixed = state.lists[SEEN, 4] + state.lists[SEEN, 5] + 2.0 * now.f
        for j in range(4):
            mixed -= state.lists[SEEN, j]
        mixed /= 2.0 * state.lists[FIRST, 0] * state.lists[SECOND, 2]
        if math.isfinite(mixed):
            hessian[0, 1] = hessian[1, 0] = mixed
    minimizer = model_minimizer(slopes, hessian, 0.05)
    for i in range(n):
        state.vectors[S, i] = minimizer[0] * state.vectors[P, i] + (
            minimizer[1] * state.vectors[S, i] if k == 2 else 0.0
        )
    now.along = math.inf
    suggest(now, slopes, hessian, minimizer)


@inner
def judge_probes(state, promised, found, error):
    """Lengthen probes while the slope along p is what they promise, and shorten them where it is not."""
    now = state.now[0]
    square = state.vectors.shape[1] * now.slope * now.slope
    is_less = found - promised * max(0.0, 1.0 - now.blur * now.blur / square) > error + 0.5 * abs(promised)
    now.caution = max(4.0, 0.5 * now.caution) if is_less else min(1e4, 1.5 * now.caution)


@inner
def suggest(now, slopes, hessian, minimizer):
    """Take note of what f is to fall by, with s written already."""
    now.predicted = 0.0
    for a in range(slopes.shape[0]):
        now.predicted -= minimizer[a] * slopes[a]
        for b in range(slopes.shape[0]):
            now.predicted -= 0.5 * minimizer[a] * hessian[a, b] * minimizer[b]
    now.phase = STEP
