"""One run, from what the caller asks for to its result."""

from __future__ import annotations

import contextlib
import io
import math
import os
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pursuit import checks
from pursuit.checks import Vector, checked_number, shown
from pursuit.engine.checkpoint import Checkpoint, to_bytes
from pursuit.engine.counters import UNLIMITED
from pursuit.engine.driving import Interrupts, Monitor, Saver, driven, keep_to, scipy_style
from pursuit.engine.evaluation import Evaluate, Here, Map, at_once, checked_workers, evaluator
from pursuit.engine.processes import Excused, Failures
from pursuit.engine.setup import Setup, rounds_of, set_up
from pursuit.engine.snapshot import Snapshot
from pursuit.engine.staged import StagedRun
from pursuit.engine.stopping import Reason
from pursuit.methods.catalogue import method_text
from pursuit.methods.programs import is_program
from pursuit.methods.regression import fitted
from pursuit.methods.stages import Task
from pursuit.problems.boxes import Box
from pursuit.problems.objective import Extras, checked_values, function_of_point, row_by_row
from pursuit.problems.structure import Structure
from pursuit.reporting.progress import showing_compilation
from pursuit.result import Result, result_of

# So many points around the best one decide what its neighbourhood looks like, up to so many variables.
_MOST_POINTS, _MOST_VARIABLES = 200, 50
# How far from their mean their quadratic is believed, in standard deviations of the points.
_RADIUS = 3.0
# By how many standard deviations of the noise a value may differ from the stored one, which is noisy too.
_LUCK = 10.0
# A result keeps the run that it is of, so that it can go on, up to this many variables.
_MOST_KEPT = 100_000


class Conduct(NamedTuple):
    """How a run is made: what evaluates its points, and what happens beside it. See `pursuit.minimize`."""

    rng: Any
    workers: int | Map | Executor
    vectorized: bool
    batch: int | None
    maxtime: Any
    """A number once it is checked, which may be infinite."""
    callback: Callable[..., object] | None
    trace: bool | str
    progress: bool
    checkpoint: str | os.PathLike[str] | None
    checkpoint_every: float
    checkpoint_check: bool
    failures: Failures
    """What counts evaluations that fail."""
    eval_timeout: Any
    """A number once it is checked, which may be infinite."""
    known: Any = None
    """Points and their values, a pair."""
    earlier: Result | None = None
    """The result of a run that goes on."""

    def checked(self) -> Conduct:
        """Return the same with its arguments checked, a generator for `rng` and a number for `maxtime`."""
        workers = checked_workers(self.workers)
        if self.vectorized and workers != 1:
            raise ValueError(
                "With vectorized=True one call evaluates all points of a round: leave workers at 1."
            )
        longest = _checked_time("eval_timeout", self.eval_timeout)
        if longest < math.inf and (self.vectorized or not isinstance(workers, int)):
            raise ValueError(
                "With eval_timeout, evaluations are made in processes that can be killed: pass their "
                "number as workers, and leave vectorized at False."
            )
        return self._replace(
            rng=checks.checked_generator(self.rng),
            workers=workers,
            maxtime=_checked_time("maxtime", self.maxtime),
            trace=checks.checked_trace(self.trace),
            progress=checks.checked_flag("progress", self.progress),
            checkpoint_every=checked_number("checkpoint_every", self.checkpoint_every, at_least=0.0),
            checkpoint_check=checks.checked_flag("checkpoint_check", self.checkpoint_check),
            eval_timeout=longest,
        )


def _checked_time(name: str, seconds: Any) -> float:
    """Return a time limit as a number, infinite if there is none."""
    return math.inf if seconds is None else checked_number(name, seconds, above=0.0)


def minimize_task(task: Task, conduct: Conduct) -> Result:
    """Return the result of a run without constraints; `conduct` has been checked."""
    fun, failures = function_of_point(task.fun, task.args), conduct.failures
    if failures.excuses:
        fun, task = excused(fun, failures, task, vectorized=conduct.vectorized)
    if conduct.vectorized:
        task = task._replace(fun=row_by_row(task.fun, task.args), args=())
    with showing_compilation(conduct.progress):
        setup, start = set_up(task)
    call = scipy_style(conduct.callback, lambda outcome: result_of(outcome, setup), task.structure.shaped)
    save = None if conduct.checkpoint is None else Saver(conduct.checkpoint, setup)
    # Workers get the function itself, at points inside the bounds: nothing else need pickle.
    crew = (
        contextlib.nullcontext(at_once(fun))
        if conduct.vectorized
        else evaluator(fun, conduct.workers, failures.read, conduct.eval_timeout)
    )
    with showing_compilation(conduct.progress), crew as evaluate:
        # In this process a whole loop may be compiled.
        is_here = isinstance(evaluate, Here)
        elsewhere = None if is_here and not failures.excuses else evaluate
        extras = Extras()
        try:
            found, setup, snapshot, rng = _begin(setup, start, conduct, elsewhere, extras)
        except ValueError as error:
            if failures.remark:
                error.add_note(failures.remark)
            raise
        with Interrupts() as interrupts:
            open_run = partial(StagedRun, setup, snapshot, rng, here=is_here, extras=extras)
            run = open_run() if found is None else found.checked(open_run)
            monitor = Monitor(
                maxtime=conduct.maxtime, callback=call, save=save,
                save_every=conduct.checkpoint_every, progress=conduct.progress,
            )  # fmt: skip
            keep_to(evaluate, monitor.deadline)
            try:
                reason = driven(
                    run,
                    evaluate,
                    interrupts=interrupts,
                    monitor=None if monitor.is_idle else monitor,
                    # A callback is called after every iteration.
                    longest_chunk=UNLIMITED if call is None else 1,
                    found=lambda: result_of(run.outcome(), setup, trace=conduct.trace or True),
                )
                monitor.close(run)
                is_kept = setup.n <= _MOST_KEPT
                outcome = run.outcome(reason, last=not is_kept)
            finally:
                run.settle()
                if save is not None:
                    save(run)
    result = result_of(outcome, setup, trace=conduct.trace)
    result.time = monitor.seconds
    if is_kept:
        object.__setattr__(result, "_run", run)
    result.message = failures.said_after(result.message)
    return result


