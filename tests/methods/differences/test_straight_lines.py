"""Functions that are straight lines, or constant along some of them, on which a model has no minimum."""

import numpy as np
import pytest

import pursuit
from pursuit.engine.stopping import Reason

every_number = pytest.mark.parametrize("n", [1, 2, 3, 4, 10])
every_start = pytest.mark.parametrize("start", [0.0, 0.3, 1.0])
SEEDS = range(5)


def rise(x):
    return float(x.sum())


@every_number
@every_start
def test_a_linear_function_is_followed_to_the_bounds(n, start):
    for seed in SEEDS:
        result = pursuit.minimize(rise, np.full(n, start), rng=seed, bounds=[(-100.0, 100.0)] * n)
        np.testing.assert_allclose(result.x, -100.0, rtol=1e-9)


@every_number
@every_start
def test_a_linear_function_is_unbounded(n, start):
    for seed in SEEDS:
        result = pursuit.minimize(rise, np.full(n, start), rng=seed)
        assert result.status == Reason.UNBOUNDED
        assert not result.success


@every_number
def test_a_linear_function_is_followed_to_where_it_ends(n):
    for seed in SEEDS:
        assert pursuit.minimize(lambda x: max(rise(x), -50.0), np.zeros(n), rng=seed).fun == -50.0
