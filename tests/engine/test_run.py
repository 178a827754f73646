"""The run: limits, trace, divergence, and numbers that stay numbers."""

import math
import time

import numba
import numpy as np
import pytest

import pursuit
from helpers import make_problem, options_for, run_scheme
from pursuit.engine.counters import Limits
from pursuit.engine.stopping import Reason
from pursuit.methods import create_scheme

EXP = pursuit.problems.exp(20, 1e4)


def black_box(x):
    return EXP(x)


@numba.njit
def jitted_sphere(x):
    return np.sum(x * x)


both_drivers = pytest.mark.parametrize("fun", [EXP, black_box], ids=["compiled", "python"])


@both_drivers
def test_stops_at_the_target(fun):
    result = pursuit.minimize(fun, EXP.x0, method="cma", rng=1, ftarget=1e-3)
    assert result.success
    assert result.status == Reason.TARGET
    assert result.fun <= 1e-3
    earlier = pursuit.minimize(fun, EXP.x0, method="cma", rng=1, maxiter=result.nit - 1)
    assert earlier.fun > 1e-3


@both_drivers
def test_stops_at_the_limit_of_iterations(fun):
    result = pursuit.minimize(fun, EXP.x0, method="rp", rng=1, maxiter=123)
    assert (result.nit, result.nfev, result.status) == (123, 124, Reason.MAXITER)
    assert not result.success


@both_drivers
def test_stops_at_the_limit_of_evaluations(fun):
    result = pursuit.minimize(fun, EXP.x0, method="sarp", rng=1, maxfev=100, options={"kappa": 1e4})
    assert (result.nit, result.nfev, result.status) == (49, 99, Reason.MAXFEV)


# Random Pursuit takes minutes on it, compiled or not.
LONG = pursuit.problems.lin(20, 1e6)


@pytest.mark.parametrize("fun", [LONG, LONG.__call__], ids=["compiled", "python"])
def test_stops_at_the_limit_of_time(fun):
    pursuit.minimize(fun, LONG.x0, method="rp", rng=1, maxiter=10)
    begin = time.perf_counter()
    result = pursuit.minimize(fun, LONG.x0, method="rp", rng=1, maxtime=0.3)
    assert result.status == Reason.MAXTIME
    assert 0.3 <= time.perf_counter() - begin < 10.0


@pytest.mark.parametrize("fun", [jitted_sphere, jitted_sphere.py_func], ids=["compiled", "python"])
def test_a_target_reached_in_an_iteration_that_a_limit_cuts_was_reached(fun):
    for maxfev in range(2, 20):
        arguments = {"method": "rp-exact", "rng": 1, "maxfev": maxfev}
        best = pursuit.minimize(fun, [2.69, 1.0], **arguments)
        assert best.status == Reason.MAXFEV
        reached = pursuit.minimize(fun, [2.69, 1.0], ftarget=best.fun, **arguments)
        assert (reached.status, reached.success) == (Reason.TARGET, True)
        assert reached.fun <= best.fun
        missed = pursuit.minimize(fun, [2.69, 1.0], ftarget=0.5 * best.fun, **arguments)
        assert (missed.status, missed.success) == (Reason.MAXFEV, False)


def test_counts_iterations_and_evaluations_apart():
    for method, evaluations in [("rp", 1), ("sarp", 2), ("cma", 1), ("rp-exact", 1), ("sarp-exact", 1)]:
        result = pursuit.minimize(EXP, EXP.x0, method=method, rng=1, maxiter=50)
        assert (result.nit, result.nfev) == (50, 1 + 50 * evaluations)


@pytest.mark.parametrize("method", ["rp", "cma", "ep-cma-4"])
def test_a_run_without_limits_ends_where_nothing_better_is_to_be_found(method):
    result = pursuit.minimize(
        lambda x: 1.0 + float(np.square(x - 3.0).sum()), np.zeros(5), method=method, rng=1
    )
    assert result.status in (Reason.STALLED, Reason.FTOL)
    # Nothing has looked around x.
    assert not result.success
    np.testing.assert_allclose(result.x, 3.0, atol=1e-6)


@pytest.mark.parametrize("whole", [True, False], ids=["compiled", "python"])
@pytest.mark.parametrize("n", [20, 40])
@pytest.mark.parametrize("name", ["lin", "rosenbrock"])
def test_sarp_as_printed_diverges_and_says_so(name, n, whole):
    """It does so on both problems; doubles would overflow after about 7 500 n iterations or more."""
    problem = make_problem(name, n)
    result = pursuit.minimize(
        problem if whole else lambda x: problem(x),
        problem.x0,
        method="sarp",
        rng=1,
        ftarget=1e-9,
        options={"reading": "printed", "kappa": problem.L / problem.m},
    )
    assert result.status == Reason.DIVERGED
    assert not result.success
    assert "diverged" in result.message
    assert result.nit < 3_000 * n
    assert np.isfinite(result.x).all()
    assert result.fun == problem(result.x) <= problem(problem.x0)


