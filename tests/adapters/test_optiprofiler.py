"""The solver for OptiProfiler, run by OptiProfiler itself."""

import numpy as np
import pytest

from pursuit.adapters.optiprofiler import pursuit_auto


def sphere(x):
    return float(x @ x)


def test_each_form_of_a_call_keeps_its_constraints():
    start = [3.0, 1.0]
    box, nothing = ([-9.0, 0.5], [9.0, 9.0]), ((), ())
    linear = ([[1.0, 0.0]], [5.0], [[1.0, 1.0]], [1.0])
    np.testing.assert_allclose(pursuit_auto(sphere, start), 0.0, atol=1e-5)
    np.testing.assert_allclose(pursuit_auto(sphere, start, *box), [0.0, 0.5], atol=1e-5)
    np.testing.assert_allclose(pursuit_auto(sphere, start, *box, *linear), [0.5, 0.5], atol=1e-4)
    nonlinear = (lambda x: np.array([0.64 - x[0] ** 2]), lambda x: np.array([]))
    found = pursuit_auto(sphere, start, *box, *nothing, *nothing, *nonlinear)
    np.testing.assert_allclose(found, [0.8, 0.5], atol=1e-4)


def test_the_start_is_moved_within_the_bounds_and_settings_are_passed_on():
    seen = []

    def fun(x):
        seen.append(x.copy())
        return sphere(x)

    pursuit_auto(fun, [5.0, -5.0], [-1.0, -1.0], [1.0, 1.0], method="evolution", maxfev=25)
    assert len(seen) == 25
    assert seen[0].tolist() == [1.0, -1.0]
    assert np.abs(seen).max() <= 1.0
    with pytest.raises(TypeError, match="nonsense"):
        pursuit_auto(fun, [1.0], nonsense=1)


def nelder_mead(fun, x0):
    from scipy.optimize import minimize

    return minimize(fun, x0, method="Nelder-Mead").x


def test_optiprofiler_finds_it_ahead_of_nelder_mead(tmp_path, monkeypatch):
    optiprofiler = pytest.importorskip("optiprofiler", reason="it is in the extra `peers`")
    monkeypatch.chdir(tmp_path)
    scores, _, _ = optiprofiler.benchmark(
        [pursuit_auto, nelder_mead], ptype="u", problem_names=["ROSENBR", "BEALE", "WOODS"],
        max_eval_factor=60, max_tol_order=4, n_jobs=1, silent=True, score_only=True, savepath=str(tmp_path),
    )  # fmt: skip
    assert scores[0] > scores[1] > 0.0
