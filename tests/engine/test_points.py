"""The points that a function is given: arrays of its own, whoever asks for their values."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.optimize import NonlinearConstraint

import pursuit

START = np.linspace(-1.0, 2.0, 6)


class Keeper:
    """A function that keeps every x it is given, beside what x was at the time."""

    def __init__(self):
        self.kept, self.then = [], []

    def __call__(self, x):
        self.kept.append(x)
        self.then.append(x.copy())
        return np.sum(np.arange(1.0, 7.0) * x * x, axis=-1)

    def check(self):
        assert len(self.kept) > 30
        for kept, then in zip(self.kept, self.then, strict=True):
            np.testing.assert_array_equal(kept, then)
        assert len({x.tobytes() for x in self.kept}) > 30


@pytest.mark.parametrize("method", ["auto", "rp", "sarp", "cma", "arp", "sep-cma", "spsa"])
@pytest.mark.parametrize("bounds", [None, [(-1.5, 2.5)] * 6])
def test_a_function_may_keep_what_it_is_given(method, bounds):
    fun = Keeper()
    options = {"sarp": {"kappa": 6.0}, "arp": {"m": 1.0, "L": 6.0}, "spsa": {"L": 6.0}}.get(method)
    pursuit.minimize(fun, START, method=method, rng=1, maxfev=100, bounds=bounds, options=options)
    fun.check()


@pytest.mark.parametrize("method", ["auto", "sarp", "sep-cma"])
def test_so_may_one_of_all_points(method):
    fun = Keeper()
    options = {"kappa": 6.0} if method == "sarp" else None
    pursuit.minimize(fun, START, method=method, rng=1, maxfev=500, vectorized=True, batch=2, options=options)
    fun.check()


@pytest.mark.parametrize("method", ["auto", "sep-cma"])
def test_so_may_one_that_workers_call(method):
    for workers in (map, ThreadPoolExecutor(2)):
        fun = Keeper()
        pursuit.minimize(fun, START, method=method, rng=1, maxfev=100, workers=workers, batch=8)
        fun.check()


@pytest.mark.parametrize("method", ["auto", "rp"])
def test_so_may_constraints_and_a_function_beside_them(method):
    fun, constraint = Keeper(), Keeper()
    pursuit.minimize(
        fun,
        START,
        method=method,
        rng=1,
        maxfev=200,
        constraints=NonlinearConstraint(constraint, -np.inf, 1.0),
    )
    fun.check()
    constraint.check()
