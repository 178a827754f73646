"""Whether a state, which comes from a file, is one for n variables."""

from __future__ import annotations

import numpy as np

from pursuit.methods.differences.matrix import Limited
from pursuit.methods.differences.state import State
from pursuit.methods.programs import Ranges, check_bounds, check_numbers

_RANGES = Ranges(
    positive=frozenset({"batch", "sigma0", "radius", "lengths", "probe_factor", "diagonal"}),
    not_negative=frozenset(
        {"doubt", "level", "lowest_noise", "scale", "grain", "spacing", "blocks.curvature"}
    ),
    perhaps_infinite=frozenset({"xtol", "ftol", "at", "longest"}),
    # Sweeps that lie before the first one have not been.
    unlimited=frozenset({"box.lower", "box.upper", "measured", "looked"}),
    # The inverse of what is nearly 0 is infinite.
    anything=frozenset({"matrix.inverse"}),
)


def check_state(state: State, n: int) -> None:
    """Raise a `ValueError` if a state is not one for n variables."""
    opening, blocks, matrix = state.opening, state.blocks, state.matrix
    points = 0 if opening is None else opening.values.size
    shapes = {"points": (points, n), "values": (points,), "hessian": (n, n), "B": (n, n), "inverse": (n, n)}
    check_numbers(state, n, _RANGES, shapes)
    means = () if state.masked is None else (state.masked.mean, state.masked.lowest_x)
    check_bounds(state.box, state.x, *means)
    if blocks is not None and not (blocks.done < n and np.array_equal(np.sort(blocks.order), np.arange(n))):
        raise ValueError("its blocks must be a permutation of its variables, with some of them left")
    if isinstance(matrix, Limited) and len(matrix.steps) != len(matrix.changes):
        raise ValueError("its matrix must have as many steps as changes of the gradient")
    if not state.probes.all():
        raise ValueError("its probes must not be 0")
