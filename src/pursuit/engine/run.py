"""A run: a session with its generator and its arrays."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from pursuit.checks import Vector
from pursuit.compiling.cache import compiled, specialized
from pursuit.compiling.jit import has_compiler
from pursuit.compiling.vectors import SERIAL
from pursuit.engine import iteration
from pursuit.engine.counters import Counters, Counting, Unfinished, reason_to_stop
from pursuit.engine.outcome import BestPoint, Outcome, outcome_of
from pursuit.engine.setup import Setup
from pursuit.engine.snapshot import Snapshot
from pursuit.engine.stopping import Reason
from pursuit.methods.contract import Needs, State, ask, write_point
from pursuit.methods.line_searches import needs_problem
from pursuit.problems.transform import Transform

# The normals that the Python loop draws at a time, so that passing the generator costs little.
_NORMALS_AT_ONCE = 32_768


class Run:
    """A run in progress.

    Parameters
    ----------
    setup : Setup
        That of the stage.
    snapshot : Snapshot
        Where to begin; its arrays are overwritten.
    rng : numpy.random.Generator
        The source of all randomness; its state is set to the snapshot's.
    here : bool
        Whether this process evaluates the objective: in compiled code if it is a problem, in a loop that is
        compiled whole unless the scheme is compiled apart. The trajectory is the same.
    """

    target: float | None = None
    """Rounds of step methods are evaluated to their end."""

    def __init__(self, setup: Setup, snapshot: Snapshot, rng: np.random.Generator, *, here: bool) -> None:
        if has_compiler():
            # It has to know what a session is before it compiles what works with one.
            importlib.import_module("pursuit.engine.sessions")
        scheme, problem = setup.scheme, setup.problem
        self.whole: bool = here and setup.can_be_compiled
        needs = scheme.needs(snapshot.x.size)
        apart = needs.is_compiled_apart
        loops = self.whole and not apart
        self.nit: int = snapshot.counters.nit
        self._rng = rng
        self._before: Mapping[str, Any] = {}
        self._finished = 0
        """How many iterations have ended since the generator was in the state `_before`."""
        self._scheme, self._limits, self._arrays = scheme, setup.limits, snapshot.state.arrays
        self._transform: Transform = setup.transform
        self._move = self._transform.move
        self._trace = snapshot.trace
        buffers = _buffers(needs, snapshot.x.size, loops=loops, in_turn=self.whole)
        self._normals, self._points, self._values = buffers
        self._rows = list(self._points)

        # What a session need not know is not compiled for each problem.
        self._known = problem if needs_problem(scheme) else self._transform
        rng.bit_generator.state = self._before = snapshot.generator
        # A loop draws its normals itself.
        if not loops:
            self._draw_normals = specialized(compiled(iteration.draw_normals), rng, self._normals)
            self._draw()
        self._session = self._opened(snapshot, buffers, loops=loops)
        # All of this is compiled now, so that the time of a run is that of its iterations.
        self._present = specialized(self._entry(iteration.present), self._session)
        self._received: list[float] = []
        self.rows: list[Vector] = []
        """The points whose values are wanted now, or the first of them; none if the run has stopped."""
        self._wanted = 0
        self._is_last = False
        """Whether they are the last points, for which no answer will come."""
        self._told: list[float] = []
        """The values of points before these, of the same round, that a checkpoint has brought."""
        self._evaluate = self._evaluated_by(problem) if self.whole and apart else None
        if loops:
            around = self._session, self._bench, problem, rng
            loop = specialized(compiled(iteration.iterate, scheme, problem), *around, self.nit)
            self._iterate = partial(loop, *around)
        else:
            self._advance = specialized(self._entry(iteration.advance), self._session, iteration.OPENED)
            self._show(self._advance(self._session, iteration.OPENED)[0])
            self._recall(snapshot.received.tolist())

    def _entry(self, function: Callable[..., Any]) -> Any:
        """Return a function compiled for sessions of this scheme."""
        return compiled(function, self._scheme, self._known)

    def _opened(self, snapshot: Snapshot, buffers: iteration.Buffers, *, loops: bool) -> Any:
        """Return the session in which compiled code keeps what changes."""
        numbers, counters = snapshot.state.numbers, snapshot.counters
        beginning = numbers, counters, reason_to_stop(counters, self._limits, numbers)
        known, limits, trace = self._known, self._limits, snapshot.trace
        self._bench = iteration.Bench(
            SERIAL, self._scheme, known, self._arrays, trace=trace, limits=limits, buffers=buffers
        )
        if loops:
            return self._entry(iteration.open_loop)(*beginning)
        return self._entry(iteration.open_session)(self._bench, *beginning)

    def _recall(self, received: list[float]) -> None:
        """Take the values of a checkpoint, round by round; some of those of the last round may be missing."""
        before = self.nit
        while received:
            count, is_last = self._wanted, self._is_last
            values, received = received[:count], received[count:]
            if not values or self.nit != before:
                raise ValueError("The values of a checkpoint must be those of the points that it asks for.")
            if len(values) == count:
                self.receive(values)
            elif not self.whole:
                self._told, self.rows = values, self.rows[len(values) :]
            if is_last:
                # With another limit there were more points in this round.
                return

    @property
    def reason(self) -> Reason:
        """Why the run has stopped."""
        return Reason(self._present_numbers()[2])

    @property
    def sigma(self) -> float:
        """The step size at present."""
        return float(self._present_numbers()[0].sigma)

    def receive(self, values: list[float]) -> None:
        """Take the values of `rows`, and write the next points."""
        values, self._told = [*self._told, *values], []
        for j, value in enumerate(values):
            self._values[j] = value
        before = self.nit
        self._take_round()
        if self.nit == before:
            self._received += values
        else:
            self._received.clear()

    def receive_part(self, values: list[float | None]) -> None:
        """Take the values of some of `rows`, after which the run does not continue."""
        for j, value in enumerate([*self._told, *values]):
            if value is not None:
                self._values[j] = value
                self._entry(iteration.receive_one)(self._session, j)

    def run_chunk(self, iterations: int) -> bool:
        """Run this many iterations in compiled code, or fewer; return whether the run continues."""
        before, until = self.nit, self.nit + iterations
        if self._evaluate is not None:
            # Each of them is one round.
            while self.rows and self.nit < until:
                self._evaluate(self._wanted)
                self._take_round()
            return bool(self.rows)
        try:
            self._iterate(until)
        finally:
            self.nit = self._present_numbers()[1].nit
            self._finished += self.nit - before
        reason = self._present_numbers()[2]
        # With MAXFEV, normals were drawn for an iteration that did not end.
        if reason != Reason.MAXFEV and self.nit > before:
            self._before, self._finished = self._rng.bit_generator.state, 0
        return reason == Reason.RUNNING

    def _present_numbers(self) -> tuple[Any, Counters, int, Unfinished]:
        """Return numbers and counters after the last iteration, the reason to stop, and what followed."""
        return self._present(self._session)  # type: ignore[no-any-return]

    def snapshot(self) -> Snapshot:
        """Return what is needed to resume. Its arrays are the run's own: write them to disk at once."""
        numbers, counters, _, _ = self._present_numbers()
        generator, state = self._state_of_generator(), State(self._arrays, numbers)
        return Snapshot(self._arrays.x, generator, state, counters, self._trace, np.array(self._received))

    def settle(self) -> None:
        """Leave the generator where the last finished iteration did, whatever was drawn since."""
        self._rng.bit_generator.state = self._state_of_generator()

    def outcome(self, reason: Reason = Reason.RUNNING, *, last: bool = False) -> Outcome:
        """Return the outcome of the run, with `reason` if it has no reason of its own to stop.

        If it is the `last` outcome, its point is the run's own and not a copy.
        """
        numbers, counters, own_reason, unfinished = self._present_numbers()
        state, counting = State(self._arrays, numbers), Counting(counters, self._trace, self._limits)
        z, fun = state.arrays.x, numbers.fx
        if unfinished.value < fun:
            z, fun = self._point_at(state, unfinished.position), unfinished.value
        is_for_people = last or z is not state.arrays.x
        x = z if is_for_people and self._move is None else self._transform.moved(z)
        reason, best = Reason(own_reason or reason), BestPoint(x, z, fun)
        transform = self._transform
        return outcome_of(best, state, counting, unfinished=unfinished, reason=reason, transform=transform)

    def _point_at(self, state: State, position: float) -> Vector:
        """Return a point of the current iteration, whose query is asked again with the same normals."""
        generator = self._another_generator(self._state_of_generator())
        x: Vector = np.empty_like(state.arrays.x)
        normals = generator.standard_normal((1, self._normals.shape[1]))[0]
        write_point(SERIAL, ask(SERIAL, self._scheme, *state, normals), position, x)
        return x

    def _evaluated_by(self, problem: Any) -> Callable[[int], None]:
        """Return what evaluates a problem at the points of a round in compiled code, given their number."""
        done = np.zeros(1, dtype=np.int64)
        round_of = compiled(iteration.evaluate_round, self._scheme, problem)
        call = specialized(round_of, self._session, problem, 0, done)

        def evaluate(count: int) -> None:
            done[0] = 0
            try:
                call(self._session, problem, count, done)
            except BaseException:
                for j in range(int(done[0])):
                    self._entry(iteration.receive_one)(self._session, j)
                raise

        return evaluate

    def _take_round(self) -> None:
        """Continue with the values that were written, and write the next points."""
        before = self.nit
        wanted, self.nit, is_running = self._advance(self._session, iteration.VALUES)
        self._finished += self.nit - before
        if wanted == 0 and is_running:
            self._draw()
            wanted, _, _ = self._advance(self._session, iteration.NEW_NORMALS)
        self._show(wanted)

    def _draw(self) -> None:
        """Draw normals for the next iterations."""
        self._before, self._finished = self._rng.bit_generator.state, 0
        self._draw_normals(self._rng, self._normals)

    def _state_of_generator(self) -> Mapping[str, Any]:
        """Return the state of the generator before it drew the normals of the current iteration."""
        if self._finished == 0:
            return self._before
        generator = self._another_generator(self._before)
        draws, left = self._normals.shape[1], self._finished
        while left > 0:
            left -= len(generator.standard_normal((min(left, _rows_at_once(draws)), draws)))
        state: Mapping[str, Any] = generator.bit_generator.state
        return state

    def _another_generator(self, state: Mapping[str, Any]) -> np.random.Generator:
        """Return a generator of the same kind in a state."""
        generator = np.random.Generator(type(self._rng.bit_generator)())
        generator.bit_generator.state = state
        return generator

    def _show(self, wanted: int) -> None:
        """Let `rows` be the points just written, moved to where they are evaluated.

        A problem moves points by itself. A function gets copies, which it may keep or overwrite.
        """
        self._is_last = wanted < 0
        self._wanted = abs(wanted)
        self.rows = self._rows[: self._wanted]
        if not self.whole:
            if self._move is not None:
                self._move(self._points[: self._wanted])
            self.rows = [row.copy() for row in self.rows]


def _buffers(needs: Needs, n: int, *, loops: bool, in_turn: bool) -> iteration.Buffers:
    """Return the arrays of a run; a loop compiled whole needs the normals of one iteration.

    Points that are written and evaluated `in_turn` need room for one of them.
    """
    rows = 1 if loops else _rows_at_once(needs.normals)
    points = np.empty((1 if in_turn else needs.points, n))
    return iteration.Buffers(np.empty((rows, needs.normals)), points, np.empty(needs.points))


def _rows_at_once(draws: int) -> int:
    """Return for how many iterations normals are drawn at a time, if each takes `draws` of them."""
    return max(1, _NORMALS_AT_ONCE // draws)
