"""Who evaluates the points of a round: whoever does, the run is the same."""

import contextlib
import functools
import multiprocessing
import os
import random
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

import pursuit
from pursuit.engine.stopping import Reason

START = np.linspace(-1.0, 2.0, 8)
ARGUMENTS = {"rng": 3, "maxfev": 400, "trace": True, "batch": 12}


def bowl(x, weight=1.0):
    return float(weight * np.sum(np.linspace(1.0, 30.0, x.shape[-1]) * x * x))


def bowls(X, weight=1.0):
    assert X.ndim == 2
    return weight * np.sum(np.linspace(1.0, 30.0, X.shape[1]) * X * X, axis=1)


def slow(x):
    time.sleep(0.2)
    return bowl(x)


def assert_same(one, other):
    np.testing.assert_array_equal(one.x, other.x)
    assert (one.fun, one.nfev, one.nit) == (other.fun, other.nfev, other.nit)


@pytest.mark.parametrize("method", ["auto", "evolution", "rp"])
@pytest.mark.parametrize("bounds", [None, [(-1.0, 2.0)] * 8])
def test_executors_and_functions_of_all_points_make_the_same_run(method, bounds):
    alone = pursuit.minimize(bowl, START, method=method, bounds=bounds, **ARGUMENTS)
    with ThreadPoolExecutor(3) as threads:
        assert_same(
            alone,
            pursuit.minimize(bowl, START, method=method, bounds=bounds, workers=threads, **ARGUMENTS),
        )
    at_once = pursuit.minimize(bowls, START, method=method, bounds=bounds, vectorized=True, **ARGUMENTS)
    assert_same(alone, at_once)


def test_processes_of_an_executor_evaluate_a_function_with_arguments():
    expected = pursuit.minimize(bowl, START, args=(2.0,), **ARGUMENTS)
    with ProcessPoolExecutor(2) as processes:
        found = pursuit.minimize(bowl, START, args=(2.0,), workers=processes, **ARGUMENTS)
        assert_same(expected, found)
        # The executor is people's own, and still there.
        assert processes.submit(abs, -3).result() == 3


def test_a_client_of_dask_evaluates():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        found = pursuit.minimize(bowl, START, workers=client, **ARGUMENTS)
    assert_same(pursuit.minimize(bowl, START, **ARGUMENTS), found)


def test_the_points_of_a_round_are_evaluated_at_the_same_time():
    barrier = threading.Barrier(2, timeout=30)

    def in_pairs(x):
        barrier.wait()
        return bowl(x)

    problem = pursuit.problems.exp(8, 10.0)
    with ThreadPoolExecutor(2) as threads:
        # SARP has rounds of two points, after the start.
        optimizer = pursuit.Optimizer(problem.x0, "sarp", rng=1, options={"kappa": 10.0})
        optimizer.tell(optimizer.ask(), [1.0])
        assert len(optimizer.ask()) == 2
        barrier_calls = functools.partial(_paired, in_pairs, [])
        result = pursuit.minimize(
            barrier_calls,
            problem.x0,
            method="sarp",
            options={"kappa": 10.0},
            rng=1,
            maxfev=21,
            workers=threads,
        )
    assert result.nfev == 21


def _paired(in_pairs, calls, x):
    calls.append(1)
    return bowl(x) if len(calls) == 1 else in_pairs(x)


def test_a_time_limit_ends_a_round_that_an_executor_is_evaluating():
    with ThreadPoolExecutor(1) as threads:
        result = pursuit.minimize(slow, START, method="differences", rng=1, workers=threads, maxtime=0.5)
    assert result.status == Reason.MAXTIME
    assert 1 <= result.nfev <= 4


def test_an_exception_goes_through_with_what_was_found():
    def fails(x):
        if x[0] != START[0]:
            raise OSError("the licence server is down")
        return bowl(x)

    with ThreadPoolExecutor(2) as threads, pytest.raises(OSError, match="licence server") as caught:
        pursuit.minimize(fails, START, rng=1, workers=threads)
    assert caught.value.pursuit_result.fun <= bowl(START)


