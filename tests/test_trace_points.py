"""The points of a trace, which are kept if they are wanted: at each entry the best point so far."""

import numba
import numpy as np
import pytest
import scipy.optimize

import pursuit

START = np.array([2.0, -1.0, 0.5, 3.0])
GOAL = np.array([2.0, 0.0, -3.0, 5.0])
BOUNDS = [(-1.5, 2.5), (-1.5, 1.0), (-1.0, 1.0), (None, None)]
SIZES = np.array([1.0, 2.0, 0.5, 1.0])
METHODS = ["auto", "differences", "evolution", "rp", "adaptive-sarp", "cma", "ep-cma-2", "cr-fm-nes", "spsa"]


def valley(x):
    return float(np.sum((x - GOAL) ** 2) + 3.0 * abs(x[0] - x[1]))


@numba.njit
def jitted_valley(x):
    return np.sum((x - GOAL) ** 2) + 3.0 * abs(x[0] - x[1])


def noisy():
    """Return a function with the same noise in the same order each time."""
    rng = np.random.default_rng(3)
    return lambda x: valley(x) + 0.05 * rng.standard_normal()


def evaluated_best(points, values, counts):
    """Return the best of the first points, for each of these counts."""
    return [points[np.argmin(values[:count])] for count in counts]


@pytest.mark.parametrize("limit", [{"maxfev": 1}, {"maxfev": 301}, {"maxfev": 302}, {"ftarget": 18.0}])
@pytest.mark.parametrize("method", METHODS)
def test_each_entry_has_the_best_point_evaluated_so_far(method, limit):
    points, values = [], []

    def seen(x):
        points.append(x)
        values.append(valley(x))
        return values[-1]

    given = {"method": method, "bounds": BOUNDS, "sigma0": SIZES, "rng": 1, "maxfev": 2000, **limit}
    result = pursuit.minimize(seen, START, trace="x", **given)
    best = evaluated_best(points, values, result.trace.nfev)
    np.testing.assert_array_equal(result.trace.x, best)
    np.testing.assert_array_equal(result.trace.x[-1], result.x)
    plain = pursuit.minimize(valley, START, trace=True, **given)
    assert plain.trace.x is None
    for column, twin in zip(result.trace, plain.trace, strict=True):
        np.testing.assert_array_equal(column, twin)


@pytest.mark.parametrize("maxfev", range(276, 292, 3))
def test_cut_in_the_middle_of_a_round_that_has_a_better_point_the_entries_before_do_not_know_it(maxfev):
    points, values = [], []

    def seen(x):
        points.append(x)
        values.append(valley(x))
        return values[-1]

    result = pursuit.minimize(seen, START, method="l-cma", rng=1, maxfev=maxfev, trace="x")
    np.testing.assert_array_equal(result.trace.x, evaluated_best(points, values, result.trace.nfev))


@pytest.mark.parametrize("method", ["auto", "differences", "evolution"])
def test_under_noise_it_is_the_point_that_a_run_would_have_returned_then(method):
    given = {"method": method, "rng": 1, "maxfev": 1500}
    result = pursuit.minimize(noisy(), START, trace="x", **given)
    assert result.fun_is_estimate
    trace, ends = result.trace, np.cumsum([stage.nit for stage in result.stages])
    for nit, x in zip(trace.nit[1:-1], trace.x[1:-1], strict=True):
        # A run cut between two stages has the point with which the second of them begins.
        if nit not in ends:
            np.testing.assert_array_equal(pursuit.minimize(noisy(), START, **given, maxiter=int(nit)).x, x)
    np.testing.assert_array_equal(trace.x[-1], result.x)


@pytest.mark.parametrize("method", ["rp", "adaptive-sarp", "cma", "cr-fm-nes", "l-cma"])
@pytest.mark.parametrize("maxfev", [2, 57, 1000])
def test_compiled_whole_asked_and_told_or_one_of_many_it_has_the_same_points(method, maxfev):
    given = {"method": method, "bounds": BOUNDS, "sigma0": SIZES, "maxfev": maxfev, "trace": "x"}
    whole = pursuit.minimize(jitted_valley, START, rng=7, **given)
    expected = pursuit.minimize(jitted_valley.py_func, START, rng=7, **given)
    (one,) = pursuit.minimize_many(jitted_valley, START, seeds=[7], **given)
    optimizer = pursuit.Optimizer(START, rng=7, **given)
    while not optimizer.stop():
        X = optimizer.ask()
        optimizer.tell(X, [jitted_valley.py_func(x) for x in X])
    for other in (whole, one, optimizer.result):
        np.testing.assert_array_equal(other.trace.nit, expected.trace.nit)
        np.testing.assert_array_equal(other.trace.x, expected.trace.x)


