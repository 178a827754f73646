"""The minimum of a quadratic model of a few variables that need not be convex."""

from __future__ import annotations

import math

import numba
import numpy as np

inner = numba.njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)


@inner
def model_minimizer(slopes, hessian, least):
    """Return where g'c + c'Hc/2 is least if the eigenvalues of H count by their absolute values.

    Variables are scaled so that the diagonal of H is 1, or -1, and eigenvalues below `least` count as that
    much. So negative curvature is followed downhill as far as positive curvature of the same size allows.
    """
    k = slopes.shape[0]
    scales = np.empty(k)
    for i in range(k):
        scales[i] = math.sqrt(max(abs(hessian[i, i]), 1e-300))
    scaled = np.empty((k, k))
    for i in range(k):
        for j in range(k):
            scaled[i, j] = hessian[i, j] / (scales[i] * scales[j])
            if not math.isfinite(scaled[i, j]):
                return np.full(k, np.nan)
    eigenvalues, vectors = np.linalg.eigh(scaled)
    minimizer = np.zeros(k)
    for e in range(k):
        along = 0.0
        for i in range(k):
            along += vectors[i, e] * slopes[i] / scales[i]
        along /= max(abs(eigenvalues[e]), least)
        for i in range(k):
            minimizer[i] -= vectors[i, e] * along / scales[i]
    return minimizer
