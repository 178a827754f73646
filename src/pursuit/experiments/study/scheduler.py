"""The scheduler of a study: executes the missing runs, the longest first, and stores each when finished."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
from typing import Any, NamedTuple

from pursuit.experiments.common.errors import StudyError
from pursuit.experiments.common.executors import PoolMaker, WorkerPool
from pursuit.experiments.study.grid import Entry, Key, execute
from pursuit.experiments.study.results import DEVICES, Cell, RunRecord
from pursuit.experiments.study.store import Store

# How often in a row workers may die without finishing a run.
_MOST_DEATHS = 3


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


class ProgressListener:
    """Notified of what happens in a study; this one does nothing."""

    def begin(self, groups: Sequence[RunGroup], workers: int, device: str = DEVICES[0]) -> None:
        """Handle the start of the execution, or a new start after a worker has died."""

    def finished(self, group: RunGroup, run: RunRecord) -> None:
        """Handle a run that is finished and stored."""

    def failed(self, failure: RunFailure) -> None:
        """Handle a run that raised an exception; the rest of its group is left out."""

    def lost(self, runs: int) -> None:
        """Handle the death of a worker, after which some runs are repeated."""

    def noticed(self, sentence: str) -> None:
        """Handle something that users should know, and that changes no result."""

    def end(self) -> None:
        """Handle the end of the execution."""


def run_groups(entries: Sequence[Entry], store: Store) -> list[RunGroup]:
    """Return the groups of runs that entries share, with what the store has of them."""
    grouped: dict[Key, list[Entry]] = {}
    for entry in entries:
        grouped.setdefault(entry.key, []).append(entry)
    return [RunGroup(group, store.numbers(key)) for key, group in grouped.items()]


def execute_missing(
    entries: Sequence[Entry], store: Store, make_pool: PoolMaker, listener: ProgressListener | None = None
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
    listener : ProgressListener
        Notified of the progress.
    """
    scheduler = _Scheduler(run_groups(entries, store), store, listener or ProgressListener())
    try:
        scheduler.run_all(make_pool)
    finally:
        scheduler.listener.end()
    return scheduler.failures


class _Scheduler:
    """The runs that are missing and those being executed."""

    def __init__(self, groups: Sequence[RunGroup], store: Store, listener: ProgressListener) -> None:
        self.listener = listener
        self.failures: list[RunFailure] = []
        self._groups = groups
        self._store = store
        self._finished = 0
        self._running: dict[Future[Any], tuple[RunGroup, int]] = {}

    @property
    def left(self) -> bool:
        return any(group.missing for group in self._groups)

    def run_all(self, make_pool: PoolMaker) -> None:
        """Execute all runs, with a new pool whenever one breaks."""
        deaths = 0
        while self.left:
            with make_pool() as pool:
                finished = self._run_with(pool)
            deaths = 0 if finished else deaths + 1
            if self.left and deaths > _MOST_DEATHS:
                raise StudyError(
                    f"Workers died {deaths} times in a row without finishing a run: they may have run out of "
                    "memory. Finished runs are kept."
                )

    def _run_with(self, pool: WorkerPool) -> int:
        """Execute runs until none is left or the pool breaks; return how many were finished."""
        before = self._finished
        self.listener.begin(self._groups, pool.size)
        try:
            self._submit(pool)
            while self._running:
                done, _ = wait(self._running, return_when=FIRST_COMPLETED)
                self._collect(done)
                self._submit(pool)
        except BrokenExecutor:
            self.listener.lost(len(self._running))
            for group, number in self._running.values():
                group.put_back(number)
            self._running.clear()
        return self._finished - before

    def _submit(self, pool: WorkerPool) -> None:
        """Submit two runs for each worker, so that none has to wait for the next."""
        while len(self._running) < 2 * pool.size and self.left:
            group = max((group for group in self._groups if group.missing), key=lambda group: group.urgency)
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
            self.listener.finished(group, run)
        self._finished += len(finished)
        if broken is not None:
            raise BrokenExecutor from broken

    def _fail(self, group: RunGroup, number: int, error: BaseException) -> None:
        """Leave out the rest of a group, and report its first failure."""
        if not group.given_up:
            self.failures.append(RunFailure(group.entry.cell, number, error))
            self.listener.failed(self.failures[-1])
        group.give_up()
