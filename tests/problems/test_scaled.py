"""A first step size for each variable: the same run in scaled variables, seen in people's own."""

import numba
import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st

import pursuit
from helpers import options_for
from pursuit.problems.boxes import make_box
from pursuit.problems.transform import Scale, Transform, Transformed, scale_around

# One of each kind: rounds of points, one line or two, adaptive or exact.
METHODS = ["auto", "evolution", "differences", "rp", "sarp", "rp-exact"]
every_method = pytest.mark.parametrize("method", METHODS)
SIZES = np.array([0.1, 30.0, 0.7, 1e-3, 2.0])
START = np.array([0.1, 100.0, -3.0, 0.05, 0.3])
BOUNDS = [(0.0, None), (None, None), (-3.0, 5.0), (None, 0.05), (0.3, 0.3)]


@numba.njit
def valley(x):
    total = 0.0
    for i in range(x.size):
        total += (i + 1.0) * (x[i] - 0.02) ** 2
    return total


def call(fun, method, **arguments):
    return pursuit.minimize(fun, method=method, rng=1, options=options_for(method, kappa=50.0), **arguments)


sizes = st.one_of(st.floats(1e-6, 1e6), st.floats(1e-200, 1e99))
entries = st.one_of(st.floats(-1e6, 1e6), st.floats(allow_nan=False, allow_infinity=False))
pairs = st.lists(st.tuples(sizes, entries), min_size=1, max_size=5)


@given(pairs)
@settings(max_examples=300)
def test_the_start_is_where_it_was_put_to_the_last_bit(given_pairs):
    sigma0, x0 = np.array(given_pairs).T
    scale, z0 = scale_around(sigma0, x0)
    assert all(np.isfinite(array).all() for array in (*scale, z0))
    np.testing.assert_array_equal(Transform.of(scale, None).moved(z0), x0)
    np.testing.assert_array_equal(pursuit.Optimizer(x0, "rp", sigma0=sigma0).ask()[0], x0)


@every_method
@pytest.mark.parametrize("bounds", [None, BOUNDS], ids=["free", "bounded"])
def test_all_drivers_give_the_same_run(method, bounds):
    arguments = {"x0": START, "sigma0": SIZES, "bounds": bounds, "maxiter": 100}
    compiled = call(valley, method, **arguments)
    python = call(lambda x: valley(x), method, **arguments)
    mapped = call(valley.py_func, method, workers=map, **arguments)
    optimizer = pursuit.Optimizer(
        START, method, rng=1, sigma0=SIZES, bounds=bounds, options=options_for(method, 50.0), maxiter=100
    )
    while not optimizer.stop():
        X = optimizer.ask()
        optimizer.tell(X, [valley(x) for x in X])
    for other in (python, mapped, optimizer.result):
        np.testing.assert_array_equal(compiled.x, other.x)
        assert (compiled.fun, compiled.nfev, compiled.sigma) == (other.fun, other.nfev, other.sigma)
    assert compiled.fun == valley(compiled.x) < valley(START)


@pytest.mark.interpreted
@every_method
def test_equal_entries_mean_the_same_as_one_number(method):
    results = [
        call(valley, method, x0=START, sigma0=sigma0, maxiter=100)
        for sigma0 in (0.3, [0.3] * 5, np.full(5, 0.3))
    ]
    for result in results:
        np.testing.assert_array_equal(result.x, results[0].x)
        assert result.sigma == results[0].sigma


def test_the_first_step_along_each_variable_is_of_its_size():
    steps = []
    for seed in range(300):
        optimizer = pursuit.Optimizer(START, "rp", rng=seed, sigma0=SIZES)
        optimizer.tell(optimizer.ask(), [1.0])
        steps.append(optimizer.ask()[0] - START)
    # The standard deviation of 300 normals is within a tenth of its own with a probability of 0.985.
    np.testing.assert_allclose(np.std(steps, axis=0) / SIZES, 1.0, atol=0.15)


def test_bounds_are_kept_and_their_margins_are_of_the_variable_s_own_size():
    optimizer = pursuit.Optimizer(START, "rp", sigma0=SIZES, bounds=BOUNDS)
    np.testing.assert_array_equal(optimizer._run.setup.box.margin, [0.1, 30.0, 0.7, 1e-3, 0.0])
    lower, upper = np.array([(-np.inf if a is None else a, np.inf if b is None else b) for a, b in BOUNDS]).T

    def watched(x):
        assert ((lower <= x) & (x <= upper)).all()
        return float(np.sum(((x - 1.0) / SIZES) ** 2))

    result = call(watched, "auto", x0=START, sigma0=SIZES, bounds=BOUNDS, maxfev=20_000)
    np.testing.assert_allclose(result.x / SIZES, [1.0, 1.0, 1.0, 0.05, 0.3] / SIZES, atol=1e-4)


def test_callbacks_results_and_traces_are_in_people_s_variables():
    seen, points = [], []

    def watched(x):
        seen.append((valley(x), tuple(x)))
        return seen[-1][0]

    result = call(
        watched,
        "auto",
        x0=START,
        sigma0=SIZES,
        maxiter=50,
        trace=True,
        callback=lambda x: points.append(tuple(x)),
    )
    assert (result.fun, tuple(result.x)) == min(seen)
    assert {*points} <= {point for _, point in seen}
    assert result.trace.fun.min() == result.fun


