"""Runs of `momentum`: what it does, what it reaches, and what it survives."""

import math
import tracemalloc

import numpy as np
import pytest

import pursuit
from helpers import make_problem
from methods.momentum.calls import momentum
from pursuit.methods import RankedMomentum
from reference import momentum as reference
from reference import problems as reference_problems

QUERIES = 300


@pytest.mark.parametrize("n", [2, 3, 20])
@pytest.mark.parametrize("problem_name", ["exp", "lin", "two", "rosenbrock"])
@pytest.mark.parametrize("options", [{}, {"learning": 1.0, "m": 3}])
def test_follows_its_pseudo_code(options, problem_name, n):
    f, x0 = reference_problems.make(problem_name, n, 1e4)
    key = np.random.default_rng(n).standard_normal()
    settings = {"m": max(4, round(math.sqrt(n))), "first": options.get("m", 1), **options}
    course = reference.momentum(f, x0, 1.0, key, QUERIES, **settings)
    problem = make_problem(problem_name, n, 1e4)
    result = momentum(problem, x0, options=options, rng=n, maxiter=QUERIES, trace=True)
    # Besides f(y) the trace has the best value seen, which is that of a trial.
    iterates = result.trace.fun[1:-1] != result.fun
    nit = result.trace.nit[1:-1][iterates]
    here = np.array([value for value, _, _ in course])
    np.testing.assert_allclose(result.trace.fun[1:-1][iterates], here[nit - 1], rtol=1e-6)
    np.testing.assert_allclose(result.fun, course[result.nit - 1][1], rtol=1e-6)
    np.testing.assert_allclose(result.sigma, course[result.nit - 1][2], rtol=1e-6)


@pytest.mark.parametrize("m", [0, -1, 1.5, math.nan, "many", True])
def test_an_m_that_is_no_count_is_refused(m):
    with pytest.raises((ValueError, TypeError), match="m must be"):
        momentum(lambda x: float(x @ x), np.ones(3), options={"m": m})


@pytest.mark.parametrize("m", [1, 2, 4, 50])
@pytest.mark.parametrize("n", [1, 2, 7])
def test_any_number_of_pairs_solves_a_problem(n, m):
    result = momentum(lambda x: float(x @ x), np.ones(n), rng=1, options={"m": m}, ftarget=1e-9)
    assert result.success


@pytest.mark.parametrize(
    ("n", "options", "expected"), [(36, {}, [3, 5, 9, 13, 13, 13]), (8, {"m": 6}, [13] * 6)]
)
def test_rounds_grow_unless_their_pairs_were_given(n, options, expected):
    optimizer = pursuit.Optimizer(np.ones(n), "momentum", rng=1, options=options)
    sizes = []
    while len(sizes) < 6:
        X = optimizer.ask()
        if len(X) > 1:
            sizes.append(len(X))
        optimizer.tell(X, [float(x @ x) for x in X])
    assert sizes == expected


def test_more_pairs_find_a_lower_one_of_many_valleys():
    """Rastrigin's function, on which restarts with more pairs rely."""

    def f(x):
        return float((x * x - 10.0 * np.cos(2.0 * math.pi * x) + 10.0).sum())

    starts = np.random.default_rng(1).uniform(-4.0, 4.0, (5, 10))
    found = {
        m: [
            momentum(f, x0, rng=seed, sigma0=2.0, options={"m": m}, maxfev=20_000).fun
            for seed, x0 in enumerate(starts)
        ]
        for m in (4, 50)
    }
    assert np.median(found[50]) < 2.0 < 10.0 < np.median(found[4])


def test_scales_are_learnt():
    """Along the axes, in a fraction of what is needed where they cannot be."""
    n = 50
    problem = pursuit.problems.exp(n, 1e6)
    result = momentum(problem, problem.x0, rng=1, ftarget=1e-9, maxfev=400 * n)
    assert result.success
    turned = pursuit.problems.rotated(problem, 1)
    assert not momentum(turned, turned.x0, rng=1, ftarget=1e-9, maxfev=2000 * n).success


