"""Classes of one name are not mixed up, as when a cell of a notebook is executed again."""

from typing import NamedTuple

import numpy as np

import pursuit
from pursuit.problems import evaluate, value


def define(factor):
    class Sphere(NamedTuple):
        n: int

        def __call__(self, x):
            return evaluate(self, x)

    @value.register(Sphere)
    def _value(team, sphere, x):
        return factor * np.sum(x * x)

    return Sphere


def test_a_class_defined_again_replaces_the_first():
    results = []
    for factor in (1.0, 10.0, 100.0):
        problem = define(factor)(3)
        assert problem(np.ones(3)) == 3.0 * factor
        results.append(pursuit.minimize(problem, np.ones(3), method="rp", rng=1, maxiter=30))
        assert results[-1].fun == factor * np.sum(results[-1].x ** 2)
    np.testing.assert_array_equal(results[0].x, results[2].x)
