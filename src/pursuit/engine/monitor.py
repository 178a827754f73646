"""What happens beside a run: time limit, callbacks, checkpoints and a line of progress."""

from __future__ import annotations

import contextlib
import math
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, TextIO

from pursuit.checks import takes_intermediate_result
from pursuit.compiling.cache import announcing
from pursuit.engine.outcome import Outcome
from pursuit.engine.staged import StagedRun
from pursuit.engine.stopping import Reason

# How often the line of progress is written anew, in seconds.
_LINE_EVERY = 0.2


class Monitor:
    """Called by the driver after every leg, returns a reason to stop if there is one.

    Parameters
    ----------
    maxtime : float
        Stop after so many seconds.
    callback : callable or None
        Called with an outcome after every iteration; a `StopIteration` from it stops the run.
    save : callable or None
        Called with the run every `save_every` seconds.
    save_every : float
        How often, in seconds.
    progress : bool
        Whether to show a line of progress, if standard error is a terminal.
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
        self.deadline = now + maxtime
        """When the time is up, on the clock of `time.perf_counter`."""
        self.seconds = 0.0
        """How long the run took, once it has ended."""
        self._callback = callback
        self._called_at = 0
        self._save, self._save_every = save, save_every
        self._next_save = now + save_every if save else math.inf
        self._line = _ProgressLine(sys.stderr) if progress and sys.stderr.isatty() else None
        self._next_line = now if self._line else math.inf

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to do beside the run."""
        busy = self._callback or self._save or self._line or math.isfinite(self.deadline)
        return not busy

    def __call__(self, run: StagedRun) -> Reason:
        """Do what is due."""
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
        if now >= self._next_line and self._line is not None:
            self._line.write(run, now - self._begin)
            self._next_line = now + _LINE_EVERY
        return Reason.MAXTIME if now >= self.deadline else Reason.RUNNING

    def close(self, run: StagedRun) -> None:
        """Stop the clock, write the line of progress a last time, and end it."""
        self.seconds = time.perf_counter() - self._begin
        if self._line is not None:
            self._line.write(run, time.perf_counter() - self._begin, end="\n")


class _ProgressLine:
    """One line of a terminal, written over and over."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, run: StagedRun, seconds: float, end: str = "") -> None:
        now = run.outcome()
        text = (
            f"iteration {now.nit}  evaluation {now.nfev}  f {now.fun:.6e}  "
            f"sigma {now.sigma:.2e}  {seconds:.1f} s"
        )
        self.write_text(text, end)

    def write_text(self, text: str, end: str = "") -> None:
        self._stream.write(f"\r{text:79}{end}")
        self._stream.flush()


@contextlib.contextmanager
def showing_compilation(progress: bool) -> Iterator[None]:
    """Show on the line of progress, if there is one, what is compiled meanwhile; leave it empty."""
    if not (progress and sys.stderr.isatty()):
        yield
        return
    line = _ProgressLine(sys.stderr)
    try:
        with announcing(lambda name: line.write_text(f"compiling {name} ...")):
            yield
    finally:
        line.write_text("", end="\r")


def scipy_style(callback: Any, result_of: Callable[[Outcome], Any]) -> Callable[[Outcome], object] | None:
    """Return a callback of an outcome that calls one in SciPy's convention.

    One whose only parameter is named `intermediate_result` receives a result, any other the point alone.
    """
    if callback is None:
        return None
    if takes_intermediate_result(callback):
        return lambda outcome: callback(intermediate_result=result_of(outcome))
    return lambda outcome: callback(outcome.x)
