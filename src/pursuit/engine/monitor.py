"""What happens beside a run: time limit, callbacks, checkpoints and progress."""

from __future__ import annotations

import math
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pursuit.checks import Vector, takes_intermediate_result
from pursuit.engine.archive import check_writable
from pursuit.engine.checkpoint import check_options, save
from pursuit.engine.outcome import Outcome
from pursuit.engine.setup import Setup
from pursuit.engine.staged import StagedRun
from pursuit.engine.stopping import Reason
from pursuit.reporting.progress import Progress


class Monitor:
    """Called by the driver after every leg; returns a reason to stop if there is one.

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
