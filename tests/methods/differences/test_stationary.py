"""Success means a point where nothing is left to gain, on functions whose slopes are known exactly."""

import numpy as np
import pytest

import pursuit
from methods.differences.random_problems import random_problem

FEW, MANY, PARTS = 250, 10_000, 8
# Where a run ends rightly, f could fall by about 1e-16 of what it fell before, and hardly ever by 1e-10;
# where it ends wrongly, by a part that anyone would notice.
SHARE = 1e-6


def left(problem, result):
    """Return by which part of what was gained f could still fall along one of the coordinates."""
    return problem.promise(result.x) / (problem(problem.x0) - result.fun + abs(result.fun))


def minimized(problem, seed, **arguments):
    bounds = list(zip(problem.lower, problem.upper, strict=True))
    return pursuit.minimize(
        problem, problem.x0, method="differences", rng=seed, bounds=bounds, sigma0=problem.sigma0, **arguments
    )


@pytest.mark.parametrize("seed", range(20))
def test_the_slopes_of_the_problems_are_those_of_complex_steps(seed):
    """And the curvatures are those of their slopes."""
    problem = random_problem(seed)
    x, h = problem.x0, 1e-30
    g = [problem(x + 1j * h * axis).imag / h for axis in np.eye(x.size)]
    d = [problem.slopes(x + 1j * h * axis)[j].imag / h for j, axis in enumerate(np.eye(x.size))]
    np.testing.assert_allclose(problem.slopes(x), g, rtol=1e-9, atol=1e-12 * np.abs(g).max())
    np.testing.assert_allclose(problem.bends(x), d, rtol=1e-9, atol=1e-12 * np.abs(d).max())


def ended_elsewhere(seeds, batch=1):
    """Return the seeds of runs that call success what is none, and how many runs are a success."""
    wrong, successes = [], 0
    for seed in seeds:
        problem = random_problem(seed)
        result = minimized(problem, seed, batch=batch, maxfev=2_000 * problem.x0.size)
        successes += result.success
        if result.success and left(problem, result) > SHARE:
            wrong.append(seed)
    return wrong, successes


def test_a_success_is_a_stationary_point():
    wrong, successes = ended_elsewhere(range(FEW))
    assert wrong == []
    # A function that falls by many decades may end as one that does not suit the method.
    assert successes >= 0.97 * FEW


def test_a_success_of_a_run_in_batches_is_one_as_well():
    assert ended_elsewhere(range(1000, 1050), batch=5)[0] == []


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
def test_a_success_is_a_stationary_point_ten_thousand_times(part):
    assert ended_elsewhere(range(part, MANY, PARTS))[0] == []


def chained(x):
    """Return exponentials of products, and a linear function."""
    return np.sum(np.exp(0.1 * x[:5] * x[1:6])) - 10.0 * np.sum(np.arange(1, 13) * x)


@pytest.mark.parametrize("seed", range(10))
def test_variables_that_leave_their_bounds_late_are_not_forgotten(seed):
    """Runs used to stall here on bounds that f pressed them away from."""
    result = pursuit.minimize(
        lambda x: float(chained(x)), np.zeros(12), method="differences", rng=seed, bounds=[(0.0, 10.0)] * 12
    )
    g = np.array([chained(result.x + 1e-30j * axis).imag / 1e-30 for axis in np.eye(12)])
    assert result.success
    # Slopes from values are exact up to the square root of their precision: curvatures are up to 50, f is
    # 7000, so that a slope of 1e-2 would change f by 1e-10 of itself.
    assert np.abs(np.clip(result.x - g, 0.0, 10.0) - result.x).max() < 1e-2


@pytest.mark.parametrize("n", [2, 5, 12, 30])
@pytest.mark.parametrize("offset", [0.0, 1e-3])
@pytest.mark.parametrize("batch", [1, 4])
def test_a_saddle_is_left(n, offset, batch):
    """Also where all slopes vanish: curvature leads down, to one of two minima."""

    def f(x):
        return float(np.sum(x[1:] ** 2) + (x[0] ** 2 - 1.0) ** 2)

    for seed in range(3):
        result = pursuit.minimize(f, np.full(n, offset), method="differences", rng=seed, batch=batch)
        assert result.success
        assert result.fun < 1e-15
        assert not result.fun_is_estimate


@pytest.mark.parametrize("n", [3, 8, 20])
@pytest.mark.parametrize("power", [2, 3])
def test_a_saddle_is_left_along_the_only_direction_that_leads_down(n, power):
    """No slope leads there, and no coordinate; with a cube there is no curvature either."""
    curvatures, lowest = np.geomspace(1.0, 1e3, n - 1), {2: -1 / 4, 3: -27 / 256}[power]
    for seed in range(5):
        rng = np.random.default_rng([n, seed])
        Q = np.linalg.qr(rng.standard_normal((n, n)))[0]

        def f(x, Q=Q):
            y = Q @ x
            return float(curvatures @ y[1:] ** 2 - y[0] ** power + y[0] ** 4)

        result = pursuit.minimize(f, rng.standard_normal(n - 1) @ Q[1:], method="differences", rng=seed)
        assert result.success
        assert result.fun == pytest.approx(lowest, abs=1e-6)
