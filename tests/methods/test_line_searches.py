"""The step-size oracles, each held in conversation by a loop of a few lines."""

import math

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st

import pursuit
from pursuit.methods.line_searches import AdaptiveStep, Bracketing, Line, Step, begin, learn


def search(oracle, phi, *, known=True, sigma=1.0):
    """Minimise phi(t) by the oracle; return its step and every position it looked at."""
    line = Line(np.zeros(1), np.ones(1), phi(0.0) if known else math.nan, sigma)
    pending = begin(oracle, line, math.nan)
    looked = []
    while pending.wanted:
        positions = pending.positions[: pending.wanted]
        looked.extend(positions)
        pending = learn(oracle, pending, np.array([phi(t) for t in positions]))
    return Step(pending.length, pending.value, pending.sigma, pending.origin), looked


@pytest.mark.parametrize("p", [0.1, 0.27, 0.5, 0.9])
def test_adaptive_step_grows_on_success_and_shrinks_on_failure(p):
    oracle = AdaptiveStep.create(p)
    step, looked = search(oracle, lambda t: -t, sigma=2.0)
    assert (step.length, step.value, looked) == (2.0, -2.0, [2.0])
    assert step.sigma == pytest.approx(2.0 * math.exp(1 / 3))
    step, looked = search(oracle, lambda t: t, sigma=2.0)
    assert (step.length, step.value, looked) == (0.0, 0.0, [2.0])
    assert step.sigma == pytest.approx(2.0 * math.exp(-p / (3 * (1 - p))))


def test_adaptive_step_is_balanced_at_its_success_probability():
    """At a share p of successes the step size stays where it is: that is what p means."""
    oracle = AdaptiveStep.create(0.27)
    assert 0.27 * math.log(oracle.grow) + 0.73 * math.log(oracle.shrink) == pytest.approx(0.0, abs=1e-15)


def test_adaptive_step_counts_an_equal_value_as_success():
    step, _ = search(AdaptiveStep.create(0.27), lambda t: 5.0)
    assert step.length == 1.0


def test_adaptive_step_asks_for_the_origin_where_its_value_is_not_known():
    step, looked = search(AdaptiveStep.create(0.27), lambda t: (t - 1) ** 2, known=False)
    assert looked == [1.0, 0.0]
    assert (step.length, step.value) == (1.0, 0.0)


@given(
    minimum=st.floats(-1e3, 1e3).filter(lambda t: abs(t) > 1e-3),
    curvature=st.floats(1e-3, 1e3),
    sigma=st.floats(1e-2, 1e2),
    known=st.booleans(),
)
def test_bracketing_finds_the_minimum_of_a_parabola(minimum, curvature, sigma, known):
    oracle = Bracketing.create(1e-3)
    step, looked = search(oracle, lambda t: curvature * (t - minimum) ** 2, known=known, sigma=sigma)
    assert step.length == pytest.approx(minimum, rel=2e-3, abs=2e-6 * sigma)
    assert len(looked) <= 60


@pytest.mark.parametrize("tolerance", [1e-1, 1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize(
    "phi",
    [
        lambda t: math.cosh(t - 0.3),
        lambda t: math.exp(t) - 5.0 * t,
        lambda t: -math.exp(-((t - 4.0) ** 2)) + 1e-3 * t * t,
        lambda t: math.log1p((t + 30.0) ** 2),
        lambda t: abs(t + 2.0) + 0.1 * t,
    ],
)
def test_bracketing_keeps_its_tolerance(phi, tolerance):
    step, looked = search(Bracketing.create(tolerance), phi)
    theirs = scipy.optimize.minimize_scalar(phi, bracket=(0.0, 1.0), tol=1e-10)
    assert step.length == pytest.approx(theirs.x, rel=2 * tolerance)
    assert len(looked) <= 60


def test_bracketing_stays_at_a_minimum():
    step, looked = search(Bracketing.create(1e-3), lambda t: t * t)
    assert step.length == 0.0
    assert len(looked) == 4


def test_bracketing_gives_up_on_a_line_without_a_minimum():
    step, looked = search(Bracketing.create(1e-3, limit=30), lambda t: -t)
    assert len(looked) == 30
    assert step.value == -step.length < 0


def test_bracketing_survives_infinite_values():
    step, _ = search(Bracketing.create(1e-3), lambda t: (t - 0.4) ** 2 if abs(t) < 0.9 else math.inf)
    assert step.length == pytest.approx(0.4, rel=1e-2)


@pytest.mark.parametrize("method", ["rp-exact", "sarp-exact"])
def test_a_black_box_gets_the_bracketing_search_and_every_evaluation_is_counted(method):
    problem = pursuit.problems.exp(10, 100.0)
    calls = []

    def black_box(x):
        calls.append(1)
        return problem(x)

    options = {"kappa": 100.0} if method.startswith("sarp") else {}
    result = pursuit.minimize(
        black_box, problem.x0, method=method, rng=1, ftarget=1e-9, maxiter=20_000, options=options
    )
    exact = pursuit.minimize(problem, problem.x0, method=method, rng=1, ftarget=1e-9)
    assert result.nfev == len(calls)
    assert result.fun <= 1e-9
    assert result.nit < 1.5 * exact.nit
    assert 3 * result.nit < result.nfev < 8 * result.nit


@pytest.mark.parametrize("maxfev", range(1, 30))
def test_a_search_cut_short_by_maxfev_keeps_the_best_point_of_its_line(maxfev):
    problem = pursuit.problems.rosenbrock(5)
    values = []

    def black_box(x):
        values.append(problem(x))
        return values[-1]

    result = pursuit.minimize(black_box, problem.x0, method="rp-exact", rng=2, maxfev=maxfev)
    assert result.nfev == len(values) <= maxfev
    assert result.fun == min(values) == problem(result.x)
