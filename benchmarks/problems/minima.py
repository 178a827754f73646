"""The smallest values of problems without a formula for them, computed with exact gradients.

A gradient is taken by complex steps, d f/d x_i = Im f(x + i h e_i)/h with a tiny h: there is no cancellation,
so it is exact to rounding.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from benchmarks.problems.problem import Problem
from pursuit.checks import Vector

_STEP = 1e-30
_SPREAD = 0.5
# Where a dense matrix of so many variables takes long, L-BFGS is used instead of BFGS.
_MANY = 300


def minimum_of(problem: Problem) -> float:
    """Return the smallest value of a problem: by its formula, or else the smallest one that is found."""
    while problem.origin is not None:
        problem = problem.origin
    return problem.true_value(minimizer_of(problem)) if problem.minimum is None else problem.minimum


def minimizer_of(problem: Problem) -> Vector:
    """Return the best point that is found from the start and from points around it."""
    rng = np.random.default_rng(problem.n)
    starts = [problem.x0]
    starts += [problem.x0 + _SPREAD * rng.standard_normal(problem.n) for _ in range(problem.starts - 1)]
    return min((_descend(problem, start) for start in starts), key=problem.true_value)


def gradient_of(problem: Problem, x: Vector) -> Vector:
    """Return the gradient, exact to rounding."""
    if problem.gradient is not None:
        return problem.gradient(x)
    point = x.astype(np.complex128)
    slopes = np.empty(problem.n)
    for i in range(problem.n):
        point[i] += 1j * _STEP
        slopes[i] = problem.formula(point).imag / _STEP
        point[i] = x[i]
    return slopes


def _descend(problem: Problem, x: Vector) -> Vector:
    """Return a point where rounding lets no method come lower."""
    if problem.n > _MANY:
        method, options = "L-BFGS-B", {"ftol": 0.0, "gtol": 1e-12, "maxiter": 20_000, "maxfun": 20_000}
    else:
        method, options = "BFGS", {"gtol": 1e-13, "maxiter": 20_000}
    # A second descent forgets the curvature far from the minimum.
    for _ in range(2):
        with np.errstate(all="ignore"):
            found = minimize(
                problem.true_value, x, jac=lambda x: gradient_of(problem, x), method=method, options=options
            )
        if found.fun <= problem.true_value(x):
            x = found.x
    return np.asarray(x)
