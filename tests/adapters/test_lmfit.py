"""lmfit takes our method as one of SciPy's: the recipe of the questions."""

import numpy as np
import pytest

import pursuit

lmfit = pytest.importorskip("lmfit", reason="`make test-adapters` has it")


def test_a_fit_within_bounds():
    times = np.linspace(0.0, 5.0, 60)
    data = 3.0 * np.exp(-0.7 * times) + 0.05 * np.random.default_rng(1).standard_normal(60)
    params = lmfit.create_params(size={"value": 1.0, "max": 10.0}, rate={"value": 0.2, "min": 0.0})
    fitter = lmfit.Minimizer(lambda p: p["size"] * np.exp(-p["rate"] * times) - data, params)
    found = fitter.scalar_minimize(method=pursuit.scipy_method(), options={"rng": 1})
    expected = fitter.leastsq()
    for name in params:
        assert found.params[name].value == pytest.approx(expected.params[name].value, rel=1e-5)
    assert found.chisqr == pytest.approx(expected.chisqr, rel=1e-9)
