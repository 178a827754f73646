"""Bounds: f is never called outside, whatever they are and whoever drives the run."""

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds

import pursuit
from fuzz.arguments import Rude
from helpers import options_for
from pursuit.problems.boxes import make_box, preimage, reflect
from pursuit.problems.transform import Transform, Transformed

# One of each kind: rounds of points, one line or two, adaptive or exact, with a matrix.
METHODS = ["auto", "evolution", "differences", "rp", "sarp", "cma", "rp-exact"]


sides = st.one_of(st.just(-np.inf), st.floats(-5.0, 0.0)), st.one_of(st.just(np.inf), st.floats(0.0, 5.0))


@pytest.mark.parametrize("method", METHODS)
@given(pairs=st.lists(st.tuples(*sides), min_size=2, max_size=6), seed=st.integers(0, 1000))
@settings(max_examples=25)
def test_f_is_never_called_outside_and_the_result_is_inside(method, pairs, seed):
    lower, upper = np.array(pairs).T

    def watched(x):
        assert (lower <= x).all()
        assert (x <= upper).all()
        return float(np.sum((x - 3.0) ** 2 * np.arange(1, x.size + 1)))

    result = pursuit.minimize(
        watched, np.zeros(len(pairs)), method=method, rng=seed, bounds=pairs, sigma0=3.0, maxiter=150,
        options=options_for(method, kappa=10.0),
    )  # fmt: skip
    assert (lower <= result.x).all()
    assert (result.x <= upper).all()
    assert result.fun == watched(result.x)


@pytest.mark.parametrize("method", METHODS)
def test_finds_a_minimum_on_the_boundary(method):
    bounds = [(None, 1.0), (0.0, 2.0), (-1.0, None), (0.25, 0.25)]
    result = pursuit.minimize(
        lambda x: float(np.sum((x - [3.0, 1.5, -4.0, 9.0]) ** 2)),
        [0.0, 0.0, 0.0, 0.25],
        method=method,
        rng=1,
        bounds=bounds,
        maxiter=20_000,
        options=options_for(method, kappa=10.0),
    )
    np.testing.assert_allclose(result.x, [1.0, 1.5, -1.0, 0.25], atol=1e-4)
    assert result.x[3] == 0.25


@numba.njit
def jitted(x):
    return np.sum((x - 3.0) ** 2)


def test_all_forms_of_bounds_mean_the_same():
    forms = [
        [(-1.0, 2.0), (-1.0, 2.0), (-1.0, 2.0)],
        Bounds(-1.0, 2.0),
        Bounds([-1.0] * 3, [2.0] * 3),
        np.array([[-1.0, 2.0]] * 3),
    ]
    results = [
        pursuit.minimize(jitted.py_func, np.zeros(3), method="rp", rng=1, bounds=form, maxiter=200)
        for form in forms
    ]
    for result in results:
        np.testing.assert_array_equal(result.x, results[0].x)


@pytest.mark.parametrize("method", METHODS)
def test_bounds_hold_in_the_compiled_loop_as_well(method):
    """The same trajectory as from Python, where every call was watched."""
    bounds = [(-1.0, 2.0), (0.0, np.inf), (-np.inf, 1.0)]
    arguments = {
        "rng": 1,
        "method": method,
        "bounds": bounds,
        "maxiter": 300,
        "options": options_for(method, kappa=10.0),
    }
    compiled = pursuit.minimize(jitted, np.zeros(3), **arguments)
    python = pursuit.minimize(lambda x: jitted(x), np.zeros(3), **arguments)
    np.testing.assert_array_equal(compiled.x, python.x)
    assert compiled.nfev == python.nfev


def test_a_bounded_problem_keeps_its_condition_number():
    problem = pursuit.problems.exp(5, 100.0)
    result = pursuit.minimize(
        problem, problem.x0, method="sarp", rng=1, bounds=[(0.5, 2.0)] * 5, maxiter=20_000
    )
    np.testing.assert_allclose(result.x, 0.5, atol=1e-6)


reflect_compiled = numba.njit(reflect)


def image(t, lower, upper, sigma0):
    point = np.array([[t]], dtype=float)
    reflect_compiled(point, make_box(np.array([lower]), np.array([upper]), sigma0))
    return point[0, 0]


boxes = {
    "lower": st.floats(-10.0, 10.0),
    "width": st.floats(0.01, 10.0),
    "sigma0": st.floats(0.01, 10.0),
    "t": st.floats(-100.0, 100.0),
}


