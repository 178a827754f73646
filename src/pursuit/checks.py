"""Checks of what people pass in. Each error is one sentence: what was given, what is expected."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


def checked_number(
    name: str,
    value: Any,
    *,
    above: float = -math.inf,
    below: float = math.inf,
    at_least: float = -math.inf,
) -> float:
    """Return `value` as a finite float within the given range."""
    if isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be a number, but {value!r} was given.")
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number, but {value!r} was given.") from None
    if not (above < number < below and number >= at_least):
        wanted = _describe_range(above, below, at_least)
        raise ValueError(f"{name} must be {wanted}, but {value!r} was given.")
    return number


def checked_count(name: str, value: Any, *, at_least: int) -> int:
    """Return `value` as an int that is not too small."""
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, but {value!r} was given.") from None
    if number < at_least:
        raise ValueError(f"{name} must be at least {at_least}, but {value!r} was given.")
    return number


def checked_choice(name: str, value: Any, allowed: tuple[str, ...]) -> str:
    """Return `value` if it is one of the allowed words."""
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}, but {value!r} was given.")
    return value


def checked_point(name: str, value: Any) -> Vector:
    """Return a fresh, contiguous float64 copy of a finite one-dimensional point."""
    try:
        point = np.array(value, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise TypeError(
            f"{name} must be a sequence of real numbers, but {_short(value)} was given."
        ) from None
    if point.ndim != 1 or point.size == 0:
        raise ValueError(
            f"{name} must have one dimension and at least one entry, but its shape is {point.shape}."
        )
    faulty = ~np.isfinite(point)
    if faulty.any():
        first = int(np.argmax(faulty))
        raise ValueError(f"{name} must be finite, but {name}[{first}] is {point[first]}.")
    return point


def _describe_range(above: float, below: float, at_least: float) -> str:
    bounds = []
    if at_least > -math.inf:
        bounds.append(f"at least {at_least:g}")
    if above > -math.inf:
        bounds.append(f"above {above:g}")
    if below < math.inf:
        bounds.append(f"below {below:g}")
    return " and ".join(["finite", *bounds])


def _short(value: Any, width: int = 60) -> str:
    text = repr(value)
    return text if len(text) <= width else text[: width - 3] + "..."
