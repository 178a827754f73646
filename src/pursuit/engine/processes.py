"""Processes that evaluate one point at a time each, so that one that hangs or dies costs only that point."""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import os
import pickle
import random
import signal
import time
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple

import numpy as np

from pursuit.checks import Vector
from pursuit.engine.failures import DIED, LATE, Failure

# After so many processes that end before they can evaluate anything no more are started.
_MOST_FALSE_STARTS = 3
_seeded: set[int] = set()
"""The processes that have taken seeds of their own, this one among them if it is such a worker."""


class TimeLimitError(Exception):
    """The time limit was reached while workers were evaluating."""


class _Raised(NamedTuple):
    """What a worker sends instead of a result."""

    error: BaseException


class _Worker:
    """A process that evaluates one point at a time."""

    def __init__(self, objective: Callable[[Vector], Any]) -> None:
        self.connection, other = multiprocessing.Pipe()
        self._process = multiprocessing.Process(target=_work, args=(objective, other))
        self._process.start()
        other.close()
        self.is_ready = False
        """Whether it has started."""
        self.place: int | None = None
        """Which point it evaluates; None if it is free."""
        self.until = math.inf
        """When that point has failed."""

    def begin(self, place: int, point: Vector, until: float) -> None:
        """Evaluate a point."""
        self.place, self.until = place, until
        with contextlib.suppress(OSError):  # that it has died will be seen when its answer is awaited
            self.connection.send(point)

    def answer(self) -> Any:
        """Return what has arrived, and be free."""
        self.place, self.until = None, math.inf
        return self.connection.recv()

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
    """Evaluates points in processes of its own, and keeps to a time limit.

    Parameters
    ----------
    objective : callable
        What is evaluated; it pickles.
    count : int
        How many processes there may be. They are started once there are points for them.
    read : callable
        Checks what the objective has returned, and takes a `Failure` for a point whose process took too long,
        or died twice.
    longest : float
        How many seconds an evaluation may take.
    """

    def __init__(
        self, objective: Callable[[Vector], Any], count: int, read: Callable[[Any], Any], longest: float
    ) -> None:
        check_pickles(objective)
        self._objective, self._count, self._read, self._longest = objective, count, read, longest
        self._workers: list[_Worker] = []
        self._false_starts = 0
        self.deadline: float = math.inf
        """When to stop waiting, on the clock of `time.perf_counter`."""

    def __call__(self, rows: list[Vector], values: list[Any]) -> None:
        """Evaluate points."""
        waiting, again = list(range(len(rows))), set[int]()
        try:
            while waiting or any(worker.place is not None for worker in self._workers):
                self._hand_out(rows, waiting)
                results = self._wait()
                for place, result in results:
                    if isinstance(result, Failure) and result.kind == DIED and place not in again:
                        # Something else may have killed it.
                        again.add(place)
                        waiting.insert(0, place)
                    elif not isinstance(result, _Raised):
                        values[place] = self._read(result)
                for _, result in results:
                    if isinstance(result, _Raised):
                        raise result.error
        except BaseException:
            self.close()  # what is still at work must not answer to other points
            raise

    def _hand_out(self, rows: list[Vector], waiting: list[int]) -> None:
        """Give points to processes that are free, and start as many as there is work for."""
        for worker in self._workers:
            if waiting and worker.is_ready and worker.place is None:
                place = waiting.pop(0)
                worker.begin(place, rows[place], time.perf_counter() + self._longest)
        idle = sum(not worker.is_ready for worker in self._workers)
        for _ in range(min(self._count - len(self._workers), len(waiting) - idle)):
            self._workers.append(_Worker(self._objective))

    def _wait(self) -> list[tuple[int, Any]]:
        """Wait until something happens; return what has become of points."""
        end = min([self.deadline, *(worker.until for worker in self._workers)])
        left = None if end == math.inf else max(0.0, end - time.perf_counter())
        arrived = wait([worker.connection for worker in self._workers], left)
        now, results = time.perf_counter(), list[tuple[int, Any]]()
        for worker in list(self._workers):
            place = worker.place
            if worker.connection in arrived:
                result = self._heard(worker)
            elif now >= worker.until:
                self._workers.remove(worker)
                worker.kill()
                result = Failure.of(LATE, f"{self._longest:g} s")
            else:
                continue
            if place is not None:
                results.append((place, result))
        if now >= self.deadline and not results:
            raise TimeLimitError
        return results

    def _heard(self, worker: _Worker) -> Any:
        """Return what a process has sent, or that it has died."""
        is_ready, worker.is_ready = worker.is_ready, True
        with contextlib.suppress(EOFError, OSError):
            return worker.answer()
        self._workers.remove(worker)
        how = worker.kill()
        self._false_starts += not is_ready
        if self._false_starts == _MOST_FALSE_STARTS:
            raise RuntimeError(f"Worker processes end before they can evaluate anything: {how}.")
        return Failure.of(DIED, how)

    def close(self) -> None:
        """End all processes, without waiting for what they are doing."""
        while self._workers:
            self._workers.pop().kill()


def _work(objective: Callable[[Vector], Any], connection: Connection) -> None:
    """Evaluate points until the process that sends them has ended."""
    begin_worker()
    if hasattr(os, "setpgrp"):
        os.setpgrp()  # whatever the objective starts can be killed with it
    parent = multiprocessing.parent_process()
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
