"""A signal of 20 000 values without its noise: least squares and smoothed total variation."""

from __future__ import annotations

import numpy as np
from scipy.linalg import solveh_banded

from benchmarks.tasks.task import Case, case
from pursuit.checks import Vector

_LENGTH, _PIECES = 20_000, 40
_WEIGHT, _SMOOTH, _NOISE = 0.5, 0.01, 0.2


def objective(x: Vector, data: Vector) -> float:
    """Return half the squared distance to the data and the weighted variation, smoothed at its kink."""
    misfit, jumps = x - data, np.diff(x)
    return 0.5 * float(misfit @ misfit) + _WEIGHT * float(np.sqrt(jumps * jumps + _SMOOTH**2).sum())


def denoised(data: Vector) -> Vector:
    """Return the minimum, by Newton's method with steps that are halved until f falls."""
    x = data.copy()
    bands = np.zeros((2, x.size))
    for _ in range(100):
        jumps = np.diff(x)
        roots = np.sqrt(jumps * jumps + _SMOOTH**2)
        slopes, curvatures = _WEIGHT * jumps / roots, _WEIGHT * _SMOOTH**2 / roots**3
        gradient = x - data - np.diff(slopes, prepend=0.0, append=0.0)
        if np.abs(gradient).max() < 1e-12:
            break
        padded = np.concatenate([[0.0], curvatures, [0.0]])
        bands[0, 1:], bands[1] = -curvatures, 1.0 + padded[:-1] + padded[1:]
        step, now = solveh_banded(bands, gradient), objective(x, data)
        length = 1.0
        while objective(x - length * step, data) > now and length > 1e-6:
            length *= 0.5
        x = x - length * step
    return x


def _case(seed: int, from_data: bool) -> Case:
    rng = np.random.default_rng([seed, 4])
    levels = np.repeat(rng.uniform(-1.0, 1.0, _PIECES), _LENGTH // _PIECES)
    data = levels + _NOISE * rng.standard_normal(_LENGTH)
    lowest = objective(denoised(data), data)
    x0 = data.copy() if from_data else np.zeros(_LENGTH)
    return case(lambda x, rng: objective(x, data), lambda x: objective(x, data) - lowest, x0, 0.3)


def from_zero(seed: int) -> Case:
    """Return the task to begin with nothing."""
    return _case(seed, False)


def from_data(seed: int) -> Case:
    """Return the task to begin with the noisy signal."""
    return _case(seed, True)
