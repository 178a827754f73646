"""Jobs in processes of their own, which are killed after a time limit.

The library's pool of processes is not enough here: a worker of a pool that hangs or dies takes the pool with
it, and one that has run a solver before has another global seed, other caches and other free memory.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import multiprocessing.connection
import multiprocessing.process
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from benchmarks.recording import in_one_line
from pursuit.experiments.common.executors import one_thread_each

# The allocator must return freed memory to the system; what it keeps would hide what a solver uses.
_RETURN_MEMORY = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}

# Forking from a process that has imported what all runs need, where possible, saves a second for each.
_SHARED = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"


class Job(NamedTuple):
    """A function of a module, to be called in a process of its own."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    timeout: float
    """The seconds after which the process is killed."""
    fresh: bool = False
    """Whether the process must not share memory with another, and return what it frees to the system."""


class Failure(NamedTuple):
    """Why a job has no result, in one line: an exception, or the death or killing of its process."""

    text: str


class _Running(NamedTuple):
    process: multiprocessing.process.BaseProcess
    receiver: multiprocessing.connection.Connection
    deadline: float
    job: Job


def run_job(job: Job) -> Any:
    """Do a job in a process of its own; return its result or a `Failure`."""
    ((_, result),) = run_jobs([job], 1)
    return result


def run_jobs(jobs: list[Job], at_once: int, preload: Sequence[str] = ()) -> Iterator[tuple[Job, Any]]:
    """Do jobs, `at_once` of them at a time; yield each with its result or a `Failure` when it is done.

    `preload` names modules that are imported once for all of the processes.
    """
    waiting = list(reversed(jobs))
    running: list[_Running] = []
    try:
        while waiting or running:
            while waiting and len(running) < at_once:
                running.append(_start(waiting.pop(), preload))
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


def _start(job: Job, preload: Sequence[str]) -> _Running:
    context: Any = multiprocessing.get_context("spawn" if job.fresh else _SHARED)
    if not job.fresh:
        context.set_forkserver_preload([job.function.__module__, *preload])
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(sender, job.function, job.arguments))
    with _environment(_RETURN_MEMORY if job.fresh else {}):
        process.start()
    sender.close()
    return _Running(process, receiver, time.monotonic() + job.timeout, job)


@contextlib.contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    """Set variables for processes that are started meanwhile, which use one thread each.

    They do so whatever the user's environment says, since only some of the solvers would follow it.
    """
    before = dict(os.environ)
    for name in [name for name in before if name.endswith("_THREADS")]:
        del os.environ[name]
    os.environ.update(variables)
    try:
        with one_thread_each("NUMBA_NUM_THREADS"):
            yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _result_of(one: _Running) -> Any:
    """Return what a process has sent, and end it."""
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
    """Discard what solvers print, in whichever language they are written."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
