"""The scheduler of a study: executes the missing runs, the longest first, stores each, and shows progress."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
from datetime import timedelta
from typing import Any, NamedTuple

import rich.progress
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn

from pursuit.compiling.jit import has_compiler
from pursuit.experiments.common import StudyError
from pursuit.experiments.common.executors import PoolMaker, WorkerPool
from pursuit.experiments.common.formatting import spaced
from pursuit.experiments.study.grid import Entry, Key, execute
from pursuit.experiments.study.results import DEVICES, Cell, RunRecord
from pursuit.experiments.study.store import Store
from pursuit.optional import how_to_install

# How often in a row workers may die without finishing a run.
_MOST_DEATHS = 3
_COMPILED = "Methods are compiled first; the times of runs do not include that."
_INTERPRETED = (
    "Methods are interpreted; compiled by Numba they run up to a hundred times faster: "
    f"{how_to_install('compiled')}."
)


class RunGroup:
    """The runs that one or several cells share, and their progress."""

    def __init__(self, entries: Sequence[Entry], done: dict[int, float]) -> None:
        self.entry: Entry = entries[0]
        self.cells: list[Cell] = [entry.cell for entry in entries]
        self.wanted: int = max(entry.runs for entry in entries)
        self.missing: list[int] = [number for number in range(self.wanted) if number not in done]
        self.done: int = self.wanted - len(self.missing)
        self.running: int = 0
        self.given_up: bool = False
        self._seconds = [seconds for number, seconds in done.items() if number < self.wanted]

    @property
    def seconds_each(self) -> float:
        """The mean time of a run; NaN if none is finished yet."""
        return sum(self._seconds) / self.done if self.done else math.nan

    @property
    def urgency(self) -> tuple[float, int]:
        """What to start first: one run of each group, to learn how long it takes, and then the longest."""
        if self.done:
            return self.seconds_each, self.entry.cell.n
        return (0.0 if self.running else math.inf), self.entry.cell.n

    @property
    def left(self) -> int:
        """How many runs are not finished."""
        return len(self.missing) + self.running

    def take(self) -> int:
        """Return the number of the next run to execute."""
        self.running += 1
        return self.missing.pop(0)

    def put_back(self, number: int) -> None:
        """Return a run that must be executed again."""
        self.running -= 1
        self.missing.insert(0, number)

    def finish(self, run: RunRecord) -> None:
        """Count a finished run."""
        self.running -= 1
        self.done += 1
        self._seconds.append(run.seconds)

    def give_up(self) -> None:
        """Leave out the other runs after one has failed."""
        self.running -= 1
        self.given_up = True
        self.missing.clear()


class RunFailure(NamedTuple):
    """A run that raised an exception."""

    cell: Cell
    number: int
    error: BaseException

    def __str__(self) -> str:
        kind, text = type(self.error).__name__, str(self.error).removesuffix(".")
        reason = f"{kind}: {text}" if text else kind
        return f"{self.cell}, run {self.number}: {reason}. The rest of its runs are left out."


class Progress:
    """Shows what happens in a study: bars in a terminal, elsewhere a line for each finished cell."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._groups: Sequence[RunGroup] = ()
        self._workers = 1
        self._bars: rich.progress.Progress | None = None
        if console.is_terminal:
            state = TextColumn("{task.fields[state]}")
            name = TextColumn("{task.description}", markup=False)
            columns = name, BarColumn(), MofNCompleteColumn(), state
            self._bars = rich.progress.Progress(*columns, console=console)

    def begin(self, groups: Sequence[RunGroup], workers: int, device: str = DEVICES[0]) -> None:
        """Print how many runs are missing, at the start or after a worker has died, and draw the bars."""
        self._groups, self._workers = groups, workers
        how = f"{workers} at a time" if device == DEVICES[0] else f"many at a time on the {device}"
        missing = sum(len(group.missing) for group in groups)
        total = sum(group.wanted for group in groups)
        compiled = _COMPILED if has_compiler() else _INTERPRETED
        self.noticed(f"{spaced(missing)} of {spaced(total)} runs to do, {how}. {compiled}")
        if self._bars is not None:
            if not self._bars.tasks:
                self._bars.start()
                for name in ["all runs", *dict.fromkeys(group.entry.cell.scheme for group in groups)]:
                    self._bars.add_task(name, total=0, state="")
            self._redraw(self._bars)

    def finished(self, group: RunGroup) -> None:
        """Update the bars, or print a line when the last run of a cell is finished and stored."""
        if self._bars is not None:
            self._redraw(self._bars)
        elif group.done == group.wanted:
            done = sum(other.done for other in self._groups)
            total = sum(other.wanted for other in self._groups)
            names = " = ".join(map(str, group.cells))
            self.noticed(
                f"{names}: {group.done} runs, {group.seconds_each:.3g} s each. "
                f"{spaced(done)} of {spaced(total)} done, {time_left(self._groups, self._workers)} left."
            )

    def noticed(self, sentence: str) -> None:
        """Print a sentence with the time; it scrolls past above bars."""
        show(self._console, f"{time.strftime('%H:%M:%S')} {sentence}")

    def end(self) -> None:
        """Stop updating the bars, and leave them on the screen."""
        if self._bars is not None:
            self._bars.stop()

    def _redraw(self, bars: rich.progress.Progress) -> None:
        for bar in bars.tasks:
            name = bar.description
            chosen = [group for group in self._groups if name in ("all runs", group.entry.cell.scheme)]
            done, wanted = sum(group.done for group in chosen), sum(group.wanted for group in chosen)
            running = sum(group.running for group in chosen)
            state = f"{time_left(chosen, self._workers)} left" if name == "all runs" else f"{running} running"
            state = state if any(group.left for group in chosen) else ""
            bars.update(bar.id, completed=done, total=wanted, state=state)


