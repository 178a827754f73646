"""Evaluation by others: processes, an executor, a map, or a function that takes all points at once."""

from __future__ import annotations

import contextlib
import math
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_EXCEPTION, BrokenExecutor, Executor, Future, wait
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pursuit.checks import Vector, checked_count, shown
from pursuit.engine.driving import Evaluate, Here
from pursuit.engine.processes import Processes, TimeLimitError, take_own_seeds
from pursuit.problems.objective import as_value, values_at_once

Map = Callable[[Callable[[Vector], Any], Iterable[Vector]], Iterable[Any]]
"""A callable like `map`."""
Read = Callable[[Any], Any]
"""Checks what an objective has returned."""
# Every worker is a process, all start together, and Windows cannot wait for more of them.
_MOST_WORKERS = 61 if sys.platform == "win32" else 1024


class StopIterationError(Exception):
    """Stands for a `StopIteration` of the objective, which a map would take for the end of its points."""


class _Guarded:
    """An objective whose `StopIteration` no map can swallow, and whose noise no two processes share."""

    def __init__(self, objective: Callable[[Vector], Any]) -> None:
        self._objective, self._home = objective, os.getpid()

    def __call__(self, x: Vector) -> Any:
        if os.getpid() != self._home:
            take_own_seeds()
        try:
            return self._objective(x)
        except StopIteration as stop:
            raise StopIterationError(*stop.args) from stop


def by_map(objective: Callable[[Vector], Any], apply: Map, read: Read = as_value) -> Evaluate:
    """Return what evaluates points by a callable like `map`."""
    guarded = _Guarded(objective)

    def evaluate(rows: list[Vector], values: list[Any]) -> None:
        count = 0
        try:
            for result in apply(guarded, rows):
                if count < len(rows):
                    values[count] = read(result)
                count += 1
        except StopIterationError as raised:
            raise StopIteration(*raised.args) from None
        if count != len(rows):
            raise ValueError(f"workers must return a value for each of {len(rows)} points, not {count}.")

    return evaluate


def at_once(fun: Callable[[NDArray[np.float64]], Any]) -> Evaluate:
    """Return what evaluates a round by one call of a function that takes the points one per row."""

    def evaluate(rows: list[Vector], values: list[Any]) -> None:
        values[:] = values_at_once(fun(np.array(rows)), len(rows))

    return evaluate


class Futures:
    """Evaluates points by an executor that the caller passes in, and keeps to a time limit."""

    def __init__(self, objective: Callable[[Vector], Any], executor: Executor, read: Read = as_value) -> None:
        self._objective, self._executor, self._read = _Guarded(objective), executor, read
        self.deadline: float = math.inf
        """When to stop waiting, on the clock of `time.perf_counter`."""

    def __call__(self, rows: list[Vector], values: list[Any]) -> None:
        """Evaluate points."""
        try:
            futures = {self._executor.submit(self._objective, row): j for j, row in enumerate(rows)}
            gather(futures, values, self.deadline, self._read)
        except BrokenExecutor:
            raise RuntimeError(
                "A worker of the executor died: it may have run out of memory, or the function may have "
                "ended its process."
            ) from None


def gather(futures: dict[Future[Any], int], values: list[Any], deadline: float, read: Read) -> None:
    """Put the results of futures into their places; those found before an exception are there, too."""
    left = deadline - time.perf_counter()
    done, waiting = wait(futures, None if math.isinf(left) else max(0.0, left), FIRST_EXCEPTION)
    for future in waiting:
        future.cancel()
    try:
        for future in sorted(done, key=lambda future: future.exception() is not None):
            values[futures[future]] = read(future.result())
    except StopIterationError as raised:
        raise StopIteration(*raised.args) from None
    if waiting:
        raise TimeLimitError


def checked_workers(workers: Any) -> int | Map | Executor:
    """Return an executor or a callable as it is, and anything else as a number of processes."""
    if isinstance(workers, Executor):
        return workers
    if hasattr(workers, "get_executor"):
        # A client of Dask.
        executor: Executor = workers.get_executor()
        return executor
    if callable(workers):
        apply: Map = workers
        return apply
    count = checked_count("workers", workers, at_least=-1)
    if count == 0:
        raise ValueError("workers must be positive, or -1 for one per core, but 0 was given.")
    if count > _MOST_WORKERS:
        raise ValueError(
            f"workers must be at most {_MOST_WORKERS}, as each is a process of its own, "
            f"but {shown(workers)} was given."
        )
    return min(os.cpu_count() or 1, _MOST_WORKERS) if count == -1 else count


def number_of_workers(workers: Any) -> int | None:
    """Return how many points these workers evaluate at the same time; None if that is unknown."""
    if hasattr(workers, "nthreads"):
        # A client of Dask.
        return sum(workers.nthreads().values()) or None
    if isinstance(workers, Executor):
        # The executors of the standard library know it, though they do not say so.
        count = getattr(workers, "_max_workers", None)
        return count if isinstance(count, int) and count > 0 else None
    checked = checked_workers(workers)
    return checked if isinstance(checked, int) else None


@contextlib.contextmanager
def evaluator(
    objective: Callable[[Any], Any],
    workers: int | Map | Executor,
    read: Read = as_value,
    longest: float = math.inf,
) -> Iterator[Evaluate]:
    """Yield what evaluates points: this process, or elsewhere an executor, a map, or a number of processes.

    What they return is `read` here; by default it must be a real number. If an evaluation may take no more
    than `longest` seconds, even a single worker is a process.
    """
    if workers == 1 and math.isinf(longest):
        yield Here(objective, read)
        return
    if isinstance(workers, Executor):
        yield Futures(objective, workers, read)
        return
    if callable(workers):
        yield by_map(objective, workers, read)
        return
    processes = Processes(objective, workers, read, longest)
    try:
        yield processes
    finally:
        processes.close()
