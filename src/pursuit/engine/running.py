"""One run, from what the caller asks for to its result."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pursuit.checks import Vector, checked_flag, checked_generator, checked_number, checked_trace
from pursuit.engine.checkpoint import Checkpoint
from pursuit.engine.counters import UNLIMITED
from pursuit.engine.driving import Driven, Evaluate, Here, Interrupts, drive
from pursuit.engine.evaluation import (
    Excused,
    Failures,
    Futures,
    Map,
    Processes,
    TimeLimitError,
    at_once,
    checked_workers,
    evaluator,
    failures_for,
)
from pursuit.engine.memory import Memory, Unstarted
from pursuit.engine.monitor import Monitor, Saver, scipy_style
from pursuit.engine.program_run import ProgramMemory
from pursuit.engine.resuming import check_batch, check_objective, check_trace, resumed
from pursuit.engine.setup import Setup, Task, set_up
from pursuit.engine.staged import StagedRun
from pursuit.engine.stopping import Reason
from pursuit.engine.trace_points import with_points
from pursuit.problems.objective import as_value, function_of_point, row_by_row
from pursuit.reporting.progress import showing_compilation
from pursuit.result import Result, result_of


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
    on_error: str
    failures: Failures | None = None
    """What counts exceptions of the function, once this is checked; None if they end the run."""

    def checked(self) -> Conduct:
        """Return the same with its arguments checked, a generator for `rng` and a number for `maxtime`."""
        workers = checked_workers(self.workers)
        if self.vectorized and workers != 1:
            raise ValueError(
                "With vectorized=True one call evaluates all points of a round: leave workers at 1."
            )
        return self._replace(
            rng=checked_generator(self.rng),
            workers=workers,
            maxtime=math.inf if self.maxtime is None else checked_number("maxtime", self.maxtime, above=0.0),
            trace=checked_trace(self.trace),
            progress=checked_flag("progress", self.progress),
            checkpoint_every=checked_number("checkpoint_every", self.checkpoint_every, at_least=0.0),
            checkpoint_check=checked_flag("checkpoint_check", self.checkpoint_check),
            failures=failures_for(self.on_error),
        )


def minimize_task(task: Task, conduct: Conduct) -> Result:
    """Return the result of a run without constraints; `conduct` has been checked."""
    fun, failures = function_of_point(task.fun, task.args), conduct.failures
    if failures is not None:
        fun, task = excused(fun, failures, task, vectorized=conduct.vectorized)
    if conduct.vectorized:
        task = task._replace(fun=row_by_row(task.fun, task.args), args=())
    with showing_compilation(conduct.progress):
        setup, start = set_up(task)
    call = scipy_style(conduct.callback, lambda outcome: result_of(outcome, setup.name, trace=False))
    save = None if conduct.checkpoint is None else Saver(conduct.checkpoint, setup.setting)
    with showing_compilation(conduct.progress), _crew_of(fun, conduct) as crew:
        elsewhere = None if crew.is_here and failures is None else crew.evaluate
        try:
            found, setup, memory, rng = _begin(setup, start, conduct, elsewhere)
        except ValueError as error:
            if failures is not None and failures.remark:
                error.add_note(failures.remark)
            raise
        with Interrupts() as interrupts:

            def open_run(_: object = None) -> StagedRun:
                return StagedRun(setup, memory, rng, here=crew.is_here)

            run = open_run() if found is None else found.checked(open_run)
            monitor = Monitor(
                maxtime=conduct.maxtime,
                callback=call,
                save=save,
                save_every=conduct.checkpoint_every,
                progress=conduct.progress,
            )
            keep_to(crew.evaluate, monitor.deadline)
            try:
                reason = driven(
                    run,
                    crew.evaluate,
                    interrupts=interrupts,
                    monitor=None if monitor.is_idle else monitor,
                    # A callback is called after every iteration.
                    longest_leg=UNLIMITED if call is None else 1,
                    found=lambda: result_of(
                        run.outcome(), setup.name, trace=conduct.trace or True, box=setup.setting.box
                    ),
                )
                monitor.close(run)
                outcome = run.outcome(reason, last=True)
            finally:
                run.settle()
                if save is not None:
                    save(run)
    result = result_of(outcome, setup.name, trace=conduct.trace, box=setup.setting.box)
    result.time = monitor.seconds
    return result if failures is None else failures.told_in(result)


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
    setup: Setup, start: Vector, conduct: Conduct, elsewhere: Evaluate | None
) -> tuple[Checkpoint | None, Setup, Memory | ProgramMemory | Unstarted, np.random.Generator]:
    """Return the checkpoint that is resumed, if there is one, and setup, memory and generator of the run."""
    path = conduct.checkpoint
    if path is None or not Path(path).exists():
        memory = setup.first_memory(start, setup.value_at(start, elsewhere), conduct.rng)
        return None, setup, with_points(memory, conduct.trace), conduct.rng
    found = Checkpoint(path)
    found.checked(lambda _: check_trace(found, conduct.trace))
    check_batch(path, found.setting.rounds, conduct.batch)
    setup, stored, rng = resumed(found, path, setup)
    if conduct.checkpoint_check and not isinstance(stored, Unstarted):
        check_objective(path, setup, stored, elsewhere)
    return found, setup, stored, rng


def driven(
    run: Driven,
    evaluate: Evaluate,
    *,
    interrupts: Interrupts,
    monitor: Callable[[Any], Reason] | None,
    longest_leg: int,
    found: Callable[[], Result],
) -> Reason:
    """Drive a run to its end; attach what was `found` to an exception that ends it early."""
    try:
        reason = drive(run, evaluate, interrupts=interrupts, longest_leg=longest_leg, monitor=monitor)
    except KeyboardInterrupt:
        reason = Reason.INTERRUPTED
    except TimeLimitError:
        reason = Reason.MAXTIME
    except Exception as error:
        interrupts.hold()
        with contextlib.suppress(AttributeError):
            error.pursuit_result = found()  # type: ignore[attr-defined]
            error.add_note("What was found before this exception is in its attribute pursuit_result.")
        raise
    interrupts.hold()
    return reason


def keep_to(evaluate: Evaluate, deadline: float) -> None:
    """Make those keep to a time limit that can."""
    if isinstance(evaluate, Here | Processes | Futures):
        evaluate.deadline = deadline


class _Crew(NamedTuple):
    """What evaluates the points of a run."""

    evaluate: Evaluate
    is_here: bool = False
    """Whether that is this process, where a whole loop may be compiled."""


@contextlib.contextmanager
def _crew_of(fun: Callable[[Any], Any], conduct: Conduct) -> Iterator[_Crew]:
    """Yield what evaluates the points of a run."""
    workers = conduct.workers
    read = as_value if conduct.failures is None else conduct.failures.read
    if conduct.vectorized:
        yield _Crew(at_once(fun))
    elif workers == 1:
        yield _Crew(Here(fun, read), is_here=True)
    else:
        # Workers get the function itself, at points inside the bounds: nothing else need pickle.
        with evaluator(fun, workers, read) as evaluate:
            yield _Crew(evaluate)
