"""The header of a checkpoint: JSON that may hold arrays of numbers."""

from __future__ import annotations

import json
from typing import Any

import numpy as np


def as_json(entry: Any) -> str:
    """Return an entry as JSON."""
    try:
        return json.dumps(entry, default=_to_json)
    except RecursionError:
        raise TypeError("A checkpoint can hold numbers, texts and arrays, but no cycles of them.") from None


def _to_json(entry: Any) -> Any:
    if isinstance(entry, np.ndarray) and entry.dtype.kind in "iufb":
        return {"array": entry.tolist(), "dtype": str(entry.dtype)}
    if isinstance(entry, np.generic) and entry.dtype.kind in "iufbU":
        return entry.item()
    raise TypeError(f"A checkpoint can hold numbers, texts and arrays, but not {entry!r}.")


def from_json(text: bytes) -> Any:
    """Return what a text of JSON stands for."""
    return json.loads(text, object_hook=_entry_of)


def _entry_of(entry: dict[str, Any]) -> Any:
    if set(entry) != {"array", "dtype"}:
        return entry
    dtype = np.dtype(str(entry["dtype"]))
    if dtype.kind not in "iufb":
        raise ValueError(f"arrays must hold numbers, but {dtype} was found")
    return np.array(entry["array"], dtype=dtype)
