"""`evolution` under noise: how it is noticed, how rounds stay above it, and which point is returned."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from pursuit.checks import Vector
from pursuit.methods.check import find_better
from pursuit.methods.evolution.cloud import Cloud
from pursuit.methods.evolution.state import Answer, Average, Noise, State
from pursuit.methods.programs import NOISE, Asking, Ending
from pursuit.methods.regression import Quadratic, fitted

# sigma grows where less than this part of the variance of a round is signal, this fast.
_SIGNAL, _WIDEN = 0.4, 0.6
# The average has gone astray if it is this many times the noise above the lowest.
_LOST = 2.0
# Nothing but noise is seen only if it was looked for this far away.
_WIDE = 20.0
# Up to this many variables the latest points are kept, so that a quadratic can be fitted to them:
FEW = 36
# this many for each of its terms, and at least.
_KEPT_PER_TERM, _KEPT = 4, 240
# Progress is judged each time after this many evaluations for each variable, and more: the run ends if the
# average of values has not fallen by this part of the noise.
_LAP_SWEEPS, _LAP, _FALL = 120, 100, 0.1
# From this many evaluations for each variable on, values that no quadratic predicts better than their mean
# are nothing but noise, if less than this part of their variance is signal.
_PURE, _PURE_SIGNAL = 12, 0.3
# How far from the points of a quadratic its minimum is believed, in their standard deviations.
_TRUST = 1.5
# How wrong a quadratic may be, as a part of the noise, and how lucky the lowest value.
_WRONG, _LUCK = 0.3, 3.0
# Values at the same point that differ by less, as a part of |f| and of what f has fallen by, are rounded.
_ROUNDING = 1e-12


def look(state: State, x: Vector, f: float) -> Asking:
    """Evaluate a point again: if its values differ, they are noisy."""
    again = float((yield x[np.newaxis])[0])
    if abs(again - f) > _ROUNDING * (abs(f) + state.start - state.lowest) and math.isfinite(again):
        more = yield np.repeat(x[np.newaxis], 2, axis=0)
        values = np.array([f, again, *more[np.isfinite(more)]])
        level = float(np.std(values, ddof=1))
        state.noise_model = Noise(level=level, spread=level)
        mean = float(np.mean(values))
        state.average = state.record = Average(state.x, mean, mean, sigma=state.scale, noise=level)
        if state.rounds == 0:
            state.start = mean
        state.lap = state.evaluations
        if state.x.size <= FEW:
            state.seen, state.seen_values = np.repeat(x[np.newaxis], len(values), axis=0), values


def heard(state: State, cloud: Cloud, values: Vector) -> Vector:
    """Take from a round what it tells about noise; return a value for each point."""
    if not state.estimate:
        return values
    (k,), size = cloud.again, cloud.popsize
    state.noise_model = state.noise_model.learnt(values[:size], k, float(values[size]))
    if state.seen is not None and state.seen_values is not None:
        kept = max(_KEPT, _KEPT_PER_TERM * (state.x.size + 1) * (state.x.size + 2) // 2)
        finite = np.isfinite(values)
        points = np.concatenate([state.seen, cloud.rows(0, size + 1)[finite]])
        state.seen, state.seen_values = (
            points[-kept:],
            np.concatenate([state.seen_values, values[finite]])[-kept:],
        )
    means = values[:size].copy()
    means[k] = (values[k] + values[size]) / 2.0
    memory = 10.0 + 2.0 * state.x.size / (0.3 * size)
    average = state.average.moved(state.x, float(np.median(means)), memory)
    # A mean of points on a bound is beside it by rounding.
    state.average = replace(average, mean=state.box.clip(average.mean))
    _go_back_if_lost(state)
    return means


def _go_back_if_lost(state: State) -> None:
    """Keep the lowest average; if wide steps have led far above it, go back and take shorter ones."""
    average, record = state.average, state.record
    if average.slow <= record.slow:
        state.record = replace(average, sigma=state.scale, noise=state.noise)
    elif state.noise_model.signal < _SIGNAL and average.slow > record.slow + _LOST * record.noise:
        state.x, state.average = record.mean, record
        state.widest = math.sqrt(record.sigma * max(state.scale, record.sigma))
        state.scale, state.path = min(state.scale, record.sigma), np.zeros_like(state.x)


def widened(state: State, change: float) -> float:
    """Return how log sigma changes: values are to differ by more than noise, but runs not to wander."""
    signal = state.noise_model.signal
    if signal >= _SIGNAL:
        return change
    return min(change, 0.0) if state.scale >= state.widest else max(change, _WIDEN * (_SIGNAL - signal))


def judge(state: State, rng: np.random.Generator) -> Asking:
    """End the run if values have not fallen for a long time, or are nothing but noise."""
    n, done = state.x.size, state.evaluations - state.lap
    is_pure = False
    is_idle = state.noise_model.signal < _PURE_SIGNAL and state.average.slow > state.start - state.noise
    if is_idle and state.scale >= min(_WIDE, state.widest) and state.evaluations >= _PURE * n + 20:
        is_pure = state.lap_value == math.inf and state.seen is not None and _fit(state) is None
    if done >= _LAP_SWEEPS * n + _LAP:
        fallen = state.lap_value - state.average.slow
        state.lap, state.lap_value = state.evaluations, state.average.slow
        is_pure |= fallen < _FALL * state.noise
    if is_pure:
        yield from settle(state, rng)


def _fit(state: State) -> Quadratic | None:
    """Return a quadratic through the latest points nearest to the average of the means."""
    if state.seen is None or state.seen_values is None or len(state.seen_values) < 8:
        return None
    X, f = state.seen, state.seen_values
    n = X.shape[1]
    terms = (n + 1) * (n + 2) // 2
    count = min(len(f), max(len(f) // 2, int(2.2 * terms)))
    scales = X[-count:].std(axis=0) + 1e-300
    nearest = np.argsort(np.sum(((X - state.average.mean) / scales) ** 2, axis=1), kind="stable")[:count]
    return fitted(X[nearest], f[nearest])


def _candidates(state: State) -> tuple[list[Vector], Quadratic | None]:
    """Return the points that may be the best: by the quadratic, the averages and the start."""
    points, quadratic = [state.average.mean, state.x], _fit(state)
    if quadratic is not None:
        points.insert(0, quadratic.lowest(state.box.lower, state.box.upper, _TRUST))
    return [*points, state.lowest_x, state.start_x], quadratic


def answer_of(state: State) -> tuple[Vector, float, float]:
    """Return the point that the evidence supports so far, its value, and the standard error of that."""
    if state.answer is not None:
        return state.answer.x, state.answer.f, state.answer.error
    points, quadratic = _candidates(state)
    if quadratic is None:
        is_falling = abs(state.average.slow - state.average.fast) >= 0.5 * state.noise
        average = state.average
        return (
            (state.x if is_falling else average.mean),
            average.fast if is_falling else average.slow,
            max(state.noise, state.noise_model.spread),
        )
    value, error = quadratic.at(points[0])
    # Where it misses values by more than noise explains, it may do so at its minimum.
    misfit = math.sqrt(max(0.0, quadratic.noise**2 - state.noise**2))
    at_lowest = abs(quadratic.at(state.lowest_x)[0] - state.lowest) - _LUCK * state.noise
    return points[0], value, math.hypot(error, _WRONG * state.noise, misfit, max(0.0, at_lowest))


def settle(state: State, rng: np.random.Generator) -> Asking:
    """Evaluate what may be the best point again, choose one, and end the run if none around it is better."""
    points, quadratic = _candidates(state)
    each = max(2, min(16, (2 * state.x.size + 20) // len(points)))
    values = (yield np.repeat(np.array(points), each, axis=0)).reshape(len(points), each)
    found = []
    for point, of_point in zip(points, values, strict=True):
        f = float(np.mean(of_point))
        error = max(state.noise, float(np.std(of_point, ddof=1))) / math.sqrt(each)
        if quadratic is not None and np.all(np.abs(point - quadratic.center) < 3.0 * quadratic.scales):
            f, error = _combined(f, error, *quadratic.at(point), _WRONG * state.noise)
        if math.isfinite(f):
            found.append((f + 0.5 * error, f, error, point))
    if found:
        _, f, error, x = min(found, key=lambda one: one[0])
        state.answer = Answer(x, f, error)
        state.x, state.f = x, f
    reach = max(state.longest, state.scale * state.matrix.longest)
    better = yield from find_better(state.x, state.f, state.box, state.noise, rng, reach=reach)
    if better is None:
        state.ending = Ending(NOISE, "Noise hides whatever is left to gain.")
        return
    length = float(np.max(np.abs(better[0] - state.x) / state.box.sigma0))
    (state.x, state.f), state.answer = better, None
    state.average = state.record = Average(*better, better[1], sigma=length, noise=state.noise)
    state.search_again(length)


def _combined(f: float, error: float, other: float, other_error: float, wrong: float) -> tuple[float, float]:
    """Return the mean of two estimates, weighted by their precisions, and its standard error."""
    one, two = error**-2, 1.0 / (other_error**2 + wrong**2)
    return (one * f + two * other) / (one + two), (one + two) ** -0.5
