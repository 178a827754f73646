"""Callbacks as in SciPy, and a clock that does not count what is compiled."""

import sys

import numba
import numpy as np
import pytest
import scipy.optimize

import pursuit
from pursuit.compiling import cache as caching
from pursuit.compiling.jit import announcing
from pursuit.engine.driving import Monitor
from pursuit.engine.stopping import Reason

EXP = pursuit.problems.exp(5, 100.0)
both_drivers = pytest.mark.parametrize("fun", [EXP, lambda x: EXP(x)], ids=["compiled", "python"])


@both_drivers
def test_an_intermediate_result_is_passed_by_name(fun):
    seen = []

    def callback(intermediate_result):
        seen.append(intermediate_result)

    result = pursuit.minimize(fun, EXP.x0, method="rp", rng=1, maxiter=50, callback=callback)
    assert [each.nit for each in seen] == list(range(1, 51))
    assert isinstance(seen[0], pursuit.Result)
    assert all(each.fun == EXP(each.x) for each in seen)
    assert seen[-1].fun == result.fun
    np.testing.assert_array_equal(seen[-1].x, result.x)


@both_drivers
def test_any_other_callback_receives_the_point(fun):
    seen = []
    result = pursuit.minimize(fun, EXP.x0, method="rp", rng=1, maxiter=50, callback=seen.append)
    assert len(seen) == 50
    np.testing.assert_array_equal(seen[-1], result.x)
    assert not any(np.shares_memory(seen[i], seen[i + 1]) for i in range(49))


@both_drivers
def test_stop_iteration_stops_as_in_scipy(fun):
    def stop_at_ten():
        calls = []

        def callback(x):
            calls.append(1)
            if len(calls) == 10:
                raise StopIteration

        return callback

    ours = pursuit.minimize(fun, EXP.x0, method="rp", rng=1, callback=stop_at_ten())
    theirs = scipy.optimize.minimize(lambda x: EXP(x), EXP.x0, method="Nelder-Mead", callback=stop_at_ten())
    assert (ours.nit, ours.success, ours.message) == (10, theirs.success, theirs.message)
    assert ours.status == Reason.CALLBACK


@both_drivers
def test_a_callback_does_not_change_the_run(fun):
    plain = pursuit.minimize(fun, EXP.x0, method="sarp", rng=1, maxiter=100, options={"kappa": 100.0})
    watched = pursuit.minimize(
        fun,
        EXP.x0,
        method="sarp",
        rng=1,
        maxiter=100,
        options={"kappa": 100.0},
        callback=lambda x: x.fill(0.0),
    )
    np.testing.assert_array_equal(plain.x, watched.x)


def test_a_callback_s_own_error_goes_through():
    def broken(x):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        pursuit.minimize(EXP, EXP.x0, method="rp", rng=1, callback=broken)


def test_something_else_than_a_callback_is_refused():
    with pytest.raises(TypeError, match="callback must be callable, but 3 was given"):
        pursuit.minimize(EXP, EXP.x0, method="rp", callback=3)


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    """Let everything be compiled anew."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    cached = caching._compiled, caching._version_folder
    for function in cached:
        function.cache_clear()
    yield
    for function in cached:
        function.cache_clear()


@both_drivers
def test_nothing_is_compiled_while_the_clock_runs(fun, empty_cache, monkeypatch):
    seen = []

    class Watched(Monitor):
        def __init__(self, **settings):
            super().__init__(**settings)
            seen.append("begin")

        def close(self, run):
            super().close(run)
            seen.append("end")

    monkeypatch.setattr(sys.modules["pursuit.engine.running"], "Monitor", Watched)
    with announcing(seen.append):
        result = pursuit.minimize(
            fun,
            EXP.x0,
            method="rp",
            rng=1,
            maxiter=5000,
            callback=lambda x: None,
            bounds=[(-9.0, 9.0)] * 5,
        )
    assert result.time > 0.0
    assert "present" in seen[: seen.index("begin")]
    assert seen[seen.index("begin") + 1] == "end"
