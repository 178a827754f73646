"""A PID controller for four coupled loops: twelve gains, and a cost that has kinks."""

from __future__ import annotations

import numpy as np

from benchmarks.tasks.task import Case, case
from pursuit.checks import Vector

LOOPS = 4
_STEP, _STEPS = 0.05, 200
_SLOW, _FAST = np.array([2.0, 1.0, 3.0, 0.7]), np.array([0.3, 0.4, 0.2, 0.1])
_COUPLING = np.array(
    [[1.0, 0.3, 0.0, -0.2], [-0.25, 1.2, 0.3, 0.0], [0.2, 0.0, 0.9, 0.3], [0.0, -0.3, 0.25, 1.1]]
)
_TARGETS = np.array([1.0, 0.5, -0.7, 0.3])
_STRONGEST = 3.0
# Of what is seen, so that an unstable loop has a finite cost.
_LARGEST = 1e3
# Of the best controller that 40 long runs of pycma found from random starts.
LOWEST = 0.0


def cost(gains: Vector) -> float:
    """Return what four loops cost: errors, weighted by time, the largest overshoot, and how inputs move.

    Each loop is a plant with two lags, the inputs of the others act upon it, and inputs are limited.
    """
    proportional, integral, derivative = gains.reshape(3, LOOPS)
    inner, y, total, u = np.zeros((4, LOOPS))
    errors, outputs, inputs = np.empty((3, _STEPS, LOOPS))
    for k in range(_STEPS):
        error = (_TARGETS if k < _STEPS // 2 else -_TARGETS) - y
        total = total + _STEP * error
        speed = (inner - y) / _FAST
        u = proportional * error + integral * total - derivative * speed
        u = np.minimum(np.maximum(u, -_STRONGEST), _STRONGEST)
        inner = inner + _STEP * (_COUPLING @ u - inner) / _SLOW
        y = y + _STEP * speed
        errors[k], outputs[k], inputs[k] = error, y, u
    late = np.arange(_STEPS) % (_STEPS // 2) * _STEP
    overshoot = np.max(np.abs(outputs) / np.abs(_TARGETS), axis=0) - 1.0
    moved = np.abs(np.diff(inputs, axis=0)).sum()
    value = _STEP * late @ np.abs(errors).sum(axis=1) + np.maximum(overshoot, 0.0).sum() + 0.02 * moved
    return float(min(value, _LARGEST))


def pid(seed: int) -> Case:
    """Return the task; gains begin near a half."""
    x0 = 0.5 * np.exp(0.2 * np.random.default_rng([seed, 1]).standard_normal(3 * LOOPS))
    return case(lambda x, rng: cost(x), lambda x: cost(x) - LOWEST, x0, 0.3, (0.0, 20.0))
