"""Whether a state, which comes from a file, is one for n variables."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np

from pursuit.methods.differences.matrix import Limited
from pursuit.methods.differences.state import State

# What numbers must be, by the names of their fields: more than 0, no less, or no less and perhaps infinite.
# So must all counts be that are not here.
_POSITIVE = {"batch", "sigma0", "radius", "lengths", "probe_factor", "diagonal"}
_NOT_NEGATIVE = {"doubt", "level", "scale", "grain", "spacing", "blocks.curvature"}
_PERHAPS_INFINITE = {"xtol", "ftol", "at", "longest"}
# Curvatures are NaN where they were not measured, and bounds infinite where there is none; so is the inverse
# of what is nearly 0.
_ANYTHING = {"curvature", "box.lower", "box.upper", "matrix.inverse"}


def check_state(state: State, n: int) -> None:
    """Raise a `ValueError` if a state is not one for n variables."""
    opening, blocks, matrix, box = state.opening, state.blocks, state.matrix, state.box
    points = 0 if opening is None else opening.values.size
    shapes = {"points": (points, n), "values": (points,), "hessian": (n, n), "B": (n, n), "inverse": (n, n)}
    for path, entry in _numbers(state):
        shape = shapes.get(path.split(".")[-1], (n,))
        if isinstance(entry, np.ndarray) and entry.shape != shape:
            raise ValueError(f"the entry {path} must have shape {shape}, but has {entry.shape}")
        _check_signs(path, entry)
    if isinstance(box.lower, np.ndarray) != isinstance(box.upper, np.ndarray):
        raise ValueError("it must have bounds for every variable, or none")
    for entry in (state.x, state.x if state.masked is None else state.masked.mean):
        if not np.all((box.lower <= entry) & (entry <= box.upper)):
            raise ValueError("its iterates must be within its bounds")
    if blocks is not None and not (blocks.done < n and np.array_equal(np.sort(blocks.order), np.arange(n))):
        raise ValueError("its blocks must be a permutation of its variables, with some of them left")
    if isinstance(matrix, Limited) and len(matrix.steps) != len(matrix.changes):
        raise ValueError("its matrix must have as many steps as changes of the gradient")
    if not (state.probes.all() and state.turn < n):
        raise ValueError(f"its probes must not be 0, and its turn one of {n} variables")


def _numbers(record: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the numbers and arrays in a record by the dotted names of their fields."""
    for field in dataclasses.fields(record):
        entry, path = getattr(record, field.name), f"{prefix}{field.name}"
        for part in entry if isinstance(entry, tuple) else (entry,):
            if dataclasses.is_dataclass(part):
                yield from _numbers(part, f"{path}.")
            elif part is not None and not isinstance(part, str):
                yield path, part


def _check_signs(path: str, entry: Any) -> None:
    """Reject numbers that a field cannot hold."""
    names = {path, path.split(".")[-1]}
    is_free = path in _ANYTHING or not names.isdisjoint(_PERHAPS_INFINITE)
    if not (is_free or np.isfinite(entry).all()):
        raise ValueError(f"the entry {path} must be finite")
    if names & _POSITIVE and not np.all(entry > 0.0):
        raise ValueError(f"the entry {path} must be positive")
    is_count = isinstance(entry, int) and path not in ("measured", "looked")
    if (is_count or names & (_NOT_NEGATIVE | _PERHAPS_INFINITE)) and not np.all(entry >= 0):
        raise ValueError(f"the entry {path} must not be negative")
