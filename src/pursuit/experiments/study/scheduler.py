"""The conduct of a study: what is missing is executed, the longest first, and written down at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
from typing import Any, NamedTuple

from pursuit.experiments.common.errors import StudyError
from pursuit.experiments.common.executors import Crew, CrewMaker
from pursuit.experiments.study.grid import Entry
from pursuit.experiments.study.results import Cell, Run
from pursuit.experiments.study.store import Key, Store, key_of
from pursuit.experiments.study.worker import Task, execute

# How often in a row workers may die before a single run is finished.
_PATIENCE = 3


class Batch:
    """The runs that one or several cells share, and how far they are."""

    def __init__(self, entries: Sequence[Entry], done: dict[int, float]) -> None:
        self.entry = entries[0]
        self.cells = [entry.cell for entry in entries]
        self.wanted = max(entry.runs for entry in entries)
        self.missing = [number for number in range(self.wanted) if number not in done]
        self.done = self.wanted - len(self.missing)
        self.running = 0
        self.given_up = False
        self._seconds = [seconds for number, seconds in done.items() if number < self.wanted]

    @property
    def seconds_each(self) -> float:
        """What a run takes on average; NaN if none is finished yet."""
        return sum(self._seconds) / self.done if self.done else math.nan

    @property
    def urgency(self) -> tuple[float, int]:
        """What to begin first: a run of what nobody knows the time of, and then what takes longest.

        The first run of a kind may have been compiled as well, so the shortest tells how long they take.
        """
        if self.done:
            return min(self._seconds), self.entry.cell.n
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
        """Execute a run once more."""
        self.running -= 1
        self.missing.insert(0, number)

    def finish(self, run: Run) -> None:
        """Count a finished run."""
        self.running -= 1
        self.done += 1
        self._seconds.append(run.seconds)

    def give_up(self) -> None:
        """Execute no more runs after one that failed."""
        self.running -= 1
        self.given_up = True
        self.missing.clear()


class Failure(NamedTuple):
    """A run that raised an exception."""

    cell: Cell
    number: int
    error: BaseException

    def __str__(self) -> str:
        kind = type(self.error).__name__
        return f"{self.cell}, run {self.number}: {kind}: {self.error}. The rest of its runs are left out."


class Watcher:
    """What may be told of a study as it goes on; this one keeps silent."""

    def begin(self, batches: Sequence[Batch], workers: int) -> None:
        """Look at the work ahead."""

    def finished(self, batch: Batch, run: Run) -> None:
        """Hear of a finished run, which has been written down."""

    def failed(self, failure: Failure) -> None:
        """Hear of a run that raised an exception; its cell is given up."""

    def lost(self, runs: int) -> None:
        """Hear that a worker died, and that so many runs are done again."""

    def end(self) -> None:
        """Hear that all is over."""


def batches_of(entries: Sequence[Entry], store: Store) -> list[Batch]:
    """Return the runs that entries ask for, with what the store has of them."""
    grouped: dict[Key, list[Entry]] = {}
    for entry in entries:
        grouped.setdefault(key_of(entry), []).append(entry)
    return [Batch(group, store.numbers(key)) for key, group in grouped.items()]


def conduct(
    entries: Sequence[Entry], store: Store, make_crew: CrewMaker, watcher: Watcher | None = None
) -> list[Failure]:
    """Execute the runs that the store lacks, and return those that raised an exception.

    Parameters
    ----------
    entries : sequence of Entry
        The study.
    store : Store
        Where finished runs go, as soon as they are.
    make_crew : callable
        Makes the executor; called again where a worker's death has broken it.
    watcher : Watcher
        Who is told how it goes.
    """
    work = _Work(batches_of(entries, store), store, watcher or Watcher())
    try:
        work.do_all(make_crew)
    finally:
        work.watcher.end()
    return work.failures


class _Work:
    """What is to be done, and what is being done."""

    def __init__(self, batches: Sequence[Batch], store: Store, watcher: Watcher) -> None:
        self.watcher = watcher
        self.failures: list[Failure] = []
        self._batches = batches
        self._store = store
        self._finished = 0
        self._running: dict[Future[Any], tuple[Batch, int]] = {}

    @property
    def left(self) -> bool:
        return any(batch.missing for batch in self._batches)

    def do_all(self, make_crew: CrewMaker) -> None:
        """Do all that is left, with another crew where one has broken down."""
        deaths = 0
        while self.left:
            with make_crew() as crew:
                finished = self.go_on(crew)
            deaths = 0 if finished else deaths + 1
            if self.left and deaths > _PATIENCE:
                raise StudyError(
                    f"Workers died {deaths} times in a row without finishing a run: is there enough memory? "
                    "What was finished before is kept."
                )

    def go_on(self, crew: Crew) -> int:
        """Keep a crew busy until nothing is left or it breaks down; return how many runs it has finished."""
        before = self._finished
        self.watcher.begin(self._batches, crew.size)
        try:
            self._submit(crew)
            while self._running:
                done, _ = wait(self._running, return_when=FIRST_COMPLETED)
                self._collect(done)
                self._submit(crew)
        except BrokenExecutor:
            self.watcher.lost(len(self._running))
            for batch, number in self._running.values():
                batch.put_back(number)
            self._running.clear()
        return self._finished - before

    def _submit(self, crew: Crew) -> None:
        """Begin runs, one more than are being executed for each worker, so that none has to wait."""
        while len(self._running) < 2 * crew.size and self.left:
            batch = max((batch for batch in self._batches if batch.missing), key=lambda batch: batch.urgency)
            number = batch.take()
            try:
                future = crew.executor.submit(execute, Task(batch.entry.recipe, number, batch.entry.code))
            except BrokenExecutor:
                batch.put_back(number)
                raise
            self._running[future] = batch, number

    def _collect(self, done: set[Future[Any]]) -> None:
        """Write down what is finished; what a broken executor took down with it stays among the running."""
        finished = []
        broken = None
        for future in done:
            batch, number = self._running[future]
            error = CancelledError() if future.cancelled() else future.exception()
            if isinstance(error, (BrokenExecutor, CancelledError)):
                broken = error
                continue
            del self._running[future]
            if error is None:
                finished.append((batch, *future.result()))
            else:
                self._fail(batch, number, error)
        self._store.add((key_of(batch.entry), run, trace) for batch, run, trace in finished)
        for batch, run, _ in finished:
            batch.finish(run)
            self.watcher.finished(batch, run)
        self._finished += len(finished)
        if broken is not None:
            raise BrokenExecutor from broken

    def _fail(self, batch: Batch, number: int, error: BaseException) -> None:
        """Give a batch up; its first failure tells enough."""
        if not batch.given_up:
            self.failures.append(Failure(batch.entry.cell, number, error))
            self.watcher.failed(self.failures[-1])
        batch.give_up()
