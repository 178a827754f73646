"""Whether a state, which comes from a file, is one for n variables."""

from __future__ import annotations

from pursuit.methods.evolution.matrix import Limited, first_matrix
from pursuit.methods.evolution.state import State
from pursuit.methods.programs import Ranges, check_bounds, check_numbers

_RANGES = Ranges(
    positive=frozenset({"scale", "sigma", "sigma0", "popsize", "diagonal"}),
    not_negative=frozenset({"level", "spread", "noise", "longest", "widest", "error"}),
    perhaps_infinite=frozenset({"xtol", "ftol"}),
    # All values of a round may be infinite; so is what is compared with the first of its kind.
    unlimited=frozenset({"f", "gained", "began_with", "lap_value", "box.lower", "box.upper"}),
)


def check_state(state: State, n: int) -> None:
    """Raise a `ValueError` if a state is not one for n variables."""
    count = 0 if state.seen_values is None else state.seen_values.size
    shapes = {"M": (n, n), "seen": (count, n), "seen_values": (count,)}
    check_numbers(state, n, _RANGES, shapes)
    means = (state.average.mean, state.record.mean)
    found = () if state.answer is None else (state.answer.x,)
    check_bounds(state.box, state.x, state.start_x, state.lowest_x, *means, *found)
    matrix, first = state.matrix, first_matrix(n)
    if type(matrix) is not type(first):
        raise ValueError(f"its matrix must not be of the class {type(matrix).__name__} for {n} variables")
    if isinstance(matrix, Limited) and isinstance(first, Limited) and len(matrix.paths) != len(first.paths):
        raise ValueError(f"its matrix must have {len(first.paths)} paths, but has {len(matrix.paths)}")
    if (state.seen is None) != (state.seen_values is None):
        raise ValueError("it must have as many points that were seen as values of them")
