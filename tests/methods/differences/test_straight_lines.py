"""Functions that are straight lines, or constant along some of them, on which a model has no minimum."""

import numpy as np
import pytest

import pursuit
from pursuit.engine.stopping import Reason

every_number = pytest.mark.parametrize("n", [1, 2, 3, 4, 10, 30])
every_start = pytest.mark.parametrize("start", [0.0, 0.3, 1.0])
SEEDS = range(3)


def rise(x):
    return float(x.sum())


def minimized(f, x0, seed, **arguments):
    return pursuit.minimize(f, x0, method="differences", rng=seed, **arguments)


@every_number
@every_start
def test_a_linear_function_is_followed_to_the_bounds(n, start):
    for seed in SEEDS:
        result = minimized(rise, np.full(n, start), seed, bounds=[(-100.0, 100.0)] * n)
        np.testing.assert_array_equal(result.x, -100.0)
        assert result.success
        assert result.nfev <= 20 * n + 100


@every_number
@every_start
def test_a_linear_function_is_unbounded(n, start):
    """It needs no more than a few dozen sweeps to be sure, and says so."""
    for seed in SEEDS:
        result = minimized(rise, np.full(n, start), seed)
        assert result.status == Reason.UNBOUNDED
        assert not result.success
        assert result.nfev <= 100 * n + 100


@every_number
def test_a_linear_function_is_followed_to_where_it_ends(n):
    for seed in SEEDS:
        assert minimized(lambda x: max(rise(x), -50.0), np.zeros(n), seed).fun == -50.0


@pytest.mark.parametrize("n", [2, 10, 30])
def test_variables_that_make_no_difference_do_no_harm(n):
    """f depends on the first one alone, or on the mean of all; its minimum is exactly 0."""
    for f in (lambda x: (float(x[0]) - 3.0) ** 2, lambda x: (float(np.mean(x)) - 3.0) ** 2):
        for seed in SEEDS:
            result = minimized(f, np.zeros(n), seed)
            assert result.success
            assert result.fun < 1e-15
            assert not result.fun_is_estimate
            # Among them the last look at what lies around x.
            assert result.nfev <= 32 * n + 90
