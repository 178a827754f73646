"""Steps where noise masks the slopes.

Probes are so long that they stand out from noise, and curvatures are averaged from sweep to sweep. A step is
not trusted but measured: it is the minimum of a quadratic in the plane of the scaled slopes and the last
step, from values far apart. It is accepted unless it is clearly worse.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from pursuit.checks import Vector
from pursuit.methods.differences.matrix import first_matrix, norm
from pursuit.methods.differences.noise import measure_noise
from pursuit.methods.differences.state import TINY, Masked, State
from pursuit.methods.differences.sweep import sizes_of, sweep
from pursuit.methods.programs import KINKS, Asking, Ending, Finding

# As many idle sweeps as end a run whose noise is not random.
REPEATING = 11
# The noise of the slopes, relative to them, at which it begins and ceases to mask them; those of pure noise
# have more than the last.
BLURRED, CLEAR, _HIDDEN = 0.3, 0.03, 0.6
# The mean value has fallen if it has done so by this part of the noise.
_FALL = 0.25
# The weight of the latest iterate in the mean of them.
_WEIGHT = 0.15
# Slopes have led uphill if f is by so many times the noise above what it was when noise masked them before.
_UPHILL = 6.0
# How many sweeps pass before noise is measured again.
_AGAIN = 10
# How many times as far as the first or the longest step a step may lead; half of that after each failure.
_FARTHEST = 10.0
# Values in the plane are so far apart that a quadratic changes by so many times the noise.
_STANDS_OUT = 50.0


def begin_masked(state: State) -> None:
    """Begin the phase in which noise masks the slopes."""
    f, lowest = state.f, math.inf if state.masked_at is None else state.masked_at
    if f > lowest + _UPHILL * state.noise and state.noise_model.is_random:
        # Slopes have stood out from noise since then, and have led uphill.
        state.ending = Ending(KINKS, "f does not follow its slopes: it may have kinks or jumps.")
        return
    state.masked_at = min(f, lowest)
    state.masked = Masked(
        mean=state.x, value=f, lowest=f + 2.0 * state.noise, lowest_x=state.x, lowest_noise=state.noise
    )
    # Values that are not random tell the same as the last time.
    is_again = f > lowest - state.noise and not state.noise_model.is_random
    state.idle = REPEATING if is_again else 0
    state.last_step, state.last_gradient, state.failures = None, None, 0


def masked_sweep(state: State, rng: np.random.Generator) -> Asking:
    """Make probes that stand out from noise, an eighth of them on both sides; curvatures are averaged.

    If slopes stand out again, the phase ends.
    """
    n = state.x.size
    if state.sweeps % _AGAIN == 0 or state.failures or abs(state.f) < 0.1 * state.noise_model.at:
        yield from measure_noise(state, rng)
    standing_out = np.sqrt(state.probe_factor * state.noise / sizes_of(state))
    lengths, state.lengths = state.lengths, np.maximum(state.lengths, standing_out)
    eighth = -(-n // 8)
    is_next = (np.arange(n) - eighth * state.sweeps) % n < eighth
    yield from sweep(state, rng, back=is_next | (state.curvature == 0.0))
    state.lengths = lengths
    if not state.failures and state.slope_noise() < CLEAR:
        state.masked, state.idle = None, 0
        state.matrix = first_matrix(n, sizes_of(state))


def masked_step(state: State) -> Asking:
    """Take a step, and choose the lengths of the next probes."""
    a = sizes_of(state)
    step = yield from _plane_step(state, a)
    if step is not None:
        step = yield from _noisy_trial(state, step)
    state.last_step = step
    if step is not None:
        state.failures = 0
        state.lengths = 0.03 * np.sqrt(np.mean(a * step**2) / a) + 1e-12 * state.box.sigma0
    else:
        state.failures += 1
        state.lengths = 0.5 * state.lengths
    _average(state)


def _average(state: State) -> None:
    """Follow the means of iterates and of their values, and how long these have not fallen."""
    masked = state.masked
    assert masked is not None
    mean = masked.mean + _WEIGHT * (state.x - masked.mean)
    value, is_hidden = masked.value + _WEIGHT * (state.f - masked.value), state.slope_noise() > _HIDDEN
    state.masked = replace(masked, mean=mean, value=value)
    if value < masked.lowest - _FALL * state.noise:
        state.masked = replace(state.masked, lowest=value, lowest_x=mean, lowest_noise=state.noise)
        state.idle = state.idle + 1 if is_hidden else 0
    else:
        state.idle += 1 + is_hidden


def _plane_step(state: State, a: Vector) -> Finding[Vector | None]:
    """Return the minimum in the plane of the scaled slopes and the last step; None if there are no slopes."""
    f, noise = state.f, state.noise
    radius = _FARTHEST * max(state.box.largest * math.sqrt(a.size), state.longest) / 2.0**state.failures
    p = np.where(state.free(), -state.gradient / a, 0.0)
    length = norm(p)
    if not 0.0 < length < math.inf:
        return None
    V = np.array([p * min(1.0, radius / length)] + ([] if state.last_step is None else [state.last_step]))
    V *= np.maximum(0.5, np.sqrt(_STANDS_OUT * noise / np.maximum((V * V) @ a, TINY)))[:, np.newaxis]
    k = len(V)
    corners = [V.sum(axis=0), -V.sum(axis=0)] if k > 1 else np.empty((0, a.size))
    points = state.box.clip(state.x + np.concatenate([V, -V, corners]))
    if not np.isfinite(points).all():
        return None
    # Points are cut at bounds: values then belong to another direction.
    V = (points[:k] - points[k : 2 * k]) / 2.0
    v = yield points
    up, down = v[:k], v[k : 2 * k]
    ok, expected = np.isfinite(up + down), V @ state.gradient
    slope = np.where(ok, (up - down) / 2.0, expected)
    if ok[0]:
        # Probes may be the longer the better their slopes agree with these.
        seen = expected[0] * max(0.0, 1.0 - state.slope_noise() ** 2)
        disagree = slope[0] - seen > 2.1 * noise + 0.5 * abs(expected[0])
        factor = state.probe_factor
        state.probe_factor = max(4.0, factor / 2.0) if disagree else min(1e4, 1.5 * factor)
    H = np.diag(np.where(ok, np.maximum(up + down - 2.0 * f, 0.05 * (V * V) @ a), 1e300))
    if k > 1:
        mixed = (v[4:].sum() - up.sum() - down.sum() + 2.0 * f) / 2.0
        H[0, 1] = H[1, 0] = mixed if math.isfinite(mixed) else 0.0
    r = np.sqrt(np.diag(H))
    values, U = np.linalg.eigh(H / np.outer(r, r))
    step: Vector = -((U @ ((U.T @ (slope / r)) / np.maximum(np.abs(values), 0.05))) / r) @ V
    length = norm(step)
    return step * min(1.0, radius / max(length, TINY)) if math.isfinite(length) else None


def _noisy_trial(state: State, step: Vector) -> Finding[Vector | None]:
    """Take a step whose value is not clearly worse, shortened if need be; return it."""
    noise = state.noise
    for _ in range(5):
        x = state.box.clip(state.x + step)
        if np.array_equal(x, state.x):
            break
        f = float((yield x[np.newaxis])[0])
        if f < state.f + 3.0 * noise:
            # The value that led here tends to be a lucky one.
            again = float((yield x[np.newaxis])[0])
            mean = (f + again) / 2.0 if math.isfinite(again) else f
            return state.move(x, mean, is_clear=f < state.f - 3.0 * noise)
        step = 0.3 * step
    return None
