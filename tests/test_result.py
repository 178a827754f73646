"""What people do with a result: its trace as a table, and the bounds that it has hit."""

import sys

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
    assert list(table.columns) == ["nit", "nfev", "fun", "method"]
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


@pytest.mark.parametrize("method", ["rp", "values"])
def test_bounds_that_are_hit_are_named_as_in_scipy(method):
    goal = np.array([2.0, 0.0, -3.0, 5.0])
    lower, upper = np.array([-1.0, -1.0, -1.0, -np.inf]), np.array([1.0, 1.0, 1.0, np.inf])

    def fun(x):
        return float(np.sum((x - goal) ** 2))

    result = pursuit.minimize(
        fun, np.zeros(4), method=method, bounds=scipy.optimize.Bounds(lower, upper), rng=1, trace=True
    )
    theirs = scipy.optimize.least_squares(lambda x: x - goal, np.zeros(4), bounds=(lower, upper))
    np.testing.assert_array_equal(result.active_mask, theirs.active_mask)
    assert "bounds   2 of 4 variables at a bound\n" in str(result)
    legend = result.plot(Figure().subplots()).get_legend()
    assert legend.get_title().get_text() == "method at work\n2 of 4 variables at a bound"


def test_without_bounds_none_can_be_hit():
    result = pursuit.minimize(EXP, EXP.x0, method="rp", rng=1, maxfev=300, trace=True)
    assert "active_mask" not in result
    assert "bound" not in str(result)
    assert result.plot(Figure().subplots()).get_legend().get_title().get_text() == "method at work"
