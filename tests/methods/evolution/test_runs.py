"""Runs of `evolution`: what it solves, how it ends, and what it keeps to."""

import math
import tracemalloc

import numpy as np
import pytest

import pursuit


def evolution(fun, x0, **arguments):
    """Minimise with `evolution`."""
    return pursuit.minimize(fun, x0, method="evolution", **arguments)


def ridges(x):
    """Return a sum that coordinate steps cannot decrease where all x_i are equal; its minimum is 0."""
    return np.abs(x - 1.0).sum() + 10.0 * np.abs(np.diff(x)).sum()


def turned(x):
    """Return a weighted sum of absolute values in turned coordinates; its minimum is 0."""
    Q = np.linalg.qr(np.random.default_rng(7).standard_normal((x.size, x.size)))[0]
    return (np.geomspace(1.0, 100.0, x.size) * np.abs(Q @ (x - 1.0))).sum()


def penalty(x):
    """Return a bowl with the penalty of a constraint, less its minimum; there all x_i are 1."""
    return np.sum(x * x) + 1e3 * abs(x.sum() - 5.0) - 5.0


def noisy_bowl(level, seed):
    """Return a bowl with normal noise, whose minimum is at 0.5."""
    noise = np.random.default_rng(seed)
    return lambda x: np.sum((x - 0.5) ** 2) + level * noise.standard_normal()


@pytest.mark.parametrize(("f", "n"), [(ridges, 10), (turned, 8), (penalty, 5)])
def test_ridges_of_kinks_are_followed_to_the_minimum(f, n):
    gaps = [evolution(f, np.zeros(n), rng=seed, maxfev=40_000).fun for seed in range(5)]
    assert np.median(gaps) < 1e-5 * f(np.zeros(n))
    assert max(gaps) < 1e-2 * f(np.zeros(n))


@pytest.mark.parametrize("n", [1, 2, 7])
@pytest.mark.parametrize("popsize", [4, 5, 50])
def test_rounds_of_any_size_solve_a_problem(n, popsize):
    result = evolution(lambda x: float(x @ x), np.ones(n), rng=1, options={"popsize": popsize}, ftarget=1e-9)
    assert result.success


@pytest.mark.parametrize("popsize", [3, 0, -1, 4.5, math.nan, "many", True])
def test_rounds_of_no_possible_size_are_refused(popsize):
    with pytest.raises((ValueError, TypeError), match="popsize must be"):
        evolution(lambda x: float(x @ x), np.ones(3), options={"popsize": popsize})


def rounds_of(n, count, **arguments):
    """Return the numbers of points in the first rounds after the start, which is looked at twice."""
    optimizer = pursuit.Optimizer(np.ones(n), "evolution", rng=1, **arguments)
    sizes = []
    while len(sizes) < count:
        X = optimizer.ask()
        if len(X) > 3:  # fewer are a look whether values repeat
            sizes.append(len(X))
        optimizer.tell(X, [float(x @ x) for x in X])
    return sizes


def test_rounds_are_of_the_usual_size_and_larger_if_as_many_points_are_evaluated_at_once():
    usual = 4 + int(3.0 * math.log(10))
    assert set(rounds_of(10, 50)) == {usual}
    assert set(rounds_of(10, 50, batch=2 * usual)) == {2 * usual}
    assert set(rounds_of(10, 50, batch=1000)) == {4 * usual}  # for more points a round has no use


def test_rounds_stay_as_large_as_they_were_asked_for():
    assert set(rounds_of(10, 100, batch=64, options={"popsize": 20})) == {20}


def test_more_points_find_a_lower_one_of_many_valleys():
    """Rastrigin's function, on which restarts with larger rounds rely."""

    def f(x):
        return float((x * x - 10.0 * np.cos(2.0 * math.pi * x) + 10.0).sum())

    starts = np.random.default_rng(1).uniform(-4.0, 4.0, (5, 10))
    found = {
        size: [
            evolution(f, x0, rng=seed, sigma0=2.0, options={"popsize": size}, maxfev=20_000).fun
            for seed, x0 in enumerate(starts)
        ]
        for size in (10, 200)
    }
    assert np.median(found[200]) < min(2.0, 0.25 * np.median(found[10]))


