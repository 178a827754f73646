"""Directions that mix all coordinates, orthonormal as these are: a cosine transform with random signs.

u_k = (s_i sqrt(2/n) cos(pi k (i + 1/2)/n))_i, or sqrt(1/n) for k = 0, with signs s_i that are drawn once.
"""

from __future__ import annotations

import math

from pursuit.compiling.inner import inner
from pursuit.methods.values.curvature import WEIGHTS
from pursuit.methods.values.probes import sign

# The signs are kept where sweeps of probes keep the weights of coordinates.
SIGNS = WEIGHTS


@inner
def draw_signs(state, seed):
    """Draw the signs of all directions to come."""
    signs = state.vectors[SIGNS]
    for i in range(signs.shape[0]):
        signs[i] = sign(seed, i)


@inner
def add_mixture(state, k, length, out):
    """Go so far along the k-th direction."""
    n, signs = out.shape[0], state.vectors[SIGNS]
    angle = math.pi * k / n
    turn, turn_aside = math.cos(angle), math.sin(angle)
    along, aside = math.cos(0.5 * angle), math.sin(0.5 * angle)
    length *= math.sqrt((1.0 if k == 0 else 2.0) / n)
    for i in range(n):
        out[i] += length * signs[i] * along
        along, aside = along * turn - aside * turn_aside, aside * turn + along * turn_aside
