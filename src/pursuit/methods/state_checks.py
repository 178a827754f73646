"""Whether the numbers of a program's state, which comes from a file, can be those of a run.

A program says what its fields may hold by their names: dotted ones, or the last part alone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from pursuit.checks import Vector
from pursuit.methods.programs import Box


class Ranges(NamedTuple):
    """What numbers must be, by the names of their fields; others are finite, and whole ones not negative."""

    positive: frozenset[str]
    not_negative: frozenset[str]
    perhaps_infinite: frozenset[str]
    """Those that are not negative, but may be infinite."""
    unlimited: frozenset[str]
    """Those that may be infinite, with either sign, or negative whole numbers, by whole names."""
    anything: frozenset[str] = frozenset()
    """Those that may be NaN as well, by whole names."""


def check_numbers(state: Any, n: int, ranges: Ranges, shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Raise a `ValueError` if an array has another shape than n, or a number is not in its range."""
    for path, entry in _numbers(state):
        names = {path, path.split(".")[-1]}
        shape = next((shapes[name] for name in names & shapes.keys()), (n,))
        if isinstance(entry, np.ndarray) and entry.shape != shape:
            raise ValueError(f"the entry {path} must have shape {shape}, but has {entry.shape}")
        _check_range(path, names, entry, ranges)


def check_bounds(box: Box, *points: Vector) -> None:
    """Raise a `ValueError` if there are bounds on one side only, or a point is outside."""
    if isinstance(box.lower, np.ndarray) != isinstance(box.upper, np.ndarray):
        raise ValueError("it must have bounds for every variable, or none")
    if not all(np.all((box.lower <= x) & (x <= box.upper)) for x in points):
        raise ValueError("its iterates must be within its bounds")


def _numbers(record: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the numbers and arrays in a record by the dotted names of their fields."""
    for field in dataclasses.fields(record):
        entry, path = getattr(record, field.name), f"{prefix}{field.name}"
        for part in entry if isinstance(entry, tuple) else (entry,):
            if dataclasses.is_dataclass(part):
                yield from _numbers(part, f"{path}.")
            elif part is not None and not isinstance(part, str):
                yield path, part


def _check_range(path: str, names: set[str], entry: Any, ranges: Ranges) -> None:
    """Reject numbers that a field cannot hold."""
    if path in ranges.anything:
        return
    if np.isnan(entry).any():
        raise ValueError(f"the entry {path} must be a number")
    is_unlimited = path in ranges.unlimited
    if not (is_unlimited or names & ranges.perhaps_infinite or np.isfinite(entry).all()):
        raise ValueError(f"the entry {path} must be finite")
    if names & ranges.positive and not np.all(entry > 0.0):
        raise ValueError(f"the entry {path} must be positive")
    is_count = isinstance(entry, int) and not is_unlimited
    is_size = names & (ranges.not_negative | ranges.perhaps_infinite)
    if (is_count or is_size) and not np.all(entry >= 0.0):
        raise ValueError(f"the entry {path} must not be negative")