def test_they_come_back_from_other_processes():
    results = pursuit.minimize_many(valley, START, seeds=[1, 2], workers=2, maxfev=200, trace="x")
    for result in results:
        alone = pursuit.minimize(valley, START, rng=result.seed, maxfev=200, trace="x")
        np.testing.assert_array_equal(result.trace.x, alone.trace.x)


def test_within_constraints_it_is_the_best_point_that_satisfies_them():
    points = []

    def seen(x):
        points.append(x)
        return valley(x)

    total = scipy.optimize.LinearConstraint(np.ones(4), -np.inf, 1.0)
    result = pursuit.minimize(seen, START, constraints=total, rng=1, trace="x")
    excess = [max(0.0, float(x.sum()) - 1.0) for x in points]
    ranks = [(over if over > 1e-6 else 0.0, valley(x)) for over, x in zip(excess, points, strict=True)]
    for nfev, x in zip(result.trace.nfev, result.trace.x, strict=True):
        np.testing.assert_array_equal(x, points[min(range(nfev), key=ranks.__getitem__)])
    np.testing.assert_array_equal(result.trace.x[-1], result.x)
    assert pursuit.minimize(valley, START, constraints=total, rng=1, trace=True).trace.x is None


def test_an_exception_brings_them_too():
    def fails_at_last(x, calls=[]):  # noqa: B006
        calls.append(1)
        if len(calls) > 100:
            raise ArithmeticError
        return valley(x)

    with pytest.raises(ArithmeticError) as caught:
        pursuit.minimize(fails_at_last, START, rng=1, trace="x")
    found = caught.value.pursuit_result
    np.testing.assert_array_equal(found.trace.x[-1], found.x)


@pytest.mark.parametrize("method", ["differences", "rp", "auto"])
def test_a_run_that_was_begun_without_them_is_not_resumed_with_them(method, tmp_path):
    path = tmp_path / "run.npz"
    given = {"method": method, "rng": 1, "checkpoint": path}
    pursuit.minimize(valley, START, maxfev=50, trace=True, **given)
    sentence = 'its trace has no x, so the run cannot be resumed with trace="x", but with trace=True'
    with pytest.raises(ValueError, match=rf"run\.npz cannot be used: {sentence}\."):
        pursuit.minimize(valley, START, maxfev=100, trace="x", **given)
    with pytest.raises(ValueError, match=sentence):
        pursuit.Optimizer.load(path, trace="x")
    assert pursuit.minimize(valley, START, maxfev=100, trace=True, **given).trace.x is None


@pytest.mark.parametrize("method", ["differences", "rp", "auto"])
def test_resumed_without_them_for_a_while_a_run_keeps_them(method, tmp_path):
    given = {"method": method, "rng": 1}
    whole = pursuit.minimize(valley, START, maxfev=300, trace="x", **given)
    for maxfev, trace in [(1, "x"), (50, False), (51, "x"), (200, True), (300, "x")]:
        part = pursuit.minimize(
            valley, START, maxfev=maxfev, trace=trace, checkpoint=tmp_path / "run.npz", **given
        )
    np.testing.assert_array_equal(part.trace.x, whole.trace.x)


def test_an_optimizer_that_was_told_nothing_yet_can_begin_to_keep_them(tmp_path):
    pursuit.Optimizer(START, rng=1, maxfev=50).save(tmp_path / "run.npz")
    optimizer = pursuit.Optimizer.load(tmp_path / "run.npz", trace="x")
    while not optimizer.stop():
        X = optimizer.ask()
        optimizer.tell(X, [valley(x) for x in X])
    expected = pursuit.minimize(valley, START, rng=1, maxfev=50, trace="x")
    np.testing.assert_array_equal(optimizer.result.trace.x, expected.trace.x)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("points.nit", lambda column: column[::-1]),
        ("points.nit", lambda column: column[:-1]),
        ("points.nit", lambda column: column.astype(float)),
        ("points.x", lambda column: column[:, :-1]),
        ("points.x", lambda column: np.full_like(column, np.nan)),
    ],
)
def test_points_that_are_none_are_refused_with_the_name_of_the_file(name, change, tmp_path):
    path = tmp_path / "run.npz"
    pursuit.minimize(valley, START, method="rp", rng=1, maxfev=50, trace="x", checkpoint=path)
    with np.load(path) as file:
        arrays = dict(file)
    np.savez(path, **{**arrays, name: change(arrays[name])})
    with pytest.raises(ValueError, match=r"run\.npz cannot be used: "):
        pursuit.Optimizer.load(path)


def test_a_gpu_keeps_none():
    with pytest.raises(ValueError, match='trace="x" is for runs on a CPU'):
        pursuit.minimize_many(jitted_valley, START, seeds=2, device="gpu", trace="x")
