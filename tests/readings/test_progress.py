"""Equation (1): how much an exact step along a random direction lowers f in expectation."""

import math

import numpy as np
import pytest
from benchmarks.progress import along_a_run, at_the_end

import pursuit


@pytest.mark.parametrize("n", [2, 20])
@pytest.mark.parametrize("condition", [10.0, 1e4, 1e6])
@pytest.mark.parametrize("name", ["exp", "lin", "two"])
def test_the_bound_holds_from_the_start_to_the_end(name, condition, n):
    problem = getattr(pursuit.problems, name)(n, condition)
    rng = np.random.default_rng(2)
    found = [*along_a_run(problem, rng), at_the_end(problem, rng)]
    # Each of a few hundred estimates is off by 5 standard errors once in two million times.
    assert all(one.value + 5.0 * one.error > 1.0 for one in found)


@pytest.mark.parametrize("condition", [1.0, 10.0, 1e4])
def test_the_end_in_two_dimensions_has_a_closed_form(condition):
    """The mean of cos^2/(cos^2 + L sin^2) over all angles is 1/(1 + sqrt(L)), and the bound is 1/(1 + L)."""
    end = at_the_end(pursuit.problems.exp(2, condition), np.random.default_rng(3))
    assert end.value == pytest.approx((1.0 + condition) / (1.0 + math.sqrt(condition)), abs=5.0 * end.error)