def test_rough_landscapes_are_never_run_away_on():
    """`auto` ended at 1e62 with 3 of 20 seeds."""

    def f(x):
        return float(np.cos(x[:-1] ** 2 - 0.5 * x[1:]).sum())

    for seed in range(20):
        result = momentum(f, np.ones(100), rng=seed, maxfev=10_000)
        assert abs(result.x).max() < 1e3
        assert result.sigma < 1e3


def test_under_noise_the_mean_of_the_iterates_is_returned():
    spectrum = np.geomspace(1.0, 100.0, 20)
    noise = np.random.default_rng(1)
    seen = []

    def f(x):
        seen.append(0.5 * float(spectrum @ (x * x)))
        return seen[-1] + 0.1 * noise.standard_normal()

    for seed in range(3):
        result = momentum(f, np.ones(20), rng=seed, maxfev=10_000)
        assert result.fun_is_estimate
        assert "mean of the latest iterates" in result.message
        true = 0.5 * float(spectrum @ (result.x * result.x))
        # Closer than the points that it was averaged from, and estimated from above.
        assert true < 0.5 * np.median(seen[-1000:])
        assert true - 0.1 < result.fun < true + 0.5
        seen.clear()


def test_without_noise_nothing_is_an_estimate():
    """Ties and plateaus are no noise."""
    for f in (lambda x: float(x @ x), lambda x: math.floor(float(x @ x)), lambda x: 1.0):
        assert not momentum(f, np.ones(10), rng=1, maxfev=5_000).fun_is_estimate


def test_reaches_a_minimum_beside_which_the_function_has_no_value():
    spectrum = np.geomspace(1.0, 100.0, 10)

    def f(x):
        return float(spectrum @ (x - 1.0) ** 2) if x @ x < 1.05**2 * x.size else math.nan

    left = False
    for seed in range(3):
        result = momentum(f, np.zeros(10), rng=seed, ftarget=1e-9, maxfev=20_000)
        assert result.success
        left = left or result.nfaulty > 0
    assert left


@pytest.mark.parametrize("size", [0.0, 1e-320, 1e-200, 1e-3, 1e300])
def test_noise_and_values_of_any_size_are_survived(size):
    noise = np.random.default_rng(1)

    def f(x):
        return size * (float(x @ x) + noise.standard_normal())

    result = momentum(f, np.ones(5), options={"learning": 1.0}, rng=1, maxfev=20_000)
    assert np.isfinite(result.x).all()
    assert abs(result.x).max() < 10.0


def test_a_constant_is_given_up_without_looking_where_there_is_no_point():
    seen = []

    def f(x):
        seen.append(np.isfinite(x).all())
        return 1.0

    result = momentum(f, np.ones(3), rng=1)
    assert result.nfev == len(seen) < 30_000
    assert all(seen)


def test_variables_without_effect_do_no_harm():
    seen = []

    def f(x):
        seen.append(100.0 * (x[1] - x[0] ** 2) ** 2 + (1.0 - x[0]) ** 2)
        return float(seen[-1])

    x0 = np.zeros(30)
    x0[:2] = -1.2, 1.0
    for seed in range(3):
        seen.clear()
        result = momentum(f, x0, rng=seed, xtol=0.0, ftol=0.0, maxfev=60_000)
        assert result.fun < 1e-20
        assert max(seen[30_000:]) < 1.0
        assert np.isfinite(result.x).all()


def test_memory_is_a_few_vectors():
    """None of the m = 316 directions is held, and rounds are divided before their points take much."""
    n = 100_000

    def run(evaluations):
        return momentum(lambda x: float(x @ x), np.ones(n), rng=1, maxfev=evaluations)

    run(2)  # what is compiled and imported is not counted
    tracemalloc.start()
    try:
        run(1_500)
        peak = tracemalloc.get_traced_memory()[1] / (8 * n)
    finally:
        tracemalloc.stop()
    assert peak < 25.0


@pytest.mark.parametrize("n", [1, 10, 1_000, 10_000, 1_000_000, 10_000_000])
def test_the_points_of_a_query_take_eight_megabytes_or_one_vector(n):
    scheme = RankedMomentum.create(n)
    assert scheme.points() == 1 or scheme.points() * n <= 1_000_000
