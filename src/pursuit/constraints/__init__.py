"""Constraints in SciPy's forms, as one function whose entries are 0 or negative where they hold.

A constraint lower <= c(x) <= upper becomes equations h(x) = c(x) - lower = 0 where both sides are the same,
and inequalities g(x) <= 0 for each finite side elsewhere.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from pursuit.checks import Vector, checked_array, shown
from pursuit.problems.objective import function_of_point


class Constraint(NamedTuple):
    """One constraint, as the caller gave it."""

    function: Callable[[Vector], Any]
    lower: Vector
    upper: Vector


class Constraints(NamedTuple):
    """All constraints of a problem."""

    parts: tuple[Constraint, ...]
    is_equation: Any
    """For each entry, whether it has to be 0, and not only at most 0."""

    def at(self, x: Vector) -> Vector:
        """Return the entries at a point; they may be infinite or NaN."""
        return np.concatenate([_entries(part, x) for part in self.parts])

    def violation(self, entries: Vector) -> float:
        """Return by how much the constraints are violated, at most."""
        sizes = np.where(self.is_equation, np.abs(entries), np.maximum(entries, 0.0))
        return float(np.max(sizes, initial=0.0)) if np.isfinite(sizes).all() else np.inf


def given_constraints(constraints: Any) -> list[Any]:
    """Return constraints as SciPy takes them, one or a sequence of them, as a list."""
    if isinstance(constraints, Sequence) and not isinstance(constraints, str):
        return list(constraints)
    return [] if constraints is None else [constraints]


def checked_constraints(given: list[Any], x0: Vector) -> Constraints:
    """Return all constraints, which are evaluated at x0 to learn how many values they have."""
    parts = tuple(_checked(one, x0) for one in given)
    return Constraints(parts, np.concatenate([_kinds(part) for part in parts]))


def _checked(given: Any, x0: Vector) -> Constraint:
    # Imported here, since it takes longer than the whole package.
    from scipy.optimize import LinearConstraint, NonlinearConstraint

    if isinstance(given, LinearConstraint):
        matrix = np.atleast_2d(np.asarray(given.A.toarray() if hasattr(given.A, "toarray") else given.A))
        if matrix.shape[1] != x0.size:
            raise ValueError(
                f"The matrix of a linear constraint must have a column for each of {x0.size} variables, but "
                f"its shape is {matrix.shape}."
            )
        return _with_sides(functools.partial(np.matmul, matrix), given.lb, given.ub, x0)
    if isinstance(given, NonlinearConstraint):
        return _with_sides(given.fun, given.lb, given.ub, x0)
    if isinstance(given, Mapping):
        kind, function, args = given.get("type"), given.get("fun"), tuple(given.get("args", ()))
        kind = kind.lower() if isinstance(kind, str) else kind
        if kind not in ("eq", "ineq") or not callable(function):
            raise ValueError(
                "A constraint that is a dictionary must have a 'type', 'eq' or 'ineq', and a function 'fun', "
                f"but {shown(dict(given))} was given."
            )
        return _with_sides(function_of_point(function, args), 0.0, 0.0 if kind == "eq" else np.inf, x0)
    raise TypeError(
        "constraints must be NonlinearConstraint, LinearConstraint or dictionaries, as for SciPy, but "
        f"{shown(given)} was given."
    )


def _with_sides(function: Callable[[Vector], Any], lower: Any, upper: Any, x0: Vector) -> Constraint:
    """Return a constraint with as many sides as its function has values at x0."""
    values = _values_of(function, x0)
    if not np.isfinite(values).all():
        raise ValueError(f"A constraint must be finite at x0, but it is {shown(values)} there.")
    count = values.size
    try:
        sides = [np.broadcast_to(np.asarray(side, dtype=float), count) for side in (lower, upper)]
    except ValueError:
        raise ValueError(
            f"A constraint with {count} values must have as many lower and upper sides, but {shown(lower)} "
            f"and {shown(upper)} were given."
        ) from None
    if not (sides[0] <= sides[1]).all():
        raise ValueError(
            f"The lower side of a constraint must not be above the upper one, but {shown(lower)} and "
            f"{shown(upper)} were given."
        )
    return Constraint(function, *sides)


def _kinds(part: Constraint) -> Any:
    """Return which entries of a constraint are equations, in the order of `_entries`."""
    equal, below, above = _places(part)
    return np.repeat([True, False, False], [np.sum(equal), np.sum(below), np.sum(above)])


def _values_of(function: Callable[[Vector], Any], x: Vector) -> Vector:
    return checked_array("The value of a constraint", function(x.copy())).ravel()


def _entries(part: Constraint, x: Vector) -> Vector:
    values = _values_of(part.function, x)
    if values.size != part.lower.size:
        raise ValueError(
            f"A constraint must always have {part.lower.size} values, as at the start, but it returned "
            f"{values.size}."
        )
    equal, below, above = _places(part)
    sides = (values - part.lower)[equal], (part.lower - values)[below], (values - part.upper)[above]
    return np.concatenate(sides)


def _places(part: Constraint) -> tuple[Any, Any, Any]:
    """Return where a constraint has equations, and where it has lower and upper sides."""
    equal = part.lower == part.upper
    return equal, ~equal & np.isfinite(part.lower), ~equal & np.isfinite(part.upper)
