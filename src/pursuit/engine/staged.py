"""A run of several stages, which looks like one run to whoever drives it.

When a stage has ended and the run is not over, `pursuit.methods.restarts` says which stage follows. Each is a
run of its own; counts continue from stage to stage, and the best point of all stages is the result.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pursuit.checks import Vector
from pursuit.engine.counters import Limits, due_after
from pursuit.engine.outcome import LUCK, Known, Outcome, Past, merged, points_at, points_by_iteration
from pursuit.engine.program_run import ProgramRun
from pursuit.engine.setup import Setup, set_up_stage
from pursuit.engine.snapshot import Snapshot
from pursuit.engine.stopping import Reason
from pursuit.methods.programs import is_program
from pursuit.methods.restarts import next_stage
from pursuit.methods.stages import AT_BEST, AT_NEW_POINT
from pursuit.problems.objective import Extras

if TYPE_CHECKING:
    # Numba compiles it, and is imported only for step methods.
    from pursuit.engine.run import Run


# The first steps of a stage that begins at the best point, as a part of the way there for each variable; and
# the limits of that, in units of sigma0.
_PART_OF_WAY, _LEAST_STEP, _MOST_STEP = 0.3, 1e-4, 100.0


class StagedRun:
    """A run in progress, of one stage or of several.

    Parameters
    ----------
    setup : Setup
        That of the present stage.
    snapshot : Snapshot
        Where to begin; its arrays are overwritten.
    rng : numpy.random.Generator
        The source of all randomness.
    here : bool
        Whether this process evaluates the objective, in compiled code where it can.
    extras : Extras
        What the objective has returned beside the value at the start.
    """

    def __init__(
        self,
        setup: Setup,
        snapshot: Snapshot,
        rng: np.random.Generator,
        *,
        here: bool,
        extras: Extras | None = None,
    ) -> None:
        self._is_here = here
        self._extras = Extras() if extras is None else extras
        self._set_up(setup)
        self.rows = []
        self._rng = rng
        self._past: Past | None = snapshot.past
        self._known: Known | None = snapshot.known
        self._points: dict[int, Vector] | None = None if snapshot.points is None else dict(snapshot.points)
        """The best points so far at entries of the trace, by iteration; None if they are not kept."""
        self._due = 0
        """The next iteration of the present stage that goes into the trace, if points are kept."""
        self._run: Run | ProgramRun | None = None
        self._start: Vector | None = None
        """The start of a stage that has not evaluated it, as its scheme sees it."""
        if snapshot.state is None:
            rng.bit_generator.state = snapshot.generator
            self._wait_at(snapshot.x)
        else:
            self._begin(snapshot)

    @property
    def rows(self) -> list[Vector]:
        """The points whose values are wanted now; none if the run has stopped."""
        return self._rows

    @rows.setter
    def rows(self, rows: list[Vector]) -> None:
        self._rows, self._shown = rows, self._extras.copies(rows)

    @property
    def target(self) -> float | None:
        """The value after which no more points of a round are evaluated; None if rounds have to be whole."""
        return None if self._run is None else self._run.target

    @property
    def nit(self) -> int:
        """The iterations so far."""
        before = 0 if self._past is None else self._past.nit
        return before + (0 if self._run is None else self._run.nit)

    @property
    def sigma(self) -> float:
        """The step size at present."""
        return self.setup.first_step if self._run is None else self._run.sigma

    def receive(self, values: list[float]) -> None:
        """Take the values of `rows`, and write the next points."""
        self._extras.take(values, self._shown)
        if self._run is None:
            self._begin_with(values[0])
        else:
            # If there is room for one point only, the next takes the place of the last.
            self.rows = []
            self._run.receive(values)
            self._keep_point()
            self._continue()

    def receive_part(self, values: list[float | None]) -> None:
        """Take the values of some of `rows`, after which the run does not continue."""
        self._extras.take(values, self._shown)
        if self._run is not None:
            self._run.receive_part(values)

    def learn(self, known: Known, values: list[float | None]) -> bool:
        """Go on from a point if it is better than all so far, and not by luck; return whether it is.

        Then `values` are those of `rows` that have been received. A run that awaits the value at the start
        of a stage compares the point with that.
        """
        run = self._run
        if run is None:
            if self._known is None or known.value < self._known.value:
                self._known = known
            return False
        before = self.outcome()
        if not known.value < before.fun - LUCK * (before.noise or 0.0):
            return False
        self.receive_part(values)
        run.settle()
        past = self._past or Past.first(self.setup.task.x0, known.value, self.setup.stage)
        self._change_to(past.left_for(known, run.outcome()))
        return True

    def run_chunk(self, iterations: int) -> bool:
        """Run this many iterations in compiled code, or fewer; return whether the run continues."""
        if self._run is None:
            self._begin_with(self.setup.value_at(self._waiting()))
            return True
        run: Any = self._run
        if self._points is not None:
            iterations = min(iterations, self._due - run.nit)
        is_running = run.run_chunk(iterations)
        self._keep_point()
        return is_running or self._goes_on()

    def snapshot(self) -> Snapshot:
        """Return what is needed to resume. Its arrays are the run's own: write them to disk at once."""
        if self._run is None:
            present = Snapshot(self._waiting(), self._rng.bit_generator.state)
        else:
            present = self._run.snapshot()
        return present._replace(past=self._past, points=self._points, known=self._known)

    def settle(self) -> None:
        """Leave the generator where the last finished iteration did, whatever was drawn since."""
        if self._run is not None:
            self._run.settle()

    def outcome(self, reason: Reason = Reason.RUNNING, *, last: bool = False) -> Outcome:
        """Return the outcome of the run, with `reason` if it has no reason of its own to stop.

        If it is the `last` outcome, its point is the run's own and not a copy.
        """
        past, run = self._past, self._run
        now = self._unstarted(reason) if run is None else run.outcome(reason, last=last)
        outcome = now if past is None else merged(past, now, is_begun=run is not None)
        kept = self._points
        if kept is not None:
            outcome = outcome._replace(points=partial(points_at, outcome.trace, kept, outcome.x))
        extra = self._extras.beside(outcome.x)
        if extra:
            outcome = outcome._replace(extra=extra)
        return outcome.judged(self.setup.limits.target)

    def _unstarted(self, reason: Reason) -> Outcome:
        """Return the outcome of a stage whose start has not been evaluated."""
        x = self.setup.transform.moved(self._waiting())
        return Outcome(x, self.setup.first_step, reason, reason.sentence())

    def _set_up(self, setup: Setup) -> None:
        """Take the setup of a stage."""
        self.setup: Setup = setup
        self.whole: bool = self._is_here and setup.can_be_compiled
        """Whether compiled code evaluates the points of the stage."""

    def _present(self) -> Run | ProgramRun:
        assert self._run is not None
        return self._run

    def _waiting(self) -> Vector:
        assert self._start is not None
        return self._start

    def _begin(self, snapshot: Snapshot) -> None:
        """Begin the present stage, or continue it."""
        self._start, self.rows = None, []
        self._past = self._past or snapshot.past
        setup, rng = self.setup._replace(limits=self._limits()), self._rng
        if is_program(setup.scheme):
            self._run = ProgramRun(setup, snapshot, rng, here=self._is_here)
        else:
            # Numba compiles what this imports.
            from pursuit.engine.run import Run

            self._run = Run(setup, snapshot, rng, here=self._is_here)
        if self._points is not None:
            before = 0 if self._past is None else self._past.nit
            self._due = due_after(max(self._points, default=-1) - before)
            self._keep_point()
        if not self.whole:
            self._continue()

    def _begin_with(self, value: float) -> None:
        """Begin the present stage with the value at its start, or at that of the run if it has none."""
        past, start = self._past, self._waiting()
        if past is not None and not math.isfinite(value):
            value = past.f0
            setup, start = set_up_stage(self.setup.task, self.setup.stage, past.x0.copy())
            self._set_up(setup)
        self._begin(self.setup.first_snapshot(start, value, self._rng))
        if self._known is not None:
            known, self._known = self._known, None
            self.learn(known, [])

    def _wait_at(self, start: Vector) -> None:
        """Ask for the value at the start of a stage."""
        self._run, self._start = None, start
        self.rows = [self.setup.transform.moved(start)]

    def _continue(self) -> None:
        """Show the next points, of the next stage if the present one has ended."""
        self.rows = self._present().rows
        if not self.rows:
            self._goes_on()

    def _keep_point(self) -> None:
        """Keep the best point so far, if points are kept and the trace has an entry for this iteration."""
        run = self._present()
        if self._points is not None and run.nit >= self._due:
            self._points[self.nit] = self.outcome().x
            self._due = due_after(run.nit)

    def _goes_on(self) -> bool:
        """Continue with the next stage after one has ended, if there is one; return whether there is."""
        past, run = self._past, self._present()
        if past is None:
            return False
        reason, total = run.reason, self.setup.limits.evaluations
        has_spent_its_share = reason == Reason.MAXFEV and self._limits().evaluations < total - past.nfev
        if not (reason.is_own or has_spent_its_share):
            return False
        run.settle()
        now = run.outcome()
        records = (*past.ended, past.record(now))
        left = total - sum(record.nfev for record in records)
        # Those left for a point that was told say nothing about the method.
        ended = [record for record in records if record.reason != Reason.RUNNING]
        following = next_stage(self.setup.task, ended) if left > 0 else None
        if following is None:
            return False
        self._change_to(past.after(now, following))
        return True

    def _change_to(self, past: Past) -> None:
        """Begin another stage."""
        if self._points is not None:
            self._points = points_by_iteration(self.outcome())
        self._past, stage = past, past.stage
        self._extras.settle(past.best)
        is_best = stage.start == AT_BEST
        if stage.start == AT_NEW_POINT:
            x0 = self._new_point(past.best)
        else:
            x0 = (past.best if is_best else past.x0).copy()
        setup, start = set_up_stage(self.setup.task, stage, x0)
        self._set_up(setup)
        if stage.start == AT_NEW_POINT:
            self._wait_at(start)
            return
        value, step = (past.lowest, self._part_of_way(past)) if is_best else (past.f0, 1.0)
        self._begin(self.setup.first_snapshot(start, value, self._rng, step=step))

    def _part_of_way(self, past: Past) -> float:
        """Return a part of the way from the start to the best point, in units of sigma0 per variable."""
        way = float(np.sqrt(np.mean(((past.best - past.x0) / self.setup.task.sigma0) ** 2)))
        return 1.0 if way == 0.0 else min(max(_PART_OF_WAY * way, _LEAST_STEP), _MOST_STEP)

    def _new_point(self, best: Vector) -> Vector:
        """Return a point between finite bounds, and otherwise about a first step away from the best one."""
        point: Vector = best + self.setup.task.sigma0 * self._rng.standard_normal(best.size)
        box = self.setup.box
        if box is not None:
            with np.errstate(invalid="ignore", over="ignore"):
                inside = box.lower + self._rng.random(best.size) * (box.upper - box.lower)
            point = np.where(np.isfinite(inside), inside, np.clip(point, box.lower, box.upper))
        return point

    def _limits(self) -> Limits:
        """Return the limits of the present stage."""
        limits, past = self.setup.limits, self._past
        if past is None:
            return limits
        most = math.inf if past.stage.most is None else past.stage.most + past.is_start_known
        evaluations = int(min(limits.evaluations - past.nfev, most))
        return limits._replace(evaluations=evaluations, iterations=limits.iterations - past.nit)
