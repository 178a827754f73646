"""The algorithm for optimagic, run by optimagic itself."""

import numpy as np
import pytest

om = pytest.importorskip("optimagic", reason="`make test-adapters` has it")
Pursuit = pytest.importorskip("pursuit.adapters.optimagic").Pursuit


def misfit(params):
    return (params["a"] - 2.0) ** 2 + float(np.sum((params["b"] - 1.0) ** 2))


START = {"a": 0.5, "b": np.zeros(3)}


@pytest.mark.parametrize("cores", [1, 2])
def test_it_minimises_within_bounds(cores):
    bounds = om.Bounds(lower={"a": 0.0, "b": np.full(3, -5.0)}, upper={"a": 1.5, "b": np.full(3, 5.0)})
    found = om.minimize(misfit, START, algorithm=Pursuit(seed=1, n_cores=cores), bounds=bounds)
    assert found.params["a"] == 1.5
    np.testing.assert_allclose(found.params["b"], 1.0, atol=1e-6)
    assert found.success
    assert found.n_fun_evals == len(found.history.fun)


def test_settings_and_directions():
    algorithm = Pursuit(method="evolution", seed=1, stopping_maxfun=90, settings={"sigma0": 0.1})
    assert om.minimize(misfit, START, algorithm=algorithm).n_fun_evals == 90
    found = om.maximize(lambda params: -misfit(params), START, algorithm=Pursuit, algo_options={"seed": 1})
    np.testing.assert_allclose(found.params["a"], 2.0, atol=1e-6)
    one_sided = om.minimize(misfit, START, algorithm=Pursuit(seed=1), bounds=om.Bounds(upper={"a": 1.0}))
    assert one_sided.params["a"] <= 1.0
