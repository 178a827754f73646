"""Who executes runs: processes of this machine, a Dask cluster, or any executor."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import AbstractContextManager
from typing import NamedTuple

from pursuit.experiments.common.errors import StudyError


class Crew(NamedTuple):
    """An executor at work."""

    executor: Executor
    size: int
    """How many runs it executes at a time."""


CrewMaker = Callable[[], AbstractContextManager[Crew]]
"""Makes a crew, and another one where that has broken down."""


@contextlib.contextmanager
def processes(jobs: int) -> Iterator[Crew]:
    """Give a crew of so many processes."""
    # Spawned processes are the same on every platform, and share no locks of other threads.
    context = multiprocessing.get_context("spawn")
    executor = ProcessPoolExecutor(jobs, mp_context=context, initializer=_live_and_die_with_parent)
    try:
        yield Crew(executor, jobs)
    except BaseException:
        executor.shutdown(wait=False, cancel_futures=True)
        for process in multiprocessing.active_children():
            process.terminate()
        raise
    executor.shutdown()


@contextlib.contextmanager
def dask_cluster(address: str, jobs: int) -> Iterator[Crew]:
    """Give the crew of a Dask cluster at an address, or of one of so many local processes, as "local"."""
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise StudyError("Dask is not installed: pip install 'pursuit[dask]'.") from None
    with contextlib.ExitStack() as stack:
        if address == "local":
            cluster = LocalCluster(n_workers=jobs, threads_per_worker=1, dashboard_address=None)
            address = stack.enter_context(cluster).scheduler_address
        try:
            client = stack.enter_context(Client(address, set_as_default=False, timeout="10s"))
        except (OSError, ValueError) as error:
            raise StudyError(f"There is no Dask scheduler at {address}: {error}.") from None
        size = sum(client.nthreads().values())
        if size == 0:
            raise StudyError(f"The Dask scheduler at {address} has no workers.")
        yield Crew(stack.enter_context(client.get_executor()), size)


@contextlib.contextmanager
def given(executor: Executor, size: int) -> Iterator[Crew]:
    """Give the crew of an executor that somebody else made and will shut down."""
    yield Crew(executor, size)


def _live_and_die_with_parent() -> None:
    """Prepare a worker to end at once on Ctrl-C, and not to outlive the process that started it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_die_with_parent, daemon=True).start()


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
