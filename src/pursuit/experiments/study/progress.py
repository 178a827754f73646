"""How a study shows what it does: live on a terminal, elsewhere a line per event."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from pursuit.experiments.common.formatting import spaced
from pursuit.experiments.study.results import Run
from pursuit.experiments.study.scheduler import Batch, Failure, Watcher


def watcher_for(console: Console) -> Watcher:
    """Return what suits a console."""
    return Bars(console) if console.is_terminal else Lines(console)


def time_left(batches: Sequence[Batch], workers: int) -> str:
    """Return how long the rest will take, going by the runs that are finished; "?" if none is."""
    known = [batch.seconds_each for batch in batches if batch.done]
    if not known:
        return "?"
    usual = sum(known) / len(known)
    seconds = sum(batch.left * (batch.seconds_each if batch.done else usual) for batch in batches)
    minutes, seconds = divmod(math.ceil(seconds / workers), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}"


class Lines(Watcher):
    """A line for each cell that is finished, and for all that goes wrong."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._batches: Sequence[Batch] = ()
        self._workers = 1

    def begin(self, batches: Sequence[Batch], workers: int) -> None:
        """Say what is ahead."""
        self._batches, self._workers = batches, workers
        missing = sum(len(batch.missing) for batch in batches)
        total = sum(batch.wanted for batch in batches)
        self._say(f"{spaced(missing)} of {spaced(total)} runs to do, {workers} at a time.")

    def finished(self, batch: Batch, run: Run) -> None:
        """Say that a cell is finished, if it is."""
        if batch.done == batch.wanted:
            done = sum(other.done for other in self._batches)
            total = sum(other.wanted for other in self._batches)
            names = " = ".join(map(str, batch.cells))
            self._say(
                f"{names}: {batch.done} runs, {batch.seconds_each:.3g} s each. "
                f"{spaced(done)} of {spaced(total)} done, {time_left(self._batches, self._workers)} left."
            )

    def failed(self, failure: Failure) -> None:
        """Say what failed."""
        self._say(f"FAILED: {failure}")

    def lost(self, runs: int) -> None:
        """Say that a worker died."""
        self._say(f"A worker died; {runs} runs are done again.")

    def _say(self, text: str) -> None:
        self._console.print(
            f"{time.strftime('%H:%M:%S')} {text}", highlight=False, markup=False, soft_wrap=True
        )


class Bars(Lines):
    """A bar for all runs and one for each scheme; what goes wrong scrolls past above them."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[state]}"),
            console=console,
        )
        self._bars: dict[str, TaskID] = {}

    def begin(self, batches: Sequence[Batch], workers: int) -> None:
        """Draw the bars."""
        self._batches, self._workers = batches, workers
        if not self._bars:
            self._progress.start()
            for name in ["all runs", *dict.fromkeys(batch.entry.cell.scheme for batch in batches)]:
                self._bars[name] = self._progress.add_task(name, total=0, state="")
        self._redraw()

    def finished(self, batch: Batch, run: Run) -> None:
        """Move the bars."""
        self._redraw()

    def end(self) -> None:
        """Leave the bars as they are."""
        self._progress.stop()

    def _redraw(self) -> None:
        for name, bar in self._bars.items():
            chosen = [batch for batch in self._batches if name in ("all runs", batch.entry.cell.scheme)]
            done, wanted = sum(batch.done for batch in chosen), sum(batch.wanted for batch in chosen)
            running = sum(batch.running for batch in chosen)
            state = f"{time_left(chosen, self._workers)} left" if name == "all runs" else f"{running} at work"
            self._progress.update(
                bar, completed=done, total=wanted, state=state if any(batch.left for batch in chosen) else ""
            )