@pytest.mark.parametrize("reading", ["fitted", "frozen"])
@pytest.mark.parametrize("name", ["exp", "lin", "two", "rosenbrock"])
@pytest.mark.parametrize("n", [2, 3, 5, 10])
def test_sarp_with_damping_3_is_not_mistaken_for_divergent(name, n, reading):
    """On Rosenbrock's function in few dimensions it strays far before it returns."""
    problem = make_problem(name, n)
    for seed in range(20):
        result = pursuit.minimize(
            problem, problem.x0, method="sarp", rng=seed, ftarget=1e-9, options={"reading": reading}
        )
        assert result.status == Reason.TARGET


def test_values_that_are_not_numbers_are_rejected_and_counted():
    calls = []

    def half_defined(x):
        calls.append(math.nan if x[0] < 0.1 else float(x @ x))
        return calls[-1]

    for method in ["rp", "sarp", "cma", "ep-cma-4"]:
        calls.clear()
        result = pursuit.minimize(
            half_defined,
            np.ones(4),
            method=method,
            rng=1,
            maxiter=500,
            options=options_for(method, kappa=100.0),
        )
        assert np.isfinite(result.fun)
        assert result.x[0] >= 0.1
        assert result.nfaulty == sum(map(math.isnan, calls)) > 0


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_start_without_a_value_is_refused(bad):
    with pytest.raises(ValueError, match="must be finite at x0"):
        pursuit.minimize(lambda x: bad, np.ones(3), rng=1)


def test_interruption_returns_the_best_so_far():
    def interrupted(x):
        if len(calls) == 50:
            raise KeyboardInterrupt
        calls.append(1)
        return float(x @ x)

    calls = []
    result = pursuit.minimize(interrupted, np.ones(4), method="rp", rng=1)
    assert result.status == Reason.INTERRUPTED
    assert result.nfev == 50
    assert result.fun == float(result.x @ result.x) < 4.0


def test_an_exception_of_the_objective_is_the_caller_s():
    def broken(x):
        if x[0] != 1.0:
            raise ZeroDivisionError
        return 0.0

    with pytest.raises(ZeroDivisionError):
        pursuit.minimize(broken, np.ones(4), method="rp", rng=1)


@both_drivers
@pytest.mark.parametrize("method", ["adaptive-sarp", "rp", "sarp", "ep-cma-4"])
def test_trace_is_dense_and_holds_the_first_the_last_and_the_best(fun, method):
    options = {"kappa": 1e4} if method == "sarp" else {}
    result = pursuit.minimize(
        fun, EXP.x0, method=method, rng=1, maxiter=20_000, options=options, trace=True, ftarget=1e-30
    )
    trace = result.trace
    assert (trace.nit[0], trace.nfev[0], trace.fun[0]) == (0, 1, EXP(EXP.x0))
    assert (trace.nit[-1], trace.nfev[-1]) == (result.nit, result.nfev)
    assert trace.fun.min() == result.fun
    assert (np.diff(trace.nit) > 0).all()
    per_decade = np.count_nonzero((trace.nit >= 1000) & (trace.nit < 10_000))
    assert 48 <= per_decade <= 52
    if not method.startswith("adaptive-sarp"):
        np.testing.assert_array_equal(trace.nfev, 1 + trace.nit * (2 if method == "sarp" else 1))


def test_trace_follows_the_iterates_not_the_best():
    """SARP is not monotone, and its trace shows it."""
    trace = pursuit.minimize(EXP, EXP.x0, method="sarp", rng=1, maxiter=5000, trace=True).trace
    assert (np.diff(trace.fun) > 0).any()


def test_no_trace_unless_asked_for():
    assert "trace" not in pursuit.minimize(EXP, EXP.x0, method="rp", rng=1, maxiter=5)


def test_cma_keeps_its_numbers_in_range_over_millions_of_iterations():
    """Were C's scale not folded into sigma, sigma would be 1e145 after the first 100 000 of them."""
    problem = pursuit.problems.rosenbrock(2)
    scheme = create_scheme("cma", 2, {}, problem)
    limits = Limits(-1.0, 5_000_000, 2**62, 2**62)
    outcome = run_scheme(scheme, problem, rng=np.random.default_rng(1), limits=limits, whole=True)
    assert outcome.reason == Reason.MAXITER
    assert np.isfinite(outcome.x).all()
    assert outcome.fun < 1e-25
    assert 0.0 < outcome.sigma < 1e20