@pytest.mark.parametrize(
    ("returned", "sentence"),
    [
        (lambda X: np.zeros(len(X) + 1), "one value for each of 1 points, but it holds 2"),
        (lambda X: None, "must hold real numbers, but .* None .did you forget return"),
        (lambda X: ["a"] * len(X), "must hold real numbers"),
    ],
)
def test_a_wrong_result_of_a_function_of_all_points_is_refused(returned, sentence):
    with pytest.raises((TypeError, ValueError), match=f"With vectorized=True the result of fun .*{sentence}"):
        pursuit.minimize(returned, START, vectorized=True)


def test_a_function_of_all_points_needs_no_workers():
    with pytest.raises(ValueError, match="leave workers at 1"):
        pursuit.minimize(bowls, START, vectorized=True, workers=2)


def test_nan_counts_as_infinity():
    def run(nothing):
        def holes(X):
            return np.where(X[:, 0] > START[0] + 0.5, nothing, bowls(X))

        return pursuit.minimize(holes, START, rng=1, maxfev=300, vectorized=True)

    result = run(np.nan)
    assert_same(result, run(np.inf))
    assert result.nfaulty > 0
    assert result.fun < bowl(START)


@pytest.mark.parametrize("library", ["jax", "torch"])
def test_arrays_of_other_libraries_are_taken(library):
    pytest.importorskip(library)
    if library == "jax":
        import jax
        import jax.numpy as jnp

        jax.config.update("jax_enable_x64", True)
        weights = jnp.linspace(1.0, 30.0, 8)
        fun = jax.jit(lambda X: jnp.sum(weights * X * X, axis=1))
    else:
        import torch

        weights = torch.linspace(1.0, 30.0, 8, dtype=torch.float64, requires_grad=True)

        def fun(X):
            return (weights * torch.from_numpy(X) ** 2).sum(dim=1)

    result = pursuit.minimize(fun, START, rng=1, ftarget=1e-9, maxfev=2000, vectorized=True)
    assert result.success
    assert bowl(result.x) == pytest.approx(result.fun, rel=1e-6)


def noted_noise(x, path):
    time.sleep(0.001)
    draws = random.random(), np.random.random()
    with path.open("a") as file:
        file.write(f"{os.getpid()} {draws[0]} {draws[1]}\n")
    return bowl(x)


@contextlib.contextmanager
def _pool_that_forks():
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as executor:
        yield executor


@pytest.mark.parametrize("workers", [lambda: contextlib.nullcontext(2), _pool_that_forks])
def test_no_two_workers_draw_the_same_noise(workers, tmp_path):
    random.seed(1)
    np.random.seed(1)
    path = tmp_path / "draws"
    with workers() as evaluate:
        result = pursuit.minimize(
            noted_noise, START, args=(path,), rng=1, workers=evaluate, batch=8, maxfev=49
        )
    lines = [line.split() for line in path.read_text().splitlines()]
    assert len(lines) == result.nfev == 49
    assert len({process for process, _, _ in lines}) == 2
    for draws in zip(*(line[1:] for line in lines), strict=True):
        assert len(set(draws)) == 49


def test_no_two_of_many_runs_draw_the_same_noise(tmp_path):
    np.random.seed(1)
    path = tmp_path / "draws"
    pursuit.minimize_many(noted_noise, START, 4, (path,), maxfev=20, workers=2)
    lines = path.read_text().splitlines()
    assert len(lines) == len({line.split()[2] for line in lines}) == 80


def test_the_state_of_the_caller_is_left_alone():
    np.random.seed(1)
    expected = np.random.random()
    np.random.seed(1)
    with ThreadPoolExecutor(2) as threads:
        pursuit.minimize(bowl, START, rng=1, workers=threads, maxfev=30)
    assert np.random.random() == expected
