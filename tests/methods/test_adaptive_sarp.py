"""`adaptive-sarp`, which accelerates by itself."""

import math

import numpy as np
import pytest

import pursuit
from helpers import make_problem
from methods.random_problems import outcome
from reference import adaptive_sarp as reference
from reference import problems as reference_problems

METHOD = "adaptive-sarp"


@pytest.mark.parametrize("n", [2, 3, 20])
@pytest.mark.parametrize("problem_name", ["exp", "lin", "two", "rosenbrock"])
@pytest.mark.parametrize("options", [{}, {"learning": 1.0}])
def test_follows_its_pseudo_code(options, problem_name, n):
    iterations = 400
    f, x0 = reference_problems.make(problem_name, n, 1e4)
    normals = np.random.default_rng(n).standard_normal((iterations, n))
    course = reference.adaptive_sarp(f, x0, 1.0, normals, **options)
    problem = make_problem(problem_name, n, 1e4)
    result = pursuit.minimize(
        problem, x0, method=METHOD, options=options, rng=n, maxiter=iterations, trace=True
    )
    here = np.array([value for value, _, _ in course])
    # Besides f(y) the trace has the best value seen, which is that of a trial.
    iterates = result.trace.fun[1:-1] != result.fun
    nit = result.trace.nit[1:-1][iterates]
    np.testing.assert_allclose(result.trace.fun[1:-1][iterates], here[nit - 1], rtol=1e-6)
    np.testing.assert_allclose(result.fun, course[result.nit - 1][1], rtol=1e-6)
    np.testing.assert_allclose(result.sigma, course[result.nit - 1][2], rtol=1e-6)


def test_reaches_a_minimum_beside_which_the_function_has_no_value():
    """Momentum leads out of the domain, where SARP gets lost."""
    spectrum = np.geomspace(1.0, 100.0, 10)

    def f(x):
        return float(spectrum @ (x - 1.0) ** 2) if x @ x < 1.05**2 * x.size else math.nan

    left = False
    for seed in range(3):
        result = pursuit.minimize(f, np.zeros(10), method=METHOD, rng=seed, ftarget=1e-9, maxfev=20_000)
        assert result.success
        left = left or result.nfaulty > 0
    assert left


@pytest.mark.parametrize("problem_name", ["exp", "lin", "two", "rosenbrock"])
def test_needs_no_condition_number_to_be_as_fast_as_with_it(problem_name):
    """On every seed the limit is what SARP needs at the least, given the true condition number."""
    n = 20
    problem = make_problem(problem_name, n, 1e4)
    sarp = [
        pursuit.minimize(problem, problem.x0, method="sarp", rng=seed, ftarget=1e-9).nit for seed in range(5)
    ]
    for seed in range(5):
        result = pursuit.minimize(
            problem, problem.x0, method=METHOD, rng=seed, ftarget=1e-9, maxiter=min(sarp)
        )
        assert result.success


def test_a_few_stiff_directions_among_many_do_no_harm():
    """Steps to all sides add up along them, and their sum overshoots."""
    spectrum = np.ones(60)
    spectrum[-3:] = 1e4

    def f(x):
        return float(0.5 * (spectrum @ (x * x)))

    result = pursuit.minimize(f, np.ones(60), method=METHOD, rng=1, ftarget=1e-9, maxfev=120_000)
    assert result.success


def test_a_scheme_gives_up_after_as_long_as_it_took():
    """The minimum is not 0, and nobody says so."""
    problem = make_problem("exp", 10, 100.0)
    result = pursuit.minimize(
        lambda x: 1.0 + problem(x), problem.x0, method=METHOD, rng=1, xtol=0.0, ftol=0.0, trace=True
    )
    assert result.fun == pytest.approx(1.0, abs=1e-12)
    best = result.trace.nit[result.trace.fun == result.fun][0]
    assert result.nit - best >= 10_000
    assert result.nit <= 2 * best + 10_000 + 1_000 * 10


def test_variables_without_effect_do_no_harm():
    """Along them f is as flat as can be, and is gone through to the last digit and beyond."""
    seen = []

    def f(x):
        seen.append(100.0 * (x[1] - x[0] ** 2) ** 2 + (1.0 - x[0]) ** 2)
        return float(seen[-1])

    x0 = np.zeros(30)
    x0[:2] = -1.2, 1.0
    for seed in range(3):
        seen.clear()
        result = pursuit.minimize(f, x0, method=METHOD, rng=seed, xtol=0.0, ftol=0.0, maxfev=60_000)
        assert result.fun < 1e-25
        assert max(seen[30_000:]) < 1.0


def test_a_flat_direction_is_learnt():
    """Without that, all that momentum has grown to within the limit is far from enough."""
    n = 20
    problem = make_problem("lin", n, 1e8)
    for seed in range(5):
        for options, success in (({}, True), ({"learning": 1e9}, False)):
            result = pursuit.minimize(
                problem, problem.x0, method=METHOD, options=options, rng=seed, ftarget=1e-9, maxfev=4_000 * n
            )  # fmt: skip
            assert (result.fun <= 1e-9) == success


def test_values_and_comparisons_part_ways():
    """A monotone transformation changes nothing for `adaptive-sarp`, and everything for `differences`."""
    problem = make_problem("exp", 10, 100.0)
    for method, same in (("adaptive-sarp", True), ("differences", False)):
        plain, cubed = (
            pursuit.minimize(f, problem.x0, method=method, rng=1, maxfev=3_000)
            for f in (problem.__call__, lambda x: problem(x) ** 3)
        )
        assert (plain.x == cubed.x).all() == same


@pytest.mark.long
def test_random_problems_never_diverge_and_keep_the_best_point():
    """Every kind of problem of the paper, every n from 2 to 50, random starts, step sizes and rotations."""
    found = [outcome("adaptive-sarp", number) for number in range(0, 1000, 9)]
    assert {one.reason for one in found} <= {"target", "stalled", "ftol", "maxfev"}
    assert all(one.best_kept for one in found)
    # Rosenbrock's function has a second minimum.
    assert all(one.reason == "target" or (one.kind == "rosenbrock" and one.fun > 3.7) for one in found)


@pytest.mark.parametrize("size", [0.0, 1e-320, 1e-200, 1e-3, 1e300])
@pytest.mark.parametrize("learning", [1.0, 50.0])
def test_noise_and_values_of_any_size_are_survived(size, learning):
    """Differences of values are nothing but noise, vanish, or overflow."""
    noise = np.random.default_rng(1)
    seen = []

    def f(x):
        seen.append(size * (float(x @ x) + noise.standard_normal()))
        return seen[-1]

    options = {"learning": learning}
    result = pursuit.minimize(f, np.ones(5), method=METHOD, options=options, rng=1, maxfev=20_000)
    assert result.fun == min(seen)
    assert np.isfinite(result.x).all()


def test_gets_off_a_plateau_without_looking_where_there_is_no_point():
    """All values within the first look are the same."""
    seen = []

    def f(x):
        seen.append(x.copy())
        return max(1.0, float(x @ x))

    result = pursuit.minimize(f, np.full(5, 0.3), method=METHOD, rng=1, maxfev=200)
    assert result.fun == 1.0
    assert len({f(x) for x in seen[:200]}) > 1
    assert np.isfinite(seen).all()


def test_a_constant_is_given_up_without_looking_where_there_is_no_point():
    seen = []

    def f(x):
        seen.append(np.isfinite(x).all())
        return 1.0

    result = pursuit.minimize(f, np.ones(3), method=METHOD, rng=1)
    assert result.nfev == len(seen) < 30_000
    assert all(seen)
