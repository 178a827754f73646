"""The scales D of the variables, learnt from ranks.

    r_i <- the mean of the ranks of y + sigma D z_i and y - sigma D z_i;  g <- sum_i r_i (z_i^2 - 1)
    G <- (1 - beta) G + g;  N <- (1 - beta)^2 N + 2 sum_i r_i^2;  beta = m/(20n)
    trust <- max(0, 1 - n N/|G|^2), with the mean of all G_j subtracted from each
    log D <- log D - trust/10 g, with the mean of all g_j subtracted from each

To first order the mean of a pair's ranks does not depend on the slope along z_i but on the curvature: it is
high where z_i is large in the stiff variables. So where r_i and z_ij^2 are correlated, D_j is changed. N is
the variance that an entry of G would have if they were not, and trust the factor of James and Stein: where G
is no longer than chance would make it, as for a rotated function, D stays as it is. What all G_j have in
common is not evidence: it says only that longer steps lead higher.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pursuit.checks import Vector
from pursuit.compiling.inner import inner

# Over how many pairs evidence is summed, divided by n. Older evidence has faded.
_SPAN = 20.0
# How far log D goes for a pair, where evidence leaves no doubt.
_RATE = 0.1
# By how much a round may change log D_j, and how far D_j may go in all.
_MOST, _FARTHEST = 1.0, 1e10
# The variance of z^2 for a normal z.
_VARIANCE = 2.0


class Diagonal(NamedTuple):
    """The scales of the variables, and what is known of how they should change."""

    scales: Vector
    """D."""
    latest: Vector
    """g."""
    evidence: Vector
    """G."""

    @classmethod
    def create(cls, n: int) -> Diagonal:
        """Return what a run begins with."""
        return cls(np.ones(n), np.zeros(n), np.zeros(n))


@inner
def variance_of(curvature):
    """Return what a pair whose ranks have this mean adds to N."""
    return _VARIANCE * curvature * curvature


@inner
def rescale(diagonal, variance, added, m):
    """Change the scales after a round of m pairs, whose evidence is in `latest`; return N and the trust.

    `variance` is N before the round, and `added` is what its pairs add to it.
    """
    scales, latest, evidence = diagonal.scales, diagonal.latest, diagonal.evidence
    n = scales.shape[0]
    kept = 1.0 - min(1.0, m / (_SPAN * n))
    variance = kept * kept * variance + added
    mean = 0.0
    for j in range(n):
        evidence[j] = kept * evidence[j] + latest[j]
        mean += evidence[j] / n
    square = 0.0
    for j in range(n):
        square += (evidence[j] - mean) ** 2
    if not square > n * variance:
        return variance, 0.0
    trust = 1.0 - n * variance / square
    mean = 0.0
    for j in range(n):
        mean += _change(trust, latest[j]) / n
    for j in range(n):
        factor = math.exp(_change(trust, latest[j]) - mean)
        scales[j] = min(max(scales[j] * factor, 1.0 / _FARTHEST), _FARTHEST)
    return variance, trust


@inner
def _change(trust, latest):
    """Return the change of the logarithm of a scale."""
    return min(max(-_RATE * trust * latest, -_MOST), _MOST)