def test_restarts_search_more_widely_each_time():
    def f(x):
        return float((x * x - 10.0 * np.cos(2.0 * math.pi * x) + 10.0).sum())

    result = evolution(f, np.full(6, 3.2), rng=1, restarts=3, bounds=[(-5.0, 5.0)] * 6)
    wide = [stage.options["popsize"] for stage in result.stages if "popsize" in stage.options]
    usual = 4 + int(3.0 * math.log(6))
    assert wide == [2 * usual, 4 * usual, 8 * usual]
    assert result.fun < min(stage.fun for stage in result.stages[:1])


def test_a_search_that_is_not_repeated_saves_evaluations():
    def f(x):
        return float((x * x - 10.0 * np.cos(2.0 * math.pi * x) + 10.0).sum())

    once, twice = (
        evolution(f, np.full(4, 3.2), rng=2, options={"popsize": 20, "once": once}) for once in (True, False)
    )
    assert once.success
    assert once.nfev < 0.8 * twice.nfev
    assert once.message == "Converged: nothing better was found around x."
    with pytest.raises(TypeError, match="once must be True or False"):
        evolution(f, np.ones(2), options={"once": 1})


def test_scales_are_learnt_where_there_are_many_variables():
    """Along the axes, in a fraction of what is needed where they cannot be."""
    n = 300
    problem = pursuit.problems.exp(n, 1e4)
    along = evolution(problem, problem.x0, rng=1, ftarget=1.0, maxfev=200 * n)
    assert along.success
    turned = pursuit.problems.rotated(problem, 1)
    assert not evolution(turned, turned.x0, rng=1, ftarget=1.0, maxfev=2 * along.nfev).success


@pytest.mark.parametrize("n", [5, 250])
@pytest.mark.parametrize("value", [0.0, 1.0, -3e300])
def test_a_constant_is_given_up_soon(n, value):
    result = evolution(lambda x: value, np.ones(n), rng=1)
    assert not result.success
    assert "equal" in result.message
    assert result.nfev <= 20 * n + 50


@pytest.mark.parametrize("n", [5, 250])
def test_no_minimum_is_claimed_where_there_is_none(n):
    result = evolution(lambda x: float(x.sum()), np.zeros(n), rng=1, maxfev=20_000)
    assert not result.success
    assert "unbounded" in result.message
    assert np.isfinite(result.x).all()


def test_pure_noise_is_not_followed():
    noise = np.random.default_rng(3)
    for seed in range(3):
        result = evolution(lambda x: noise.standard_normal(), np.ones(5), rng=seed, maxfev=20_000)
        assert result.nfev < 2_000
        assert abs(result.x).max() < 1e3
        assert abs(result.fun) <= 4.0 * result.fun_error


@pytest.mark.parametrize("bounds", [None, [(0.2, 4.0)] * 5])
def test_noise_ends_a_run_near_the_minimum(bounds):
    """About as close as the values can tell: the gap at the end is a part of the noise of one value."""
    gaps = []
    for seed in range(5):
        result = evolution(noisy_bowl(0.05, seed), np.full(5, 2.5), rng=seed, sigma0=0.3, bounds=bounds)
        assert result.success, result.message
        assert result.fun_is_estimate
        assert result.nfev < 20_000
        assert result.noise == pytest.approx(0.05, rel=0.5)
        gaps.append(np.sum((result.x - 0.5) ** 2))
        assert 0.0 < result.fun_error < 0.05
        assert abs(result.fun - gaps[-1]) < 4.0 * result.fun_error
    assert np.median(gaps) < 0.5 * 0.05
    assert max(gaps) < 0.05


def test_without_noise_nothing_is_an_estimate():
    """Ties and plateaus are no noise."""
    for f in (lambda x: float(x @ x), lambda x: math.floor(float(x @ x)), lambda x: 1.0):
        assert not evolution(f, np.ones(10), rng=1, maxfev=3_000).fun_is_estimate


