"""Minimisation under constraints, by an augmented Lagrangian around any method.

    x <- x0;  lambda <- 0
    f, c <- divided by how much they change at x0 over a first step, so that all are of the same size
    repeat:
        x <- minimum of f(x) + rho/2 sum_j [c_j(x) + lambda_j/rho]^2, from x, where inequalities that are
             inactive, c_j + lambda_j/rho < 0, do not count
        lambda_j <- lambda_j + rho c_j(x), and not below 0 for inequalities
        rho <- 10 rho if x is a minimum, unless only a tenth of what was violated is left
    until nothing is violated by more than ctol, and f no longer changes

This is the method of Powell, Hestenes and Rockafellar, with the updates of Birgin and Martinez, Practical
Augmented Lagrangian Methods for Constrained Optimization, 2014. Bounds are left to the method.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pursuit.checks import Vector, checked_number, shown
from pursuit.constraints import checked_constraints
from pursuit.constraints.lagrangian import Lagrangian, Parts
from pursuit.engine.counters import UNLIMITED, Trace
from pursuit.engine.driving import Evaluate, Interrupts
from pursuit.engine.evaluation import at_once, evaluator
from pursuit.engine.monitor import Monitor, scipy_style
from pursuit.engine.outcome import Outcome
from pursuit.engine.running import Conduct, driven, excused, keep_to
from pursuit.engine.setup import Setup, set_up
from pursuit.engine.staged import StagedRun
from pursuit.engine.stopping import Reason
from pursuit.methods.catalogue import DEFAULT_METHOD
from pursuit.methods.contract import Rounds
from pursuit.methods.programs import is_program
from pursuit.methods.stages import Task, Unknown
from pursuit.problems.boxes import Box, number_at_bound
from pursuit.problems.objective import function_of_point
from pursuit.reporting.progress import showing_compilation
from pursuit.result import Result, result_of

# How far from the start, in first steps, points are evaluated to learn the sizes of f and constraints.
_PROBE = 0.1
_MOST_ROUNDS = 40
# The tolerance of the first minimum, and the smallest of any.
_FIRST_TOLERANCE, _LAST_TOLERANCE = 1e-4, 1e-12
# f has settled if it changes by no more than this part of itself.
_AT_REST = 1e-7
# The evaluations spent on a minimum, divided by n: on the first, and how many more on each that follows.
_EACH, _MORE = 20, 20
# The tolerance at which a minimum may be the last one.
_FINE = 1e-7
_STOPPED = (Reason.TARGET, Reason.MAXITER, Reason.MAXTIME, Reason.INTERRUPTED, Reason.CALLBACK)
# The step size of a round is how far the round before has moved, and at least this part of the first.
_SHORTEST = 1e-3
# A round minimises f with the constraints, and does not know which of them has kinks.
_OF_EACH = (
    "A constraint may be the cause: one on the largest of several values has kinks, "
    "constraints on each of them have none."
)

Watch = Callable[[Any], Reason]
"""Called with a run after every round of evaluations; returns a reason to stop, or that there is none."""


def minimize_within(task: Task, conduct: Conduct, constraints: list[Any], ctol: float) -> Result:
    """Return the best point within constraints; `conduct` has been checked."""
    _check_combination(task, conduct)
    if not callable(task.fun):
        raise TypeError(f"fun must be callable, but {shown(task.fun)} was given.")
    # In each round auto would choose again what it chose in the first.
    method = "differences" if task.method == DEFAULT_METHOD else task.method
    with showing_compilation(conduct.progress):
        setup, start = set_up(task._replace(method=method, fun=Unknown(), args=()))
        _compile(setup, start)
    tolerance = checked_number("ctol", ctol, at_least=0.0)
    wanted = checked_constraints(constraints, setup.task.x0)
    fun = function_of_point(task.fun, task.args)
    if conduct.failures.excuses:
        fun, _ = excused(fun, conduct.failures, task, vectorized=conduct.vectorized)
    parts = Parts(fun, wanted)
    nothing = np.full(wanted.is_equation.size, math.nan)
    crew = (
        nullcontext(_at_once(parts))
        if conduct.vectorized
        else evaluator(
            parts, conduct.workers, partial(conduct.failures.read_parts, nothing), conduct.eval_timeout
        )
    )
    with showing_compilation(conduct.progress), crew as evaluate:
        return _Rounds(setup, Lagrangian(wanted, tolerance, evaluate), conduct).result(evaluate)


def _compile(setup: Setup, start: Vector) -> None:
    """Begin a run in vain, so that the time limit of the rounds that follow is not spent on compiling."""
    rng = np.random.default_rng(0)
    StagedRun(setup, setup.first_snapshot(start.copy(), 0.0, rng), rng, here=False)


def _check_combination(task: Task, conduct: Conduct) -> None:
    """Reject arguments that cannot be combined with constraints."""
    given = {"checkpoint": conduct.checkpoint, "restarts": task.restarts or None, "known": conduct.known}
    for name, argument in given.items():
        if argument is not None:
            raise ValueError(
                f"constraints cannot be combined with {name}: a run with constraints begins once, at x0, and "
                "is not resumed."
            )


def _at_once(parts: Parts) -> Evaluate:
    """Return what puts f at points, found in one call, and the constraints into a list."""
    values = at_once(parts.fun)

    def evaluate(rows: list[Vector], found: list[Any]) -> None:
        column: list[Any] = [None] * len(rows)
        values(rows, column)
        for j, (f, row) in enumerate(zip(column, rows, strict=True)):
            found[j] = f, parts.constraints.at(row)

    return evaluate


class _Row(NamedTuple):
    """The best point so far, after an iteration in which it changed."""

    nit: int
    nfev: int
    fun: float
    sigma: float
    at_bound: int


class _Rounds:
    """Minima and multipliers in turn, which look like one run to a monitor."""

    def __init__(self, setup: Setup, lagrangian: Lagrangian, conduct: Conduct) -> None:
        self.setup, self._lagrangian, self._conduct = setup, lagrangian, conduct
        self._nit = 0
        """The iterations of the rounds that have ended."""
        self._run: StagedRun | None = None
        self._sigma = setup.first_step
        self._rows: list[_Row] = []
        self._points: list[Vector] = []
        """The best points of these rows, if they are kept."""
        self._unsuited = ""
        """Why the function did not suit the method in the last round that ended, in its words."""

    @property
    def nit(self) -> int:
        """The iterations so far."""
        return self._nit + (0 if self._run is None else self._run.nit)

    @property
    def _step_size(self) -> float:
        """That of the present round, or of the last one."""
        return self._sigma if self._run is None else self._run.sigma

    def outcome(self, reason: Reason = Reason.RUNNING) -> Outcome:
        """Return the outcome of all rounds together."""
        seen = self._lagrangian
        message = reason.sentence()
        if reason == Reason.STALLED:
            message = f"Stalled: the multipliers have not settled within {_MOST_ROUNDS} rounds."
        if reason == Reason.FTOL:
            message = "f and the multipliers have settled, but x is not known to be a minimum."
        if not reason.is_success and self._unsuited:
            message += f" The last round said: {self._unsuited}"
        if seen.best.excess > 0.0:
            message += f" The constraints are violated by up to {seen.best.violation:.3g}, more than "
            message += f"ctol={seen.ctol:g}."
        target = self.setup.task.limits["ftarget"]
        return Outcome(
            x=seen.best.x.copy(), fun=float(seen.best.f), extra=seen.extra,
            nit=self.nit, nfev=seen.nfev, best_nfev=seen.best.nfev, faulty=seen.faulty,
            sigma=self._step_size, reason=reason, message=message, trace=self._trace,
            points=self._best_points if self._conduct.trace == "x" else None,
        ).judged(-math.inf if target is None else target)  # fmt: skip

    def result(self, evaluate: Evaluate) -> Result:
        """Return the result of all rounds."""
        conduct = self._conduct
        call = scipy_style(
            conduct.callback,
            lambda outcome: self._result_of(outcome, trace=False),
            self.setup.task.structure.shaped,
        )
        monitor = Monitor(maxtime=conduct.maxtime, callback=call, progress=conduct.progress)
        self._measure(monitor.deadline)
        keep_to(evaluate, monitor.deadline)
        with Interrupts() as interrupts:
            reason = self._all_rounds(monitor, interrupts)
            monitor.close(self)
        result = self._result_of(self.outcome(reason), trace=conduct.trace)
        result.time = monitor.seconds
        result.message = conduct.failures.said_after(result.message)
        return result

    def _result_of(self, outcome: Outcome, *, trace: bool | str) -> Result:
        """Return an outcome as a result, which is a success only within the constraints."""
        best = self._lagrangian.best
        result = result_of(outcome, self.setup, trace=trace)
        result.maxcv, result.success = best.violation, result.success and best.excess == 0.0
        return result

    def _trace(self) -> Trace:
        """Return the best point after each iteration in which it changed, and at the end."""
        rows = [*self._rows, self._row(self._lagrangian.nfev)]
        return Trace(*(np.array(column) for column in zip(*rows, strict=True)))

    def _best_points(self) -> NDArray[np.float64]:
        """Return the best point so far at each row of the trace."""
        return np.array([*self._points, self._lagrangian.best.x])

    def _note(self) -> None:
        """Keep the best point for the trace, if it has changed."""
        best = self._lagrangian.best
        if not self._rows or self._rows[-1].nfev < best.nfev:
            self._rows.append(self._row(best.nfev))
            if self._conduct.trace == "x":
                self._points.append(best.x)

    def _row(self, nfev: int) -> _Row:
        """Return the best point so far as a row of the trace."""
        best, box = self._lagrangian.best, self.setup.box
        return _Row(self.nit, nfev, best.f, self._step_size, at_bound=number_at_bound(best.x, box))

    def _measure(self, deadline: float) -> None:
        """Evaluate the start, and points beside it to learn how large f and the constraints are there."""
        seen, task, box = self._lagrangian, self.setup.task, self.setup.box
        sizes = np.broadcast_to(task.sigma0, task.n)
        seen.begin_at(task.x0)
        self._note()
        if self._left() <= task.n:
            return
        start, probes = seen.here, _probes(task.x0, _PROBE * sizes, box)
        points, most = [], 1 if task.rounds is None else task.rounds.most
        for first in range(0, len(probes), most):
            if time.perf_counter() >= deadline:
                break
            points += seen.evaluated(probes[first : first + most])
        seen.scale(start, points, sizes)
        self._note()

    def _left(self) -> float:
        """Return how many evaluations are left."""
        most = self.setup.task.limits["maxfev"]
        return math.inf if most is None else most - self._lagrangian.nfev

    def _all_rounds(self, monitor: Watch, interrupts: Interrupts) -> Reason:
        """Find minima and learn multipliers in turn; return why that ended."""
        seen, task, tolerance = self._lagrangian, self.setup.task, _FIRST_TOLERANCE
        sizes = np.broadcast_to(task.sigma0, task.n)
        finest = max(_LAST_TOLERANCE, task.limits["ftol"])
        at_rest, fine = max(_AT_REST, finest), max(_FINE, finest)
        steps = task.sigma0
        for number in range(_MOST_ROUNDS):
            if self._left() < 1:
                return Reason.MAXFEV
            before = seen.here
            most = min(self._left(), (_EACH + number * _MORE) * task.n)
            reason = self._round(tolerance, steps, int(most), monitor, interrupts)
            if reason in _STOPPED:
                return reason
            is_at_rest = abs(seen.here.f - before.f) <= at_rest * max(1.0, abs(before.f))
            rest = seen.update(is_minimum=reason != Reason.MAXFEV)
            is_inside = max(rest, seen.here.violation) <= seen.ctol
            if is_inside and is_at_rest and tolerance <= fine and reason != Reason.MAXFEV:
                # The last minimum is one only if a look around it has found nothing better.
                return Reason.CONVERGED if reason.is_success else Reason.FTOL
            tolerance = max(0.1 * tolerance, finest)
            moved = np.max(np.abs(seen.here.x - before.x) / sizes)
            steps = np.clip(moved, _SHORTEST, 1.0) * sizes
        return Reason.STALLED

    def _round(
        self, tolerance: float, steps: Any, most: int, monitor: Watch, interrupts: Interrupts
    ) -> Reason:
        """Find the minimum of the current Lagrangian; return why that ended."""
        limits, seen = self.setup.task.limits, self._lagrangian
        iterations, rounds = limits["maxiter"], self.setup.task.rounds
        task = self.setup.task._replace(
            x0=seen.here.x.copy(),
            # One by one, so that no evaluation follows one that reaches the target.
            rounds=Rounds(1, 1) if rounds is None and is_program(self.setup.scheme) else rounds,
            sigma0=steps,
            limits={
                "ftarget": None,
                "xtol": max(tolerance, limits["xtol"]),
                "ftol": max(tolerance, limits["ftol"]),
                "maxiter": None if iterations is None else iterations - self._nit,
                # The value at the start of a round is known.
                "maxfev": most + 1,
            },
        )
        setup, start = set_up(task)
        rng = self._conduct.rng
        first = setup.first_snapshot(start, seen.value(seen.here), rng)
        self._run = run = StagedRun(setup, first, rng, here=False)

        def watch(_: object) -> Reason:
            self._note()
            target = limits["ftarget"]
            if target is not None and seen.best.excess == 0.0 and seen.best.f <= target:
                return Reason.TARGET
            return monitor(self)

        reason = driven(
            run,
            seen.evaluate,
            interrupts=interrupts,
            monitor=watch,
            longest_leg=UNLIMITED,
            found=lambda: self._result_of(self.outcome(), trace=self._conduct.trace or True),
        )
        run.settle()
        ended = run.outcome(reason, last=True)
        self._nit, self._sigma, self._run = self.nit, ended.sigma, None
        if ended.reason == Reason.KINKS:
            self._unsuited = f"{ended.message} {_OF_EACH}"
        elif ended.reason != Reason.MAXFEV:
            # A round that was cut off says nothing of how f suits the method.
            self._unsuited = ended.message if ended.reason.is_unsuited else ""
        if ended.is_estimate and self._left() >= 1:
            # Next to an estimate, the point with the lowest value is only the luckiest.
            seen.begin_at(ended.x)
        return ended.reason


def _probes(x: Vector, steps: Vector, box: Box | None) -> list[Vector]:
    """Return points a step away from x along each variable, within the bounds."""
    probes = []
    for i, step in enumerate(steps):
        probe = x.copy()
        probe[i] += step
        if box is not None and probe[i] > box.upper[i]:
            probe[i] = max(x[i] - step, box.lower[i])
        if probe[i] != x[i]:
            probes.append(probe)
    return probes
