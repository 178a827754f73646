"""Slopes and curvatures along the coordinates, from one or two values beside a point."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.values.calling import from_python
from pursuit.methods.values import curvature
from pursuit.methods.values.curvature import ALONG, HALFWAY, MEASURED, OTHER_SIDE, REACH, SCALE, VECTORS

slope_from_one = from_python(curvature.slope_from_one)
slope_from_two = from_python(curvature.slope_from_two)
sort = from_python(curvature.sort)
quantile = from_python(curvature.quantile)
sampled = from_python(curvature.sampled)

# Whole numbers, and probes whose lengths are powers of two: no value is rounded.
whole = st.integers(-1000, 1000).map(float)
bends = whole.filter(lambda bend: bend != 0.0)
reaches = st.tuples(st.sampled_from([-1.0, 1.0]), st.integers(-8, 3)).map(
    lambda pair: pair[0] * 2.0 ** pair[1]
)


def known(bend, h):
    """Return the vectors for one variable along which the curvature is known."""
    vectors = np.zeros((VECTORS, 1))
    vectors[ALONG, 0], vectors[REACH, 0] = bend, h
    return vectors


def parabola(slope, bend):
    return lambda t: slope * t + 0.5 * bend * t * t


@given(whole, bends, reaches)
def test_one_value_gives_the_slope_of_a_parabola_whose_curvature_is_known(slope, bend, h):
    f = parabola(slope, bend)
    assert slope_from_one(known(bend, h), 0, f(h)) == slope


@given(whole, whole, reaches, st.sampled_from([OTHER_SIDE, HALFWAY]))
def test_two_values_give_slope_and_curvature_of_a_parabola(slope, bend, h, ratio):
    f, vectors = parabola(slope, bend), known(math.nan, h)
    found, change = slope_from_two(vectors, 0, f(h), ratio, f(ratio * h), 0.0, 0.0)
    assert found == slope
    assert vectors[ALONG, 0] == bend
    assert vectors[SCALE, 0] == abs(bend)
    assert vectors[MEASURED, 0] == abs(h)
    assert math.isnan(change)


@given(whole, bends, reaches)
def test_a_curvature_that_stays_has_not_changed(slope, bend, h):
    f, vectors = parabola(slope, bend), known(bend, h)
    found, change = slope_from_two(vectors, 0, f(h), OTHER_SIDE, f(-h), 0.0, 0.0)
    assert (found, change, vectors[ALONG, 0]) == (slope, 0.0, bend)


def test_a_change_that_noise_explains_is_none_and_hardly_moves_the_curvature():
    f, h, noise = parabola(1.0, 100.0), 0.5, 10.0
    vectors = known(90.0, h)
    _, change = slope_from_two(vectors, 0, f(h), OTHER_SIDE, f(-h), noise, 0.0)
    assert change == 0.0
    # The new curvature may be off by 2.5 noise/h^2 = 100, twice as much as the old one is trusted for.
    assert 90.0 < vectors[ALONG, 0] < 95.0
    _, change = slope_from_two(known(90.0, h), 0, f(h), OTHER_SIDE, f(-h), 0.0, 0.0)
    assert change == pytest.approx(10.0 / 190.0)


@pytest.mark.parametrize("value", [math.inf, math.nan])
def test_where_f_has_no_value_the_other_side_serves_or_nothing_is_said(value):
    f, h = parabola(3.0, 10.0), 0.25
    assert slope_from_one(known(10.0, h), 0, value) == 0.0
    assert slope_from_two(known(10.0, h), 0, value, OTHER_SIDE, f(-h), 0.0, 0.0)[0] == 3.0
    assert slope_from_two(known(10.0, h), 0, f(h), OTHER_SIDE, value, 0.0, 0.0)[0] == 3.0
    assert slope_from_one(known(10.0, 0.0), 0, 1.0) == 0.0


numbers = st.lists(st.floats(allow_nan=False), max_size=200).map(lambda values: np.array(values, dtype=float))


@given(numbers)
def test_values_are_sorted_as_by_numpy(values):
    expected = np.sort(values)
    sort(values)
    np.testing.assert_array_equal(values, expected)


@given(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=50), st.floats(0.0, 1.0))
def test_quantiles_are_those_of_numpy(values, share):
    ordered = np.sort(values)
    expected = np.quantile(ordered, share)
    size = np.abs(ordered).max()
    assert quantile(ordered, share) == pytest.approx(expected, rel=1e-9, abs=1e-12 * size)


@pytest.mark.parametrize("n", [1, 5, 512, 513, 10_000])
def test_a_sample_has_the_sizes_of_up_to_512_values_in_order(n):
    values = np.random.default_rng(n).standard_normal(n)
    values[0] = -values[0]
    found = sampled(values)
    stride = math.ceil(n / 512)
    np.testing.assert_array_equal(found, np.sort(np.abs(values[::stride])))
    assert len(found) <= 512


def test_a_sample_leaves_out_zeros_and_what_is_not_finite():
    values = np.array([0.0, -3.0, np.inf, 2.0, -np.inf, np.nan])
    np.testing.assert_array_equal(sampled(values), [2.0, 3.0])
