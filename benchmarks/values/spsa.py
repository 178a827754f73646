"""Simultaneous perturbation stochastic approximation, with the gain sequences that its author recommends.

J. C. Spall, Implementation of the simultaneous perturbation algorithm for stochastic optimization, IEEE
Transactions on Aerospace and Electronic Systems 34, 1998. Two values give a slope along a random vector of
signs; x moves against it by a_k = a/(k + 1 + A)^0.602, with values taken at a distance c_k = c/(k + 1)^0.101.
No step is longer than the first ones are meant to be: without this, the method leaves every steep valley.
"""

from __future__ import annotations

import numpy as np

from benchmarks.peers.adapters import Fun, Solve
from pursuit.checks import Vector

GAINS = (0.003, 0.015, 0.07, 0.3)
"""How far the first steps move each variable, in units of `sigma0`; what is best depends on the problem."""
_ALPHA, _GAMMA = 0.602, 0.101
_DISTANCE = 0.1
"""The first distance c, in units of `sigma0`."""
_STABILITY = 0.1
"""A, as a share of the number of iterations."""
# So many slopes give the size of the first steps.
_FIRST_SLOPES = 5


def using_spsa(gain: float) -> Solve:
    """Return the method with one gain."""

    def solve(fun: Fun, x0: Vector, *, sigma0: float, maxfev: int, seed: int) -> Vector:
        rng = np.random.default_rng(seed)

        def slope(x: Vector, distance: float) -> tuple[Vector, float]:
            signs = rng.choice([-1.0, 1.0], x.size)
            difference = fun(x + distance * signs) - fun(x - distance * signs)
            return signs, difference / (2.0 * distance)

        x, c = x0.copy(), _DISTANCE * sigma0
        first = [abs(slope(x, c)[1]) for _ in range(min(_FIRST_SLOPES, maxfev // 4))]
        iterations = maxfev // 2 - len(first)
        delay = _STABILITY * iterations
        longest = gain * sigma0
        a = longest * (1.0 + delay) ** _ALPHA / max(float(np.mean(first)), np.finfo(float).tiny)
        for k in range(iterations):
            signs, along = slope(x, c / (k + 1.0) ** _GAMMA)
            if np.isfinite(along):
                step = a / (k + 1.0 + delay) ** _ALPHA * along
                x = x - min(max(step, -longest), longest) * signs
        return x

    return solve
