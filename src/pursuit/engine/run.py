"""A run: a session with its generator and its arrays, and the two ways to drive it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from pursuit.checks import Vector
from pursuit.compiling.cache import compiled, specialized
from pursuit.compiling.vectors import SERIAL
from pursuit.engine.interrupts import Interrupts
from pursuit.engine.iteration import (
    Buffers,
    advance,
    begin_iteration,
    draw_normals,
    iterate,
    open_session,
    snapshot,
    write_points,
)
from pursuit.engine.stopping import Reason
from pursuit.engine.tally import UNLIMITED, Counting, Limits, Tally, Trace, finished_trace, start_tally
from pursuit.methods.contract import Scheme, draws_of, points_of
from pursuit.problems.bounds import Box, reflect
from pursuit.problems.objective import as_value

Map = Callable[[Callable[[Vector], Any], Iterable[Vector]], Iterable[Any]]
"""A callable like `map`."""
# The normals that the Python loop draws at a time, so that passing the generator costs little.
_NORMALS_AT_ONCE = 4096
# How long the compiled loop runs before it returns to Python, in seconds.
_LEG = 0.05


class Outcome(NamedTuple):
    """What a run has come to."""

    x: Vector
    fun: float
    nit: int
    nfev: int
    faulty: int
    sigma: float
    reason: Reason
    trace: Callable[[], Trace]
    """Puts the trace together, which takes a while."""


class Memory(NamedTuple):
    """All that a run needs to continue as if it had never stopped."""

    state: Any
    tally: Tally
    trace: Trace
    generator: Mapping[str, Any]
    """The generator's state before it drew the normals at hand."""
    row: int
    """Which of these normals belong to the iteration at hand."""
    received: list[list[float]]
    """The values that this iteration has received so far, round by round."""


def first_memory(scheme: Scheme, x0: Vector, fx: float, sigma0: float, rng: np.random.Generator) -> Memory:
    """Return the memory of a run that has evaluated its start, which it may overwrite, and nothing else."""
    if not math.isfinite(fx):
        raise ValueError(f"The objective must be finite at x0, but it is {fx} there.")
    tally, trace = start_tally(fx, sigma0)
    state = scheme.init(x0, fx, sigma0)
    return Memory(
        state=state, tally=tally, trace=trace, generator=rng.bit_generator.state, row=0, received=[]
    )


