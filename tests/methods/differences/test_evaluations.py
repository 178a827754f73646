"""How many evaluations a run takes, on the paper's problems and others, by seeds and by batches.

The bounds are a good deal above what is measured, and below what a broken rule would cost.
"""

import numpy as np
import pytest

import pursuit
from helpers import make_problem

N = 100


def evaluations(f, x0, seed, target=1e-9, **arguments):
    """Return how many evaluations it takes to reach the target."""
    result = pursuit.minimize(f, x0, method="differences", rng=seed, ftarget=target, **arguments)
    assert result.success
    assert result.fun <= target
    return result.nfev


def weighted(n):
    """Return sum(c_i (x_i - 0.3)^2) with c from 1 to 50."""
    c = np.linspace(1.0, 50.0, n)
    return lambda x: float(c @ (x - 0.3) ** 2)


# Thousands of evaluations, with L = 1e4.
ROTATED = {"exp": 12.5, "lin": 7.0, "two": 0.9, "rosenbrock": 38.0}


@pytest.mark.parametrize("name", ROTATED)
def test_rotated_problems_are_solved_soon(name):
    problem = pursuit.problems.rotated(make_problem(name, N), 1)
    for seed in range(1 if name == "rosenbrock" else 2):
        assert evaluations(lambda x: problem(x), problem.x0, seed) <= 1000 * ROTATED[name]


@pytest.mark.parametrize("name", ["exp", "lin", "two"])
@pytest.mark.parametrize("L", [1e4, 1e6])
def test_problems_along_the_axes_take_a_few_evaluations_per_variable(name, L):
    """What a method without axes takes hundreds of thousands for."""
    problem = make_problem(name, N, L)
    for seed in range(5):
        assert evaluations(lambda x: problem(x), problem.x0, seed) <= 350


@pytest.mark.parametrize("n", [10, 64, 200])
def test_seeds_make_little_difference_to_a_quadratic(n):
    f = weighted(n)
    counts = [evaluations(f, np.zeros(n), seed, 1e-8) for seed in range(21)]
    assert max(counts) <= 1.5 * min(counts)
    assert max(counts) <= 5 * n


@pytest.mark.parametrize("name", ["lin", "two", "exp"])
def test_seeds_make_little_difference_to_rotated_quadratics(name):
    problem = pursuit.problems.rotated(make_problem(name, 30), 1)
    counts = [evaluations(lambda x: problem(x), problem.x0, seed) for seed in range(9)]
    assert max(counts) <= 1.5 * min(counts)


@pytest.mark.parametrize("name", ["two", "lin"])
def test_batches_of_sixteen_cost_a_fifth_more_at_most(name):
    problem = pursuit.problems.rotated(make_problem(name, N), 1)
    one, many = (
        np.median([evaluations(lambda x: problem(x), problem.x0, seed, batch=batch) for seed in range(3)])
        for batch in (1, 16)
    )
    assert many <= 1.2 * one


def test_batches_of_sixteen_cost_a_fifth_more_of_a_quadratic_along_the_axes_at_most():
    one, many = (
        [evaluations(weighted(N), np.zeros(N), seed, 1e-8, batch=batch) for seed in range(9)]
        for batch in (1, 16)
    )
    assert np.median(many) <= 1.2 * np.median(one)
    assert max(many) <= 1.2 * max(one)


@pytest.mark.parametrize("n", [2, 5, 20])
@pytest.mark.parametrize("sigma0", [1e-8, 1e-3, 1e3, 1e8])
def test_a_first_step_size_that_is_far_off_costs_little(n, sigma0):
    spectrum, x0 = np.geomspace(1.0, 100.0, n), np.linspace(0.5, 2.0, n)
    assert evaluations(lambda x: float(spectrum @ x**2), x0, 1, 1e-12, sigma0=sigma0) < 50 * n + 200


LARGE = 400
SPECTRA = {
    "exp": np.geomspace(1.0, 1e4, LARGE),
    "lin": np.linspace(1.0, 1e4, LARGE),
    "two": np.repeat([1.0, 1e6], LARGE // 2),
}
ROTATION = np.linalg.qr(np.random.default_rng(0).standard_normal((LARGE, LARGE)))[0]


@pytest.mark.parametrize("name", SPECTRA)
def test_the_first_evaluations_gain_much(name):
    """After 3 n of them; a quadratic function along the axes is all but solved then."""
    spectrum, x0 = SPECTRA[name], np.ones(LARGE)
    along, turned = (lambda x: float(spectrum @ (x * x))), (lambda x: float(spectrum @ (ROTATION @ x) ** 2))
    for f, share in ((along, 0.01), (turned, 0.35)):
        for seed in range(2):
            result = pursuit.minimize(f, x0, method="differences", rng=seed, maxfev=3 * LARGE + 50)
            assert result.fun < share * f(x0)


@pytest.mark.parametrize("n", [2, 3, 6, 12])
def test_few_variables_in_a_box_take_a_few_dozen_evaluations(n):
    """Rosenbrock's function with its minimum on bounds, to six digits; L-BFGS-B takes 250 to 550."""
    from scipy.optimize import minimize, rosen, rosen_der

    bounds = [(-2.0, 0.8)] + [(-2.0, 2.0)] * (n - 1)
    best = minimize(rosen, np.zeros(n), jac=rosen_der, method="L-BFGS-B", bounds=bounds, tol=1e-14).fun
    for seed in range(5):
        count = evaluations(
            lambda x: float(rosen(x)), np.zeros(n), seed, best + 1e-6 * (n - 1), bounds=bounds, maxfev=100 * n
        )
        assert count <= 100 * n
