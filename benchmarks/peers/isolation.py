"""Work in processes of its own: a crash, a hang or a global seed of one run is no matter for the next."""

from __future__ import annotations

import contextlib
import multiprocessing
import multiprocessing.connection
import multiprocessing.process
import os
import signal
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from benchmarks.peers.counting import in_one_line

# Libraries would otherwise start as many threads as there are cores, some solvers' and not others'.
ONE_THREAD = dict.fromkeys(
    (
        "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "NUMEXPR_NUM_THREADS", "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS",
    ),
    "1",
)  # fmt: skip
# Memory that is given back shall not be kept for later by the allocator, which would hide what is used.
_TIGHT_MEMORY = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}

# Forked from a process that has imported what all runs need, where that can be had: a second less for each.
_SHARED = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"


class Job(NamedTuple):
    """A function of a module, to be called in a process of its own."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    timeout: float
    """After so many seconds the process is killed."""
    fresh: bool = False
    """Whether the process must not share memory with another, nor keep what it has given back."""


class Failure(NamedTuple):
    """Why there is no result: an exception, a death or a hang, in a line."""

    text: str


class _Running(NamedTuple):
    process: multiprocessing.process.BaseProcess
    receiver: multiprocessing.connection.Connection
    deadline: float
    job: Job


def run_alone(job: Job) -> Any:
    """Do a job in a process of its own; return its result or a `Failure`."""
    ((_, result),) = run_apart([job], 1)
    return result


def run_apart(jobs: list[Job], at_once: int) -> Iterator[tuple[Job, Any]]:
    """Do jobs, so many at once; yield each with its result or a `Failure`, as they come in."""
    waiting = list(reversed(jobs))
    running: list[_Running] = []
    try:
        while waiting or running:
            while waiting and len(running) < at_once:
                running.append(_start(waiting.pop()))
            soonest = max(0.0, min(one.deadline for one in running) - time.monotonic())
            multiprocessing.connection.wait([one.receiver for one in running], soonest)
            now = time.monotonic()
            for one in [one for one in running if one.receiver.poll() or now >= one.deadline]:
                running.remove(one)
                yield one.job, _result_of(one)
    finally:
        for one in running:
            one.process.kill()
            one.process.join()


def _start(job: Job) -> _Running:
    context: Any = multiprocessing.get_context("spawn" if job.fresh else _SHARED)
    if not job.fresh:
        context.set_forkserver_preload(["benchmarks.peers.evaluations"])
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(sender, job.function, job.arguments), daemon=True)
    with _environment(ONE_THREAD | (_TIGHT_MEMORY if job.fresh else {})):
        process.start()
    sender.close()
    return _Running(process, receiver, time.monotonic() + job.timeout, job)


@contextlib.contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    """Let variables be set for a while, in which processes are started."""
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _result_of(one: _Running) -> Any:
    """Return what a process has sent, and see to it that it ends."""
    try:
        result = one.receiver.recv() if one.receiver.poll() else None
    except EOFError:
        one.process.join()
        return Failure(f"The process died: {_cause(one.process.exitcode)}.")
    if result is None:
        result = Failure(f"The process was killed after {one.job.timeout:.0f} s without an answer.")
    one.process.kill()
    one.process.join()
    one.receiver.close()
    return result


def _cause(exitcode: int | None) -> str:
    if exitcode is not None and exitcode < 0:
        return signal.Signals(-exitcode).name
    return f"exit status {exitcode}"


def _work(
    sender: multiprocessing.connection.Connection, function: Callable[..., Any], arguments: tuple[Any, ...]
) -> None:
    _silence()
    try:
        result = function(*arguments)
    except Exception as error:
        result = Failure(in_one_line(error))
    sender.send(result)


def _silence() -> None:
    """Send what solvers print, from whichever language, to nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
