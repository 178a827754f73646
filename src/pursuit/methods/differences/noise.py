"""The noise of a value: whether there is any, how large it is, and how long probes must be."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from pursuit.checks import Vector
from pursuit.methods.differences.matrix import norm
from pursuit.methods.differences.state import EPS, TINY, Noise, State
from pursuit.methods.differences.sweep import inward
from pursuit.methods.programs import Asking, Finding

# How often a point is evaluated again to measure random noise, and to measure it where f is much lower than
# before.
_REPEATS, _REPEATS_FAR = 3, 5
# Noise is loud if it is this part of what values differ by at a distance of sigma0, on both sides of x on so
# many lines. It is a smaller one, divided by sqrt(n), for many variables, each of which has a small part in
# that; with bounds, near which slopes under noise are worth less; and where f bends downwards on a line by
# this part of that: what follows curvatures there may lead nowhere.
_LOUD, _LOUD_OF_MANY, _LOUD_BOUNDED, _LOUD_BENT, _LINES, _BENT = 0.1, 0.25, 0.03, 0.01, 3, 0.5
# The weight of a new measurement beside the earlier ones.
_LATEST = 0.4
# What is measured where values are so many times as large says nothing about those at x.
_FAR_ABOVE = 1e3
# The values on a line: differences of order four to six of so many show noise and not the function.
_ON_LINE = 8
# There is noise if values differ by more than this many rounding errors of |f|, and of this part of what f
# has fallen by: terms of f that large may cancel each other.
_ROUNDINGS, _CANCELLED = 100.0, 0.01
# How close together these are at first, in lengths of probes,
_CLOSE = 1e-2
# and how many of them must differ at least.
_DIFFERENT = 4


def look_for_noise(state: State) -> Asking:
    """Evaluate f at x again: if the values differ, they are noisy."""
    again = yield state.x[np.newaxis]
    if again[0] != state.f and math.isfinite(again[0]):
        state.noise_model = Noise(is_random=True)
        _learn(state, abs(float(again[0]) - state.f) / math.sqrt(2.0))
        state.f = (state.f + float(again[0])) / 2.0


def is_loud(state: State, rng: np.random.Generator) -> Finding[bool]:
    """Say whether noise hides what values differ by around x."""
    if state.opening is not None:
        # Points to both sides of each coordinate tell as much.
        values, bends = state.opening.values, state.opening.hessian.diagonal()
    else:
        steps = state.box.sigma0 * rng.standard_normal((_LINES, state.x.size))
        values = yield state.box.clip(state.x + np.concatenate([steps, -steps]))
        bends = values[:_LINES] + values[_LINES:] - 2.0 * state.f
    values = values[np.isfinite(values)]
    spread = float(np.std(values)) if values.size > 1 else 0.0
    loud = min(_LOUD_BOUNDED if state.box.is_bounded else _LOUD, _LOUD_OF_MANY / math.sqrt(state.x.size))
    if bends.min() < -_BENT * spread:
        loud = _LOUD_BENT
    if 0.1 * loud * spread < state.noise_model.level < 10.0 * loud * spread:
        # Two values tell too little to decide that.
        yield from repeat(state)
    return state.noise_model.level > loud * spread


def measure_noise(state: State, rng: np.random.Generator) -> Asking:
    """Measure the noise of a value at x."""
    if state.noise_model.is_random:
        yield from repeat(state)
    else:
        yield from _measure_on_line(state, rng)


def repeat(state: State, count: int | None = None) -> Asking:
    """Evaluate f at x again: what differs is noise, and the mean is a better value."""
    if count is None:
        count = _REPEATS if state.noise_model.level == 0.0 or _is_near(state) else _REPEATS_FAR
    values = yield np.repeat(state.x[np.newaxis], count, axis=0)
    values = values[np.isfinite(values)]
    if values.size:
        # The value that led to x tends to be a lucky one, so it counts for the noise beside one other only.
        _learn(state, float(np.std(values if values.size > 1 else [state.f, *values], ddof=1)))
        state.f = float(np.mean([state.f, *values]))


def _measure_on_line(state: State, rng: np.random.Generator) -> Asking:
    """Measure noise by differences of values on a short line, which vanish where f is smooth."""
    middle = max(float(np.median(state.lengths)), TINY)
    distance = min(max(_CLOSE, 0.1 * state.noise_model.grain / middle), 10.0)
    direction = np.abs(rng.standard_normal(state.x.size)) * state.lengths
    for _ in range(10):
        step = inward(state, _ON_LINE * distance * direction, rng) / _ON_LINE
        v = yield state.box.clip(state.x + np.arange(float(_ON_LINE))[:, np.newaxis] * step)
        has_values, is_far = np.isfinite(v).all(), distance * middle > state.box.largest
        if has_values and (len(np.unique(v)) >= _DIFFERENT or np.ptp(v) > 0.3 * abs(v[0]) or is_far):
            break
        # Values are rounded, or there are none.
        distance *= 10.0 if has_values else 0.1
    if not has_values:
        return
    level, grain = _deviation(v), 0.0
    if distance > _CLOSE:
        grain, gaps = distance * middle, np.abs(np.diff(v))
        level = max(level, 0.3 * float(gaps[gaps > 0.0].min()) if gaps.any() else 0.0)
    _learn(state, level, grain, float(np.abs(v).max()))


def _deviation(v: Vector) -> float:
    """Return the standard deviation of noise, by the differences of order four to six of values on a line."""
    v = v - v[0]
    size = float(np.abs(v).max()) + TINY  # squares of large values would overflow
    four, five, six = (
        math.factorial(k)
        / math.sqrt(math.factorial(2 * k))
        * norm(np.diff(v / size, k))
        / math.sqrt(v.size - k)
        for k in (4, 5, 6)
    )
    found = size * min(math.hypot(four, five), math.hypot(five, six)) / math.sqrt(2.0)
    return found if math.isfinite(found) else math.inf


def _learn(state: State, level: float, grain: float = 0.0, highest: float = 0.0) -> None:
    """Take a measurement of the noise, averaged with earlier ones if these were made at similar values."""
    noise, scale = state.noise_model, abs(state.f) + _CANCELLED * abs(state.start - state.f)
    if not math.isfinite(level) or highest > _FAR_ABOVE * scale:
        return
    if _is_near(state):
        level = math.hypot(math.sqrt(1.0 - _LATEST) * noise.level, math.sqrt(_LATEST) * level)
    is_known = level > _ROUNDINGS * EPS * max(scale, highest)
    state.noise_model = replace(noise, level=level, at=abs(state.f), is_known=is_known, grain=grain)


def _is_near(state: State) -> bool:
    """Say whether noise was measured at similar values, so that it can be averaged with new measurements."""
    noise = state.noise_model
    return noise.level > 0.0 and 0.1 * noise.at <= abs(state.f) <= 10.0 * noise.at
