"""With ``on_error="nan"`` an exception of the function counts as NaN, whoever calls the function."""

import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import pursuit

START = np.full(4, 2.0)
CENTRE = np.array([1.0, 0.5, 0.0, -0.5])


def bowl(x):
    return float(np.sum((x - CENTRE) ** 2))


def fragile(x, residue=1):
    """Fail in one of three slices of the space."""
    if int(1000 * x[0]) % 3 == residue:
        raise ArithmeticError("no convergence.")
    return bowl(x)


def holed(x):
    return np.nan if int(1000 * x[0]) % 3 == 1 else bowl(x)


def at_once(X):
    fragile(X[0])
    return np.array([bowl(x) for x in X])


def failures_in(result):
    found = re.search(
        r"(\d+) evaluations? raised an exception and counts? as NaN, the last one (.*)\.$", result.message
    )
    assert found is not None, result.message
    assert found[2] == "ArithmeticError: no convergence"
    return int(found[1])


@pytest.mark.parametrize("method", ["auto", "rp", "sep-cma"])
@pytest.mark.parametrize(
    "workers", [1, 2, map, ThreadPoolExecutor(2)], ids=["here", "processes", "map", "threads"]
)
def test_a_failure_is_a_nan(method, workers):
    settings = {"method": method, "rng": 1, "maxfev": 400, "sigma0": 2.0, "batch": 4}
    result = pursuit.minimize(fragile, START, on_error="nan", workers=workers, **settings)
    expected = pursuit.minimize(holed, START, **settings)
    np.testing.assert_array_equal(result.x, expected.x)
    assert (result.fun, result.nfev, result.nfaulty) == (expected.fun, expected.nfev, expected.nfaulty)
    assert failures_in(result) == result.nfaulty > 0


def test_a_failure_of_all_points_of_a_call_makes_all_of_them_nan():
    result = pursuit.minimize(
        at_once, START, rng=1, maxfev=400, method="sep-cma", sigma0=2.0, vectorized=True, on_error="nan"
    )
    assert failures_in(result) == result.nfaulty > 0
    assert result.fun < bowl(START)


def test_a_failure_within_constraints_is_a_nan():
    within = {"type": "ineq", "fun": lambda x: 3.0 - x.sum()}
    result = pursuit.minimize(
        fragile, START, rng=1, maxfev=600, method="rp", sigma0=2.0, constraints=within, on_error="nan"
    )
    assert failures_in(result) == result.nfaulty > 0
    assert result.maxcv <= 1e-6


@pytest.mark.parametrize("workers", [1, 2])
def test_many_runs_may_fail_here_and_there(workers):
    results = pursuit.minimize_many(
        fragile, START, 3, method="rp", sigma0=2.0, rng=1, maxfev=300, workers=workers, on_error="nan"
    )
    assert sum(result.nfaulty for result in results) > 0
    assert all(failures_in(result) == result.nfaulty for result in results if result.nfaulty)


def test_a_run_without_failures_says_nothing_of_them():
    plain, excused = (
        pursuit.minimize(bowl, START, rng=1, maxfev=200, on_error=on_error) for on_error in ("raise", "nan")
    )
    assert (plain.message, plain.fun) == (excused.message, excused.fun)


@pytest.mark.parametrize("method", ["auto", "rp"])
@pytest.mark.parametrize("workers", [1, 2])
def test_a_failure_at_the_start_says_what_failed(method, workers):
    with pytest.raises(ValueError, match="finite at x0") as caught:
        pursuit.minimize(fragile, START, (2,), method=method, workers=workers, on_error="nan")
    assert any("no convergence" in note for note in caught.value.__notes__)


def test_other_words_are_refused_and_interruptions_go_through():
    with pytest.raises(ValueError, match="on_error must be one of raise, nan, but 'ignore' was given"):
        pursuit.minimize(bowl, START, on_error="ignore")

    def stops(x):
        raise StopIteration

    with pytest.raises(StopIteration):
        pursuit.minimize(stops, START, on_error="nan")
