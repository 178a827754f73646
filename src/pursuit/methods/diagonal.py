"""The scales D of the variables, learnt from ranks.

    r_i <- the mean of the ranks of y + sigma D z_i and y - sigma D z_i
    G <- (1 - beta) G + sum_i r_i (z_i^2 - 1);  N <- (1 - beta)^2 N + 2 sum_i r_i^2;  beta = m/(5n)
    log D <- log D - beta/20 max(0, 1 - n N/|G|^2) G, without its mean

To first order the mean of a pair's ranks does not depend on the slope along z_i but on the curvature: it is
high where z_i is large in the stiff variables. So where r_i and z_ij^2 are correlated, D_j is changed. N is
the variance that an entry of G has where they are not, and the factor before G is that of James and Stein:
where G is no longer than chance would make it, as for a rotated function, D stays as it is.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pursuit.checks import Vector
from pursuit.compiling.inner import inner

# Over how many pairs G is summed, divided by n. What is older has faded.
_SPAN = 5.0
# How far log D goes.
_RATE = 0.05
# By how much a round may change log D_j at the most, and how far it may go in all.
_MOST, _FARTHEST = 1.0, 1e10
# The variance of z^2 for a normal z.
_VARIANCE = 2.0


class Diagonal(NamedTuple):
    """The scales of the variables, and what is known of how they should change."""

    scales: Vector
    """D."""
    evidence: Vector
    """G."""

    @classmethod
    def create(cls, n: int) -> Diagonal:
        """Return what a run begins with."""
        return cls(np.ones(n), np.zeros(n))


@inner
def forgetting(n, m):
    """Return beta, the part of the evidence that fades in a round of m pairs."""
    return min(1.0, m / (_SPAN * n))


@inner
def variance_of(curvature):
    """Return what a pair whose ranks have this mean adds to the variance of the evidence."""
    return _VARIANCE * curvature * curvature


@inner
def rescale(diagonal, variance, beta):
    """Change the scales as far as the evidence exceeds its variance."""
    scales, evidence = diagonal.scales, diagonal.evidence
    n, square = scales.shape[0], 0.0
    for j in range(n):
        square += evidence[j] * evidence[j]
    if not square > n * variance:
        return
    rate = _RATE * beta * (1.0 - n * variance / square)
    mean = 0.0
    for j in range(n):
        mean += _change(rate, evidence[j]) / n
    for j in range(n):
        factor = math.exp(_change(rate, evidence[j]) - mean)
        scales[j] = min(max(scales[j] * factor, 1.0 / _FARTHEST), _FARTHEST)


@inner
def _change(rate, evidence):
    """Return the change of the logarithm of a scale."""
    return min(max(-rate * evidence, -_MOST), _MOST)
