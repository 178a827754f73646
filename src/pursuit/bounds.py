"""Bounds, kept by reflection: a scheme roams freely, and f is asked at the mirror image inside."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numba
import numpy as np

from pursuit.checks import Vector
from pursuit.problems.contract import evaluate, value


class Box(NamedTuple):
    """Lower and upper bounds, possibly infinite, of every variable."""

    lower: Vector
    upper: Vector


class Bounded(NamedTuple):
    """A problem inside bounds: f of the reflected point."""

    problem: Any
    box: Box

    @property
    def n(self) -> int:
        """The number of variables."""
        return int(self.problem.n)

    def __call__(self, x: Any) -> float:
        """Return f at the reflection of x."""
        return evaluate(self, np.array(x, dtype=np.float64))

    def __getattr__(self, name: str) -> Any:
        """Return what the problem knows of itself, as its condition number."""
        return getattr(self.problem, name)


@value.register(Bounded)
def _value(team, bounded, x):
    # The point belongs to the objective, so it can be moved where it stands.
    _reflect(x, bounded.box)
    return value(team, bounded.problem, x)


def reflect(points, box):
    """Move every row of `points` inside the box, by reflection at its sides."""
    for j in range(points.shape[0]):
        _reflect(points[j], box)


@numba.njit
def _reflect(x, box):
    for i in range(x.shape[0]):
        lower, upper = box.lower[i], box.upper[i]
        if not lower <= x[i] <= upper:
            x[i] = _mirrored(x[i], lower, upper)


@numba.njit
def _mirrored(t, lower, upper):
    """Return the image of t outside [lower, upper], at least one of which is finite, inside."""
    if math.isinf(upper):
        t = lower + (lower - t)
    elif math.isinf(lower):
        t = upper - (t - upper)
    elif lower < upper:
        # Mirrors on both sides repeat with twice the width as their period.
        width = upper - lower
        t = (t - lower) % (2.0 * width)
        t = lower + (t if t <= width else 2.0 * width - t)
    # Rounding may leave t a hair outside, and what is not a number has no image.
    if not t >= lower:
        t = lower if math.isfinite(lower) else upper
    return min(t, upper)


def checked_box(bounds: Any, x0: Vector) -> Box | None:
    """Return the bounds of `scipy.optimize.Bounds` or of a sequence of pairs as a box around x0."""
    if bounds is None:
        return None
    lower, upper = _sides(bounds)
    try:
        lower = np.array(np.broadcast_to(lower, x0.shape), dtype=np.float64)
        upper = np.array(np.broadcast_to(upper, x0.shape), dtype=np.float64)
    except ValueError:
        raise ValueError(
            f"bounds must be one pair for each of the {x0.size} variables, "
            f"but {max(lower.size, upper.size)} were given."
        ) from None
    for name, wrong in (
        ("a lower bound above the upper one", ~(lower <= upper)),
        ("an infinite bound on the wrong side", np.isposinf(lower) | np.isneginf(upper)),
    ):
        if wrong.any():
            i = int(np.argmax(wrong))
            raise ValueError(
                f"bounds must leave room for every variable, but variable {i} has {name}: "
                f"({lower[i]:g}, {upper[i]:g})."
            )
    outside = (x0 < lower) | (x0 > upper)
    if outside.any():
        i = int(np.argmax(outside))
        raise ValueError(
            f"x0 must lie within the bounds, but x0[{i}] = {x0[i]:g} is outside ({lower[i]:g}, {upper[i]:g})."
        )
    return Box(lower, upper)


def _sides(bounds: Any) -> tuple[Any, Any]:
    """Return the lower and the upper bounds as arrays; None in a pair stands for infinity."""
    try:
        if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
            return np.asarray(bounds.lb, dtype=np.float64), np.asarray(bounds.ub, dtype=np.float64)
        pairs = [(lower, upper) for lower, upper in bounds]
        lower = np.array([-math.inf if side is None else side for side, _ in pairs], dtype=np.float64)
        upper = np.array([math.inf if side is None else side for _, side in pairs], dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(
            "bounds must be a scipy.optimize.Bounds or a sequence of pairs (lower, upper), "
            f"but {bounds!r} was given."
        ) from None
    return lower, upper
