"""The noise of a function's values, from 8 of them on a line."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.values.calling import from_python
from pursuit.methods.values.noise import VALUES, are_told_apart, noise_level

noise_level = from_python(noise_level)
are_told_apart = from_python(are_told_apart)
POSITIONS = np.arange(VALUES) - VALUES // 2


def transcribed(values):
    """Return the root of the mean of two orders of differences, 5 and the lesser of 4 and 6."""
    mean = {}
    for k in (4, 5, 6):
        weight = math.factorial(k) ** 2 / math.factorial(2 * k)
        mean[k] = weight * np.mean(np.diff(values, k) ** 2)
    return math.sqrt((mean[5] + min(mean[4], mean[6])) / 2)


@given(st.lists(st.floats(-1e6, 1e6), min_size=VALUES, max_size=VALUES))
def test_it_is_what_the_differences_of_high_order_say(values):
    values = np.array(values)
    assert noise_level(values) == pytest.approx(transcribed(values), rel=1e-12, abs=1e-9)


@pytest.mark.parametrize("sigma", [1e-9, 1e-3, 1.0, 1e6])
@pytest.mark.parametrize("coefficients", [(0.0,), (3.0, -2.0, 5.0), (1.0, 0.1, -0.3, 2.0)])
def test_gaussian_noise_on_a_polynomial_is_measured(sigma, coefficients):
    """The mean of 4000 squares.

    The square of one measurement has the mean 0.921 sigma^2 and the standard deviation 1.105 sigma^2, so that
    the mean of 4000 is outside of these limits with a probability below 1e-11.
    """
    rng = np.random.default_rng(5)
    f = np.polynomial.Polynomial(coefficients)(POSITIONS) * sigma
    squares = [noise_level(f + sigma * rng.standard_normal(VALUES)) ** 2 for _ in range(4000)]
    assert 0.8 < np.mean(squares) / sigma**2 < 1.05


@given(st.lists(st.integers(-1000, 1000), min_size=1, max_size=4), st.integers(-30, 30))
def test_a_polynomial_of_degree_three_has_none(coefficients, exponent):
    """Whole numbers times a power of two: no value is rounded."""
    values = 2.0**exponent * np.polynomial.Polynomial(coefficients)(POSITIONS)
    assert noise_level(values) == 0.0


@pytest.mark.parametrize("digits", [3, 6])
def test_rounding_is_noise(digits):
    """Rounding to so many digits is off by a uniform error, of the standard deviation step/sqrt(12)."""
    rng = np.random.default_rng(6)
    step = 10.0**-digits
    levels = []
    for _ in range(400):
        slope, start = rng.uniform(5.0, 50.0), rng.uniform(0.0, 1.0)
        exact = start + slope * step * POSITIONS
        levels.append(noise_level(np.round(exact, digits)))
    assert 0.5 < np.sqrt(np.mean(np.square(levels))) / (step / math.sqrt(12.0)) < 2.0


def test_the_values_are_left_alone():
    values = np.arange(8.0) ** 5
    before = values.copy()
    noise_level(values)
    np.testing.assert_array_equal(values, before)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0] * 8, False),
        ([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.1], False),
        ([1.0, 1.0, 1.1, 1.1, 1.2, 1.2, 1.2, 1.2], False),
        ([1.0, 1.0, 1.1, 1.1, 1.2, 1.2, 1.2, 1.3], True),
        ([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0], True),
        ([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1e-9], True),
    ],
)
def test_differences_mean_something_if_enough_values_differ_or_one_differs_a_lot(values, expected):
    assert are_told_apart(np.array(values)) == expected
