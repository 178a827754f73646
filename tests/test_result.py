"""What people do with a result: its trace, also as a table, and the bounds that it has hit."""

import copy
import pickle
import sys

import numba
import numpy as np
import pytest
import scipy.optimize
from matplotlib.figure import Figure

import pursuit

EXP = pursuit.problems.exp(5, 1e2)
TRACE = pursuit.minimize(EXP, EXP.x0, method="rp", rng=1, maxfev=300, trace=True).trace


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_a_trace_becomes_a_table_with_its_columns(package):
    table = getattr(TRACE, f"to_{package}")()
    assert type(table).__module__.startswith(package)
    assert list(table.columns) == ["nit", "nfev", "fun", "method", "sigma", "at_bound"]
    for name in TRACE._fields:
        np.testing.assert_array_equal(table[name].to_numpy(), getattr(TRACE, name))


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_without_its_package_a_table_is_refused_in_a_sentence(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError) as caught:
        getattr(TRACE, f"to_{package}")()
    assert str(caught.value) == (
        f"to_{package} needs {package}, which is not installed: pip install {package}."
    )


def test_a_package_that_lacks_something_itself_is_not_called_missing(tmp_path, monkeypatch):
    (tmp_path / "pandas").mkdir()
    (tmp_path / "pandas" / "__init__.py").write_text("import no_such_package")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "pandas", raising=False)
    with pytest.raises(ModuleNotFoundError, match="No module named 'no_such_package'"):
        TRACE.to_pandas()


def test_a_result_is_a_dictionary_whose_entries_are_attributes():
    result = pursuit.minimize(EXP, EXP.x0, method="rp", rng=1, maxfev=20)
    result.remark = "mine"
    assert result["remark"] == result.remark == "mine"
    assert {"remark", "fun", "plot"} <= set(dir(result))
    again = pickle.loads(pickle.dumps(copy.deepcopy(result)))
    assert (type(again), again.fun, again.remark) == (pursuit.Result, result.fun, "mine")
    del again.remark
    assert not hasattr(again, "remark")
    with pytest.raises(AttributeError, match="A result has no field 'remark'"):
        del again.remark


GOAL = np.array([2.0, 0.0, -3.0, 5.0])
LOWER, UPPER = np.array([-1.0, -1.0, -1.0, -np.inf]), np.array([1.0, 1.0, 1.0, np.inf])
BOX = scipy.optimize.Bounds(LOWER, UPPER)
SIZES = {"one size": 1.0, "sizes": np.array([1.0, 2.0, 0.5, 1.0])}


def distance(x):
    """Return how far x is from a point that two of the bounds exclude."""
    return float(np.sum((x - GOAL) ** 2))


@numba.njit
def jitted_distance(x):
    return np.sum((x - GOAL) ** 2)


@pytest.mark.parametrize("method", ["rp", "differences", "auto", "evolution"])
@pytest.mark.parametrize("limit", [{}, {"maxfev": 101}, {"maxfev": 102}])
def test_a_trace_ends_with_the_step_size_of_the_result(method, limit):
    result = pursuit.minimize(distance, np.zeros(4), method=method, sigma0=0.25, rng=1, trace=True, **limit)
    assert result.trace.sigma[0] == 0.25
    assert result.trace.sigma[-1] == result.sigma


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("method", ["rp", "cma", "differences", "evolution"])
def test_a_trace_says_when_which_step_size_and_how_many_bounds_were_there(method, sizes):
    seen = {}

    def look(intermediate_result):
        x = intermediate_result.x
        is_at = [np.isclose(x, bounds, rtol=1e-9, atol=0.0) for bounds in (LOWER, UPPER)]
        at_bound = np.count_nonzero(is_at)
        seen[intermediate_result.nit] = intermediate_result.sigma, at_bound

    result = pursuit.minimize(
        distance,
        np.zeros(4),
        method=method,
        sigma0=SIZES[sizes],
        bounds=BOX,
        rng=1,
        trace=True,
        callback=look,
    )
    nit, *_, sigma, at_bound = result.trace
    assert list(zip(sigma[1:], at_bound[1:], strict=True)) == [seen[number] for number in nit[1:]]
    assert (at_bound[0], at_bound[-1]) == (0, 2)


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("method", ["rp", "differences"])
def test_a_compiled_run_has_the_trace_of_one_in_python(method, sizes):
    one, other = (
        pursuit.minimize(
            fun, np.zeros(4), method=method, sigma0=SIZES[sizes], bounds=BOX, rng=1, trace=True, maxfev=2000
        ).trace
        for fun in (distance, jitted_distance)
    )
    for column, twin in zip(one, other, strict=True):
        np.testing.assert_array_equal(column, twin)


def test_a_start_on_bounds_is_counted():
    start = np.array([1.0, -1.0, 0.0, 0.0])
    result = pursuit.minimize(distance, start, method="rp", bounds=BOX, rng=1, maxfev=1, trace=True)
    assert result.trace.at_bound.tolist() == [2]


def test_the_trace_of_a_run_with_constraints_has_step_sizes_and_bounds():
    total = scipy.optimize.LinearConstraint(np.ones(4), -np.inf, 1.0)
    result = pursuit.minimize(distance, np.zeros(4), bounds=BOX, constraints=total, rng=1, trace=True)
    assert result.trace.sigma[-1] == result.sigma
    assert result.trace.at_bound[0] == 0
    assert result.trace.at_bound[-1] == np.count_nonzero(result.active_mask) > 0


@pytest.mark.parametrize("method", ["rp", "differences"])
def test_bounds_that_are_hit_are_named_as_in_scipy(method):
    result = pursuit.minimize(distance, np.zeros(4), method=method, bounds=BOX, rng=1, trace=True)
    theirs = scipy.optimize.least_squares(lambda x: x - GOAL, np.zeros(4), bounds=(LOWER, UPPER))
    np.testing.assert_array_equal(result.active_mask, theirs.active_mask)
    assert "bounds   2 of 4 variables at a bound\n" in str(result)
    legend = result.plot(Figure().subplots()).get_legend()
    assert legend.get_title().get_text() == "method at work\n2 of 4 variables at a bound"


def test_without_bounds_none_can_be_hit():
    result = pursuit.minimize(EXP, EXP.x0, method="rp", rng=1, maxfev=300, trace=True)
    assert not result.trace.at_bound.any()
    assert "active_mask" not in result
    assert "at a bound" not in str(result)
    assert result.plot(Figure().subplots()).get_legend().get_title().get_text() == "method at work"


def test_all_that_a_result_offers_is_listed():
    result = pursuit.minimize(lambda x: float(x @ x), np.ones(3), method="rp", rng=1, maxfev=10)
    assert {"plot", "x", "fun", "nfev", "keys"} <= set(dir(result))