@given(**boxes)
def test_the_mirror_is_one(t, lower, width, sigma0):
    """It turns where it should, repeats, keeps the inside where it is, and never spreads points apart."""
    upper = lower + width
    margin = min(sigma0, width / 2)
    first, period = lower - margin, 2 * (width + 2 * margin)
    here = image(t, lower, upper, sigma0)
    close = {"rel": 1e-9, "abs": 1e-6 * width}
    assert lower <= here <= upper
    assert image(2 * first - t, lower, upper, sigma0) == pytest.approx(here, **close)
    assert image(t + period, lower, upper, sigma0) == pytest.approx(here, **close)
    assert abs(image(t + 1e-3, lower, upper, sigma0) - here) <= 1.001e-3 + 1e-9
    if lower + margin <= t <= upper - margin:
        assert here == t


@given(**boxes)
def test_every_point_inside_is_the_image_of_another(t, lower, width, sigma0):
    x = np.array([lower + width * (0.5 + 0.5 * np.sin(t))])
    x = np.clip(x, lower, lower + width)
    box = make_box(np.array([lower]), np.array([lower + width]), sigma0)
    back = image(preimage(x, box)[0], lower, lower + width, sigma0)
    assert back == pytest.approx(x[0], abs=1e-12 * (1 + abs(lower) + width))


