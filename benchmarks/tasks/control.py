"""A PID controller for four coupled loops: twelve gains, and a cost that has kinks."""

from __future__ import annotations

import numpy as np

from benchmarks.tasks.task import Case, case
from pursuit.checks import Vector

LOOPS = 4
_STEP, _STEPS, _DELAY = 0.05, 200, 4
_SLOW, _FAST = np.array([2.0, 1.0, 3.0, 0.7]), np.array([0.3, 0.4, 0.2, 0.1])
_COUPLING = np.array(
    [[1.0, 0.3, 0.0, -0.2], [-0.25, 1.2, 0.3, 0.0], [0.2, 0.0, 0.9, 0.3], [0.0, -0.3, 0.25, 1.1]]
)
_TARGETS = np.array([1.0, 0.5, -0.7, 0.3])
_STRONGEST = 3.0
# Of what is seen, so that an unstable loop has a finite cost.
_LARGEST = 1e3
# Of the best controller that five long runs of pycma have found from random starts, all within 0.001.
LOWEST = 5.5197


def cost(gains: Vector) -> float:
    """Return what four loops cost: errors, weighted by time, the largest overshoot, and how inputs move.

    Each loop is a plant with two lags, the inputs of the others act upon it, inputs are limited, and outputs
    are measured 0.2 s late.
    """
    proportional, integral, derivative = gains.reshape(3, LOOPS)
    inner, y, total = np.zeros((3, LOOPS))
    # Outputs and their speeds, which are measured late; errors and inputs.
    outputs, speeds = np.zeros((2, _STEPS + _DELAY, LOOPS))
    errors, inputs = np.empty((2, _STEPS, LOOPS))
    for k in range(_STEPS):
        target = _TARGETS if k < _STEPS // 2 else -_TARGETS
        total = total + _STEP * (target - outputs[k])
        u = proportional * (target - outputs[k]) + integral * total - derivative * speeds[k]
        u = np.minimum(np.maximum(u, -_STRONGEST), _STRONGEST)
        speed = (inner - y) / _FAST
        inner = inner + _STEP * (_COUPLING @ u - inner) / _SLOW
        y = y + _STEP * speed
        outputs[k + _DELAY], speeds[k + _DELAY], errors[k], inputs[k] = y, speed, target - y, u
    late = np.arange(_STEPS) % (_STEPS // 2) * _STEP
    overshoot = np.max(np.abs(outputs) / np.abs(_TARGETS), axis=0) - 1.0
    moved = np.abs(np.diff(inputs, axis=0)).sum()
    value = _STEP * late @ np.abs(errors).sum(axis=1) + np.maximum(overshoot, 0.0).sum() + 0.02 * moved
    return float(min(value, _LARGEST))


def pid(seed: int) -> Case:
    """Return the task; gains begin near a half."""
    x0 = 0.5 * np.exp(0.2 * np.random.default_rng([seed, 1]).standard_normal(3 * LOOPS))
    return case(lambda x, rng: cost(x), lambda x: cost(x) - LOWEST, x0, 0.3, (0.0, 20.0))
