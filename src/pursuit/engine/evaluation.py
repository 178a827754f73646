"""Who evaluates the points of a round: this process, other processes, or a map that people pass in."""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import os
import pickle
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_EXCEPTION, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from pursuit.checks import Vector, checked_count
from pursuit.problems.objective import as_value

Evaluate = Callable[[list[Vector], list[float]], None]
"""Appends the values of points to a list, one after the other, so that those before an exception are kept."""
Map = Callable[[Callable[[Vector], Any], Iterable[Vector]], Iterable[Any]]
"""A callable like `map`."""
# A point at which workers die so often in a row is given up.
_MOST_DEATHS = 2


class TimeIsUp(Exception):
    """The time limit was reached while workers were evaluating."""


class ObjectiveRaisedStopIteration(Exception):
    """Stands for a `StopIteration` of the objective, which a map would take for the end of its points."""


class _Guarded:
    """An objective whose `StopIteration` no map can swallow."""

    def __init__(self, objective: Callable[[Vector], Any]) -> None:
        self._objective = objective

    def __call__(self, x: Vector) -> Any:
        try:
            return self._objective(x)
        except StopIteration as stop:
            raise ObjectiveRaisedStopIteration(*stop.args) from stop


def here(objective: Callable[[Vector], Any]) -> Evaluate:
    """Return what evaluates points in this process, one after the other."""

    def evaluate(rows: list[Vector], values: list[float]) -> None:
        for row in rows:
            result = objective(row)
            values.append(result if type(result) is float else as_value(result))

    return evaluate


def by_map(objective: Callable[[Vector], Any], apply: Map) -> Evaluate:
    """Return what evaluates points by a callable like `map`."""
    guarded = _Guarded(objective)

    def evaluate(rows: list[Vector], values: list[float]) -> None:
        # A map may keep the points for later, so each gets a copy.
        results = apply(guarded, [row.copy() for row in rows])
        try:
            for result in results:
                if len(values) == len(rows):
                    raise ValueError(f"workers must return {len(rows)} values for as many points, not more.")
                values.append(as_value(result))
        except ObjectiveRaisedStopIteration as raised:
            raise StopIteration(*raised.args) from None
        if len(values) < len(rows):
            raise ValueError(
                f"workers must return a value for each of {len(rows)} points, but returned {len(values)}."
            )

    return evaluate


class Processes:
    """Evaluates points in processes of its own, notices when one of them dies, and keeps to a time limit."""

    def __init__(self, objective: Callable[[Vector], Any], count: int) -> None:
        _check_pickles(objective)
        self._objective = _Guarded(objective)
        self._count = count
        self._pool: ProcessPoolExecutor | None = None
        self.deadline = math.inf
        """When to stop waiting, on the clock of `time.perf_counter`."""

    def __call__(self, rows: list[Vector], values: list[float]) -> None:
        """Append the values of points."""
        points = [row.copy() for row in rows]
        found: dict[int, float] = {}
        deaths = 0
        while len(found) < len(points):
            try:
                self._gather(points, found)
            except BrokenProcessPool:
                self._end()
                deaths += 1
                if deaths == _MOST_DEATHS:
                    raise RuntimeError(
                        f"Workers died {deaths} times in a row while evaluating the same points: "
                        "is there enough memory, and does the function end its process?"
                    ) from None
            except BaseException:
                values.extend(found[j] for j in sorted(found))
                raise
        values.extend(found[j] for j in range(len(points)))

    def _gather(self, points: list[Vector], found: dict[int, float]) -> None:
        """Evaluate the points whose values are missing."""
        if self._pool is None:
            self._pool = ProcessPoolExecutor(self._count)
        missing = [j for j in range(len(points)) if j not in found]
        futures: dict[Future[Any], int] = {
            self._pool.submit(self._objective, points[j]): j for j in missing
        }
        left = self.deadline - time.perf_counter()
        done, waiting = wait(futures, None if math.isinf(left) else max(0.0, left), FIRST_EXCEPTION)
        for future in sorted(done, key=futures.__getitem__):
            try:
                found[futures[future]] = as_value(future.result())
            except ObjectiveRaisedStopIteration as raised:
                raise StopIteration(*raised.args) from None
        if waiting:
            raise TimeIsUp

    def _end(self) -> None:
        """End all processes, without waiting for what they are doing."""
        if self._pool is not None:
            for process in list((self._pool._processes or {}).values()):
                process.kill()
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None

    def close(self) -> None:
        """End all processes."""
        self._end()


def _check_pickles(objective: Callable[[Vector], Any]) -> None:
    """Complain of a function that cannot be sent to another process."""
    try:
        pickle.dumps(objective)
    except Exception as error:
        raise TypeError(
            "With several workers fun must be a function that other processes can import, such as one defined "
            f"at the top of a module, but it cannot be pickled: {error}."
        ) from None


@contextlib.contextmanager
def evaluator(objective: Callable[[Vector], Any], workers: Any) -> Iterator[Evaluate]:
    """Give what evaluates points: by a map, by so many processes, or here if there is to be one."""
    if callable(workers):
        yield by_map(objective, workers)
        return
    count = checked_count("workers", workers, at_least=-1)
    if count == 0:
        raise ValueError("workers must be positive, or -1 for one for each core, but 0 was given.")
    if count == 1:
        yield here(objective)
        return
    processes = Processes(objective, os.cpu_count() or 1 if count == -1 else count)
    try:
        yield processes
    finally:
        processes.close()