@pytest.mark.parametrize("value", [1e308, -1e308, np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("box", [(-1.0, 1.0), (-np.inf, 1.0), (-1.0, np.inf), (2.0, 2.0)])
def test_even_absurd_points_are_brought_inside(value, box):
    assert box[0] <= image(value, *box, 1.0) <= box[1]


@given(
    lower=st.one_of(st.just(-np.inf), st.floats(-1e300, 1e300)),
    width=st.one_of(st.just(np.inf), st.just(0.0), st.floats(0.0, 1e300)),
    t=st.one_of(st.floats(-10.0, 10.0), st.floats(allow_nan=False, allow_infinity=False)),
)
def test_without_margins_there_are_no_mirrors(lower, width, t):
    """A point inside stays to the last bit, that of the sign of zero included; others go to the bound."""
    upper = np.inf if np.isinf(lower) else lower + width
    for inside in (t, lower, upper, np.nextafter(lower, upper), 0.0, -0.0):
        if np.isfinite(inside):
            here = image(inside, lower, upper, 0.0)
            assert here == min(max(inside, lower), upper)
            if lower <= inside <= upper:
                assert np.float64(here).tobytes() == np.float64(inside).tobytes()
                x = np.array([inside])
                box = make_box(np.array([lower]), np.array([upper]), 0.0)
                assert preimage(x, box).tobytes() == x.tobytes()


@pytest.mark.parametrize(
    ("bounds", "error", "words"),
    [
        ([(0.0, 1.0)], ValueError, "one pair for each of the 2 variables, but 1 were given"),
        ([(0.0, 1.0)] * 3, ValueError, "one pair for each of the 2 variables, but 3 were given"),
        ([(1.0, -1.0), (0.0, 1.0)], ValueError, r"variable 0 has a lower bound above .* one: \(1, -1\)"),
        ([(0.0, 1.0), (np.nan, 1.0)], ValueError, "variable 1 has a bound that is not a number"),
        ([(0.0, 1.0), (np.inf, np.inf)], ValueError, "variable 1 has an infinite bound on the wrong side"),
        ([(0.0, 1.0), (2.0, 3.0)], ValueError, r"but x0\[1\] = 0.5 is outside \(2, 3\)"),
        (7, TypeError, "bounds must be a scipy.optimize.Bounds or a sequence of pairs"),
        ([1.0, 2.0], TypeError, "bounds must be a scipy.optimize.Bounds or a sequence of pairs"),
        ([("a", "b")] * 2, TypeError, "bounds must be a scipy.optimize.Bounds or a sequence of pairs"),
        ([("0", "1")] * 2, TypeError, r"pairs \(lower, upper\) of real numbers, but \[\('0', '1'\), "),
        (["01", "01"], TypeError, "of real numbers, but"),
        ([(False, True)] * 2, TypeError, "of real numbers, but"),
        ([(0.0, 1j)] * 2, TypeError, "of real numbers, but"),
        (np.array([[0, 1], [0, 1]], dtype="datetime64[s]"), TypeError, "of real numbers, but"),
        (np.ma.masked_array([[0, 1], [0, 1]], [[0, 1], [0, 0]]), TypeError, "of real numbers, but"),
        (Bounds(np.array(["0", "0"]), np.array(["1", "1"])), TypeError, "of real numbers, but"),
        (Bounds([0, 0], np.array([1, 1], dtype="timedelta64[s]")), TypeError, "of real numbers, but"),
        (Rude(), TypeError, "of real numbers, but an object of the class Rude was given"),
        ([(10**400, None)] * 2, ValueError, "variable 0 has an infinite bound on the wrong side"),
        ([(None, -(10**400))] * 2, ValueError, "variable 0 has an infinite bound on the wrong side"),
    ],
)  # fmt: skip
def test_bad_bounds_are_named_before_anything_is_evaluated(bounds, error, words):
    def never(x):
        raise AssertionError

    for call in (pursuit.Optimizer, lambda x0, **kw: pursuit.minimize(never, x0, **kw)):
        with pytest.raises(error, match=words):
            call([0.5, 0.5], method="rp", bounds=bounds)


def test_a_bound_beyond_all_floats_is_none():
    results = [
        pursuit.minimize(lambda x: float(x @ x), [0.5], method="rp", rng=1, maxfev=20, bounds=[(0.25, upper)])
        for upper in (10**400, None)
    ]
    np.testing.assert_array_equal(results[0].x, results[1].x)


def test_a_bounded_problem_leaves_the_point_it_is_given_alone():
    problem = Transformed.of(
        pursuit.problems.exp(2, 9.0), Transform.of(None, make_box(np.zeros(2), np.ones(2), 0.1))
    )
    x = np.array([-3.0, 7.0])
    inside = problem(x)
    np.testing.assert_array_equal(x, [-3.0, 7.0])
    assert problem([-3, 7]) == inside
    with pytest.raises(TypeError, match="x must be a sequence of real numbers"):
        problem(["-3", "7"])


def overwriting(x):
    value = 0.0
    for i in range(x.size):
        value += (x[i] - 3.0) ** 2
        x[i] = np.nan
    return value


@pytest.mark.parametrize("bounds", [None, [(0.0, 2.0)] * 2])
@pytest.mark.parametrize("fun", [overwriting, numba.njit(overwriting)], ids=["python", "compiled"])
def test_a_function_may_overwrite_its_point_and_changes_no_other(fun, bounds):
    x0 = np.array([0.5, 1.5])
    result = pursuit.minimize(fun, x0, method="rp", rng=1, maxfev=200, bounds=bounds)
    expected = pursuit.minimize(
        lambda x: overwriting(x.copy()), x0, method="rp", rng=1, maxfev=200, bounds=bounds
    )
    np.testing.assert_array_equal(x0, [0.5, 1.5])
    np.testing.assert_array_equal(result.x, expected.x)
    assert result.fun == expected.fun


@pytest.mark.parametrize("sigma0", [1e-5, 0.1, 1.0, 1e5, 1e40])
@pytest.mark.parametrize("kind", ["compiled", "python", "asked"])
def test_the_start_is_evaluated_exactly_where_it_was_put(kind, sigma0):
    rng = np.random.default_rng(7)
    for lower, upper in ((0.0, 1.0), (0.0, None), (None, 1.0), (-1e-3, 1e6)):
        low, high = 0.0 if lower is None else lower, 1.0 if upper is None else upper
        for x0 in (np.array([0.1, 0.3]), np.array([low, high]), low + (high - low) * rng.random(2)):
            bounds, seen = [(lower, upper)] * 2, []

            def fun(x, seen=seen):
                seen.append(x.copy())
                return float(x @ x)

            if kind == "asked":
                seen.append(pursuit.Optimizer(x0, "rp", rng=1, sigma0=sigma0, bounds=bounds).ask()[0])
            else:
                objective = jitted_sphere if kind == "compiled" else fun
                result = pursuit.minimize(
                    objective, x0, method="rp", rng=1, sigma0=sigma0, bounds=bounds, maxfev=1
                )
                assert result.fun == (jitted_sphere(x0) if kind == "compiled" else x0 @ x0)
                seen.append(result.x)
            for x in seen:
                np.testing.assert_array_equal(x, x0)


@numba.njit
def jitted_sphere(x):
    return x[0] * x[0] + x[1] * x[1]


@pytest.mark.parametrize("bounds", [[(None, None)] * 2, [(-1.7e308, 1.7e308)] * 2])
def test_bounds_and_starts_as_large_as_numbers_go_warn_of_nothing(bounds):
    x0 = [1.7e308, -1.7e308] if bounds[0][0] else [np.finfo(float).max, np.finfo(float).min]
    np.testing.assert_array_equal(pursuit.Optimizer(x0, "rp", bounds=bounds).ask()[0], x0)


@pytest.mark.parametrize("sigma0", [1e-301, 1e-250, 1e120])
def test_a_step_size_without_room_to_adapt_is_refused(sigma0):
    with pytest.raises(ValueError, match="sigma0 must be finite and at least 1e-200 and below"):
        pursuit.minimize(jitted_sphere, [1.0, 2.0], sigma0=sigma0)