def excused(
    fun: Callable[[Any], Any], failures: Failures, task: Task, *, vectorized: bool
) -> tuple[Callable[[Any], Any], Task]:
    """Return a function in which exceptions count as NaN, and the task with it."""
    if not callable(task.fun):
        # What is wrong with it is said later.
        return fun, task
    forgiving = failures.excused(fun) if vectorized else Excused(fun)
    return forgiving, task._replace(fun=forgiving, args=())


def _begin(
    setup: Setup, start: Vector, conduct: Conduct, elsewhere: Evaluate | None, extras: Extras
) -> tuple[Checkpoint | None, Setup, Snapshot, np.random.Generator]:
    """Return the checkpoint that is resumed, if any, and setup, snapshot and generator of the run."""
    path, earlier = conduct.checkpoint, conduct.earlier
    if path is not None and Path(path).exists():
        found = Checkpoint(path)
    elif earlier is not None and earlier._run is not None and not Reason(earlier.status).is_own:
        path, content = "x0", to_bytes(earlier._run.setup, earlier._run.snapshot())
        found = Checkpoint(io.BytesIO(content), path)
    else:
        return None, *_begin_anew(setup, start, conduct, elsewhere, extras), conduct.rng
    found.check_trace(conduct.trace)
    _check_same(path, found, setup, conduct.batch)
    setup, snapshot, rng = found.resumed(setup)
    if conduct.checkpoint_check and found.is_begun:
        _check_objective(path, setup, snapshot, elsewhere, extras)
    return found, setup, snapshot, rng


def _begin_anew(
    setup: Setup, start: Vector, conduct: Conduct, elsewhere: Evaluate | None, extras: Extras
) -> tuple[Setup, Snapshot]:
    """Return setup and snapshot of a run at its start, or at a better point that is known."""
    task, nfev = setup.task, 1
    known = None if conduct.known is None else checked_known(conduct.known, task.structure, task.n, setup.box)
    value = setup.value_at(start, elsewhere, extras)
    if known is not None and math.isfinite(value):
        for point in proposals(*known, task.x0, value, setup.box):
            if nfev >= setup.limits.evaluations or value <= setup.limits.target:
                break
            other, there = setup.moved_to(point)
            found, nfev = other.value_at(there, elsewhere, extras), nfev + 1
            if found < value:
                setup, start, value = other, there, found
    return setup, setup.first_snapshot(start, value, conduct.rng, nfev=nfev, trace=conduct.trace)


def _check_same(path: str | os.PathLike[str], found: Checkpoint, setup: Setup, batch: int | None) -> None:
    """Reject a checkpoint of another run; without a batch, its rounds stay as they were."""
    stored, task, wanted, name = found.stored, setup.task, rounds_of(batch), os.fspath(path)
    if wanted is not None and wanted != stored.sizes:
        kept = stored.sizes.most if stored.sizes else None
        raise ValueError(f"{name} holds a run with batch={kept}, which cannot be resumed with batch={batch}.")
    asked = {**task._asdict(), "method": method_text(task.method), "n": setup.n}
    for field in ("method", "options", "restarts", "n", "sigma0"):
        before, now = getattr(stored, field), asked[field]
        if not _same(before, now):
            raise ValueError(
                f"{name} holds a run with {field}={shown(before, 300)}, which cannot be resumed "
                f"with {field}={shown(now, 300)}."
            )
    sides = (None, None) if setup.box is None else setup.box[:2]
    if not all(map(_same, (stored.lower, stored.upper), sides)):
        raise ValueError(f"{name} holds a run with other bounds, which cannot be resumed with these.")
    if not found.is_begun and found.past is None:
        raise ValueError(f"{name} holds an optimizer that has been told nothing yet.")


def _same(one: Any, other: Any) -> bool:
    """Say whether two settings are the same; options may hold arrays."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[name], other[name]) for name in one)
    return np.array_equal(one, other)


def _check_objective(
    path: str | os.PathLike[str], setup: Setup, snapshot: Snapshot, evaluate: Evaluate | None, extras: Extras
) -> None:
    """Reject an objective that is not that of the checkpoint, judged by its value at the best point."""
    state, x, noise = snapshot.state, snapshot.x, 0.0
    if not is_program(setup.scheme):
        stored = state.numbers.fx
    else:
        noise = state.noise or 0.0
        x, stored, *_ = setup.scheme.best(state) if state.estimate else (x, snapshot.counters.fun)
    found = setup.value_at(x, evaluate, extras)
    if found != stored and not abs(found - stored) <= _LUCK * noise:
        raise ValueError(
            f"{os.fspath(path)} holds a run of another function: at its best point the value is {found!r}, "
            f"but {stored!r} was stored. If the function is noisy or was changed on purpose, pass "
            "checkpoint_check=False."
        )


def checked_points(X: Any, structure: Structure, n: int, name: str = "X") -> NDArray[np.float64]:  # noqa: N803
    """Return points of any structure as the rows of an array."""
    if structure.tree is not None:
        if not isinstance(X, list | tuple):
            raise TypeError(f"{name} must be a list of points, but {shown(X)} was given.")
        X = [structure.flat(point, f"{name}[{number}]") for number, point in enumerate(X)]  # noqa: N806
    points = checks.checked_array(name, X)
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
