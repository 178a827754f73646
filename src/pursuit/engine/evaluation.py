"""Evaluation by others: processes, an executor, a map, or a function that takes all points at once."""

from __future__ import annotations

import contextlib
import math
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_EXCEPTION, Executor, Future, wait
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pursuit.checks import Vector, checked_count, shown
from pursuit.engine.processes import Processes, take_own_seeds
from pursuit.problems.objective import as_value, values_at_once

Evaluate = Callable[..., None]
"""`evaluate(rows, values, target)` puts the values of points into a list of Nones; those found before an
exception stay there.

The points are arrays of nobody else's, which a function may keep or overwrite. With a target, which may be
left out or None, the first of them will do: the points of the next call begin with those that have no values.
"""
Map = Callable[[Callable[[Vector], Any], Iterable[Vector]], Iterable[Any]]
"""A callable like `map`."""
Submit = Callable[[Vector], Future[Any]]
Wait = Callable[[Iterable[Future[Any]], float], object]
Read = Callable[[Any], Any]
"""Checks what an objective has returned."""
# Every worker is a process, all start together, and Windows cannot wait for more of them.
_MOST_WORKERS = 61 if sys.platform == "win32" else 1024
# How long points are evaluated here before others have a turn, in seconds.
_TURN = 0.05


class TimeLimitError(Exception):
    """The time limit was reached while others were evaluating."""


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


class Here:
    """Evaluates points in this process, one after the other.

    What the objective returns is `read`, unless it is a float; by default it must be a real number.
    """

    def __init__(self, objective: Callable[[Vector], Any], read: Callable[[Any], Any] = as_value) -> None:
        self._objective, self._read = objective, read
        self.deadline: float = math.inf
        """When the time is up, on the clock of `time.perf_counter`."""

    def __call__(self, rows: list[Vector], values: list[Any], target: float | None = None) -> None:
        """Evaluate points; with a target until one reaches it, the time is up, or others want a turn."""
        objective, read, clock = self._objective, self._read, time.perf_counter
        end = math.inf if target is None else min(clock() + _TURN, self.deadline)
        for j, row in enumerate(rows):
            result = objective(row)
            values[j] = result = result if type(result) is float else read(result)
            if target is not None and (result <= target or clock() >= end):
                return


def by_map(objective: Callable[[Vector], Any], apply: Map, read: Read = as_value) -> Evaluate:
    """Return what evaluates points by a callable like `map`."""
    guarded = _Guarded(objective)

    def evaluate(rows: list[Vector], values: list[Any], target: float | None = None) -> None:
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

    def evaluate(rows: list[Vector], values: list[Any], target: float | None = None) -> None:
        values[:] = values_at_once(fun(np.array(rows)), len(rows))

    return evaluate


class Others:
    """Points evaluated by others, who get the next one as soon as they are free; it keeps to a time limit.

    Parameters
    ----------
    submit : callable
        Begins to evaluate a point, and returns its future.
    wait : callable
        Waits for some futures, or for an exception of one of them, or so many seconds.
    read : callable
        Checks what the objective has returned.
    """

    def __init__(self, submit: Submit, wait: Wait, read: Read = as_value) -> None:
        self._submit, self._wait, self._read = submit, wait, read
        self._left: list[tuple[Vector, Future[Any]]] = []
        """The points whose evaluation has begun, after those whose values were returned."""
        self.deadline: float = math.inf
        """When to stop waiting, on the clock of `time.perf_counter`."""

    def __call__(self, rows: list[Vector], values: list[Any], target: float | None = None) -> None:
        """Evaluate points; with a target until a quarter of them have values, or one of these reaches it.

        The others go on meanwhile.
        """
        futures = self._begin(rows)
        try:
            done = self._await(futures, len(rows) if target is None else -(-len(rows) // 4))
        except BaseException:
            for j, future in enumerate(futures):
                if not future.cancel() and future.done() and future.exception() is None:
                    values[j] = self._read(future.result())
            raise
        self._left = self._left[done:]
        for j, future in enumerate(futures[:done]):
            values[j] = self._read(future.result())
            if target is not None and values[j] <= target:
                return

    def _begin(self, rows: list[Vector]) -> list[Future[Any]]:
        """Begin to evaluate points, unless that was done before."""
        known = len(self._left)
        if known > len(rows) or not all(map(np.array_equal, rows, (row for row, _ in self._left))):
            for _, future in self._left:
                future.cancel()
            known = 0
        # The function may overwrite what it gets.
        self._left = self._left[:known] + [(row.copy(), self._submit(row)) for row in rows[known:]]
        return [future for _, future in self._left]

    def _await(self, futures: list[Future[Any]], enough: int) -> int:
        """Wait until so many of the first futures are done, and return how many of the first are by now."""
        self._wait(futures[:enough], self.deadline - time.perf_counter())
        for future in futures[:enough]:
            if future.done() and (error := future.exception()) is not None:
                raise StopIteration(*error.args) if isinstance(error, StopIterationError) else error
        is_done = (future.done() and future.exception() is None for future in futures)
        done = next((j for j, there in enumerate(is_done) if not there), len(futures))
        if done < enough:
            raise TimeLimitError
        return done


def by_executor(objective: Callable[[Vector], Any], executor: Executor, read: Read = as_value) -> Others:
    """Return what evaluates points by an executor that the caller passes in."""
    guarded = _Guarded(objective)

    def submit(row: Vector) -> Future[Any]:
        return executor.submit(guarded, row)

    def wait_for(futures: Iterable[Future[Any]], seconds: float) -> None:
        wait(futures, None if math.isinf(seconds) else max(0.0, seconds), FIRST_EXCEPTION)

    return Others(submit, wait_for, read)


def checked_workers(workers: Any) -> int | Map | Executor:
    """Return an executor or a callable as it is, and anything else as a number of processes."""
    # A client of Dask has an executor.
    workers = workers.get_executor() if hasattr(workers, "get_executor") else workers
    if isinstance(workers, Executor) or callable(workers):
        others: Executor | Map = workers
        return others
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
        yield by_executor(objective, workers, read)
        return
    if callable(workers):
        yield by_map(objective, workers, read)
        return
    processes = Processes(objective, workers, longest)
    try:
        yield Others(processes.submit, processes.wait, read)
    finally:
        processes.close()
