"""Published methods that no package has: SPSA and ARS."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchmarks.solvers import Answer, Bounds, Fun, Solve
from pursuit.checks import Vector

# SPSA, with the exponents that its author recommends: the first distance of values, in units of the step
# size, the share of iterations that the gain waits, and how many slopes give the size of the first steps.
_ALPHA, _GAMMA, _DISTANCE, _STABILITY, _FIRST_SLOPES = 0.602, 0.101, 0.1, 0.1, 5
# ARS: directions in a round, how many of them are used, the distance of the values, and the step.
_DIRECTIONS, _USED, _ARS_DISTANCE, _STRIDE = 8, 4, 1.0, 0.5


def using_spsa(gain: float) -> Solve:
    """Return simultaneous perturbation stochastic approximation; the first steps have the length `gain`.

    J. C. Spall, Implementation of the simultaneous perturbation algorithm for stochastic optimization, IEEE
    Transactions on Aerospace and Electronic Systems 34, 1998. Two values give a slope along a random vector
    of signs; x moves against it by a_k = a/(k + 1 + A)^0.602, with values taken at a distance c_k = c/(k +
    1)^0.101. No step is longer than the first ones are meant to be: without this, the method leaves every
    steep valley.
    """

    def solve(
        fun: Fun, x0: Vector, *, sigma0: float, maxfev: int, seed: int, bounds: Bounds | None = None, **_: Any
    ) -> Answer:
        rng, value = np.random.default_rng(seed), _inside(fun, bounds)

        def slope(x: Vector, distance: float) -> tuple[Vector, float]:
            signs = rng.choice([-1.0, 1.0], x.size)
            difference = value(x + distance * signs) - value(x - distance * signs)
            return signs, difference / (2.0 * distance)

        x, c = x0.copy(), _DISTANCE * sigma0
        first = [abs(slope(x, c)[1]) for _ in range(min(_FIRST_SLOPES, maxfev // 4))]
        iterations = maxfev // 2 - len(first)
        delay, longest = _STABILITY * iterations, gain * sigma0
        a = longest * (1.0 + delay) ** _ALPHA / max(float(np.mean(first)), np.finfo(float).tiny)
        for k in range(iterations):
            signs, along = slope(x, c / (k + 1.0) ** _GAMMA)
            if np.isfinite(along):
                step = a / (k + 1.0 + delay) ** _ALPHA * along
                x = x - min(max(step, -longest), longest) * signs
        return Answer(x)

    return solve


def ars(
    fun: Fun, x0: Vector, *, sigma0: float, maxfev: int, seed: int, bounds: Bounds | None = None, **_: Any
) -> Answer:
    """Augmented random search of Mania, Guy and Recht (NeurIPS 2018), their V1-t."""
    rng, x, value = np.random.default_rng(seed), x0.copy(), _inside(fun, bounds)
    for _round in range(maxfev // (2 * _DIRECTIONS)):
        directions = rng.standard_normal((_DIRECTIONS, x.size))
        values = np.array([[value(x + sign * _ARS_DISTANCE * d) for sign in (1, -1)] for d in directions])
        used = np.argsort(values.min(axis=1))[:_USED]
        spread = float(values[used].std())
        if spread > 0.0:
            x = x - _STRIDE / (_USED * spread) * (values[used] @ (1.0, -1.0)) @ directions[used]
    return Answer(x)


def _inside(fun: Fun, bounds: Bounds | None) -> Fun:
    """Return the function at the nearest point within the bounds, infinity where a point is not finite."""
    if bounds is None:
        return fun
    return lambda x: fun(np.clip(x, *bounds)) if np.isfinite(x).all() else math.inf
