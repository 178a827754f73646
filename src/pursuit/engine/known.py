"""Points whose values a caller knows before a run, and where they say that it should begin."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pursuit.checks import Vector, checked_array, shown
from pursuit.methods.regression import fitted
from pursuit.problems.boxes import Box
from pursuit.problems.objective import checked_values
from pursuit.problems.structure import Structure

# So many points around the best one decide what its neighbourhood looks like, up to so many variables.
_MOST_POINTS, _MOST_VARIABLES = 200, 50
# How far from their mean their quadratic is believed, in standard deviations of the points.
_RADIUS = 3.0


class Known(NamedTuple):
    """A point and its value."""

    x: Vector
    value: float


def checked_points(X: Any, structure: Structure, n: int, name: str = "X") -> NDArray[np.float64]:  # noqa: N803
    """Return points of any structure as the rows of an array."""
    if structure.tree is not None:
        if not isinstance(X, list | tuple):
            raise TypeError(f"{name} must be a list of points, but {shown(X)} was given.")
        X = [structure.flat(point, f"{name}[{number}]") for number, point in enumerate(X)]  # noqa: N806
    points = checked_array(name, X)
    if points.ndim != 2 or points.shape[1] != n:
        raise ValueError(
            f"{name} must have a point of {n} variables in each row, but its shape is {points.shape}."
        )
    return points


def checked_known(
    known: Any, structure: Structure, n: int, box: Box | None
) -> tuple[NDArray[np.float64], Vector]:
    """Return points and values that are finite and within the bounds."""
    if not (isinstance(known, tuple | list) and len(known) == 2):
        raise TypeError(
            f"known must be a pair (X, F) of points and their values, but {shown(known)} was given."
        )
    points = checked_points(known[0], structure, n, "known[0]")
    values = np.array(checked_values(known[1], len(points), "known[1]"))
    useful = np.isfinite(values) & np.isfinite(points).all(axis=1)
    if box is not None:
        useful &= ((box.lower <= points) & (points <= box.upper)).all(axis=1)
    return points[useful], values[useful]


def proposals(
    points: NDArray[np.float64], values: Vector, x0: Vector, fx: float, box: Box | None
) -> list[Vector]:
    """Return where a run might begin rather than at x0: at the best point, and at the minimum of a quadratic.

    It goes through the points nearest to the best one, x0 among them.
    """
    found = [points[np.argmin(values)]] if values.size and values.min() < fx else []
    if x0.size > _MOST_VARIABLES:
        return found
    points, values = np.vstack([points, x0]), np.append(values, fx)
    best = points[np.argmin(values)]
    nearest = np.argsort(np.linalg.norm(points - best, axis=1), kind="stable")[:_MOST_POINTS]
    quadratic = fitted(points[nearest], values[nearest])
    if quadratic is not None:
        lower, upper = (-np.inf, np.inf) if box is None else box[:2]
        lowest = quadratic.lowest(lower, upper, _RADIUS)
        if quadratic.at(lowest)[0] < values.min() and np.isfinite(lowest).all():
            found.append(lowest)
    return found
