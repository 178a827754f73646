"""Results as JSON takes them, and back."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from pursuit.checks import shown
from pursuit.engine.stopping import Reason
from pursuit.methods.stages import Stage
from pursuit.problems.structure import Structure, flat_of, rows_of
from pursuit.reporting.history import History

_POINTS, _ARRAYS = ("x", "active_mask"), ("hess", "jac")
"""The fields with the structure of x0, and other arrays."""
_WORDS = ("message", "method", "extra", "seed")
"""The fields that may be texts."""


def plain(value: Any) -> Any:
    """Return something as JSON takes it: arrays as lists, and what is not finite as text.

    Examples
    --------
    >>> import numpy as np
    >>> from pursuit.reporting.plain import plain
    >>> plain({"x": np.array([1.0, np.inf]), "n": np.int64(3)})
    {'x': [1.0, 'inf'], 'n': 3}
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def plain_result(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a result as JSON takes them, without those that it does not take."""
    found = {name: plain(_simple(name, value)) for name, value in result.items()}
    return {name: value for name, value in found.items() if _is_plain(value)}


def fields_of(data: Any, structure: Structure) -> dict[str, Any]:
    """Return the fields of a result from what `plain_result` has returned."""
    if not isinstance(data, Mapping):
        raise TypeError(f"The data of a result must be a dictionary, but {shown(data)} was given.")
    fields = {}
    for name, value in data.items():
        try:
            fields[name] = _field(name, value, structure)
        except (TypeError, ValueError, LookupError, AttributeError):
            raise ValueError(
                f"The data of a result must be what to_dict has returned, but its {name} is {shown(value)}."
            ) from None
    return fields


def _simple(name: str, value: Any) -> Any:
    """Return a field without the classes of this package."""
    if name in _POINTS:
        return flat_of(value)
    if name == "stages":
        return [stage._asdict() | {"reason": int(stage.reason)} for stage in value]
    if name == "trace":
        return value._asdict() | ({} if value.x is None else {"x": rows_of(value.x)})
    if isinstance(value, np.random.SeedSequence):
        return {"entropy": value.entropy, "spawn_key": value.spawn_key}
    return value


def _field(name: str, value: Any, structure: Structure) -> Any:
    """Return a field as a result has it."""
    if name in _POINTS:
        return structure.shaped(np.array(value, dtype=float if name == "x" else int))
    if name in _ARRAYS:
        return np.array(value, dtype=float)
    if name == "stages":
        return tuple(_stage(one) for one in value)
    if name == "trace":
        kinds = {"nit": int, "nfev": int, "method": str, "at_bound": int}
        trace = History(**{key: np.array(value[key], dtype=kinds.get(key, float)) for key in History._fields})
        if "x" in value:
            trace.x = structure.shaped(np.array(value["x"], dtype=float))
        return trace
    if name == "seed" and isinstance(value, Mapping):
        return np.random.SeedSequence(value["entropy"], spawn_key=tuple(value["spawn_key"]))
    return float(value) if isinstance(value, str) and name not in _WORDS else value


def _stage(one: Mapping[str, Any]) -> Stage:
    numbers = {key: float(one[key]) for key in ("fun", "noise", "error") if isinstance(one[key], str)}
    return Stage(**{**one, **numbers, "reason": Reason(one["reason"])})


def _is_plain(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True
