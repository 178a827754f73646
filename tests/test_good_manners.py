"""What a library leaves alone: files, threads, seeds, and other people's arrays."""

import os
import subprocess
import sys
import threading

import numba
import numpy as np

import pursuit

IMPORTED = """
import sys
import pursuit
slow = {
    "numba", "llvmlite", "scipy.optimize", "scipy.linalg", "matplotlib", "multiprocessing",
    "concurrent.futures.process", "concurrent.futures.thread", "sqlite3", "polars", "rich",
}
print(sorted(slow & sys.modules.keys()))
"""
RUN_OF_THE_DEFAULT = """
result = pursuit.minimize(lambda x: float(x @ x), [1.0, 2.0], rng=1)
assert result.success
print(sorted(slow & sys.modules.keys()))
"""


def printed(code):
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def test_importing_it_imports_nothing_that_takes_long():
    assert printed(IMPORTED) == ["[]"]


def test_the_default_needs_no_compiler():
    _, used = printed(IMPORTED + RUN_OF_THE_DEFAULT)
    assert "numba" not in used
    assert "scipy.optimize" not in used


def test_no_file_no_thread_and_no_setting_is_left_behind(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    problem = pursuit.problems.exp(10, 100.0)
    threads = set(threading.enumerate())
    before = numba.get_num_threads(), dict(os.environ), numba.config.CACHE_DIR
    pursuit.minimize(problem, problem.x0, method="sarp", rng=1, maxiter=100)
    pursuit.minimize(lambda x: problem(x), problem.x0, method="ep-cma-4", rng=1, maxiter=100)
    optimizer = pursuit.Optimizer(problem.x0, "rp", rng=1)
    for _ in range(20):
        X = optimizer.ask()
        optimizer.tell(X, [problem(x) for x in X])
    assert before == (numba.get_num_threads(), dict(os.environ), numba.config.CACHE_DIR)
    assert set(threading.enumerate()) <= threads
    assert list(tmp_path.iterdir()) == []


def test_a_generator_passed_in_is_drawn_from_and_not_replaced():
    rng = np.random.default_rng(1)
    pursuit.minimize(lambda x: float(x @ x), np.ones(3), method="rp", rng=rng, maxiter=10)
    assert rng.standard_normal() != np.random.default_rng(1).standard_normal()
