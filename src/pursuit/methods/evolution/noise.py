"""`evolution` under noise: how it is noticed, and how rounds stay above it."""

from __future__ import annotations

import math

import numpy as np

from pursuit.checks import Vector
from pursuit.methods.check import Evidence
from pursuit.methods.evolution.distribution import Cloud
from pursuit.methods.evolution.state import Average, State
from pursuit.methods.programs import Asking
from pursuit.methods.regression import FEW, fitted_around

# sigma grows where less than this part of the variance of a round is signal, this fast.
_SIGNAL, _WIDEN = 0.4, 0.6
# Steps of so many first steps are long enough: pure noise looks the same from everywhere.
_WIDEST = 100.0
# Nothing but noise is seen if steps have grown so long, and less than this part of the variance is signal.
_WIDE, _PURE_SIGNAL = 20.0, 0.3
# So many of the latest points are kept for each term of a quadratic, and at least.
_KEPT_PER_TERM, _KEPT = 4, 240
# Values at the same point that differ by less, as a part of |f| and of what f has fallen by, are rounded.
_ROUNDING = 1e-12


def look(state: State, x: Vector, f: float) -> Asking:
    """Evaluate a point again: if its values differ, they are noisy."""
    again = float((yield x[np.newaxis])[0])
    if math.isfinite(again) and abs(again - f) > _ROUNDING * (abs(f) + state.start - state.lowest):
        more = yield np.repeat(x[np.newaxis], 2, axis=0)
        values = np.array([f, again, *more[np.isfinite(more)]])
        level, mean = float(np.std(values, ddof=1)), float(np.mean(values))
        state.average = state.record = Average(x, mean, level, level)
        state.gained, state.gained_at = math.inf, state.evaluations
        if state.rounds == 0:
            state.start = mean
        if x.size <= FEW:
            state.seen = np.column_stack([np.repeat(x[np.newaxis], len(values), axis=0), values])


def heard(state: State, cloud: Cloud, values: Vector) -> Vector:
    """Take from a round what it tells about noise; return a value for each point."""
    if not state.estimate:
        return values
    k, size = cloud.seed % cloud.popsize, cloud.popsize
    average = state.average.after(state, values[:size], abs(float(values[k] - values[size])))
    state.average = average
    if state.seen is not None:
        kept = max(_KEPT, _KEPT_PER_TERM * (state.x.size + 1) * (state.x.size + 2) // 2)
        latest = np.column_stack([cloud.rows(0, size + 1), values])[np.isfinite(values)]
        state.seen = np.concatenate([state.seen, latest])[-kept:]
    if average.value <= state.record.value:
        state.record = average
    means = values[:size].copy()
    means[k] = (values[k] + values[size]) / 2.0
    return means


def widened(state: State, change: float) -> float:
    """Return how log sigma changes: values are to differ by more than noise, but runs not to wander."""
    missing = _SIGNAL - state.average.signal if state.estimate else 0.0
    if missing <= 0.0:
        return change
    return max(change, _WIDEN * missing) if state.scale < _WIDEST else min(change, 0.0)


def is_pure(state: State) -> bool:
    """Say whether nothing but noise is seen, however long steps are."""
    is_idle = state.average.signal < _PURE_SIGNAL and state.average.value > state.start - state.noise
    return is_idle and state.estimate and state.scale >= _WIDE


def evidence_of(state: State) -> Evidence:
    """Return the points that may be the best, by a quadratic, by averages and by luck."""
    box, average, quadratic = state.box, state.average, None
    points = [box.clip(average.mean), state.x, box.clip(state.record.mean), state.lowest_x]
    if state.seen is not None:
        quadratic = fitted_around(points[0], state.seen[:, :-1], state.seen[:, -1])
    if quadratic is not None:
        points.insert(0, quadratic.lowest(box.lower, box.upper))
    return Evidence(points, state.f, state.lowest, average.level, average.spread, quadratic)
