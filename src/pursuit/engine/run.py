"""A run: a session with its generator and its arrays, and the two ways to drive it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from pursuit.checks import Vector
from pursuit.compiling.cache import at_once, compiled
from pursuit.compiling.vectors import SERIAL
from pursuit.engine.interrupts import Interrupts
from pursuit.engine.iteration import fill, iterate, lay_out, open_session, pose, snapshot, turn
from pursuit.engine.stopping import Reason
from pursuit.engine.tally import Limits, Tally, Trace, finished_trace, open_books
from pursuit.methods.contract import Scheme, ask, tell
from pursuit.problems.bounds import Box, reflect
from pursuit.problems.contract import sources_of
from pursuit.problems.objective import Map, evaluate_all

# The normals that the Python loop draws at a time, so that passing the generator costs little.
_BLOCK = 4096
# How long the compiled loop runs between two looks at the clock, in seconds.
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
    """All that a run needs to go on as if it had never stopped."""

    state: Any
    tally: Tally
    trace: Trace
    generator: Mapping[str, Any]
    """The generator's state before it drew the normals at hand."""
    row: int
    """Which of these normals belong to the iteration at hand."""
    told: list[list[float]]
    """The values that this iteration has already been told."""


def first_memory(scheme: Scheme, x0: Vector, fx: float, sigma0: float, rng: np.random.Generator) -> Memory:
    """Return the memory of a run that has evaluated its start, which it may overwrite, and nothing else."""
    if not math.isfinite(fx):
        raise ValueError(f"The objective must be finite at x0, but it is {fx} there.")
    tally, trace = open_books(fx, sigma0)
    return Memory(scheme.init(x0, fx, sigma0), tally, trace, rng.bit_generator.state, 0, [])


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
        Whether the compiled loop will drive the run. The trajectory is the same.
    box : Box or None
        Bounds within which the points of a black box are laid out.
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
        self._rng = rng
        self._box = box
        self._whole = whole
        self._trace = memory.trace
        self._evaluations = limits.evaluations
        n = memory.state.x.size
        draws, points = scheme.draws(n), scheme.points()
        # The compiled loop needs the normals of one iteration and one point at a time.
        self._block = np.empty((1 if whole else max(1, _BLOCK // draws), draws))
        self._points = np.empty((1 if whole else points, n))
        self._values = np.empty(points)
        self._rows = [[self._points[j] for j in range(k)] for k in range(len(self._points) + 1)]
        sources = [ask.source_of(type(scheme)), tell.source_of(type(scheme)), *sources_of(problem)]

        def entry(function: Callable[..., Any]) -> Any:
            return compiled(function, *sources)

        self._fill, self._reflect = compiled(fill), compiled(reflect)
        self._snapshot, self._iterate = entry(snapshot), entry(iterate)
        rng.bit_generator.state = memory.generator
        blocks, row = divmod(memory.row, len(self._block))
        for _ in range(blocks + 1):
            self._draw()
        self._row = row
        self._session = entry(open_session)(
            SERIAL, scheme, problem, memory.state, memory.tally, memory.trace, limits,
            self._block, self._row, self._points, self._values,
        )  # fmt: skip
        self.nit, self._nfev = memory.tally.nit, memory.tally.nfev
        self._told: list[list[float]] = []
        self.rows: list[Vector] = []
        """The points whose values are wanted now; none if the run has stopped."""
        if not whole:
            self._turn, self._pose = at_once(entry(turn), self._session), at_once(entry(pose), self._session)
            self._lay_out(entry(lay_out)(self._session))
            for values in memory.told:
                self.take(values)

    def take(self, values: list[float]) -> None:
        """Take the values of `rows`, and lay out the next points."""
        for j, value in enumerate(values):
            self._values[j] = value
        wanted, nit, nfev = self._turn(self._session)
        if nit == self.nit:
            self._told.append(values)
        else:
            self._told.clear()
            self._row += 1
            self.nit, self._nfev = nit, nfev
        if wanted == 0 and self.look()[2] == Reason.RUNNING:
            self._draw()
            wanted = self._pose(self._session)
        self._lay_out(wanted)

    def leg(self, iterations: int) -> bool:
        """Run so many iterations in compiled code, or fewer; return whether the run goes on.

        The iteration for which no evaluations are left is a leg of its own: its normals are to be drawn
        again, should the run be resumed with more.
        """
        # One more than a query holds, for steps that are tried to both sides.
        affordable = (self._evaluations - self._nfev) // (len(self._values) + 1)
        try:
            self._iterate(self._session, self._rng, self.nit + max(1, min(iterations, affordable)))
        finally:
            _, tally, reason = self.look()
            if tally.nit != self.nit:
                self._before = self._rng.bit_generator.state
            self.nit, self._nfev = tally.nit, tally.nfev
        return reason == Reason.RUNNING

    def look(self) -> tuple[Any, Tally, int]:
        """Return the state, the tally and the reason to have stopped."""
        seen: tuple[Any, Tally, int] = self._snapshot(self._session)
        return seen

    def remember(self) -> Memory:
        """Return what is needed to go on later. Its arrays are the run's own: write them down at once."""
        state, tally, _ = self.look()
        if self._whole:
            return Memory(state, tally, self._trace, self._before, 0, [])
        # What the iteration at hand was told will be told, and counted, again.
        again = sum(math.isnan(value) for values in self._told for value in values)
        tally = tally._replace(nfev=self._nfev, faulty=tally.faulty - again)
        return Memory(state, tally, self._trace, self._before, self._row, self._told)

    def outcome(self, reason: Reason = Reason.RUNNING, *, last: bool = False) -> Outcome:
        """Return what the run has come to, with `reason` if it has none of its own to stop.

        If it is the `last` outcome, its point is the run's own and not a copy.
        """
        state, tally, own_reason = self.look()
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
        self._fill(self._rng, self._block)

    def _lay_out(self, wanted: int) -> None:
        self.rows = self._rows[wanted]
        if self._box is not None:
            self._reflect(self._points[:wanted], self._box)


def drive(
    run: Run,
    objective: Callable[[Vector], Any],
    *,
    whole: bool,
    interrupts: Interrupts,
    apply: Map | None = None,
    longest_leg: int = 2**40,
    watch: Callable[[Run], Reason] | None = None,
) -> Reason:
    """Drive a run until it stops by itself, or `watch` gives a reason to.

    Parameters
    ----------
    run : Run
        The run.
    objective : callable
        What to minimise.
    whole : bool
        Whether to leave the loop to compiled code.
    interrupts : Interrupts
        Who is told when Ctrl-C does no harm.
    apply : callable
        A map to evaluate several points at once.
    longest_leg : int
        After how many iterations at most compiled code has to look up.
    watch : callable or None
        Called after every leg or every round of evaluations.
    """
    leg, going = 1, True
    while going:
        if whole:
            before = time.perf_counter()
            going = run.leg(leg)
            if time.perf_counter() - before < _LEG:
                leg = min(2 * leg, longest_leg)
        else:
            rows = run.rows
            if not rows:
                break
            interrupts.let_in()
            values = evaluate_all(objective, rows, apply)
            interrupts.keep_out()
            run.take(values)
        interrupts.deliver()
        if watch is not None:
            reason = watch(run)
            if reason != Reason.RUNNING:
                return reason
    return Reason.RUNNING
