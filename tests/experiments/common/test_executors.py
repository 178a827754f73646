"""Pools of workers, and the environment of their processes."""

import os
from concurrent.futures import ThreadPoolExecutor

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