class Run:
    """A run in progress.

    Parameters
    ----------
    scheme : Scheme
        Created for this many variables.
    problem : Problem or BlackBox
        What is minimised; a black box if Python evaluates it.
    memory : Memory
        Where to begin; its arrays are overwritten.
    rng : numpy.random.Generator
        The source of all randomness; its state is set to the memory's.
    limits : Limits
        When to stop.
    whole : bool
        Whether the loop is compiled whole. The trajectory is the same.
    box : Box or None
        The bounds within which the points of a black box lie.
    """

    def __init__(
        self,
        scheme: Scheme,
        problem: Any,
        memory: Memory,
        rng: np.random.Generator,
        limits: Limits,
        *,
        whole: bool,
        box: Box | None = None,
    ) -> None:
        self.whole = whole
        self._rng = rng
        self._box = box
        self._trace = memory.trace
        self._evaluations = limits.evaluations
        n = memory.state.x.size
        draws, points = draws_of(scheme, n), points_of(scheme)
        # The compiled loop needs the normals of one iteration and one point at a time.
        self._normals = np.empty((1 if whole else max(1, _NORMALS_AT_ONCE // draws), draws))
        self._points = np.empty((1 if whole else points, n))
        self._values = np.empty(points)
        self._rows = [[self._points[j] for j in range(k)] for k in range(len(self._points) + 1)]

        def entry(function: Callable[..., Any]) -> Any:
            return compiled(function, scheme, problem)

        self._draw_normals, self._reflect = compiled(draw_normals), compiled(reflect)
        self._snapshot, self._iterate = entry(snapshot), entry(iterate)
        rng.bit_generator.state = memory.generator
        blocks, row = divmod(memory.row, len(self._normals))
        for _ in range(blocks + 1):
            self._draw()
        self._row = row
        counting = Counting(memory.tally, memory.trace, limits)
        buffers = Buffers(self._normals, self._points, self._values)
        self._session = entry(open_session)(
            SERIAL, scheme, problem, memory.state, counting, buffers, self._row
        )
        self.nit, self._nfev = memory.tally.nit, memory.tally.nfev
        self._received: list[list[float]] = []
        self.rows: list[Vector] = []
        """The points whose values are wanted now; none if the run has stopped."""
        if not whole:
            self._advance = specialized(entry(advance), self._session)
            self._begin_iteration = specialized(entry(begin_iteration), self._session)
            self._show(entry(write_points)(self._session))
            for values in memory.received:
                self.receive(values)

    def receive(self, values: list[float]) -> None:
        """Take the values of `rows`, and write the next points."""
        for j, value in enumerate(values):
            self._values[j] = value
        wanted, nit, nfev = self._advance(self._session)
        if nit == self.nit:
            self._received.append(values)
        else:
            self._received.clear()
            self._row += 1
            self.nit, self._nfev = nit, nfev
        if wanted == 0 and self.snapshot()[2] == Reason.RUNNING:
            self._draw()
            wanted = self._begin_iteration(self._session)
        self._show(wanted)

    def run_leg(self, iterations: int) -> bool:
        """Run so many iterations in compiled code, or fewer; return whether the run continues.

        The iteration for which no evaluations are left is a leg of its own: its normals are to be drawn
        again, should the run be resumed with more.
        """
        # One more than a query poses, for steps that are tried to both sides.
        affordable = (self._evaluations - self._nfev) // (len(self._values) + 1)
        try:
            self._iterate(self._session, self._rng, self.nit + max(1, min(iterations, affordable)))
        finally:
            _, tally, reason = self.snapshot()
            if tally.nit != self.nit:
                self._before = self._rng.bit_generator.state
            self.nit, self._nfev = tally.nit, tally.nfev
        return reason == Reason.RUNNING

    def snapshot(self) -> tuple[Any, Tally, int]:
        """Return the state, the tally and the reason to have stopped."""
        seen: tuple[Any, Tally, int] = self._snapshot(self._session)
        return seen

    def memory(self) -> Memory:
        """Return what is needed to resume. Its arrays are the run's own: write them to disk at once."""
        state, tally, _ = self.snapshot()
        row, received = 0, self._received
        if not self.whole:
            row = self._row
            # What the iteration at hand has received will be received, and counted, again.
            again = sum(math.isnan(value) for values in received for value in values)
            tally = tally._replace(nfev=self._nfev, faulty=tally.faulty - again)
        return Memory(
            state=state,
            tally=tally,
            trace=self._trace,
            generator=self._before,
            row=row,
            received=received,
        )

    def outcome(self, reason: Reason = Reason.RUNNING, *, last: bool = False) -> Outcome:
        """Return what the run has come to, with `reason` if it has none of its own to stop.

        If it is the `last` outcome, its point is the run's own and not a copy.
        """
        state, tally, own_reason = self.snapshot()
        x = state.x if last and self._box is None else state.x.copy()
        if self._box is not None:
            self._reflect(x[np.newaxis], self._box)
        return Outcome(
            x=x,
            fun=state.fx,
            nit=tally.nit,
            nfev=tally.nfev,
            faulty=tally.faulty,
            sigma=state.sigma,
            reason=Reason(own_reason) if own_reason != Reason.RUNNING else reason,
            trace=lambda: finished_trace(tally, self._trace, state.f),
        )

    def _draw(self) -> None:
        self._before, self._row = self._rng.bit_generator.state, 0
        self._draw_normals(self._rng, self._normals)

    def _show(self, wanted: int) -> None:
        """Let `rows` be the points just written, moved inside the bounds."""
        self.rows = self._rows[wanted]
        if self._box is not None:
            self._reflect(self._points[:wanted], self._box)


def drive(
    run: Run,
    objective: Callable[[Vector], Any],
    *,
    interrupts: Interrupts,
    apply: Map | None = None,
    longest_leg: int = UNLIMITED,
    monitor: Callable[[Run], Reason] | None = None,
) -> Reason:
    """Drive a run until it stops by itself, or until `monitor` gives a reason to.

    Parameters
    ----------
    run : Run
        The run.
    objective : callable
        What to minimise.
    interrupts : Interrupts
        Is told when Ctrl-C does no harm.
    apply : callable
        A map to evaluate several points at once.
    longest_leg : int
        After how many iterations at most compiled code has to return to Python.
    monitor : callable or None
        Called after every leg or every round of evaluations.
    """
    leg, running = 1, True
    while running:
        if run.whole:
            before = time.perf_counter()
            running = run.run_leg(leg)
            if time.perf_counter() - before < _LEG:
                leg = min(2 * leg, longest_leg)
        else:
            rows = run.rows
            if not rows:
                break
            interrupts.allow()
            values = _evaluated(objective, rows, apply)
            interrupts.hold()
            run.receive(values)
        interrupts.deliver()
        if monitor is not None:
            reason = monitor(run)
            if reason != Reason.RUNNING:
                return reason
    return Reason.RUNNING


def _evaluated(objective: Callable[[Vector], Any], rows: list[Vector], apply: Map | None) -> list[float]:
    """Return the objective's value at every row; through `apply`, a map, where there is one."""
    if apply is None:
        return [result if type(result) is float else as_value(result) for result in map(objective, rows)]
    # A map may keep the points for later, so each gets a copy.
    results = list(apply(objective, [row.copy() for row in rows]))
    if len(results) != len(rows):
        raise ValueError(f"workers must return a value for each of {len(rows)} points, not {len(results)}.")
    return [as_value(result) for result in results]
