"""Whether f has kinks: there second differences grow like the distance, elsewhere like its square."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from pursuit.checks import Vector
from pursuit.methods.differences.state import State
from pursuit.methods.differences.sweep import sizes_of
from pursuit.methods.programs import Probes, Request

# How many variables are looked at, those with the largest curvatures, and how many of them must have kinks.
_VARIABLES, _ENOUGH = 4, 2
# The distances, in lengths of probes; and by how much less than 16^2 second differences may differ.
_NEAR, _FAR, _SMOOTH = 4.0, 64.0, 70.0
# How many times the noise a second difference must be.
_CLEAR = 50.0


def has_kinks(state: State) -> Generator[Request, Vector, bool]:
    """Compare second differences at two distances along a few coordinates."""
    h = np.minimum(state.lengths, 1e-3 * state.box.sigma0)
    room = np.minimum(state.box.upper - state.x, state.x - state.box.lower)
    sizes = np.where(_FAR * h <= room, sizes_of(state, 0.0), 0.0)
    i = np.argsort(sizes)[-_VARIABLES:]
    i = np.sort(i[sizes[i] > 0.0])
    if not i.size:
        return False
    steps = np.concatenate([scale * h[i] for scale in (_NEAR, -_NEAR, _FAR, -_FAR)])
    values = (yield Probes(state.x, np.tile(i, 4), steps)).reshape(4, -1)
    near, far = values[0] + values[1] - 2.0 * state.f, values[2] + values[3] - 2.0 * state.f
    kinks = (near > _CLEAR * state.noise) & (far > 0.0) & (far < _SMOOTH * near)
    return int(np.count_nonzero(kinks)) >= min(_ENOUGH, i.size)