def show(console: Console, text: str) -> None:
    """Print a text as it is."""
    console.print(text, emoji=False, highlight=False, markup=False, soft_wrap=True)


def time_left(groups: Sequence[RunGroup], workers: int) -> str:
    """Return an estimate of the remaining time from the finished runs; "?" if there is none."""
    known = [group.seconds_each for group in groups if group.done]
    if not known:
        return "?"
    mean = sum(known) / len(known)
    seconds = sum(group.left * (group.seconds_each if group.done else mean) for group in groups)
    return str(timedelta(seconds=math.ceil(seconds / workers)))


def run_groups(entries: Sequence[Entry], store: Store) -> list[RunGroup]:
    """Return the groups of runs that entries share, with what the store has of them."""
    grouped: dict[Key, list[Entry]] = {}
    for entry in entries:
        grouped.setdefault(entry.key, []).append(entry)
    return [RunGroup(group, store.numbers(key)) for key, group in grouped.items()]


def execute_missing(
    entries: Sequence[Entry], store: Store, make_pool: PoolMaker, progress: Progress
) -> list[RunFailure]:
    """Execute the runs that the store lacks, and return those that raised an exception.

    Parameters
    ----------
    entries : sequence of Entry
        The study.
    store : Store
        Where finished runs are stored.
    make_pool : callable
        Makes the pool of workers; called again when a worker's death has broken it.
    progress : Progress
        Shows what happens.
    """
    scheduler = _Scheduler(run_groups(entries, store), store, progress)
    try:
        scheduler.run_all(make_pool)
    finally:
        progress.end()
    return scheduler.failures


class _Scheduler:
    """The runs that are missing and those being executed."""

    def __init__(self, groups: Sequence[RunGroup], store: Store, progress: Progress) -> None:
        self._progress = progress
        self.failures: list[RunFailure] = []
        self._groups = groups
        self._store = store
        self._finished = 0
        self._running: dict[Future[Any], tuple[RunGroup, int]] = {}

    def _left(self) -> list[RunGroup]:
        return [group for group in self._groups if group.missing]

    def run_all(self, make_pool: PoolMaker) -> None:
        """Execute all runs, with a new pool whenever one breaks."""
        deaths = 0
        while self._left():
            with make_pool() as pool:
                finished = self._run_with(pool)
            deaths = 0 if finished else deaths + 1
            if self._left() and deaths > _MOST_DEATHS:
                raise StudyError(
                    f"Workers died {deaths} times in a row without finishing a run: they may have run out of "
                    "memory. Finished runs are kept."
                )

    def _run_with(self, pool: WorkerPool) -> int:
        """Execute runs until none is left or the pool breaks; return how many were finished."""
        before = self._finished
        self._progress.begin(self._groups, pool.size)
        try:
            self._submit(pool)
            while self._running:
                done, _ = wait(self._running, return_when=FIRST_COMPLETED)
                self._collect(done)
                self._submit(pool)
        except BrokenExecutor:
            self._progress.noticed(f"A worker died; {len(self._running)} runs are repeated.")
            for group, number in self._running.values():
                group.put_back(number)
            self._running.clear()
        return self._finished - before

    def _submit(self, pool: WorkerPool) -> None:
        """Submit two runs for each worker, so that none has to wait for the next."""
        while len(self._running) < 2 * pool.size and (left := self._left()):
            group = max(left, key=lambda group: group.urgency)
            number = group.take()
            try:
                future = pool.executor.submit(execute, group.entry.recipe, number, group.entry.key.code)
            except BrokenExecutor:
                group.put_back(number)
                raise
            self._running[future] = group, number

    def _collect(self, done: set[Future[Any]]) -> None:
        """Store finished runs; those that a broken executor has lost stay among the running ones."""
        finished = []
        broken = None
        # In the order of their submission: of several that have failed, the first one is named.
        for future in [future for future in self._running if future in done]:
            group, number = self._running[future]
            error = CancelledError() if future.cancelled() else future.exception()
            if isinstance(error, (BrokenExecutor, CancelledError)):
                broken = error
                continue
            del self._running[future]
            if error is None:
                finished.append((group, *future.result()))
            else:
                self._fail(group, number, error)
        self._store.add((group.entry.key, run, trace) for group, run, trace in finished)
        for group, run, _ in finished:
            group.finish(run)
            self._progress.finished(group)
        self._finished += len(finished)
        if broken is not None:
            raise BrokenExecutor from broken

    def _fail(self, group: RunGroup, number: int, error: BaseException) -> None:
        """Leave out the rest of a group, and report its first failure."""
        if not group.given_up:
            self.failures.append(RunFailure(group.entry.cell, number, error))
            self._progress.noticed(f"FAILED: {self.failures[-1]}")
        group.give_up()
