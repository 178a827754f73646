"""Minimisation under constraints, by an augmented Lagrangian around any method.

    x <- x0;  lambda <- 0
    f, c <- divided by their largest slopes at x0, so that all are of the same size
    repeat:
        x <- minimum of f(x) + rho/2 sum_j [c_j(x) + lambda_j/rho]^2, from x, where inequalities that are
             inactive, c_j + lambda_j/rho < 0, do not count
        lambda_j <- lambda_j + rho c_j(x), and not below 0 for inequalities
        rho <- 10 rho, unless what is violated has halved
    until nothing is violated by more than ctol, and f no longer changes

This is the method of Powell, Hestenes and Rockafellar, with the updates of Birgin and Martinez, Practical
Augmented Lagrangian Methods for Constrained Optimization, 2014. Bounds are left to the method.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from pursuit.checks import Vector, checked_count, checked_number, checked_numbers, checked_point
from pursuit.constraints import Constraints
from pursuit.engine.monitor import scipy_style
from pursuit.engine.setup import LARGEST_SIGMA0, SMALLEST_SIGMA0
from pursuit.engine.stopping import Reason
from pursuit.problems.bounds import checked_box
from pursuit.problems.objective import as_value
from pursuit.result import Result

# Probes for the slopes at the start, as a part of sigma0.
_PROBE = 1e-4
# Slopes up to this are left as they are.
_STEEP = 1.0
_MOST_ROUNDS = 40
# How exactly the first minimum is wanted, and the last one at most.
_FIRST_TOLERANCE, _LAST_TOLERANCE = 1e-4, 1e-12
_LARGEST_WEIGHT, _LARGEST_MULTIPLIER = 1e12, 1e12
# f has come to rest if it changes by no more than this part of itself.
_AT_REST = 1e-7
_STOPPED = (Reason.MAXTIME, Reason.INTERRUPTED)
# The evaluations of a minimum, divided by n: of the first one, and how many more of each that follows.
_EACH, _MORE = 20, 20
# Minima must be as exact as that before the last one.
_FINE = 1e-7


class Lagrangian:
    """The augmented Lagrangian: f and the constraints are evaluated once for each point.

    It remembers the best point: the lowest value among those that violate nothing by more than `ctol`, or
    else the one that violates least.
    """

    def __init__(self, fun: Callable[[Vector], Any], constraints: Constraints, ctol: float) -> None:
        self._fun, self._constraints, self.ctol = fun, constraints, ctol
        count = constraints.is_equation.size
        self.scale_of_f, self.scales = 1.0, np.ones(count)
        self.multipliers, self.weight = np.zeros(count), 1.0
        self.best: tuple[float, float, Vector, float] = (math.inf, math.inf, np.empty(0), math.inf)
        """What the best point violates, 0 if no more than `ctol`; its value; the point; what it violates."""
        self.nfev = 0
        self.latest, self.violated = math.inf, math.inf
        """f at the latest minimum, and what is violated there."""

    def parts(self, x: Vector) -> tuple[float, Vector]:
        """Return f and the constraints at a point, as people wrote them."""
        point = x.copy()
        self.nfev += 1
        f, entries = as_value(self._fun(x)), self._constraints.at(point)
        violation = self._constraints.violation(entries)
        excess = violation if violation > self.ctol else 0.0
        if (excess, f) < self.best[:2] and math.isfinite(f) and math.isfinite(excess):
            self.best = (excess, f, point, violation)
        return f, entries

    def __call__(self, x: Vector) -> float:
        """Return the augmented Lagrangian."""
        f, entries = self.parts(x)
        if not np.isfinite(entries).all():
            return math.inf
        shifted = self.scales * entries + self.multipliers / self.weight
        active = self._constraints.is_equation | (shifted > 0.0)
        return self.scale_of_f * f + 0.5 * self.weight * float(np.sum(shifted[active] ** 2))

    def scale(self, x: Vector, sizes: Vector, box: tuple[Vector, Vector]) -> None:
        """Divide f and the constraints by their slopes at a point, from one probe for each variable."""
        f, entries = self.parts(x)
        slope, slopes = 0.0, np.zeros_like(entries)
        for i, size in enumerate(sizes):
            probe = x.copy()
            probe[i] = x[i] + size if x[i] + size <= box[1][i] else max(x[i] - size, box[0][i])
            step = probe[i] - x[i]
            if step != 0.0:
                other, others = self.parts(probe)
                slope = max(slope, _finite(abs(other - f) / abs(step)))
                slopes = np.maximum(slopes, [_finite(change) for change in np.abs((others - entries) / step)])
        self.scale_of_f = 1.0 / max(_STEEP, slope)
        self.scales = 1.0 / np.maximum(_STEEP, slopes)

    def start_weight(self, x: Vector) -> None:
        """Let the constraints that are violated at a point count about as much as f."""
        f, entries = self.parts(x)
        violated = self.scales * np.where(self._constraints.is_equation, entries, np.maximum(entries, 0.0))
        square = float(np.sum(violated**2))
        weight = 2.0 * max(1.0, abs(self.scale_of_f * f)) / max(1.0, square)
        self.weight = min(max(weight, 1e-3), 10.0) if math.isfinite(weight) else 1.0

    def update(self, x: Vector, before: float) -> float:
        """Learn multipliers from the minimum at x; return what is violated there or not complementary."""
        self.latest, entries = self.parts(x)
        self.violated = self._constraints.violation(entries)
        scaled, equations = self.scales * entries, self._constraints.is_equation
        rest = np.where(equations, scaled, np.maximum(scaled, -self.multipliers / self.weight))
        amount = float(np.max(np.abs(rest)))
        learnt = self.multipliers + self.weight * scaled
        lowest = np.where(equations, -_LARGEST_MULTIPLIER, 0.0)
        if amount > 0.5 * before:
            # The multipliers belong to the old weight.
            self.weight = min(10.0 * self.weight, _LARGEST_WEIGHT)
        self.multipliers = np.clip(learnt, lowest, _LARGEST_MULTIPLIER)
        return amount


def check_nothing_else(beside: dict[str, Any], workers: Any) -> None:
    """Complain of arguments that have no meaning together with constraints."""
    given = [name for name, argument in beside.items() if argument]
    given += [] if isinstance(workers, int) and workers == 1 else ["workers"]
    if given:
        raise ValueError(f"constraints cannot be combined with {', '.join(given)}.")


def minimize_within(
    minimize: Callable[..., Result],
    fun: Callable[[Vector], Any],
    x0: Any,
    constraints: Constraints,
    *,
    ctol: float,
    bounds: Any,
    sigma0: Any,
    maxfev: int | None,
    maxtime: float | None,
    callback: Any,
    given: dict[str, Any],
) -> Result:
    """Return the best point within constraints; `minimize` finds minima without them, as it is `given`."""
    x = checked_point("x0", x0)
    n, call = x.size, scipy_style(callback, lambda result: result)
    sizes = np.broadcast_to(
        checked_numbers("sigma0", sigma0, n, at_least=SMALLEST_SIGMA0, below=LARGEST_SIGMA0), n
    )
    box = checked_box(bounds, x, 0.0)
    sides = (np.full(n, -np.inf), np.full(n, np.inf)) if box is None else (box.lower, box.upper)
    lagrangian = Lagrangian(fun, constraints, checked_number("ctol", ctol, at_least=0.0))
    most = math.inf if maxfev is None else checked_count("maxfev", maxfev, at_least=1)
    seconds = math.inf if maxtime is None else checked_number("maxtime", maxtime, above=0.0)
    if most > n + 3:
        lagrangian.scale(x, _PROBE * sizes, sides)
        lagrangian.start_weight(x)
    return _rounds(minimize, lagrangian, x, sizes=sizes, limits=(most, seconds), callback=call, given=given)


def _rounds(
    minimize: Callable[..., Result],
    lagrangian: Lagrangian,
    x: Vector,
    *,
    sizes: Vector,
    limits: tuple[float, float],
    callback: Callable[[Any], object] | None,
    given: dict[str, Any],
) -> Result:
    """Return the result of minima and multipliers in turn, within so many evaluations and seconds."""
    begin = time.perf_counter()
    amount, tolerance, nit, value = math.inf, _FIRST_TOLERANCE, 0, math.inf
    inner = Result(nit=0, sigma=float(np.min(sizes)), nfaulty=0, noise=None, fun_is_estimate=False)
    reason = Reason.STALLED
    for number in range(_MOST_ROUNDS):
        # The minimum is evaluated once more, for its multipliers.
        evaluations, seconds = limits[0] - lagrangian.nfev - 1, limits[1] - (time.perf_counter() - begin)
        if evaluations < 1 or seconds <= 0.0:
            reason = Reason.MAXFEV if evaluations < 1 else Reason.MAXTIME
            break
        inner = minimize(
            lagrangian, x, ftol=tolerance, xtol=tolerance,
            maxfev=int(min(evaluations, (_EACH + number * _MORE) * x.size)),
            maxtime=None if math.isinf(seconds) else seconds, **given,
        )  # fmt: skip
        nit += inner.nit
        moved = float(np.max(np.abs(inner.x - x) / sizes))
        x, before = inner.x, amount
        amount = lagrangian.update(x, before)
        if inner.status in _STOPPED:
            reason = Reason(inner.status)
            break
        if _asks_to_stop(callback, _result(lagrangian, inner, nit, Reason.RUNNING)):
            reason = Reason.CALLBACK
            break
        is_at_rest = abs(lagrangian.latest - value) <= _AT_REST * max(1.0, abs(value))
        is_inside = max(amount, lagrangian.violated) <= lagrangian.ctol
        if is_inside and is_at_rest and tolerance <= _FINE and inner.status != Reason.MAXFEV:
            reason = Reason.FTOL
            break
        value = lagrangian.latest
        tolerance = max(0.1 * tolerance, _LAST_TOLERANCE)
        given = {**given, "sigma0": np.clip(moved * sizes, 1e-3 * sizes, sizes)}
    result = _result(lagrangian, inner, nit, reason)
    result.time = time.perf_counter() - begin
    return result


def _asks_to_stop(callback: Callable[[Result], object] | None, found: Result) -> bool:
    if callback is None:
        return False
    try:
        callback(found)
    except StopIteration:
        return True
    return False


def _result(lagrangian: Lagrangian, inner: Result, nit: int, reason: Reason) -> Result:
    """Return the best point as a result, with what the latest run has found out beside it."""
    excess, fun, x, maxcv = lagrangian.best
    message = reason.sentence()
    if reason == Reason.STALLED:
        message = f"Stalled: nothing better was found within {_MOST_ROUNDS} rounds of multipliers."
    if excess > 0.0:
        message += f" The constraints are violated by up to {maxcv:.3g}, more than ctol={lagrangian.ctol:g}."
    return Result(
        {**inner, "x": x.copy(), "fun": fun, "maxcv": maxcv, "nit": nit, "nfev": lagrangian.nfev,
         "success": bool(reason.is_success and excess == 0.0), "status": int(reason), "message": message,
         "stages": ()}
    )  # fmt: skip


def _finite(number: float) -> float:
    return float(number) if math.isfinite(number) else 0.0
