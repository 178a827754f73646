"""A run of `differences` is the same, bit for bit, whoever drives it and whatever evaluates its points."""

import zlib

import numba
import numpy as np
import pytest
import scipy.optimize

import pursuit

N = 10
SPECTRUM = np.geomspace(1.0, 1e3, N)
VALLEY = pursuit.problems.rosenbrock(N)


def valley(x):
    """Rosenbrock's function, whose curvature changes."""
    return float(np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2))


def bowl(x):
    """A quadratic function with its minimum outside of some bounds."""
    return float(SPECTRUM @ (x - np.linspace(-2.0, 2.0, N)) ** 2)


def noisy(x):
    """A quadratic function with noise that depends on the point alone."""
    return bowl(x) + 1e-2 * (zlib.crc32(x.tobytes()) / 2**31 - 1.0)


@numba.njit
def quartic(x):
    total = 0.0
    for i in range(x.size):
        square = x[i] * x[i]  # powers are rounded differently
        total += square * square + (i + 1.0) * square
    return total


RUNS = {
    "valley": (valley, {}),
    "bounds": (bowl, {"bounds": [(-1.0, 1.5)] * (N - 1) + [(None, None)]}),
    "noise": (noisy, {}),
    "noise in bounds": (noisy, {"bounds": [(-1.0, 1.5)] * N}),
    "steps of different sizes": (bowl, {"sigma0": np.linspace(0.1, 2.0, N)}),
    "valley in batches": (valley, {"batch": 7}),
    "noise in batches": (noisy, {"batch": 16}),
}
every_run = pytest.mark.parametrize("name", RUNS)


def minimized(name, **arguments):
    fun, settings = RUNS[name]
    arguments = {"maxfev": 900, **settings, **arguments}
    return pursuit.minimize(fun, np.zeros(N), method="differences", rng=5, trace=True, **arguments)


def assert_same(one, other):
    np.testing.assert_array_equal(one.x, other.x)
    for field in ("fun", "fun_is_estimate", "noise", "nit", "nfev", "nfaulty", "sigma", "status"):
        assert one[field] == other[field]
    for column, twin in zip(one.trace, other.trace, strict=True):
        np.testing.assert_array_equal(column, twin)


@every_run
def test_ask_and_tell_is_minimize(name):
    fun, settings = RUNS[name]
    optimizer = pursuit.Optimizer(np.zeros(N), "differences", rng=5, trace=True, maxfev=900, **settings)
    while not optimizer.stop():
        X = optimizer.ask()
        optimizer.tell(X, [fun(x) for x in X])
    assert_same(optimizer.result, minimized(name))


@every_run
def test_who_evaluates_the_points_changes_nothing(name):
    plain = minimized(name)
    assert_same(plain, minimized(name, workers=map))
    fun, settings = RUNS[name]
    together = pursuit.minimize(
        lambda X: [fun(x) for x in X], np.zeros(N), method="differences", rng=5, trace=True, maxfev=900,
        vectorized=True, **settings,
    )  # fmt: skip
    assert_same(plain, together)


def test_other_processes_change_nothing():
    batch = {"maxfev": 300, "batch": 8}
    assert_same(minimized("valley", **batch), minimized("valley", workers=2, **batch))


def test_jitted_functions_and_problems_are_functions():
    for compiled, python, x0 in (
        (VALLEY, VALLEY.__call__, VALLEY.x0),
        (quartic, quartic.py_func, np.ones(N)),
    ):
        ours, theirs = (
            pursuit.minimize(fun, x0, method="differences", rng=5, trace=True, maxfev=500)
            for fun in (compiled, python)
        )
        assert_same(ours, theirs)


def test_many_runs_are_those_of_minimize():
    results = pursuit.minimize_many(
        VALLEY, VALLEY.x0, seeds=[3, 5], method="differences", maxfev=2000, trace=True
    )
    for result in results:
        single = pursuit.minimize(
            VALLEY, VALLEY.x0, method="differences", rng=result.seed, maxfev=2000, trace=True
        )
        assert_same(result, single)


def test_scipy_gives_the_same_run():
    ours = minimized("valley", maxfev=500)
    theirs = scipy.optimize.minimize(
        valley,
        np.zeros(N),
        method=pursuit.scipy_method("differences"),
        options={"rng": 5, "maxfev": 500, "trace": True},
    )
    assert_same(ours, theirs)


def test_the_same_seed_gives_the_same_run_and_another_one_another():
    one, again = minimized("noise"), minimized("noise")
    assert_same(one, again)
    other = pursuit.minimize(noisy, np.zeros(N), method="differences", rng=6, maxfev=900)
    assert not np.array_equal(one.x, other.x)


def test_the_default_begins_with_it():
    """And leaves it at that where f is smooth."""
    default = pursuit.minimize(valley, np.zeros(N), rng=5, maxfev=900, trace=True)
    assert_same(default, minimized("valley"))


def test_an_option_that_it_has_not_is_refused():
    with pytest.raises(
        ValueError, match="'memory' is not an option of the method differences: its options are quiet"
    ):
        pursuit.minimize(valley, np.zeros(N), method="differences", options={"memory": 3})