def test_bounds_are_kept_and_minima_on_them_are_exact():
    lower, upper = np.array([-1.0, 0.3, -math.inf, 0.1]), np.array([1.0, math.inf, 2.0, 0.7])
    centre = np.array([3.0, 0.0, 1.0, 0.4])
    seen = []

    def f(x):
        seen.append(x.copy())
        return float(np.sum(np.abs(x - centre)))

    result = evolution(f, np.array([0.0, 1.0, 0.0, 0.1]), rng=1, bounds=list(zip(lower, upper, strict=True)))
    points = np.array(seen)
    assert np.all((lower <= points) & (points <= upper))
    np.testing.assert_array_equal(result.x[:2], [1.0, 0.3])
    np.testing.assert_allclose(result.x[2:], centre[2:], atol=1e-6)


def test_points_of_noise_are_within_bounds_as_well():
    lower, upper = np.full(3, 0.1), np.full(3, 0.7)
    noise = np.random.default_rng(1)
    for seed in range(5):
        result = evolution(
            lambda x: x.sum() + 0.01 * noise.standard_normal(), np.full(3, 0.3), rng=seed, maxfev=600,
            bounds=list(zip(lower, upper, strict=True)), sigma0=0.1,
        )  # fmt: skip
        assert result.fun_is_estimate
        assert np.all((lower <= result.x) & (result.x <= upper))
        assert np.sum(result.x - lower) < 0.05


def test_reaches_a_minimum_beside_which_the_function_has_no_value():
    spectrum = np.geomspace(1.0, 100.0, 10)

    def f(x):
        return float(spectrum @ (x - 1.0) ** 2) if x @ x < 1.05**2 * x.size else math.nan

    left = False
    for seed in range(3):
        result = evolution(f, np.zeros(10), rng=seed, ftarget=1e-9, maxfev=20_000)
        assert result.success
        left = left or result.nfaulty > 0
    assert left


@pytest.mark.parametrize("size", [0.0, 1e-320, 1e-200, 1e-3, 1e200, 1e300])
def test_noise_and_values_of_any_size_are_survived(size):
    noise = np.random.default_rng(1)
    result = evolution(
        lambda x: size * (float(x @ x) + noise.standard_normal()), np.ones(5), rng=1, maxfev=5_000
    )
    assert np.isfinite(result.x).all()
    assert abs(result.x).max() < 10.0


def test_rough_landscapes_are_never_run_away_on():
    def f(x):
        return float(np.cos(x[:-1] ** 2 - 0.5 * x[1:]).sum())

    for seed in range(3):
        result = evolution(f, np.ones(100), rng=seed, maxfev=10_000)
        assert abs(result.x).max() < 1e3
        assert result.sigma < 1e3


def test_a_round_of_equal_values_amid_noise_is_survived():
    # Six points of the first round, and one of them again.
    values = iter([0.0, 1.0, 0.0, 1.0, *[0.0] * 6, 1.0])
    result = evolution(lambda x: next(values, 0.0), np.ones(2), rng=1, maxfev=2000, options={"popsize": 6})
    assert not result.success
    assert result.nfev > 11


def test_variables_without_effect_do_no_harm():
    x0 = np.zeros(20)
    x0[:2] = -1.2, 1.0
    for seed in range(3):
        result = evolution(
            lambda x: float(100.0 * (x[1] - x[0] ** 2) ** 2 + (1.0 - x[0]) ** 2), x0, rng=seed, maxfev=20_000
        )
        assert result.fun < 1e-9
        assert np.isfinite(result.x).all()


@pytest.mark.parametrize(("n", "directions"), [(100_000, 10), (1_000_000, 2)])
def test_memory_is_some_vectors_and_directions(n, directions):
    """Directions are held three times while they are learnt; points are computed where they are needed."""

    def run(evaluations):
        return evolution(lambda x: float(x @ x), np.ones(n), rng=1, maxfev=evaluations)

    run(2)  # what is imported is not counted
    tracemalloc.start()
    try:
        run(95)
        peak = tracemalloc.get_traced_memory()[1] / (8 * n)
    finally:
        tracemalloc.stop()
    assert peak < 3 * directions + 20
