"""Objectives of all kinds: jitted, with arguments, faulty, and evaluated by several workers."""

import math
import sys
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pursuit
from helpers import options_for

START = np.array([1.0, -2.0, 3.0])


def sphere(x):
    return float(x @ x)


@numba.njit
def jitted(x):
    total = 0.0
    for i in range(x.shape[0]):
        total += (i + 1) * x[i] * x[i]
    return total


@numba.njit
def jitted_with_arguments(x, a, b):
    return a * np.sum(x * x) + b


# One of each kind: rounds of points, one line or two, adaptive or exact.
METHODS = ["auto", "evolution", "differences", "rp", "sarp", "rp-exact"]


@pytest.mark.parametrize("method", METHODS)
def test_a_jitted_function_gives_the_run_of_its_python_twin(method):
    arguments = {"method": method, "rng": 2, "maxiter": 300, "options": options_for(method, kappa=3.0)}
    compiled = pursuit.minimize(jitted, START, **arguments)
    python = pursuit.minimize(jitted.py_func, START, **arguments)
    np.testing.assert_array_equal(compiled.x, python.x)
    assert compiled.nfev == python.nfev


def test_the_loop_around_a_jitted_function_is_compiled():
    """Twenty thousand evaluations pass without as many calls of anything in Python."""
    pursuit.minimize(jitted, START, method="rp", rng=1, maxiter=1)
    calls = []
    sys.setprofile(lambda frame, event, argument: calls.append(1) if event == "call" else None)
    try:
        result = pursuit.minimize(jitted, START, method="rp", rng=1, xtol=0.0, maxiter=20_000)
    finally:
        sys.setprofile(None)
    assert result.nfev > 10_000
    assert len(calls) < 5_000


def test_two_jitted_functions_are_told_apart():
    values = [
        pursuit.minimize(f, START, method="rp", rng=1, maxiter=500).fun for f in (jitted, lifted, jitted)
    ]
    assert values[0] == values[2] < 1.0
    assert 5.0 <= values[1] < 6.0


@numba.njit
def lifted(x):
    return 5.0 + np.sum(x * x)


def test_a_jitted_function_may_have_arguments():
    result = pursuit.minimize(jitted_with_arguments, START, (2.0, 5), method="rp", rng=1, ftarget=5.001)
    assert 5.0 <= result.fun <= 5.001


@numba.njit
def raising(x):
    if x[0] < 0.5:
        raise ValueError("too small")
    return np.sum(x * x)


@pytest.mark.parametrize("fun", [raising, lambda x: raising(x)], ids=["compiled", "python"])
def test_an_exception_brings_along_what_was_found(fun):
    with pytest.raises(ValueError, match="too small") as caught:
        pursuit.minimize(fun, START, method="rp", rng=1)
    result = caught.value.pursuit_result
    assert result.nfev >= 1
    assert result.fun == float(np.sum(result.x**2)) <= 14.0
    assert result.x[0] >= 0.5
    assert "pursuit_result" in caught.value.__notes__[0]


def test_a_run_can_go_on_after_an_exception(tmp_path):
    """With a checkpoint the same call resumes; the evaluation that failed is made anew."""
    broken = [True]

    def unreliable(x):
        if broken[0] and x[0] < 0.5:
            raise RuntimeError("no licence")
        return sphere(x)

    arguments = {
        "method": "rp",
        "rng": 1,
        "maxiter": 300,
        "checkpoint": tmp_path / "run.npz",
        "checkpoint_every": 0,
    }
    with pytest.raises(RuntimeError, match="no licence"):
        pursuit.minimize(unreliable, START, **arguments)
    broken[0] = False
    resumed = pursuit.minimize(unreliable, START, **arguments)
    whole = pursuit.minimize(sphere, START, method="rp", rng=1, maxiter=300)
    np.testing.assert_array_equal(resumed.x, whole.x)
    assert resumed.nfev == whole.nfev


@pytest.mark.parametrize(
    "wrap", [np.float32, np.float64, lambda f: np.array(f), lambda f: np.array([[f]]), lambda f: [f], int]
)
def test_anything_that_is_one_real_number_is_a_value(wrap):
    result = pursuit.minimize(lambda x: wrap(100 * sphere(x)), START, method="rp", rng=1, maxiter=100)
    assert isinstance(result.fun, float)
    assert result.fun < 1400.0


