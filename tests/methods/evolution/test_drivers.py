"""A run of `evolution` is the same, bit for bit, whoever drives it and wherever it is stopped and resumed."""

import pickle
import zlib

import numpy as np
import pytest
import scipy.optimize

import pursuit

N = 10
SPECTRUM = np.geomspace(1.0, 1e3, N)
VALLEY = pursuit.problems.rosenbrock(N)


def valley(x):
    """Rosenbrock's function."""
    return VALLEY(x)


def bowl(x):
    """A quadratic function with its minimum outside of some bounds."""
    return float(SPECTRUM @ (x - np.linspace(-2.0, 2.0, N)) ** 2)


def noisy(x):
    """A quadratic function with noise: another value at each call, but a function of how many there were."""
    noisy.calls += 1
    return bowl(x) + 3.0 * (zlib.crc32(noisy.calls.to_bytes(8)) / 2**31 - 1.0)


def kinked(x):
    """A function with kinks, on which the first search ends before its minimum."""
    return float(np.abs(x - 1.0).sum() + 10.0 * np.abs(np.diff(x)).sum())


RUNS = {
    "valley": (valley, {}),
    "kinks": (kinked, {}),
    "bounds": (bowl, {"bounds": [(-1.0, 1.5)] * (N - 1) + [(None, None)]}),
    "noise": (noisy, {}),
    "noise in bounds": (noisy, {"bounds": [(-1.0, 1.5)] * N}),
    "steps of different sizes": (bowl, {"sigma0": np.linspace(0.1, 2.0, N)}),
    "large rounds": (valley, {"options": {"popsize": 40}}),
    "a batch": (valley, {"batch": 16}),
}
every_run = pytest.mark.parametrize("name", RUNS)


def minimized(name, **arguments):
    noisy.calls = 0
    fun, settings = RUNS[name]
    arguments = {"maxfev": 900, **settings, **arguments}
    return pursuit.minimize(fun, np.zeros(N), method="evolution", rng=5, trace=True, **arguments)


def assert_same(one, other):
    np.testing.assert_array_equal(one.x, other.x)
    for field in (
        "fun", "fun_is_estimate", "noise", "nit", "nfev", "nfaulty", "sigma", "status", "message"
    ):  # fmt: skip
        assert one[field] == other[field]
    for column, twin in zip(one.trace, other.trace, strict=True):
        np.testing.assert_array_equal(column, twin)


@every_run
def test_ask_and_tell_through_a_checkpoint_before_every_value_is_minimize(name):
    whole = minimized(name, maxfev=300)
    noisy.calls = 0
    fun, settings = RUNS[name]
    optimizer = pursuit.Optimizer(np.zeros(N), "evolution", rng=5, trace=True, maxfev=300, **settings)
    while not optimizer.stop():
        X = optimizer.ask()
        optimizer = pickle.loads(pickle.dumps(optimizer))  # which is a checkpoint in memory
        np.testing.assert_array_equal(optimizer.ask(), X)
        optimizer.tell(X[:1], [fun(X[0])])
    assert_same(optimizer.result, whole)
    assert optimizer.result.fun_is_estimate == name.startswith("noise")


@every_run
def test_minimize_resumes_where_limits_stopped_it(name, tmp_path):
    whole = minimized(name)
    noisy.calls = 0
    fun, settings = RUNS[name]
    for maxfev in (1, 2, 3, 12, 40, 151, 152, 500, 900):
        part = pursuit.minimize(
            fun, np.zeros(N), method="evolution", rng=5, trace=True, maxfev=maxfev,
            checkpoint=tmp_path / "run.npz", checkpoint_check=False, **settings,
        )  # fmt: skip
        assert part.nfev <= maxfev
    assert_same(whole, part)


@every_run
def test_who_evaluates_the_points_changes_nothing(name):
    plain = minimized(name)
    assert_same(plain, minimized(name, workers=map))
    noisy.calls = 0
    fun, settings = RUNS[name]
    together = pursuit.minimize(
        lambda X: [fun(x) for x in X], np.zeros(N), method="evolution", rng=5, trace=True, maxfev=900,
        vectorized=True, **settings,
    )  # fmt: skip
    assert_same(plain, together)


def test_other_processes_change_nothing():
    batch = {"maxfev": 300, "batch": 8}
    assert_same(minimized("valley", **batch), minimized("valley", workers=2, **batch))


def test_many_runs_and_scipy_give_the_same_run():
    python = minimized("valley")
    (one,) = pursuit.minimize_many(
        valley, np.zeros(N), seeds=[5], method="evolution", maxfev=900, trace=True, workers=1
    )
    assert_same(one, python)
    theirs = scipy.optimize.minimize(
        valley,
        np.zeros(N),
        method=pursuit.scipy_method("evolution"),
        options={"rng": 5, "maxfev": 900, "trace": True},
    )
    assert_same(theirs, python)


def test_a_run_that_was_killed_in_its_last_search_is_resumed():
    """The second search and the last look, too."""
    whole = pursuit.minimize(bowl, np.zeros(N), method="evolution", rng=5, trace=True)
    optimizer = pursuit.Optimizer(np.zeros(N), "evolution", rng=5, trace=True)
    while not optimizer.stop():
        X = optimizer.ask()
        if optimizer.result.nfev > whole.nfev - 200:
            optimizer = pickle.loads(pickle.dumps(optimizer))
            np.testing.assert_array_equal(optimizer.ask(), X)
        optimizer.tell(X, [bowl(x) for x in X])
    assert_same(optimizer.result, whole)
    assert whole.success, whole.message


def test_another_seed_gives_another_run():
    other = pursuit.minimize(valley, np.zeros(N), method="evolution", rng=6, maxfev=900)
    assert not np.array_equal(minimized("valley").x, other.x)
