"""Pools of workers, and the environment of their processes."""

import multiprocessing
import os
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pursuit.experiments.common.executors import existing, one_thread_each, processes


def test_processes_use_one_thread_unless_people_choose_otherwise(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    monkeypatch.delenv("NUMBA_NUM_THREADS", raising=False)
    before = dict(os.environ)
    with one_thread_each("NUMBA_NUM_THREADS"), processes(1) as pool:
        assert pool.size == 1
        found = [
            pool.executor.submit(os.getenv, f"{name}_NUM_THREADS").result()
            for name in ("OMP", "OPENBLAS", "NUMBA")
        ]
    assert found == ["3", "1", "1"]
    assert dict(os.environ) == before


def test_an_existing_executor_is_not_shut_down():
    with ThreadPoolExecutor(1) as executor:
        with existing(executor, 5) as pool:
            assert (pool.executor, pool.size) == (executor, 5)
        assert executor.submit(abs, -1).result() == 1


@pytest.fixture
def threads_that_switch_often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("threads_that_switch_often")
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks for processes in /proc")
def test_ctrl_c_that_another_thread_receives_cuts_off_no_process_that_starts(capfd):
    """Threads of a linear algebra library receive signals too."""

    def children():
        return {pid for task in Path("/proc/self/task").iterdir() for pid in _children_of(task)}

    def interrupt(before):
        while children() <= before:
            pass
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)

    for _ in range(20):
        thread = threading.Thread(target=interrupt, args=(children(),))
        thread.start()
        with pytest.raises(KeyboardInterrupt), processes(2):
            thread.join()
        thread.join()
        for process in multiprocessing.active_children():
            process.join()
    assert "Traceback" not in capfd.readouterr().err


def _children_of(task):
    try:
        return (task / "children").read_text().split()
    except OSError:
        return []
