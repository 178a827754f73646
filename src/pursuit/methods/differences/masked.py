"""Steps where noise masks the slopes.

Probes are so long that they stand out from noise, and curvatures are averaged from sweep to sweep. A step is
not trusted but measured: it is the minimum of a quadratic in the plane of the scaled slopes and the last
step, from values far apart. It is accepted unless it is clearly worse.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import replace

import numpy as np

from pursuit.checks import Vector
from pursuit.methods.differences.ending import end_in_noise
from pursuit.methods.differences.matrix import first_matrix
from pursuit.methods.differences.noise import measure_noise
from pursuit.methods.differences.state import TINY, Masked, State
from pursuit.methods.differences.sweep import choose_probes, sizes_of
from pursuit.methods.programs import STUCK, Asking, Ending, Probes, Request

# The noise of the slopes, relative to them, at which it begins and ceases to mask them.
BLURRED, CLEAR = 0.3, 0.03
# A run ends when slopes have not stood out from noise for so many sweeps, or so many steps have failed,
_MOST_HIDDEN, _MOST_FAILURES = 14, 8
# Slopes of pure noise have this noise relative to them, or more.
_HIDDEN = 0.6
# or when the mean value has not fallen by this part of the noise for so many sweeps, and half of all.
_FALL, _MOST_IDLE, _MOST_IDLE_IN_VAIN = 0.25, 30, 8
# If nothing was gained since the start, or noise is not random, so that means tell no more than values, this
# part of that patience is enough.
_IN_VAIN = 0.4
# The run is lost when the mean value has risen by so many times the noise at the lowest, which is then
# evaluated again so often.
_LOST, _REPEATS = 6.0, 8
# How many sweeps pass before noise is measured again.
_AGAIN = 10


def begin_masked(state: State, rng: np.random.Generator) -> Asking:
    """Begin the phase in which noise masks the slopes."""
    n = state.x.size
    if (
        not state.noise_model.is_random
        and state.masked_at is not None
        and state.f > state.masked_at - state.noise
    ):
        # Values that are not random tell the same as the last time.
        yield from end_in_noise(state, rng)
        return
    state.masked_at = state.f
    radius = state.box.largest * math.sqrt(n)
    state.masked = Masked(
        radius=radius,
        scale=np.zeros(n),
        mean=state.x,
        slow=state.f,
        fast=state.f,
        lowest=state.f + 2.0 * state.noise,
        lowest_x=state.x,
        lowest_noise=state.noise,
    )
    state.last_step = state.last_gradient = None
    state.failures = 0


def iterate_masked(state: State, rng: np.random.Generator) -> Generator[Request, Vector, bool]:
    """Make a sweep and a step while noise masks the slopes; return whether they stand out again."""
    masked = state.masked
    assert masked is not None
    if masked.sweeps:
        if masked.sweeps % _AGAIN == 0 or state.failures or abs(state.f) < 0.1 * state.noise_model.at:
            yield from measure_noise(state, rng)
        yield from _noisy_sweep(state, rng)
    hidden = masked.hidden + 1 if state.slope_noise() > _HIDDEN else 0
    masked = state.masked = replace(masked, hidden=hidden, sweeps=masked.sweeps + 1)
    if not np.isfinite(state.curvature).any() or not np.nanmax(np.abs(state.curvature)) > 0.0:
        state.lengths = np.minimum(10.0 * state.lengths, 1e3 * state.box.sigma0)
        state.failures += 1
    else:
        scale = np.maximum(sizes_of(state, np.nanmedian(np.abs(state.curvature))), masked.scale / 2.0)
        if masked.sweeps > 1 and not state.failures and state.slope_noise() < CLEAR:
            state.masked, state.matrix = None, first_matrix(scale)
            return True
        masked = yield from _masked_step(state, replace(masked, scale=scale))
    if masked.slow < masked.lowest - _FALL * state.noise:
        masked = replace(
            masked,
            lowest=masked.slow,
            lowest_x=masked.mean,
            lowest_noise=state.noise,
            lowest_at=masked.sweeps,
        )
    state.masked = masked
    if masked.slow > masked.lowest + _LOST * masked.lowest_noise:
        # Where noise grows with f, steps that are not clearly worse lead far uphill.
        # The lowest mean was a lucky one, so it is measured again.
        values = yield np.repeat(masked.lowest_x[np.newaxis], _REPEATS, axis=0)
        f = float(np.mean(values)) if np.isfinite(values).all() else masked.lowest
        state.masked = replace(masked, mean=masked.lowest_x, slow=f, fast=f)
        state.x, state.f = masked.lowest_x, f
        state.ending = Ending(STUCK, "Noise differs too much from place to place.")
        return False
    in_vain = masked.slow > state.start - 2.0 * state.noise or not state.noise_model.is_random
    patience = _IN_VAIN if in_vain else 1.0
    longest = _MOST_IDLE_IN_VAIN if in_vain else _MOST_IDLE
    is_idle = masked.sweeps - masked.lowest_at >= max(longest, masked.sweeps // 2)
    if hidden >= patience * _MOST_HIDDEN or state.failures >= patience * _MOST_FAILURES or is_idle:
        yield from end_in_noise(state, rng)
    return False


def _noisy_sweep(state: State, rng: np.random.Generator) -> Asking:
    """Make probes that stand out from noise, an eighth of them on both sides; curvatures are averaged."""
    n, f, noise = state.x.size, state.f, state.noise
    known = np.isfinite(state.curvature) & (state.curvature != 0.0)
    D0 = np.where(known, state.curvature, 0.0)
    lengths = state.lengths
    if known.any():
        size = sizes_of(state, np.nanmedian(np.abs(state.curvature)))
        lengths = np.maximum(lengths, np.sqrt(state.probe_factor * noise / size))
    choose_probes(state, lengths, rng)
    h = state.probes
    F = yield Probes(state.x, np.arange(n), h)
    which = ~known | ~np.isfinite(F)
    eighth = -(-n // 8)
    which[(state.turn + np.arange(eighth)) % n] = True
    i = np.flatnonzero(which)
    # Next to a bound, the second point is half as far on the same side.
    is_inside = state.box.clip(state.x - h) == state.x - h
    B = np.full(n, np.nan)
    B[i] = yield Probes(state.x, i, np.where(is_inside, -h, h / 2.0)[i])
    two = np.isfinite(F + B)
    D = np.where(is_inside, F + B - 2.0 * f, 4.0 * (F - 2.0 * B + f)) / h**2
    D = np.where(two, D, 0.0)
    # The weight of a new curvature: earlier ones are off by about half, this one by its noise.
    error = np.abs(D0) / (np.abs(D0) + np.where(is_inside, 4.5, 18.0) * noise / h**2 + TINY)
    weight = np.where(known, error**2, 1.0)
    state.turn = (state.turn + eighth) % n
    state.curvature = np.where(two, D0 + weight * (D - D0), state.curvature)
    D = np.where(np.isfinite(state.curvature), state.curvature, 0.0)
    g = np.where(two & is_inside, (F - B) / (2.0 * h), (F - f) / h - h * D / 2.0)
    state.gradient = np.where(np.isfinite(g), g, 0.0)
    if known.any():
        _refine_value(state, (F - h * h * D / 2.0)[is_inside])
    state.sweeps += 1


def _refine_value(state: State, values: Vector) -> None:
    """Take f(x) from the probes as well: signs are random, so that their slopes cancel."""
    noise, off = state.noise, (values - state.f)[np.isfinite(values)]
    error = float(off.std()) / math.sqrt(off.size) if off.size > 8 else math.inf
    if error < noise:
        state.f += float(off.mean()) / (1.0 + (error / noise) ** 2)


def _masked_step(state: State, masked: Masked) -> Generator[Request, Vector, Masked]:
    """Take a step, and choose the lengths of the next probes."""
    a = masked.scale
    farthest = 10.0 * max(state.box.largest * math.sqrt(state.x.size), state.longest)
    radius = min(max(masked.radius, math.sqrt(2.0 * state.noise / float(np.median(a)))), farthest)
    step, last = (yield from _plane_step(state, a, radius)), None
    if step is not None:
        last, radius = yield from _noisy_trial(state, step, radius)
    state.last_step = last
    if last is None:
        state.failures, state.lengths = state.failures + 1, 0.5 * state.lengths
    else:
        state.failures = 0
        along = 0.03 * np.sqrt(np.mean(a * last**2) / a)
        state.lengths = np.maximum(0.3 * np.abs(last), along + 1e-12 * state.box.sigma0)
    return replace(
        masked,
        radius=radius,
        mean=masked.mean + 0.15 * (state.x - masked.mean),
        slow=masked.slow + 0.15 * (state.f - masked.slow),
        fast=masked.fast + 0.4 * (state.f - masked.fast),
    )


def _plane_step(state: State, a: Vector, radius: float) -> Generator[Request, Vector, Vector | None]:
    """Return the minimum in the plane of the scaled slopes and the last step; None if there are no slopes."""
    low, high = np.quantile(a, [0.1, 0.9])
    p = np.where(state.free(), -state.gradient / (a if high > 4.0 * low else np.median(a)), 0.0)
    length = float(np.linalg.norm(p))
    if not length > 0.0:
        return None
    V = np.array([p * min(1.0, radius / length)] + ([] if state.last_step is None else [state.last_step]))
    k, noise, energy = len(V), state.noise, np.maximum((V * V) @ a, TINY)
    t = np.maximum(0.5, np.sqrt(50.0 * noise / energy))
    W = t[:, np.newaxis] * V
    if not np.isfinite(W).all():
        return None
    corners = [[W[0] + W[1], -W[0] - W[1]]] if k > 1 else []
    points = state.box.clip(state.x + np.concatenate([W, -W, *corners]))
    # Points are cut at bounds: values then belong to another direction, and to another middle.
    V, M = (points[:k] - points[k : 2 * k]) / (2.0 * t[:, np.newaxis]), (points[:k] + points[k : 2 * k]) / 2.0
    M -= state.x
    v = yield points
    up, down = v[:k], v[k : 2 * k]
    ok, expected, f = np.isfinite(up + down), V @ state.gradient, state.f
    slope = np.where(ok, (up - down) / (2.0 * t) - (V * M) @ a, expected)
    if ok[0]:
        # Probes may be the longer the better their slopes agree with these.
        seen = expected[0] * max(0.0, 1.0 - state.slope_noise() ** 2)
        disagree = slope[0] - seen > 2.1 * noise / t[0] + 0.5 * abs(expected[0])
        state.probe_factor = (
            max(4.0, state.probe_factor / 2.0) if disagree else min(1e4, 1.5 * state.probe_factor)
        )
    H = np.diag(
        np.where(
            ok,
            np.maximum((up + down - 2.0 * f - 2.0 * M @ state.gradient - (M * M) @ a) / t**2, 0.05 * energy),
            1e300,
        )
    )
    if k > 1:
        mixed = (v[4:].sum() - up.sum() - down.sum() + 2.0 * f) / (2.0 * t[0] * t[1])
        H[0, 1] = H[1, 0] = mixed if np.isfinite(mixed) and not (state.box.is_bounded and M.any()) else 0.0
    r = np.sqrt(np.diag(H))
    values, U = np.linalg.eigh(H / np.outer(r, r))
    step: Vector = -((U @ ((U.T @ (slope / r)) / np.maximum(np.abs(values), 0.05))) / r) @ V
    length = float(np.linalg.norm(step))
    return step * min(1.0, radius / max(length, TINY)) if math.isfinite(length) else None


def _noisy_trial(
    state: State, step: Vector, radius: float
) -> Generator[Request, Vector, tuple[Vector | None, float]]:
    """Take a step whose value is not clearly worse, shortened if need be; return it and the radius."""
    noise = state.noise
    for _ in range(5):
        x = state.box.clip(state.x + step)
        if np.array_equal(x, state.x):
            break
        f = float((yield x[np.newaxis])[0])
        if f < state.f + 3.0 * noise:
            # The value that led here tends to be a lucky one.
            again = float((yield x[np.newaxis])[0])
            step = x - state.x
            if f < state.f - 3.0 * noise:
                state.longest = max(state.longest, float(np.linalg.norm(step)))
            state.x, state.f = x, (f + again) / 2.0 if math.isfinite(again) else f
            return step, max(radius, 4.0 * float(np.linalg.norm(step)))
        step = 0.3 * step
    values = yield np.repeat(state.x[np.newaxis], 4, axis=0)
    if np.isfinite(values).any():
        state.f = float(np.mean(values[np.isfinite(values)]))
    return None, max(0.5 * radius, 2.0 * float(np.linalg.norm(step)))
