"""The augmented Lagrangian of f and its constraints, and the best point seen."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pursuit.checks import Vector
from pursuit.constraints import Constraints
from pursuit.engine.evaluation import Evaluate
from pursuit.problems.objective import Extended, as_value

_LARGEST_WEIGHT, _LARGEST_MULTIPLIER = 1e12, 1e12
# The weight grows by this factor if more than this part of the violation is left.
_GROWTH, _LEFT = 10.0, 0.1
# The first weight.
_LOWEST, _HIGHEST = 1e-3, 10.0


@dataclass(frozen=True)
class Parts:
    """f and the constraints as a function of the point, which pickles if they do."""

    fun: Callable[[Vector], Any]
    constraints: Constraints

    def __call__(self, x: Vector) -> tuple[float, Vector]:
        """Return f and the entries of the constraints; f may overwrite its argument."""
        value = self.fun(x.copy())
        return value if isinstance(value, float) else as_value(value), self.constraints.at(x)


class Point(NamedTuple):
    """A point that was evaluated."""

    x: Vector
    f: float
    entries: Vector
    violation: float
    excess: float
    """The violation, 0 if it is no more than `ctol`."""
    nfev: int
    """The evaluations up to this one."""


class Lagrangian:
    """The augmented Lagrangian: f and the constraints are evaluated once for each point.

    It remembers the best point: the one with the lowest value among those that violate nothing by more than
    `ctol`, or if there is none, the one that violates least.

    Parameters
    ----------
    constraints : Constraints
        What the entries at a point mean.
    ctol : float
        By how much constraints may be violated.
    evaluate : callable
        Puts f and the entries at points into a list, as `Parts` returns them.
    """

    def __init__(self, constraints: Constraints, ctol: float, evaluate: Evaluate) -> None:
        self._constraints, self._evaluate = constraints, evaluate
        self.ctol: float = ctol
        count = constraints.is_equation.size
        self._scale_of_f, self._scales = 1.0, np.ones(count)
        self._multipliers, self._weight = np.zeros(count), 1.0
        self.nfev: int = 0
        self.faulty: int = 0
        nowhere = Point(np.empty(0), math.inf, np.full(count, math.inf), math.inf, math.inf, 0)
        self.best: Point = nowhere
        self.here: Point = nowhere
        """Where the Lagrangian was lowest since its multipliers were learnt."""
        self._lowest = math.inf
        """Its value there."""
        self._rest = math.inf
        """What was violated or not complementary at the previous minimum."""

    @property
    def extra(self) -> tuple[Any, ...]:
        """What f returned beside its value at the best point, if it returned pairs."""
        return (self.best.f.extra,) if isinstance(self.best.f, Extended) else ()

    def evaluate(self, rows: list[Vector], values: list[Any], target: float | None = None) -> None:
        """Put the Lagrangian at points into a list of the same length; what precedes an exception stays."""
        points = [row.copy() for row in rows]
        found: list[Any] = [None] * len(rows)
        try:
            self._evaluate(points, found)
        finally:
            for j, parts in enumerate(found):
                if parts is not None:
                    values[j] = self.value(self._take(points[j], *parts))

    def evaluated(self, rows: list[Vector]) -> list[Point]:
        """Return points with f and the constraints there."""
        found: list[Any] = [None] * len(rows)
        self._evaluate(rows, found)
        return [self._take(row, *parts) for row, parts in zip(rows, found, strict=True)]

    def begin_at(self, x: Vector) -> None:
        """Evaluate the point from which the search for the next minimum begins, whatever its value."""
        (self.here,) = self.evaluated([x.copy()])
        self._lowest = self.value(self.here)

    def value(self, point: Point) -> float:
        """Return the augmented Lagrangian at a point that was evaluated."""
        if not np.isfinite(point.entries).all():
            return math.inf
        shifted = self._scales * point.entries + self._multipliers / self._weight
        active = self._constraints.is_equation | (shifted > 0.0)
        return self._scale_of_f * point.f + 0.5 * self._weight * float(np.sum(shifted[active] ** 2))

    def scale(self, start: Point, probes: list[Point], sizes: Vector) -> None:
        """Divide f and the constraints by how much they change from the start over a step of these sizes.

        Constraints violated at the start count about as much as f there.
        """
        slope, slopes = 0.0, np.zeros_like(start.entries)
        for probe in probes:
            part = float(np.max(np.abs(probe.x - start.x) / sizes))
            slope = max(slope, _finite(abs(probe.f - start.f) / part))
            changes = np.abs(probe.entries - start.entries) / part
            slopes = np.maximum(slopes, [_finite(change) for change in changes])
        self._scale_of_f = 1.0 / (slope or 1.0)
        self._scales = 1.0 / np.where(slopes > 0.0, slopes, 1.0)
        violated = np.where(self._constraints.is_equation, start.entries, np.maximum(start.entries, 0.0))
        square = float(np.sum((self._scales * violated) ** 2))
        weight = 2.0 * max(1.0, abs(self._scale_of_f * start.f)) / max(1.0, square)
        self._weight = min(max(weight, _LOWEST), _HIGHEST) if math.isfinite(weight) else 1.0
        self.here, self._lowest = start, self.value(start)

    def update(self, *, is_minimum: bool) -> float:
        """Learn multipliers from where the run has ended; return what is violated there or not complementary.

        If that is not a minimum yet, a larger weight would only make it harder to find.
        """
        scaled, equations = self._scales * self.here.entries, self._constraints.is_equation
        rest = np.where(equations, scaled, np.maximum(scaled, -self._multipliers / self._weight))
        before, self._rest = self._rest, float(np.max(np.abs(rest), initial=0.0))
        lowest = np.where(equations, -_LARGEST_MULTIPLIER, 0.0)
        self._multipliers = np.clip(self._multipliers + self._weight * scaled, lowest, _LARGEST_MULTIPLIER)
        if is_minimum and self._rest > _LEFT * before:
            self._weight = min(_GROWTH * self._weight, _LARGEST_WEIGHT)
        self._lowest = self.value(self.here)
        return self._rest

    def _take(self, x: Vector, f: float, entries: Vector) -> Point:
        """Count a point that was evaluated, and return it."""
        self.nfev += 1
        self.faulty += math.isnan(f) or bool(np.isnan(entries).any())
        violation = self._constraints.violation(entries)
        excess = violation if violation > self.ctol else 0.0
        point = Point(x, f, entries, violation, excess, self.nfev)
        is_finite = math.isfinite(f) and math.isfinite(excess)
        if self.nfev == 1 or (is_finite and (excess, f) < (self.best.excess, self.best.f)):
            self.best = point
        value = self.value(point)
        if value < self._lowest:
            self.here, self._lowest = point, value
        return point


def _finite(number: float) -> float:
    return float(number) if math.isfinite(number) else 0.0
