"""The loop that drives a run until there is a reason to stop, and what happens beside it.

That is a time limit, callbacks, checkpoints and progress.
"""

from __future__ import annotations

import contextlib
import math
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from pursuit.checks import Vector, takes_intermediate_result
from pursuit.engine.archive import check_writable
from pursuit.engine.checkpoint import check_options, save
from pursuit.engine.counters import UNLIMITED
from pursuit.engine.evaluation import Evaluate, Here, Others, TimeLimitError
from pursuit.engine.outcome import Outcome
from pursuit.engine.setup import Setup
from pursuit.engine.staged import StagedRun
from pursuit.engine.stopping import Reason
from pursuit.reporting.progress import Progress

# How long compiled code runs at least before it returns to Python, in seconds.
_CHUNK = 0.05


class Interrupts:
    """A context in which Ctrl-C waits until the run is ready for it.

    An exception that a signal raises while Numba turns a compiled result into Python objects can crash the
    process. So interruptions wait while a run is at work, and are delivered where they do no harm: at once
    while the objective is evaluated, and otherwise between two steps.

    Outside the main thread, where Python handles no signals, it does nothing.
    """

    def __init__(self) -> None:
        self._allowed = False
        self._pending = False
        self._before: Any = None

    def __enter__(self) -> Interrupts:
        """Take over the handling of Ctrl-C."""
        if threading.current_thread() is threading.main_thread():
            before = signal.getsignal(signal.SIGINT)
            if callable(before):
                self._before = before
                signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        """Hand it back; what waits is delivered now."""
        self._allowed = False
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self.deliver()

    def allow(self) -> None:
        """Deliver what waits, and until `hold` whatever comes, immediately."""
        self._allowed = True
        self.deliver()

    def hold(self) -> None:
        """Make interruptions wait from now on."""
        self._allowed = False

    def deliver(self) -> None:
        """Deliver what waits."""
        if self._pending:
            self._pending = False
            self._before(signal.SIGINT, None)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._allowed:
            self._before(number, frame)
        else:
            self._pending = True


def drive(
    run: StagedRun,
    evaluate: Evaluate,
    *,
    interrupts: Interrupts,
    longest_chunk: int = UNLIMITED,
    monitor: Callable[[Any], Reason] | None = None,
) -> Reason:
    """Drive a run until it stops by itself, or until `monitor` gives a reason to.

    Parameters
    ----------
    run : StagedRun
        The run.
    evaluate : callable
        Puts the values of points into a list; not called if the whole loop is compiled.
    interrupts : Interrupts
        Told when Ctrl-C can do no harm.
    longest_chunk : int
        The most iterations after which compiled code has to return to Python.
    monitor : callable or None
        Called after every chunk or every round of evaluations.
    """
    chunk, running = 1, True
    while running:
        if run.whole:
            before = time.perf_counter()
            running = run.run_chunk(chunk)
            if time.perf_counter() - before < _CHUNK:
                chunk = min(2 * chunk, longest_chunk)
        else:
            rows = run.rows
            if not rows:
                break
            values: list[Any] = [None] * len(rows)
            interrupts.allow()
            try:
                evaluate(rows, values, run.target)
            except BaseException:
                interrupts.hold()
                run.receive_part(values)
                raise
            interrupts.hold()
            del rows
            run.receive(values)
        interrupts.deliver()
        if monitor is not None:
            reason = monitor(run)
            if reason != Reason.RUNNING:
                return reason
    return Reason.RUNNING


def driven(
    run: StagedRun, evaluate: Evaluate, *, interrupts: Interrupts, found: Callable[[], Any], **how: Any
) -> Reason:
    """Drive a run to its end; attach what was `found` to an exception that ends it early."""
    try:
        reason = drive(run, evaluate, interrupts=interrupts, **how)
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
    if isinstance(evaluate, Here | Others):
        evaluate.deadline = deadline


class Monitor:
    """Called by the driver after every chunk; returns a reason to stop if there is one.

    Parameters
    ----------
    maxtime : float
        Stop after this many seconds.
    callback : callable or None
        Called with an outcome after every iteration; a `StopIteration` from it stops the run.
    save : callable or None
        Called with the run every `save_every` seconds.
    save_every : float
        How often, in seconds.
    progress : bool
        Whether to show progress.
    """

    def __init__(
        self,
        *,
        maxtime: float = math.inf,
        callback: Callable[[Outcome], object] | None = None,
        save: Callable[[StagedRun], None] | None = None,
        save_every: float = math.inf,
        progress: bool = False,
    ) -> None:
        now = time.perf_counter()
        self._begin = now
        self.deadline: float = now + maxtime
        """When the time is up, on the clock of `time.perf_counter`."""
        self.seconds: float = 0.0
        """How long the run took, once it has ended."""
        self._callback = callback
        self._called_at = 0
        self._save, self._save_every = save, save_every
        self._next_save = now + save_every if save else math.inf
        self._progress = Progress(progress, maxtime)

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to do beside the run."""
        shows = math.isfinite(self._progress.next)
        return not (self._callback or self._save or shows or math.isfinite(self.deadline))

    def __call__(self, run: Any) -> Reason:
        """Do what is due beside a run, of which its setup, its iterations and its outcome are needed."""
        if self._callback is not None and run.nit != self._called_at:
            self._called_at = run.nit
            try:
                self._callback(run.outcome())
            except StopIteration:
                return Reason.CALLBACK
        now = time.perf_counter()
        if now >= self._next_save and self._save is not None:
            self._save(run)
            self._next_save = time.perf_counter() + self._save_every
        if now >= self._progress.next:
            self._progress.show(run, now)
        return Reason.MAXTIME if now >= self.deadline else Reason.RUNNING

    def close(self, run: Any) -> None:
        """Stop the clock, and show progress for the last time."""
        self.seconds = time.perf_counter() - self._begin
        self._progress.close(run)


def scipy_style(
    callback: Any, result_of: Callable[[Outcome], Any], shaped: Callable[[Vector], Any]
) -> Callable[[Outcome], object] | None:
    """Return a callback of an outcome that calls one in SciPy's convention.

    One whose only parameter is named `intermediate_result` receives a result, any other the point alone.
    """
    if callback is None:
        return None
    if takes_intermediate_result(callback):
        return lambda outcome: callback(intermediate_result=result_of(outcome))
    return lambda outcome: callback(shaped(outcome.x))


class Saver:
    """Writes the checkpoints of a run; that they can be written is checked before the run begins."""

    def __init__(self, path: str | os.PathLike[str], setup: Setup) -> None:
        self._path = Path(path)
        check_options(setup)
        try:
            check_writable(self._path)
        except OSError as error:
            sentence = f"The checkpoint cannot be written, so the run was not started: {error.strerror}"
            raise type(error)(error.errno, sentence, str(path)) from None

    def __call__(self, run: StagedRun) -> None:
        """Write a checkpoint; if that fails, warn, since the run is worth more than its checkpoint."""
        try:
            save(self._path, run.setup, run.snapshot())
        except OSError as error:
            warnings.warn(
                f"The checkpoint {self._path} could not be written: {error.strerror or error}. The run "
                "continues and tries again later; what was written before is still there.",
                RuntimeWarning,
                stacklevel=2,
            )
