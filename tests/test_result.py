"""What people do with a result: its trace as a table."""

import sys

import numpy as np
import pytest

import pursuit

EXP = pursuit.problems.exp(5, 1e2)
TRACE = pursuit.minimize(EXP, EXP.x0, method="rp", rng=1, maxfev=300, trace=True).trace


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_a_trace_becomes_a_table_with_its_columns(package):
    pytest.importorskip(package)
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
