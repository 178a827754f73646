"""Evaluation by others: processes, an executor, a map, or a function that takes all points at once."""

from __future__ import annotations

import contextlib
import math
import os
import pickle
import random
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_EXCEPTION, BrokenExecutor, Executor, Future, wait
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pursuit.checks import Vector, checked_choice, checked_count, cut, shown
from pursuit.engine.driving import Evaluate, Here
from pursuit.problems.objective import as_value, values_at_once

ON_ERROR = ("raise", "nan")
"""What may happen with an exception of the function."""


class Failure(float):
    """The value of an evaluation that raised an exception: NaN, with the exception in words."""

    text: str = ""


class Excused:
    """A function that returns a `Failure` where the one that it calls raises an exception.

    Examples
    --------
    >>> from pursuit.engine.evaluation import Excused
    >>> value = Excused(lambda x: 1.0 / x)(0.0)
    >>> value, value.text
    (nan, 'ZeroDivisionError: float division by zero')
    """

    def __init__(self, fun: Callable[..., Any]) -> None:
        self._fun = fun

    def __call__(self, x: Vector) -> Any:
        """Return f(x), or that it failed."""
        try:
            return self._fun(x)
        except StopIteration:
            raise
        except Exception as error:
            failure = Failure("nan")
            failure.text = _text_of(error)
            return failure


class Failures:
    """Counts the evaluations of a run that failed, wherever they were made."""

    def __init__(self) -> None:
        self._count, self._last = 0, ""

    def read(self, result: Any) -> float:
        """Return the value of what a function returned, and count a failure."""
        self.note(result)
        return as_value(result)

    def read_parts(self, result: Any) -> tuple[Any, ...]:
        """Do the same for a value and the constraints beside it."""
        self.note(result[0])
        return tuple(result)

    def excused(self, fun: Callable[[NDArray[np.float64]], Any]) -> Callable[[NDArray[np.float64]], Any]:
        """Return a function of all points of a round, in which an exception makes all values NaN."""
        excused = Excused(fun)

        def values(points: NDArray[np.float64]) -> Any:
            found = excused(points)
            if not isinstance(found, Failure):
                return found
            self.note(found, len(points))
            return np.full(len(points), np.nan)

        return values

    def note(self, result: Any, count: int = 1) -> None:
        """Count a result if it is a failure."""
        if isinstance(result, Failure):
            self._count += count
            self._last = result.text

    def told_in(self, result: Any) -> Any:
        """Return a result whose message says what has failed."""
        result.message = f"{result.message} {self.remark}".rstrip()
        return result

    @property
    def remark(self) -> str:
        """A sentence on what has failed; empty if nothing has."""
        if self._count == 0:
            return ""
        evaluations = "evaluation" if self._count == 1 else "evaluations"
        return f"{self._count} {evaluations} raised an exception and count as NaN, the last one {self._last}."


def failures_for(on_error: Any) -> Failures | None:
    """Return what counts exceptions; None if they are to reach the caller."""
    return Failures() if checked_choice("on_error", on_error, ON_ERROR) == "nan" else None


def _text_of(error: Exception) -> str:
    """Return an exception in words, on one line without a full stop."""
    text = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(":. ")
    return cut(text, 100)


if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

Map = Callable[[Callable[[Vector], Any], Iterable[Vector]], Iterable[Any]]
"""A callable like `map`."""
Read = Callable[[Any], Any]
"""Checks what an objective has returned."""
# After this many deaths of workers in a row, their points are given up.
_MOST_DEATHS = 2
# Every worker is a process, all start together, and Windows cannot wait for more of them.
_MOST_WORKERS = 61 if sys.platform == "win32" else 1024
_seeded: set[int] = set()
"""The processes that have taken seeds of their own, this one among them if it is such a worker."""


class TimeLimitError(Exception):
    """The time limit was reached while workers were evaluating."""


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


class Processes:
    """Evaluates points in processes of its own, notices when one of them dies, and keeps to a time limit."""

    def __init__(self, objective: Callable[[Vector], Any], count: int, read: Read = as_value) -> None:
        check_pickles(objective)
        self._read = read
        self._objective = _Guarded(objective)
        self._count = count
        self._pool: ProcessPoolExecutor | None = None
        self.deadline: float = math.inf
        """When to stop waiting, on the clock of `time.perf_counter`."""

    def __call__(self, rows: list[Vector], values: list[Any]) -> None:
        """Evaluate points, and again those that a dying worker leaves without a value."""
        for deaths_left in reversed(range(_MOST_DEATHS)):
            try:
                self._gather(rows, values)
                return
            except BrokenExecutor:
                self.close()
                if not deaths_left:
                    raise RuntimeError(
                        f"Workers died {_MOST_DEATHS} times while evaluating the same points: they may have "
                        "run out of memory, or the function may have ended their process."
                    ) from None

    def _gather(self, points: list[Vector], values: list[Any]) -> None:
        """Evaluate the points whose values are missing."""
        if self._pool is None:
            from concurrent.futures import ProcessPoolExecutor  # here, since most runs need no processes

            self._pool = ProcessPoolExecutor(self._count, initializer=ignore_interrupts)
        futures: dict[Future[Any], int] = {
            self._pool.submit(self._objective, point): j
            for j, point in enumerate(points)
            if values[j] is None
        }
        gather(futures, values, self.deadline, self._read)

    def close(self) -> None:
        """End all processes, without waiting for what they are doing."""
        if self._pool is not None:
            for process in list((self._pool._processes or {}).values()):
                process.kill()
            self._pool.shutdown(cancel_futures=True)
            self._pool = None


def take_own_seeds() -> None:
    """Seed this worker's `random` and `numpy.random` anew, once.

    A forked process inherits their states, and others import a module that may seed them: then all workers
    would repeat the same noise.
    """
    if os.getpid() not in _seeded:
        _seeded.add(os.getpid())
        random.seed()
        np.random.seed()  # noqa: NPY002 (what functions of users draw from)


def begin_worker() -> None:
    """Prepare a process that makes runs."""
    ignore_interrupts()
    take_own_seeds()


def ignore_interrupts() -> None:
    """Leave Ctrl-C, which reaches all processes of a terminal, to the one that waits for the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def check_pickles(function: Callable[..., Any], name: str = "fun") -> None:
    """Reject a function that cannot be sent to another process."""
    try:
        pickle.dumps(function)
    except Exception as error:
        raise TypeError(
            f"With several workers {name} must be a function that other processes can import, such as one "
            f"defined at the top level of a module, but it cannot be pickled: {error}."
        ) from None


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
    *,
    vectorized: bool = False,
) -> Iterator[Evaluate]:
    """Yield what evaluates points: this process, or elsewhere an executor, a map, or a number of processes.

    What they return is `read` here; by default it must be a real number. With `vectorized`, the objective
    takes all points of a round at once.
    """
    if vectorized:
        yield at_once(objective)
        return
    if workers == 1:
        yield Here(objective, read)
        return
    if isinstance(workers, Executor):
        yield Futures(objective, workers, read)
        return
    if callable(workers):
        yield by_map(objective, workers, read)
        return
    processes = Processes(objective, workers, read)
    try:
        yield processes
    finally:
        processes.close()
