"""Minima on bounds are found exactly, and no point outside is ever evaluated."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear

import pursuit


def random_problem(seed):
    """Return a linear least-squares problem in a box, with some sides open: A, b and the bounds."""
    rng = np.random.default_rng([17, seed])
    n = int(rng.integers(2, 13))
    A, b = rng.standard_normal((n + 3, n)), 3.0 * rng.standard_normal(n + 3)
    lower, upper = rng.uniform(-1.0, 0.0, n), rng.uniform(0.0, 1.0, n)
    lower[rng.random(n) < 0.2], upper[rng.random(n) < 0.2] = -np.inf, np.inf
    return A, b, lower, upper


class Watched:
    """A function that says when it is called outside of bounds."""

    def __init__(self, fun, lower, upper):
        self._fun, self._lower, self._upper = fun, lower, upper
        self.calls = 0

    def __call__(self, x):
        assert (self._lower <= x).all()
        assert (x <= self._upper).all()
        self.calls += 1
        return self._fun(x)


@pytest.mark.parametrize("seed", range(60))
def test_least_squares_in_a_box_is_solved_to_the_last_digit(seed):
    """SciPy's active-set method finds the minimum exactly; L-BFGS-B comes close to it."""
    A, b, lower, upper = random_problem(seed)
    best = lsq_linear(A, b, (lower, upper), method="bvls", tol=1e-15)
    f = Watched(lambda x: 0.5 * float(np.sum((A @ x - b) ** 2)), lower, upper)
    bounds = list(zip(lower, upper, strict=True))
    result = pursuit.minimize(
        f, np.zeros(lower.size), method="differences", rng=seed, bounds=bounds, maxfev=20_000
    )
    on_bound = (best.x == lower) | (best.x == upper)
    np.testing.assert_array_equal(result.x[on_bound], best.x[on_bound])
    # Values tell points apart up to the square root of their own precision.
    np.testing.assert_allclose(result.x, best.x, atol=1e-6)
    # The last steps gain less than the 1e-13 of ftol.
    assert result.fun == pytest.approx(best.cost, rel=1e-12)
    assert result.success
    assert f.calls == result.nfev


def test_a_linear_function_ends_in_a_corner():
    slopes = np.array([1.0, -2.0, 1e-3, -1e3, 5.0])
    lower, upper = np.full(5, -1.0), np.array([2.0, 0.1, 7.0, 1e5, -1.0])
    f = Watched(lambda x: float(slopes @ x), lower, upper)
    result = pursuit.minimize(
        f, [0.0, 0.0, 0.0, 0.0, -1.0], method="differences", rng=1, maxfev=5_000,
        bounds=list(zip(lower, upper, strict=True)),
    )  # fmt: skip
    np.testing.assert_array_equal(result.x[[0, 1, 3, 4]], [-1.0, 0.1, 1e5, -1.0])
    # The third one changes f, which is 1e8, by a rounding error if it moves by 1e-5.
    assert result.x[2] == pytest.approx(-1.0, abs=1e-4)
    # There is no noise but that of rounding, at the corner too.
    assert result.noise <= 1e-12 * abs(result.fun)


@pytest.mark.parametrize("n", [1, 2, 6, 30])
@pytest.mark.parametrize("corner", [0.0, 1.0])
def test_a_start_on_a_bound_leaves_it(n, corner):
    result = pursuit.minimize(
        lambda x: float(np.sum((x - 0.5) ** 2)),
        np.full(n, corner),
        method="differences",
        rng=1,
        bounds=[(0.0, 1.0)] * n,
    )
    np.testing.assert_allclose(result.x, 0.5, atol=1e-7)


@pytest.mark.parametrize("n", [1, 2, 5, 20])
def test_variables_without_room_stay_where_they_are(n):
    """All of them, or every other one."""
    for step in (1, 2):
        lower, upper = np.zeros(n), np.ones(n)
        lower[::step] = upper[::step] = 0.25
        f = Watched(lambda x: float(np.sum((x - 0.5) ** 2)), lower, upper)
        bounds = list(zip(lower, upper, strict=True))
        result = pursuit.minimize(
            f, np.clip(np.ones(n), lower, upper), method="differences", rng=1, bounds=bounds
        )
        np.testing.assert_allclose(result.x, np.clip(0.5, lower, upper), atol=1e-7)
        assert (result.x[::step] == 0.25).all()


FUNCTIONS = (
    lambda x: float(np.sum(np.abs(x))),
    lambda x: float(np.floor(np.sum(10.0 * x**2))),
    lambda x: -float(np.sum(x**2)),
    lambda x: float(np.sum(np.exp(np.minimum(5.0 * x, 700.0)))),
    lambda x: float(np.sum(x)) if x[0] < 0.5 else math.nan,
    lambda x: math.sin(1e6 * float(x[0])) + float(np.sum(x)),
    lambda x: 0.0,
)


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 9),
    f=st.sampled_from(FUNCTIONS),
    power=st.integers(-6, 6),
    batch=st.sampled_from([1, 4]),
)
@settings(max_examples=60)
def test_no_point_outside_is_evaluated_whatever_the_function(seed, n, f, power, batch):
    rng = np.random.default_rng(seed)
    lower = np.where(rng.random(n) < 0.2, -np.inf, -rng.exponential(1.0, n))
    upper = np.where(rng.random(n) < 0.2, np.inf, np.maximum(lower, rng.exponential(1.0, n) - 0.3))
    watched = Watched(f, lower, upper)
    result = pursuit.minimize(
        watched,
        np.clip(np.zeros(n), lower, upper),
        method="differences",
        rng=seed,
        bounds=list(zip(lower, upper, strict=True)),
        sigma0=10.0**power,
        maxfev=150,
        batch=batch,
    )
    assert ((lower <= result.x) & (result.x <= upper)).all()


@pytest.mark.parametrize("seed", range(5))
def test_noise_and_step_sizes_of_each_variable_keep_to_bounds_as_well(seed):
    rng = np.random.default_rng(seed)
    lower, upper = np.full(8, -0.5), np.linspace(0.0, 3.0, 8)
    best = np.clip(np.ones(8), lower, upper)
    f = Watched(lambda x: float(np.sum((x - 1.0) ** 2)) + 1e-3 * rng.standard_normal(), lower, upper)
    result = pursuit.minimize(
        f, np.zeros(8), method="differences", rng=seed, bounds=list(zip(lower, upper, strict=True)),
        maxfev=3_000, sigma0=np.geomspace(0.01, 3.0, 8),
    )  # fmt: skip
    assert ((lower <= result.x) & (result.x <= upper)).all()
    assert float(np.sum((result.x - 1.0) ** 2) - np.sum((best - 1.0) ** 2)) < 1e-2


def test_a_valley_that_bends_along_a_bound_is_followed():
    """Rosenbrock's function with its minimum cut off; L-BFGS-B with exact slopes says where the best is."""
    from scipy.optimize import minimize, rosen, rosen_der

    bounds = [(-2.0, 0.8)] + [(-2.0, 2.0)] * 4
    best = minimize(rosen, np.zeros(5), jac=rosen_der, method="L-BFGS-B", bounds=bounds, tol=1e-14)
    result = pursuit.minimize(
        lambda x: float(rosen(x)), np.zeros(5), method="differences", rng=1, bounds=bounds
    )
    assert result.x[0] == 0.8
    assert result.fun == pytest.approx(best.fun, rel=1e-9)
