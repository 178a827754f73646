"""Functions that return a value and something else: that of the best point is in the result."""

import concurrent.futures
import functools
import pickle
import re

import numpy as np
import pytest

import pursuit

pytestmark = pytest.mark.interpreted
START = np.array([1.0, 2.0, -1.5])


def valley(x):
    return float(np.sum((x - 0.3) ** 2) + np.sum(x**4))


def pair(x):
    """Return the value and the point itself, in a form that is no array."""
    return valley(x), {"at": tuple(x)}


def check_belongs(result):
    assert result.extra == {"at": tuple(result.x)}
    assert result.fun == valley(np.array(result.extra["at"]))


@pytest.mark.parametrize("method", ["auto", "differences", "evolution", "rp", "sarp", "cma", "sep-cma"])
def test_it_is_that_of_the_best_point(method):
    options = {"kappa": 10.0} if method == "sarp" else {}
    settings = {"method": method, "rng": 1, "maxfev": 150, "options": options}
    result, alone = pursuit.minimize(pair, START, **settings), pursuit.minimize(valley, START, **settings)
    check_belongs(result)
    assert (result.fun, result.nfev) == (alone.fun, alone.nfev)
    assert "extra" not in alone


def test_a_start_that_is_never_improved_has_it():
    check_belongs(pursuit.minimize(pair, np.full(3, 0.3), maxfev=1))
    assert pursuit.minimize(lambda x: (1.0, "all alike"), START, rng=1).extra == "all alike"


def test_callbacks_and_exceptions_have_it():
    seen = []

    def callback(intermediate_result):
        check_belongs(intermediate_result)
        seen.append(intermediate_result.fun)

    pursuit.minimize(pair, START, rng=1, maxfev=100, callback=callback)
    assert len(seen) > 2
    calls = []

    def failing(x):
        calls.append(1)
        if len(calls) > 30:
            raise ZeroDivisionError
        return pair(x)

    for workers in (1, map):
        calls.clear()
        with pytest.raises(ZeroDivisionError) as raised:
            pursuit.minimize(failing, START, rng=1, workers=workers, batch=7)
        check_belongs(raised.value.pursuit_result)


def pairs(X):
    found = [pair(x) for x in X]
    return np.array([value for value, _ in found]), [extra for _, extra in found]


def test_it_travels_with_workers():
    settings = {"rng": 1, "maxfev": 100, "batch": 4}
    check_belongs(pursuit.minimize(pair, START, workers=2, **settings))
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        check_belongs(pursuit.minimize(pair, START, workers=executor, **settings))
    check_belongs(pursuit.minimize(pair, START, workers=map, **settings))
    check_belongs(pursuit.minimize(pairs, START, vectorized=True, **settings))
    for batch in (1, 2):
        check_belongs(pursuit.minimize(pairs, START, vectorized=True, rng=1, maxfev=60, batch=batch))


def test_many_runs_and_restarts_have_it():
    for result in pursuit.minimize_many(pair, START, 3, rng=1, maxfev=100, workers=2):
        check_belongs(result)
    check_belongs(pursuit.minimize(pair, START, method="rp", rng=1, restarts=2, maxfev=3000, xtol=0.1))


def half(x):
    return x[0] - 0.5


@pytest.mark.parametrize("settings", [{}, {"workers": 2}], ids=["here", "workers"])
def test_constraints(settings):
    constraint = {"type": "ineq", "fun": half}
    result = pursuit.minimize(pair, START, rng=1, maxfev=2000, constraints=constraint, **settings)
    check_belongs(result)
    assert result.maxcv <= 1e-6


def test_after_an_exception_that_counts_as_nan():
    def fragile(x):
        if x[0] < 0.35:
            raise ZeroDivisionError
        return pair(x)

    result = pursuit.minimize(fragile, START, rng=1, maxfev=200, on_error="nan")
    check_belongs(result)
    assert result.nfaulty > 0


def test_an_estimate_has_none():
    rng = np.random.default_rng(1)

    def noisy(x):
        return valley(x) + 0.1 * rng.standard_normal(), "seen once"

    result = pursuit.minimize(noisy, START, rng=1, maxfev=400)
    assert result.fun_is_estimate
    assert result.extra is None


def test_of_equal_values_it_is_that_of_the_point_returned():
    def stairs(x):
        return (float(np.round(4.0 * valley(x))), tuple(x))

    for method in ("rp", "cma", "evolution"):
        result = pursuit.minimize(stairs, START, method=method, rng=1, maxfev=300)
        assert not result.fun_is_estimate
        assert result.extra == tuple(result.x)


def test_a_function_may_overwrite_what_it_gets():
    def spoiling(x):
        found = pair(x)
        x[:] = 0.0
        return found

    check_belongs(pursuit.minimize(spoiling, START, rng=1, maxfev=100))


def test_a_resumed_run_has_it_once_it_has_found_something(tmp_path):
    path = tmp_path / "run.npz"
    settings = {"rng": 1, "checkpoint": path}
    pursuit.minimize(pair, START, maxfev=50, **settings)
    before = pursuit.minimize(pair, START, maxfev=50, **settings)
    assert before.extra in (None, {"at": tuple(before.x)})
    resumed = pursuit.minimize(pair, START, maxfev=150, **settings)
    check_belongs(resumed)
    assert resumed.fun == pursuit.minimize(valley, START, rng=1, maxfev=150).fun


def test_results_with_it_can_be_pickled_and_printed():
    result = pickle.loads(pickle.dumps(pursuit.minimize(pair, START, rng=1, maxfev=20)))
    check_belongs(result)
    assert "fun" in repr(result)


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        (("a", 1.0), "a pair that begins with the text 'a'."),
        ((None, 1.0), "a pair that begins with None"),
        ((np.zeros(2), 1.0), "a pair that begins with an array of shape (2,)"),
        ((1.0, 2.0, 3.0), "The objective must return a real number, but it returned (1.0, 2.0, 3.0)."),
        ([1.0, 2.0], "The objective must return a real number, but it returned [1.0, 2.0]."),
    ],
)
def test_what_is_no_such_pair_is_refused(bad, sentence):
    for fun in (lambda x: bad, lambda x: bad if x[0] != 1.0 else pair(x)):
        with pytest.raises(TypeError, match=re.escape(sentence)):
            pursuit.minimize(fun, START, rng=1)


@pytest.mark.parametrize("extras", [[], 7, [1, 2, 3, 4, 5, 6, 7, 8, 9]])
def test_a_function_of_many_points_returns_one_for_each(extras):
    fun = functools.partial(lambda extras, X: (pairs(X)[0], extras), extras)
    with pytest.raises(ValueError, match=r"or a pair of them and one thing more for each of 1 points"):
        pursuit.minimize(fun, START, vectorized=True, rng=1)
