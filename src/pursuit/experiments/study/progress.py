"""The progress of a study, as bars on a terminal and as lines elsewhere."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from pursuit.compiling.jit import has_compiler
from pursuit.experiments.common.formatting import spaced
from pursuit.experiments.study.results import DEVICES, RunRecord
from pursuit.experiments.study.scheduler import ProgressListener, RunFailure, RunGroup
from pursuit.optional import how_to_install

_HOW_COMPILED = "Methods are compiled first; the times of runs do not include that."
_HOW_INTERPRETED = (
    "Methods are interpreted; compiled by Numba they run up to a hundred times faster: "
    f"{how_to_install('compiled')}."
)


def listener_for(console: Console) -> ProgressListener:
    """Return bars for a terminal, and lines for any other console."""
    return ProgressBars(console) if console.is_terminal else ProgressLines(console)


def time_left(groups: Sequence[RunGroup], workers: int) -> str:
    """Return an estimate of the remaining time from the finished runs; "?" if there is none."""
    known = [group.seconds_each for group in groups if group.done]
    if not known:
        return "?"
    mean = sum(known) / len(known)
    seconds = sum(group.left * (group.seconds_each if group.done else mean) for group in groups)
    minutes, seconds = divmod(math.ceil(seconds / workers), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}"


class ProgressLines(ProgressListener):
    """Prints a line for each finished cell, and for each failure."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._groups: Sequence[RunGroup] = ()
        self._workers = 1

    def begin(self, groups: Sequence[RunGroup], workers: int, device: str = DEVICES[0]) -> None:
        """Print how many runs are missing."""
        self._groups, self._workers = groups, workers
        how = f"{workers} at a time" if device == DEVICES[0] else f"many at a time on the {device}"
        missing = sum(len(group.missing) for group in groups)
        total = sum(group.wanted for group in groups)
        self._print(
            f"{spaced(missing)} of {spaced(total)} runs to do, {how}. "
            f"{_HOW_COMPILED if has_compiler() else _HOW_INTERPRETED}"
        )

    def finished(self, group: RunGroup, run: RunRecord) -> None:
        """Print a line when the last run of a cell is finished."""
        if group.done == group.wanted:
            done = sum(other.done for other in self._groups)
            total = sum(other.wanted for other in self._groups)
            names = " = ".join(map(str, group.cells))
            self._print(
                f"{names}: {group.done} runs, {group.seconds_each:.3g} s each. "
                f"{spaced(done)} of {spaced(total)} done, {time_left(self._groups, self._workers)} left."
            )

    def failed(self, failure: RunFailure) -> None:
        """Print what failed."""
        self._print(f"FAILED: {failure}")

    def lost(self, runs: int) -> None:
        """Print how many runs are repeated after a worker has died."""
        self._print(f"A worker died; {runs} runs are repeated.")

    def noticed(self, sentence: str) -> None:
        """Print it."""
        self._print(sentence)

    def _print(self, text: str) -> None:
        self._console.print(
            f"{time.strftime('%H:%M:%S')} {text}", emoji=False, highlight=False, markup=False, soft_wrap=True
        )


class ProgressBars(ProgressLines):
    """Shows a bar for all runs and one for each scheme; failures scroll past above them."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[state]}"),
            console=console,
        )
        self._bars: dict[str, TaskID] = {}

    def begin(self, groups: Sequence[RunGroup], workers: int, device: str = DEVICES[0]) -> None:
        """Print how many runs are missing, and draw the bars."""
        super().begin(groups, workers, device)
        if not self._bars:
            self._progress.start()
            for name in ["all runs", *dict.fromkeys(group.entry.cell.scheme for group in groups)]:
                self._bars[name] = self._progress.add_task(name, total=0, state="")
        self._redraw()

    def finished(self, group: RunGroup, run: RunRecord) -> None:
        """Update the bars."""
        self._redraw()

    def end(self) -> None:
        """Stop updating the bars, and leave them on the screen."""
        self._progress.stop()

    def _redraw(self) -> None:
        for name, bar in self._bars.items():
            chosen = [group for group in self._groups if name in ("all runs", group.entry.cell.scheme)]
            done, wanted = sum(group.done for group in chosen), sum(group.wanted for group in chosen)
            running = sum(group.running for group in chosen)
            state = f"{time_left(chosen, self._workers)} left" if name == "all runs" else f"{running} running"
            self._progress.update(
                bar, completed=done, total=wanted, state=state if any(group.left for group in chosen) else ""
            )