@pytest.mark.parametrize(
    "bad", [None, "7", 1j, [1.0, 2.0], np.zeros((2, 2)), np.array([]), {}, True, [[1.0], [2.0, 3.0]]]
)
def test_anything_else_is_refused_in_a_sentence(bad):
    with pytest.raises(TypeError, match="The objective must return a real number, but it returned"):
        pursuit.minimize(lambda x: bad, START, method="rp", rng=1)
    with pytest.raises(TypeError, match="The objective must return a real number, but it returned"):
        pursuit.minimize(lambda x: sphere(x) if x[0] == 1.0 else bad, START, method="rp", rng=1)


@given(
    data=st.data(), faulty=st.sampled_from([math.nan, math.inf, -math.inf]), method=st.sampled_from(METHODS)
)
@settings(max_examples=40)
def test_faulty_values_anywhere_do_not_break_a_run(data, faulty, method):
    def objective(x):
        return faulty if data.draw(st.booleans()) and len(calls) else (calls.append(1), sphere(x))[1]

    calls = []
    result = pursuit.minimize(
        objective, START, method=method, rng=1, maxiter=20, options=options_for(method, kappa=3.0)
    )
    assert np.isfinite(result.x).all()
    assert not math.isnan(result.fun)


@pytest.mark.parametrize("workers", [2, -1, map, "threads"])
@pytest.mark.parametrize("method", ["sarp", "rp-exact"])
def test_workers_change_nothing_but_the_time(method, workers):
    alone = pursuit.minimize(
        sphere, START, method=method, rng=1, maxiter=60, options=options_for(method, kappa=3.0)
    )
    with ThreadPoolExecutor(2) as pool:
        many = pursuit.minimize(
            sphere, START, method=method, rng=1, maxiter=60, options=options_for(method, kappa=3.0),
            workers=pool.map if workers == "threads" else workers,
        )  # fmt: skip
    np.testing.assert_array_equal(alone.x, many.x)
    assert alone.nfev == many.nfev


@pytest.mark.parametrize("workers", [2, map])
@pytest.mark.parametrize("bounds", [None, [(0.5, 2.0), (-3.0, -0.5), (0.5, None)]])
@pytest.mark.parametrize("kind", ["problem", "jitted"])
def test_workers_take_problems_and_jitted_functions_inside_bounds_as_well(kind, bounds, workers):
    fun, args = (
        (pursuit.problems.exp(3, 9.0), ()) if kind == "problem" else (jitted_with_arguments, (2.0, 5.0))
    )
    arguments = {"method": "sarp", "rng": 1, "maxiter": 200, "bounds": bounds, "options": {"kappa": 9.0}}
    alone = pursuit.minimize(fun, START, args, **arguments)
    many = pursuit.minimize(fun, START, args, workers=workers, **arguments)
    np.testing.assert_array_equal(alone.x, many.x)
    assert (alone.fun, alone.nfev) == (many.fun, many.nfev)
    assert many.fun == fun(many.x, *args)


def test_the_points_of_an_iteration_reach_the_workers_together():
    sizes = []

    def apply(function, points):
        points = list(points)
        sizes.append(len(points))
        return map(function, points)

    pursuit.minimize(sphere, START, method="sarp", rng=1, maxiter=10, options={"kappa": 2.0}, workers=apply)
    assert sizes == [1] + [2] * 10


@pytest.mark.parametrize(
    ("workers", "error", "words"),
    [
        (0, ValueError, "0 was given"),
        (-2, ValueError, "workers must be at least -1"),
        (1.5, TypeError, "integer"),
    ],
)
def test_bad_workers_are_named(workers, error, words):
    with pytest.raises(error, match=words):
        pursuit.minimize(sphere, START, method="rp", workers=workers)


@given(
    n=st.integers(1, 30),
    kind=st.sampled_from(["list", "float32", "int64", "strided", "tuple", "fortran"]),
    seed=st.integers(0, 99),
)
@settings(max_examples=40)
def test_starts_of_any_shape_and_type_mean_the_same(n, kind, seed):
    base = np.random.default_rng(seed).integers(-5, 6, n)
    forms = {
        "list": base.tolist(),
        "tuple": tuple(base.tolist()),
        "float32": base.astype(np.float32),
        "int64": base,
        "strided": np.repeat(base, 2)[::2],
        "fortran": np.asfortranarray(base.astype(float)),
    }
    plain = pursuit.minimize(sphere, base.astype(float), method="rp", rng=seed, maxiter=20)
    other = pursuit.minimize(sphere, forms[kind], method="rp", rng=seed, maxiter=20)
    np.testing.assert_array_equal(plain.x, other.x)
