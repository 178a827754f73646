"""Evaluations that fail, and processes that evaluate a point each: one that dies costs only that point."""

from __future__ import annotations

import contextlib
import math
import os
import pickle
import random
import signal
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pursuit.checks import Vector, checked_choice, cut
from pursuit.problems.objective import as_value

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

ON_ERROR = ("raise", "nan")
"""What may happen with an exception of the function."""


RAISED, LATE, DIED = "raised an exception", "took longer than eval_timeout", "died with the process"
"""How an evaluation may fail."""


class Failure(float):
    """The value of an evaluation that failed: NaN, with how it failed, and more in words."""

    kind: str = RAISED
    text: str = ""

    @classmethod
    def of(cls, kind: str, text: str) -> Failure:
        """Return a failure."""
        failure = cls("nan")
        failure.kind, failure.text = kind, text
        return failure


class Excused:
    """A function that returns a `Failure` where the one that it calls raises an exception.

    Examples
    --------
    >>> from pursuit.engine.processes import Excused
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
            # On one line without a full stop.
            text = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(":. ")
            return Failure.of(RAISED, cut(text, 100))


class Failures:
    """Counts the evaluations of a run that failed, wherever they were made."""

    def __init__(self, *, excuses: bool) -> None:
        self.excuses: bool = excuses
        """Whether exceptions count as failures, and do not end the run."""
        self._counts: dict[str, int] = {}
        self._last: dict[str, str] = {}

    def read(self, result: Any) -> float:
        """Return the value of what a function returned, and count a failure."""
        self.note(result)
        return as_value(result)

    def read_parts(self, nothing: Vector, result: Any) -> tuple[Any, ...]:
        """Do the same for a value and the constraints beside it, which are `nothing` if both have failed."""
        parts = (result, nothing) if isinstance(result, Failure) else tuple(result)
        self.note(parts[0])
        return parts

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
            self._counts[result.kind] = self._counts.get(result.kind, 0) + count
            self._last[result.kind] = result.text

    def said_after(self, message: str) -> str:
        """Return a message that also says what has failed."""
        return f"{message} {self.remark}".rstrip()

    @property
    def remark(self) -> str:
        """Sentences on what has failed; empty if nothing has."""
        return " ".join(
            f"{count} evaluation{'s' * (count > 1)} {kind} and count{'s' * (count == 1)} as NaN, "
            f"the last one {self._last[kind]}."
            for kind, count in self._counts.items()
        )


def failures_for(on_error: Any) -> Failures:
    """Return what counts failures."""
    return Failures(excuses=checked_choice("on_error", on_error, ON_ERROR) == "nan")


# After so many processes that end before they can evaluate anything no more are started.
_MOST_FALSE_STARTS = 3
_seeded: set[int] = set()
"""The processes that have taken seeds of their own, this one among them if it is such a worker."""


class _Raised(NamedTuple):
    """What a worker sends instead of a result."""

    error: BaseException


class _Job(NamedTuple):
    """A point that is to be evaluated."""

    future: Future[Any]
    point: Vector
    is_again: bool = False
    """Whether it has cost a process already."""


class _Worker:
    """A process that evaluates one point at a time."""

    def __init__(self, objective: Callable[[Vector], Any]) -> None:
        import multiprocessing

        self.connection, other = multiprocessing.Pipe()
        self._process = multiprocessing.Process(target=_work, args=(objective, other))
        self._process.start()
        other.close()
        self.is_ready = False
        """Whether it has started."""
        self.job: _Job | None = None
        """What it does; None if it is free."""
        self.until = math.inf
        """When that has failed."""

    def begin(self, job: _Job, until: float) -> None:
        """Evaluate a point."""
        self.job, self.until = job, until
        with contextlib.suppress(OSError):  # that it has died will be seen when its answer is awaited
            self.connection.send(job.point)

    def kill(self) -> str:
        """End the process, and those that it has started; return how it has ended if it did so itself."""
        with contextlib.suppress(OSError, AttributeError):  # Windows has no groups
            os.killpg(self._process.pid or 0, signal.SIGKILL)
        self._process.kill()
        self._process.join()
        self.connection.close()
        status = self._process.exitcode or 0
        return f"exit status {status}" if status >= 0 else signal.Signals(-status).name


class Processes:
    """Processes that evaluate points.

    The result of a point whose process took too long, or died twice, is a `Failure`.

    Parameters
    ----------
    objective : callable
        What is evaluated; it pickles.
    count : int
        How many processes there may be. They are started once there are points for them.
    longest : float
        How many seconds an evaluation may take.
    """

    def __init__(self, objective: Callable[[Vector], Any], count: int, longest: float) -> None:
        check_pickles(objective)
        self._objective, self._count, self._longest = objective, count, longest
        self._workers: list[_Worker] = []
        self._waiting: deque[_Job] = deque()
        self._false_starts = 0

    def submit(self, point: Vector) -> Future[Any]:
        """Evaluate a point as soon as a process is free."""
        self._waiting.append(_Job(Future(), point))
        return self._waiting[-1].future

    def wait(self, futures: Iterable[Future[Any]], seconds: float) -> None:
        """Wait for some futures, or for an exception of one of them, or so many seconds."""
        end = time.perf_counter() + seconds
        missing = set(futures)
        while missing and time.perf_counter() < end:
            self._hand_out()
            self._listen(end)
            done = {future for future in missing if future.done()}
            missing = set() if any(future.exception() for future in done) else missing - done
        self._hand_out()

    def _hand_out(self) -> None:
        """Give points to processes that are free, and start as many as there is work for."""
        while self._waiting and self._waiting[0].future.cancelled():
            self._waiting.popleft()
        for worker in self._workers:
            if self._waiting and worker.is_ready and worker.job is None:
                worker.begin(self._waiting.popleft(), time.perf_counter() + self._longest)
        starting = sum(not worker.is_ready for worker in self._workers)
        for _ in range(min(self._count - len(self._workers), len(self._waiting) - starting)):
            self._workers.append(_Worker(self._objective))

    def _listen(self, end: float) -> None:
        """Wait until something happens, and see what has become of points."""
        from multiprocessing.connection import wait

        end = min([end, *(worker.until for worker in self._workers)])
        left = None if end == math.inf else max(0.0, end - time.perf_counter())
        arrived = wait([worker.connection for worker in self._workers], left)
        now = time.perf_counter()
        for worker in list(self._workers):
            if worker.connection in arrived:
                self._hear(worker)
            elif now >= worker.until:
                self._workers.remove(worker)
                worker.kill()
                self._answer(worker.job, Failure.of(LATE, f"{self._longest:g} s"))

    def _hear(self, worker: _Worker) -> None:
        """Take what a process has sent, or see that it has died."""
        job, is_ready = worker.job, worker.is_ready
        worker.job, worker.until, worker.is_ready = None, math.inf, True
        try:
            self._answer(job, worker.connection.recv())
            return
        except (EOFError, OSError):
            self._workers.remove(worker)
            how = worker.kill()
        self._false_starts += not is_ready
        if self._false_starts == _MOST_FALSE_STARTS:
            raise RuntimeError(f"Worker processes end before they can evaluate anything: {how}.")
        if job is not None and not job.is_again:
            self._waiting.appendleft(job._replace(is_again=True))  # something else may have killed it
        else:
            self._answer(job, Failure.of(DIED, how))

    def _answer(self, job: _Job | None, result: Any) -> None:
        """Take the result of a point; a process that has just started had none."""
        if job is not None and not job.future.cancelled():
            if isinstance(result, _Raised):
                job.future.set_exception(result.error)
            else:
                job.future.set_result(result)

    def close(self) -> None:
        """End all processes, without waiting for what they are doing."""
        while self._workers:
            self._workers.pop().kill()


def _work(objective: Callable[[Vector], Any], connection: Connection) -> None:
    """Evaluate points until the process that sends them has ended."""
    from multiprocessing import parent_process
    from multiprocessing.connection import wait

    begin_worker()
    if hasattr(os, "setpgrp"):
        os.setpgrp()  # whatever the objective starts can be killed with it
    parent = parent_process()
    assert parent is not None
    with contextlib.suppress(EOFError, OSError):
        connection.send(None)
        while parent.sentinel not in wait([connection, parent.sentinel]):
            point = connection.recv()
            try:
                connection.send(objective(point))
            except BaseException as error:
                connection.send(_Raised(_sendable(error)))


def _sendable(error: BaseException) -> BaseException:
    """Return an exception that can be sent, with where it was raised."""
    where = f"In the worker process: {traceback.format_exc()}"
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        error = RuntimeError(f"{type(error).__name__}: {error}")
    error.add_note(where)
    return error


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
    """Prepare a process that makes runs or evaluates points."""
    # Ctrl-C reaches all processes of a terminal: the one that waits for the others takes it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    take_own_seeds()


def check_pickles(function: Callable[..., Any], name: str = "fun") -> None:
    """Reject a function that cannot be sent to another process."""
    try:
        pickle.dumps(function)
    except Exception as error:
        raise TypeError(
            f"With several workers {name} must be a function that other processes can import, such as one "
            f"defined at the top level of a module, but it cannot be pickled: {error}."
        ) from None
