"""A run of a program, in plain Python.

The program's generator asks for the values of points. The run hands them out in chunks, collects the values,
and keeps what is needed to resume: the state at the beginning of the iteration, and the values received
since. How points are divided into chunks makes no difference to the run.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import Any

import numpy as np

from pursuit.checks import Vector
from pursuit.engine.counters import Limits, Row, Trace, due_after, rows_in, trace_of
from pursuit.engine.outcome import Outcome
from pursuit.engine.setup import Setup
from pursuit.engine.snapshot import Counts, Snapshot
from pursuit.engine.stopping import Reason
from pursuit.methods.programs import CONVERGED, Request, rows_of
from pursuit.problems.boxes import number_at_bound

# The most points of a chunk, and the most numbers in them, if no size of rounds is asked for: enough to make
# the cost of a chunk small beside f, and no more memory than a few points where n is large.
_MOST_POINTS, _MOST_NUMBERS = 64, 65_536
# After this many iterations in a row that asked for nothing a program is stuck.
_MOST_IDLE = 100
_NOTHING = np.empty(0)


def _copied(state: Any) -> Any:
    """Return a shallow copy of a state, ten times as fast as `copy.copy`."""
    twin = object.__new__(type(state))
    vars(twin).update(vars(state))
    return twin


def _with_tolerances(state: Any, limits: Limits) -> Any:
    """Return a copy of a state with these tolerances, which it has not met if they are smaller."""
    state = _copied(state)
    for name in ("xtol", "ftol"):
        before, now = getattr(state, name, None), getattr(limits, name)
        if before is not None and before != now:
            setattr(state, name, now)
            if state.ending is not None and state.ending.reason == CONVERGED and now < before:
                state.ending = None
    return state


class ProgramRun:
    """A run of a program in progress.

    Parameters
    ----------
    setup : Setup
        That of the stage, whose scheme is the program; tolerances are the program's affair.
    snapshot : Snapshot
        Where to begin.
    rng : numpy.random.Generator
        The source of all randomness; its state is set to the snapshot's.
    here : bool
        Whether this process evaluates points, one after the other: then a round need not have all of them.
    """

    def __init__(self, setup: Setup, snapshot: Snapshot, rng: np.random.Generator, *, here: bool) -> None:
        self._program, self._rng, self._limits, self._box = setup.scheme, rng, setup.limits, setup.box
        n, rounds = snapshot.x.size, setup.task.rounds
        chunk = min(_MOST_POINTS, max(1, _MOST_NUMBERS // n))
        self._round = 1 if rounds is None or rounds.flow else rounds.size(n)
        """The target ends a run after a multiple of this many points, or at the end of a request."""
        self._chunk = chunk if here or rounds is None else rounds.size(n)
        self.rows: list[Vector] = []
        """The points whose values are wanted now; none if the run has stopped."""
        self.reason: Reason = Reason.RUNNING
        self.counts: Counts = snapshot.counters
        self._state, self._x = _with_tolerances(snapshot.state, setup.limits), snapshot.x
        self._trace = rows_in(snapshot.trace)
        self._due = due_after(max(self._trace))
        self._answered = 0
        """How many values of the current request have been received."""
        self._best: int | None = None
        """Which point of the current request is the best of all; None if none is."""
        rng.bit_generator.state = snapshot.generator
        self._note_ending()
        self._begin_iteration()
        self._replay(snapshot.received)
        self._answer_unless_below_target()
        # Only now: with these limits, the values received so far might not have been asked for.
        self._note_limits(self._before.state)
        self._show()

    @property
    def nit(self) -> int:
        """The iterations so far."""
        return self.counts.nit

    @property
    def sigma(self) -> float:
        """The step size at present."""
        return float(self._before.state.sigma)

    @property
    def target(self) -> float:
        """The value after which no more points of a chunk are evaluated; minus infinity if there is none.

        A round that was asked for is evaluated to its end, and under noise a low value may be luck.
        """
        target = self._limits.target
        return target if target > -math.inf and self._round == 1 and not self._state.estimate else -math.inf

    def receive(self, values: list[Any]) -> None:
        """Take the values of `rows`, or of the first of them, and show the next points."""
        self.rows = []
        if values[-1] is None:
            values = values[: values.index(None)]
        self._take(values)
        self._answer_unless_below_target()
        self._show()

    def receive_part(self, values: list[Any]) -> None:
        """Take the values of some of `rows`, after which the run does not continue."""
        known = values.index(None) if None in values else len(values)
        self._take(values[:known])
        answered = self._answered
        for place, value in enumerate(values[known:], start=answered):
            self._answered = place
            self._take([] if value is None else [value])
        self._answered = answered

    def snapshot(self) -> Snapshot:
        """Return what is needed to resume."""
        return self._before._replace(
            trace=trace_of(self._trace),
            received=np.concatenate([*self._received, self._values[: self._answered]]),
        )

    def settle(self) -> None:
        """Leave the generator where the last finished iteration did, whatever was drawn since."""
        self._rng.bit_generator.state = self._before.generator

    def outcome(self, reason: Reason = Reason.RUNNING, *, last: bool = False) -> Outcome:
        """Return the outcome of the run, with `reason` if it has no reason of its own to stop.

        If it is the `last` outcome, its point is the run's own and not a copy.
        """
        self._keep_best()
        state, counts = self._before.state, self.counts
        if self.reason != Reason.RUNNING:
            reason = self.reason
        # Next to an estimate, the best of a few values is only the luckiest.
        is_estimate = bool(state.estimate) and reason != Reason.TARGET
        x, fun, error = self._program.best(state) if is_estimate else (self._x, counts.fun, None)
        is_own = state.ending is not None and reason == self.reason
        sigma = float(state.sigma)
        return Outcome(
            x=x if last else x.copy(), fun=fun, nit=counts.nit, nfev=counts.nfev, best_nfev=counts.best_nfev,
            faulty=counts.faulty, sigma=sigma, reason=reason,
            message=state.ending.sentence if is_own else reason.sentence(counts.nfev - counts.best_nfev),
            noise=state.noise, is_estimate=is_estimate, error=error,
            trace=lambda: self._whole_trace(state, counts, sigma),
        )  # fmt: skip

    def _begin_iteration(self) -> None:
        """Keep what is needed to come back here, and begin an iteration that asks for something."""
        for _ in range(_MOST_IDLE):
            generator = self._rng.bit_generator.state
            self._before = Snapshot(self._x, generator, _copied(self._state), self.counts)
            self._received: list[Vector] = []
            self._values, self._answered = _NOTHING, 0
            if self.reason != Reason.RUNNING:
                return
            self._iteration: Generator[Request, Vector, None] = self._program.iterate(self._state, self._rng)
            if self._ask(None):
                return
            self._end_iteration(is_idle=True)
        self.reason = Reason.STUCK

    def _ask(self, values: Vector | None) -> bool:
        """Hand values to the program; return whether it asks for more in this iteration."""
        try:
            # Whatever overflows there is the program's affair, and no concern of users.
            with np.errstate(all="ignore"):
                request = self._iteration.send(values)  # type: ignore[arg-type]
                while (size := len(request)) == 0:
                    request = self._iteration.send(_NOTHING)
        except StopIteration:
            return False
        self._request, self._values, self._answered = request, np.empty(size), 0
        return True

    def _answer_unless_below_target(self) -> None:
        """Hand the values of a request to the program, if they are all there and it is to go on."""
        if 0 < self._answered == len(self._values) and not self._is_below_target():
            self._answer()

    def _answer(self) -> None:
        """Hand the values of a whole request to the program."""
        self._keep_best()
        self._received.append(self._values)
        if not self._ask(self._values):
            self._end_iteration()
            self._begin_iteration()

    def _end_iteration(self, *, is_idle: bool = False) -> None:
        """Count an iteration; one that has asked for nothing is a part of the one before."""
        nit, state = self.counts.nit + (not is_idle), self._state
        self.counts = self.counts._replace(nit=nit)
        if self.counts.best_nit == nit:
            self.counts = self.counts._replace(best_sigma=float(state.sigma))
        if nit >= self._due or nit in self._trace:
            self._due = due_after(nit)
            at_bound = number_at_bound(self._x, self._box)
            self._trace[nit] = Row(self.counts.nfev, float(state.f), float(state.sigma), at_bound)
        self._note_ending()
        self._note_limits(state)

    def _note_ending(self) -> None:
        """Note the program's own reason to stop."""
        if self._state.ending is not None:
            self.reason = Reason[self._state.ending.reason.upper()]

    def _note_limits(self, state: Any) -> None:
        """Note a limit that is reached between two iterations, if there is no other reason to stop."""
        if self.reason != Reason.RUNNING:
            return
        has_target = self._limits.target > -math.inf
        if has_target and state.estimate and self._program.best(state)[1] <= self._limits.target:
            self.reason = Reason.at_target(self._limits.target)
        elif self.counts.nit >= self._limits.iterations:
            self.reason = Reason.MAXITER

    def _take(self, values: list[float]) -> None:
        """Count the next values of the current request."""
        if not values:
            return
        nit, nfev, faulty, fun, best_nit, best_nfev, sigma = self.counts
        if math.isnan(sum(values)):
            # One of them is not a number, or some are infinite.
            faulty += sum(map(math.isnan, values))
            values = [math.inf if math.isnan(value) else value for value in values]
        first = self._answered
        self._answered = first + len(values)
        self._values[first : self._answered] = values
        # For few values, Python is faster than NumPy.
        lowest = min(values)
        if lowest < fun:
            place = values.index(lowest)
            self._best = first + place
            fun, best_nit, best_nfev = lowest, nit + 1, nfev + place + 1
        self.counts = Counts(nit, nfev + len(values), faulty, fun, best_nit, best_nfev, sigma)

    def _replay(self, received: Vector) -> None:
        """Take the values of a checkpoint."""
        first = 0
        while first < received.size:
            before = self.counts.nit
            count = min(len(self._values) - self._answered, received.size - first)
            if count == 0 or np.isnan(received).any():
                raise ValueError("The values of a checkpoint must be those of the points that it asks for.")
            self._take(received[first : first + count].tolist())
            first += count
            # The last request is answered like any other, if it was: a value at the target ends a run before.
            if self._answered == len(self._values) and first < received.size:
                self._answer()
            if self.counts.nit != before:
                raise ValueError("The values of a checkpoint must not end an iteration.")

    def _is_below_target(self) -> bool:
        fun = self.counts.fun
        return fun <= self._limits.target and (fun == -math.inf or not self._state.estimate)

    def _show(self) -> None:
        """Let `rows` be the next points, unless there is a reason to stop."""
        if self.reason != Reason.RUNNING:
            return
        left = self._limits.evaluations - self.counts.nfev
        first, size = self._answered, len(self._values)
        is_between_rounds = first % self._round == 0 or first == size
        if self._is_below_target() and (is_between_rounds or left <= 0):
            self.reason = Reason.at_target(self._limits.target)
            return
        if left <= 0:
            self.reason = Reason.MAXFEV
            return
        left_in_round = self._round - first % self._round if self._round > 1 else size
        end = min(size, first + min(self._chunk, left, left_in_round))
        rows = rows_of(self._request, first, end)
        # A program keeps to bounds but for rounding.
        self.rows = list(rows if self._box is None else self._box.clipped(rows))

    def _keep_best(self) -> None:
        """Keep the best point, if it is one of the current request: f may have overwritten what it got."""
        if self._best is not None:
            (x,) = rows_of(self._request, self._best, self._best + 1)
            self._x = x if self._box is None else self._box.clipped(x)
            self._best = None

    def _whole_trace(self, state: Any, counts: Counts, sigma: float) -> Trace:
        """Return the trace with the last iteration and the best point among its rows."""
        rows, at_bound, nit = dict(self._trace), number_at_bound(self._x, self._box), counts.nit
        rows[nit] = Row(counts.nfev, float(state.f), sigma, at_bound)
        if not state.estimate and counts.best_nit < nit:
            rows[counts.best_nit] = Row(counts.best_nfev, counts.fun, counts.best_sigma, at_bound)
        elif not state.estimate:
            # In the last iteration, or in one that did not end.
            rows[nit] = rows[nit]._replace(fun=counts.fun)
        return trace_of(rows)