def test_a_vector_undoes_bad_scaling():
    """Variables of sizes from 1 to 1e6 are minimised as if they were all alike."""
    sizes = 10.0 ** np.linspace(0.0, 6.0, 10)

    def stretched(x):
        return float(np.sum((x / sizes) ** 2))

    vector, alike = (
        pursuit.minimize(f, x0, sigma0=sigma0, rng=1, ftarget=1e-9)
        for f, x0, sigma0 in ((stretched, sizes, sizes), (lambda z: float(z @ z), np.ones(10), 1.0))
    )
    assert vector.success
    # Rounding may turn a comparison near the end.
    assert vector.nfev == pytest.approx(alike.nfev, rel=0.2)


def test_many_runs_and_scipy_take_a_vector():
    single = call(valley, "rp", x0=START, sigma0=SIZES, maxiter=50)
    many = pursuit.minimize_many(valley, START, [1, 2], method="rp", sigma0=SIZES, maxiter=50, workers=2)
    scipy_s = scipy.optimize.minimize(
        valley,
        START,
        method=pursuit.scipy_method("rp"),
        options={"rng": 1, "sigma0": list(SIZES), "maxiter": 50},
    )
    for other in (many[0], scipy_s):
        np.testing.assert_array_equal(single.x, other.x)


@pytest.mark.interpreted
def test_exact_line_search_knows_the_minimiser_of_a_scaled_line():
    problem = pursuit.problems.exp(5, 100.0)
    result = pursuit.minimize(problem, problem.x0, method="rp-exact", sigma0=SIZES, rng=1, maxiter=20)
    assert result.nfev == result.nit + 1
    scaled = Transformed.of(problem, Transform.of(Scale(SIZES, START), None))
    assert scaled(np.ones(5)) == problem(START + SIZES)
    assert scaled.n == 5


def test_a_problem_inside_bounds_is_scaled_as_a_whole():
    problem = pursuit.problems.exp(2, 9.0)
    box = make_box(np.zeros(2), np.ones(2), 0.0)
    scale = Scale(np.array([1.0, 10.0]), np.zeros(2))
    scaled = Transformed.of(problem, Transform.of(scale, box))
    assert scaled([0.5, 7.0]) == problem([0.5, 1.0])


def test_the_condition_number_of_a_problem_is_not_that_of_scaled_variables():
    problem = pursuit.problems.exp(5, 100.0)
    with pytest.raises(ValueError, match="SARP needs the condition number of the problem"):
        pursuit.minimize(problem, problem.x0, method="sarp", sigma0=SIZES)


@pytest.mark.parametrize(
    ("sigma0", "error", "words"),
    [
        ([1.0] * 4, ValueError, r"one number, or one for each of the 5 variables, but its shape is \(4,\)"),
        ([1.0], ValueError, r"for each of the 5 variables, but its shape is \(1,\)"),
        ([], ValueError, r"for each of the 5 variables, but its shape is \(0,\)"),
        (np.ones((5, 1)), ValueError, r"for each of the 5 variables, but its shape is \(5, 1\)"),
        (
            [1.0, 2.0, 0.0, 1.0, 1.0],
            ValueError,
            r"sigma0\[2\] must be finite and at least 1e-200 .* but 0.0 was",
        ),
        ([1.0, 2.0, 1.0, -3.0, 1.0], ValueError, r"sigma0\[3\] must be finite .* but -3.0 was given"),
        ([np.nan] * 5, ValueError, r"sigma0\[0\] must be finite .* but nan was given"),
        ([1.0, np.inf, 1.0, 1.0, 1.0], ValueError, r"sigma0\[1\] must be finite .* but inf was given"),
        (
            [1e100, 1.0, 1.0, 1.0, 1.0],
            ValueError,
            r"sigma0\[0\] must be finite .* below 1e\+100, but 1e\+100 was",
        ),
        (["1"] * 5, TypeError, "sigma0 must be a sequence of real numbers, but"),
        ([True] * 5, TypeError, "sigma0 must be a sequence of real numbers, but"),
        ([[1.0], [2.0, 3.0]], TypeError, "sigma0 must be a sequence of real numbers, but"),
        ("11111", TypeError, "sigma0 must be a number, but '11111' was given"),
        (None, TypeError, "sigma0 must be a number, but None was given"),
    ],
)
def test_a_wrong_vector_is_named_before_anything_is_evaluated(sigma0, error, words):
    def never(x):
        raise AssertionError

    for make in (
        pursuit.Optimizer,
        lambda x0, **arguments: pursuit.minimize(never, x0, **arguments),
        lambda x0, **arguments: pursuit.minimize_many(never, x0, 2, **arguments),
    ):
        with pytest.raises(error, match=words):
            make(START, method="rp", sigma0=sigma0)


def test_a_vector_may_be_anything_that_holds_numbers():
    results = [
        call(valley, "rp", x0=START, sigma0=sigma0, maxiter=20)
        for sigma0 in (np.arange(1.0, 6.0), range(1, 6), (1, 2, 3, 4, 5), np.arange(1, 6, dtype=np.int8))
    ]
    for result in results:
        np.testing.assert_array_equal(result.x, results[0].x)


def test_a_run_with_another_vector_is_refused(tmp_path):
    path = tmp_path / "run.npz"
    arguments = {"x0": START, "maxiter": 5, "checkpoint": path}
    call(valley, "rp", sigma0=SIZES, **arguments)
    for sigma0 in (1.0, 2.0 * SIZES):
        with pytest.raises(
            ValueError, match=r"holds a run with sigma0=array\(.*cannot be resumed with sigma0="
        ):
            call(valley, "rp", sigma0=sigma0, **arguments)
    assert call(valley, "rp", sigma0=list(SIZES), **arguments).nit == 5
