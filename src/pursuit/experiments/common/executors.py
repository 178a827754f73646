"""Executors of runs: processes on this machine, a Dask cluster, or any `concurrent.futures.Executor`."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import re
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import AbstractContextManager
from importlib.util import find_spec
from typing import NamedTuple

from pursuit.engine.driving import Interrupts
from pursuit.experiments.common import StudyError
from pursuit.optional import how_to_install

# How long to wait for a Dask scheduler to answer.
_DASK_TIMEOUT = "10s"
_ADDRESS = re.compile(
    r"local|inproc://\S+|(tcp|tls|ucx|wss?)://(\[[0-9A-Fa-f:.]+\]|[\w.-]+):(?P<port>[0-9]{1,5})/?"
)
# Linear algebra libraries take their number of threads from these variables.
_THREADS = (
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


class WorkerPool(NamedTuple):
    """An executor and its number of workers."""

    executor: Executor
    size: int
    """How many runs it executes at a time."""


PoolMaker = Callable[[], AbstractContextManager[WorkerPool]]
"""Makes a pool; called again when a worker's death has broken the last one."""


@contextlib.contextmanager
def processes(jobs: int) -> Iterator[WorkerPool]:
    """Start a pool of processes, and end them with the context."""
    # Spawned processes behave the same on every platform, and inherit no locks of other threads.
    context = multiprocessing.get_context("spawn")
    executor = ProcessPoolExecutor(jobs, mp_context=context, initializer=_prepare_worker)
    try:
        # Blocked signals are inherited by the processes, for the time until they are prepared. Here they are
        # not enough: threads of a linear algebra library may receive the signal for the main thread.
        with Interrupts(), _signals_blocked():
            # Each task starts a process, as none is idle yet. One cut off while it starts prints a traceback.
            for _ in range(jobs):
                executor.submit(os.getpid)
        yield WorkerPool(executor, jobs)
    except BaseException:
        executor.shutdown(wait=False, cancel_futures=True)
        for process in multiprocessing.active_children():
            process.terminate()
        raise
    executor.shutdown()


def check_address(address: str) -> None:
    """Raise an error if a string cannot be the address of a Dask scheduler, or if Dask is not installed.

    Examples
    --------
    >>> from pursuit.experiments.common.executors import check_address
    >>> check_address("tcp://scheduler:8786")
    """
    if find_spec("distributed") is None:
        raise StudyError(f"Dask is not installed: {how_to_install('dask')}.")
    found = _ADDRESS.fullmatch(address)
    if found is None or (found["port"] and not 0 < int(found["port"]) < 65536):
        raise StudyError(
            "The address of a Dask scheduler is tcp://HOST:PORT, tls://HOST:PORT or ws://HOST:PORT, "
            f"or local to start one, but {address!r} was given."
        )


@contextlib.contextmanager
def dask_cluster(address: str, jobs: int) -> Iterator[WorkerPool]:
    """Connect to a Dask scheduler; the address "local" starts a cluster of `jobs` processes here."""
    check_address(address)
    from distributed import Client, LocalCluster

    class QuietClient(Client):
        def __del__(self) -> None:
            """Do nothing: without a connection Dask would wait for it here. The context closes the client."""

    with contextlib.ExitStack() as stack:
        if address == "local":
            cluster = LocalCluster(n_workers=jobs, threads_per_worker=1, dashboard_address=None)
            address = stack.enter_context(cluster).scheduler_address
        try:
            client = stack.enter_context(QuietClient(address, set_as_default=False, timeout=_DASK_TIMEOUT))
        except Exception as error:
            # Each kind of address has errors of its own.
            raise StudyError(
                f"There is no Dask scheduler at {address}: {str(error).removesuffix('.')}."
            ) from None
        size = sum(client.nthreads().values())
        if size == 0:
            raise StudyError(f"The Dask scheduler at {address} has no workers.")
        yield WorkerPool(stack.enter_context(client.get_executor()), size)


@contextlib.contextmanager
def existing(executor: Executor, size: int) -> Iterator[WorkerPool]:
    """Use an executor that the caller has made and will shut down."""
    yield WorkerPool(executor, size)


@contextlib.contextmanager
def one_thread_each(*others: str) -> Iterator[None]:
    """Make libraries in processes started meanwhile use one thread each, unless the environment says more.

    The processes keep all cores busy already. If each of them also starts a thread per core, linear
    algebra can take ten times as long. `others` are the names of further environment variables to set to 1.
    """
    added = [name for name in (*_THREADS, *others) if name not in os.environ]
    os.environ.update(dict.fromkeys(added, "1"))
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]


@contextlib.contextmanager
def _signals_blocked() -> Iterator[None]:
    """Let Ctrl-C wait, here and in processes that are started meanwhile, where the platform can."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _prepare_worker() -> None:
    """Let a worker end at once on Ctrl-C, and together with the process that started it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    threading.Thread(target=_exit_with_parent, daemon=True).start()


def _exit_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
