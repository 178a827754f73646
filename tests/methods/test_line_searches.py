"""The line searches, each carried out by a loop of a few lines."""

import math

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st

import pursuit
from pursuit.compiling.vectors import SERIAL
from pursuit.methods.line_searches import (
    AdaptiveStep,
    Bracketing,
    ExactStep,
    Line,
    MirroredStep,
    begin_search,
    continue_search,
    known_minimizer,
)


def search(line_search, phi, *, known=True, sigma=1.0, minimizer=math.nan):
    """Minimise phi(t) by a line search; return its step and every position it evaluated."""
    line = Line(np.zeros(1), np.ones(1), phi(0.0) if known else math.nan, sigma)
    query_state = begin_search(line_search, line, minimizer)
    evaluated = []
    while query_state.wanted:
        positions = query_state.positions[: query_state.wanted]
        evaluated.extend(positions)
        query_state = continue_search(line_search, query_state, np.array([phi(t) for t in positions]))
    return query_state.step, evaluated


@pytest.mark.parametrize("p", [0.1, 0.27, 0.5, 0.9])
def test_adaptive_step_grows_on_success_and_shrinks_on_failure(p):
    line_search = AdaptiveStep.create(p)
    step, evaluated = search(line_search, lambda t: -t, sigma=2.0)
    assert (step.length, step.value, evaluated) == (2.0, -2.0, [2.0])
    assert step.sigma == pytest.approx(2.0 * math.exp(1 / 3))
    step, evaluated = search(line_search, lambda t: t, sigma=2.0)
    assert (step.length, step.value, evaluated) == (0.0, 0.0, [2.0])
    assert step.sigma == pytest.approx(2.0 * math.exp(-p / (3 * (1 - p))))


def test_adaptive_step_is_balanced_at_its_success_probability():
    """At a share p of successes the step size stays where it is: that is what p means."""
    line_search = AdaptiveStep.create(0.27)
    assert 0.27 * math.log(line_search.grow) + 0.73 * math.log(line_search.shrink) == pytest.approx(
        0.0, abs=1e-15
    )


def test_adaptive_step_counts_an_equal_value_as_success():
    step, _ = search(AdaptiveStep.create(0.27), lambda t: 5.0)
    assert step.length == 1.0


def test_adaptive_step_asks_for_the_origin_where_its_value_is_not_known():
    step, evaluated = search(AdaptiveStep.create(0.27), lambda t: (t - 1) ** 2, known=False)
    assert evaluated == [1.0, 0.0]
    assert (step.length, step.value) == (1.0, 0.0)


@pytest.mark.parametrize("known", [True, False])
def test_mirrored_step_tries_the_other_side_before_it_fails(known):
    line_search = MirroredStep.create(0.5)
    origin = [] if known else [0.0]
    step, evaluated = search(line_search, lambda t: -t, known=known, sigma=2.0)
    assert (step.length, step.value, step.origin, evaluated) == (2.0, -2.0, 0.0, [2.0, *origin])
    assert step.sigma == pytest.approx(2.0 * math.exp(1 / 3))
    step, evaluated = search(line_search, lambda t: t, known=known, sigma=2.0)
    assert (step.length, step.value, step.origin, evaluated) == (-2.0, -2.0, 0.0, [2.0, *origin, -2.0])
    assert step.sigma == pytest.approx(2.0 * math.exp(1 / 3))
    step, evaluated = search(line_search, abs, known=known, sigma=2.0)
    assert (step.length, step.value, step.origin, evaluated) == (0.0, 0.0, 0.0, [2.0, *origin, -2.0])
    assert step.sigma == pytest.approx(2.0 * math.exp(-1 / 3))


def test_mirrored_step_begins_no_line_without_an_evaluation_for_the_other_side():
    line = Line(np.zeros(1), np.ones(1), 1.0, 1.0)
    query_state = begin_search(MirroredStep.create(0.5), line, math.nan)
    assert (query_state.wanted, query_state.needed) == (1, 2)


@pytest.mark.parametrize("minimizer", [3.0, -3.0, 0.0])
def test_exact_step_goes_where_the_problem_says_and_evaluates_once(minimizer):
    step, evaluated = search(ExactStep(), lambda t: (t - minimizer) ** 2, minimizer=minimizer)
    assert evaluated == [minimizer]
    assert (step.length, step.value, step.sigma) == (minimizer, 0.0, abs(minimizer))


def test_only_exact_line_search_asks_the_problem_for_its_minimizer():
    problem = pursuit.problems.exp(3, 100.0)
    line = Line(problem.x0, np.array([1.0, 0.0, 0.0]), 55.5, 1.0)
    assert known_minimizer(SERIAL, ExactStep(), problem, line) == -1.0
    for other in (AdaptiveStep.create(0.27), MirroredStep.create(0.5), Bracketing.create(0.1)):
        assert math.isnan(known_minimizer(SERIAL, other, problem, line))


@given(
    minimum=st.floats(-1e3, 1e3).filter(lambda t: abs(t) > 1e-3),
    curvature=st.floats(1e-3, 1e3),
    sigma=st.floats(1e-2, 1e2),
    known=st.booleans(),
)
def test_bracketing_finds_the_minimum_of_a_parabola(minimum, curvature, sigma, known):
    line_search = Bracketing.create(1e-3)
    step, evaluated = search(line_search, lambda t: curvature * (t - minimum) ** 2, known=known, sigma=sigma)
    assert step.length == pytest.approx(minimum, rel=2e-3, abs=2e-6 * sigma)
    assert len(evaluated) <= 60


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
    step, evaluated = search(Bracketing.create(tolerance), phi)
    theirs = scipy.optimize.minimize_scalar(phi, bracket=(0.0, 1.0), tol=1e-10)
    assert step.length == pytest.approx(theirs.x, rel=2 * tolerance)
    assert len(evaluated) <= 60


def test_bracketing_stays_at_a_minimum():
    step, evaluated = search(Bracketing.create(1e-3), lambda t: t * t)
    assert step.length == 0.0
    assert len(evaluated) == 4


def test_bracketing_gives_up_on_a_line_without_a_minimum():
    step, evaluated = search(Bracketing.create(1e-3, limit=30), lambda t: -t)
    assert len(evaluated) == 30
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
