"""Parameters in dicts, lists, tuples and dataclasses: the runs of flat arrays, in callers' terms."""

import collections
import concurrent.futures
import copy
import dataclasses
import functools
import pickle
import re

import numpy as np
import pytest
import scipy.optimize

import pursuit
from pursuit.problems.structure import flat_of

pytestmark = pytest.mark.interpreted
Line = collections.namedtuple("Line", ["slope", "offset"])


@dataclasses.dataclass(frozen=True)
class Layer:
    weights: np.ndarray
    bias: float
    size: int = dataclasses.field(init=False, default=0)

    def __post_init__(self):
        object.__setattr__(self, "size", self.weights.size)


FLAT = np.array([0.5, 0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8])
START = {
    "rate": 0.5,
    "layer": Layer(np.array([[0.1, 0.2], [0.3, 0.4]]), 0.6),
    "rest": [Line(np.float64(0.7), np.array(0.8))],
}


def flat(point):
    layer, line = point["layer"], point["rest"][0]
    return np.hstack([point["rate"], layer.weights.ravel(), layer.bias, line.slope, line.offset])


def valley(x):
    return float(np.sum((x - 1.0) ** 2) + 3.0 * (x[0] - x[-1]) ** 2 + np.sum(x**4))


def value(point):
    return valley(flat(point))


def values(points):
    """Take many points at once: leaves have one more dimension, the first."""
    layer, line = points["layer"], points["rest"][0]
    columns = [points["rate"], *layer.weights.reshape(-1, 4).T, layer.bias, line.slope, line.offset]
    return np.array([valley(row) for row in np.array(columns).T])


def check_same(result, other):
    assert (result.fun, result.nfev, result.message) == (other.fun, other.nfev, other.message)
    np.testing.assert_array_equal(flat(result.x), other.x)
    assert type(result.x["rate"]) is float
    assert type(result.x["layer"]) is Layer
    assert result.x["layer"].weights.shape == (2, 2)
    assert result.x["layer"].size == 4
    assert type(result.x["rest"]) is list
    assert type(result.x["rest"][0]) is Line


@pytest.mark.parametrize("method", ["auto", "evolution", "rp"])
def test_runs_are_those_of_flat_arrays(method):
    settings = {"method": method, "rng": 1, "maxfev": 300}
    check_same(pursuit.minimize(value, START, **settings), pursuit.minimize(valley, FLAT, **settings))


WEIGHTS = np.array([[0.1, 0.2], [0.3, 0.4]])
BOX = np.stack([WEIGHTS - 1.0, WEIGHTS + 0.1], axis=-1)
SAME = {
    "one size": ({"sigma0": 0.1}, {"sigma0": 0.1}),
    "flat sizes": ({"sigma0": FLAT}, {"sigma0": FLAT}),
    "sizes of parts": (
        {"sigma0": {"rate": 2, "layer": 0.5, "rest": [Line(1, 3.0)]}},
        {"sigma0": [2, *[0.5] * 5, 1, 3]},
    ),
    "sizes of entries": (
        {"sigma0": {"rate": 2, "layer": Layer(WEIGHTS, 1.0), "rest": 1}},
        {"sigma0": [2, *WEIGHTS.ravel(), 1, 1, 1]},
    ),
    "SciPy's bounds": ({"bounds": scipy.optimize.Bounds(-1.0, 0.9)}, {"bounds": [(-1.0, 0.9)] * 8}),
    "bounds of one part": ({"bounds": {"rate": (0.0, 0.6)}}, {"bounds": [(0.0, 0.6)] + [(None, None)] * 7}),
    "bounds of leaves and entries": (
        {"bounds": {"rest": [Line((None, 0.75), (0, 5))], "layer": {"weights": BOX}}},
        {"bounds": [(None, None), *BOX.reshape(4, 2), (None, None), (None, 0.75), (0, 5)]},
    ),
    "SciPy's bounds of a leaf": (
        {"bounds": {"layer": {"weights": scipy.optimize.Bounds(WEIGHTS - 1.0, 0.5), "bias": (0, 1)}}},
        {"bounds": [(None, None), *[(x - 1.0, 0.5) for x in WEIGHTS.flat], (0, 1), *[(None, None)] * 2]},
    ),
}


@pytest.mark.parametrize(("structured", "plain"), SAME.values(), ids=SAME)
def test_step_sizes_and_bounds_may_have_the_structure(structured, plain):
    settings = {"rng": 1, "maxfev": 200}
    result, other = (
        pursuit.minimize(value, START, **structured, **settings),
        pursuit.minimize(valley, FLAT, **plain, **settings),
    )
    check_same(result, other)
    if "active_mask" in other:
        np.testing.assert_array_equal(flat(result.active_mask), other.active_mask)
        assert re.search(rf"{np.count_nonzero(other.active_mask)} of 8 variables at a bound", repr(result))


def constant(point):
    return 1.0


@pytest.mark.parametrize(
    ("x0", "sentence"),
    [
        ({"a": 1}, "x0['a'] must be a float or an array of floats, but 1 was given."),
        ({"a": 1.0, "b": ["x"]}, "x0['b'][0] must be a float or an array of floats, but 'x' was given."),
        ({"a": None}, "x0['a'] must be a float or an array of floats, but None was given."),
        (Line(1.0, True), "x0.offset must be a float or an array of floats, but True was given."),
        ([np.zeros(2), np.arange(3)], "x0[1] must be a float or an array of floats, but array([0, 1, 2])"),
        ({"a": np.array([1.0, np.nan])}, "x0 must be finite, but x0['a'] holds nan."),
        ({"a": []}, "x0 must hold at least one number, but {'a': []} was given."),
    ],
)
def test_leaves_that_are_no_floats_are_named(x0, sentence):
    for solve in (pursuit.minimize, functools.partial(pursuit.minimize_many, seeds=2), pursuit.compare):
        with pytest.raises((TypeError, ValueError), match=re.escape(sentence)):
            solve(constant, x0)
    with pytest.raises((TypeError, ValueError), match=re.escape(sentence)):
        pursuit.Optimizer(x0)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"sigma0": {"rates": 1.0}}, "sigma0 must have the structure of x0, but {'rates': 1.0} was given."),
        ({"sigma0": {"rate": 1.0}}, "sigma0['layer'].weights must be a sequence of real numbers, but None"),
        ({"sigma0": {"rate": [1, 2], "layer": 1, "rest": 1}}, "sigma0['rate'] must have the shape (), but"),
        ({"bounds": {"rates": (0, 1)}}, "bounds must have the structure of x0, but {'rates': (0, 1)} was"),
        ({"bounds": {"rate": 1}}, "bounds['rate'] must be a pair (lower, upper), or one for each entry"),
        ({"bounds": {"layer": (0, 1)}}, "bounds must have the structure of x0, but (0, 1) was given."),
        ({"bounds": {"rate": (1, 2)}}, "x0 must lie within the bounds"),
    ],
)
def test_what_does_not_fit_the_structure_is_an_error(settings, sentence):
    with pytest.raises((TypeError, ValueError), match=re.escape(sentence)):
        pursuit.minimize(value, START, **settings)


def test_sequences_of_numbers_stay_flat_arrays():
    for x0 in ([1.0, 2.0], (1.0, 2), [np.float64(1.0), np.array(2.0)]):
        assert isinstance(pursuit.minimize(valley, x0, maxfev=5).x, np.ndarray)
    result = pursuit.minimize(lambda p: p[0][0] ** 2 + p[1] ** 2, ([1.0, 2.0], 3.0), maxfev=5)
    assert [type(part) for part in result.x] == [list, float]


def test_a_result_stands_for_its_point():
    found = pursuit.minimize(value, START, rng=1, maxfev=30)
    scipys = scipy.optimize.minimize(valley, FLAT, method="Nelder-Mead", options={"maxfev": 30})
    for x0, f, point in ((found, value, flat(found.x)), (scipys, valley, scipys.x)):
        assert flat_of(pursuit.Optimizer(x0).ask()[0]).tolist() == point.tolist()
        (result,) = pursuit.minimize_many(f, x0, 1, maxfev=1, workers=1)
        assert flat_of(result.x).tolist() == point.tolist()
        assert pursuit.compare(f, x0, ["rp"], seeds=1, maxfev=2).runs[0].fun <= valley(point)
    assert pursuit.minimize(valley, scipys, maxfev=1).x.tolist() == scipys.x.tolist()


def test_a_function_gets_a_structure_of_its_own():
    def spoiling(point):
        found = value(point)
        point["layer"].weights[:] = 7.0
        point.clear()
        return found

    for method in ("auto", "rp"):
        settings = {"method": method, "rng": 1, "maxfev": 100}
        check_same(pursuit.minimize(spoiling, START, **settings), pursuit.minimize(valley, FLAT, **settings))
    assert flat(START).tolist() == FLAT.tolist()


def test_callbacks_traces_and_exceptions_have_it():
    seen = []

    def callback(intermediate_result):
        seen.append(intermediate_result.x)

    result = pursuit.minimize(value, START, rng=1, maxfev=100, callback=callback, trace="x")
    assert len(seen) == result.nit
    assert all(type(x["layer"]) is Layer for x in seen)
    assert result.trace.x["layer"].weights.shape == (len(result.trace.nit), 2, 2)
    points = []
    pursuit.minimize(value, START, rng=1, maxfev=100, callback=points.append)
    np.testing.assert_array_equal([flat(x) for x in points], [flat(x) for x in seen])

    def failing(point):
        if point["rate"] != 0.5:
            raise ZeroDivisionError
        return value(point)

    with pytest.raises(ZeroDivisionError) as raised:
        pursuit.minimize(failing, START, rng=1)
    assert type(raised.value.pursuit_result.x["layer"]) is Layer


def entry(point):
    return point["rate"] - 0.25


@pytest.mark.parametrize(
    "constraint", [{"type": "ineq", "fun": entry}, scipy.optimize.NonlinearConstraint(entry, 0.0, np.inf)]
)
def test_constraints_get_it(constraint):
    linear = scipy.optimize.LinearConstraint(np.eye(8)[1], -np.inf, 0.05)
    result = pursuit.minimize(value, START, rng=1, constraints=[constraint, linear], maxfev=4000)
    assert result.maxcv <= 1e-6
    assert result.x["rate"] >= 0.25 - 1e-6
    assert result.x["layer"].weights[0, 0] <= 0.05 + 1e-6


def test_many_evaluations_at_a_time():
    settings = {"rng": 1, "maxfev": 100, "batch": 4}
    alone = pursuit.minimize(valley, FLAT, **settings)
    check_same(pursuit.minimize(values, START, vectorized=True, **settings), alone)
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        check_same(pursuit.minimize(value, START, workers=executor, **settings), alone)
    check_same(pursuit.minimize(value, START, workers=2, **settings), alone)


def test_many_runs():
    alone = pursuit.minimize_many(valley, FLAT, [1, 2], maxfev=50, workers=1)
    for workers in (1, 2):
        for result, other in zip(
            pursuit.minimize_many(value, START, [1, 2], maxfev=50, workers=workers), alone, strict=True
        ):
            check_same(result, other)
    moved = {**START, "rate": 0.25}
    results = pursuit.minimize_many(value, [START, moved], rng=3, maxfev=1, workers=1)
    assert [result.x["rate"] for result in results] == [0.5, 0.25]
    rows = pursuit.minimize_many(valley, [np.zeros(2), np.ones(2)], rng=3, maxfev=1, workers=1)
    assert [result.x.tolist() for result in rows] == [[0.0, 0.0], [1.0, 1.0]]


def test_comparisons():
    def other(fun, x0, *, maxfev, seed, sigma0):
        fun(x0 + 0.1)

    found = pursuit.compare(value, START, {"rp": "rp", "other": other}, seeds=2, maxfev=30)
    alone = pursuit.compare(valley, FLAT, {"rp": "rp", "other": other}, seeds=2, maxfev=30)
    for run, plain in zip(found.runs, alone.runs, strict=True):
        assert run.fun == plain.fun
        np.testing.assert_array_equal(flat(run.x), plain.x)


def test_a_run_is_resumed(tmp_path):
    path = tmp_path / "run.npz"
    pursuit.minimize(value, START, rng=1, maxfev=60, checkpoint=path)
    resumed = pursuit.minimize(value, START, rng=1, maxfev=200, checkpoint=path)
    check_same(resumed, pursuit.minimize(valley, FLAT, rng=1, maxfev=200))


def test_ask_and_tell(tmp_path):
    optimizer, other = pursuit.Optimizer(START, rng=1, maxfev=60), pursuit.Optimizer(FLAT, rng=1, maxfev=60)
    path = tmp_path / "optimizer.npz"
    while not optimizer.stop():
        points = optimizer.ask()
        np.testing.assert_array_equal([flat(point) for point in points], other.ask())
        shuffled = [dict(reversed(point.items())) for point in reversed(points)]
        optimizer.tell(shuffled, [value(point) for point in shuffled])
        other.tell(other.ask(), [valley(x) for x in other.ask()])
        optimizer = pickle.loads(pickle.dumps(copy.copy(optimizer)))
        optimizer.save(path)
        optimizer = pursuit.Optimizer.load(path, x0=START)
    check_same(optimizer.result, other.result)
    np.testing.assert_array_equal(pursuit.Optimizer.load(path).result.x, other.result.x)
    with pytest.raises(ValueError, match="x0 must have the 8 numbers of the start, but it has 1"):
        pursuit.Optimizer.load(path, x0={"a": 1.0})


@pytest.mark.parametrize("points", [7, [FLAT], [{**START, "more": 1.0}], [{"rate": 1.0}]])
def test_points_of_another_structure_change_nothing(points):
    optimizer = pursuit.Optimizer(START, rng=1)
    asked = optimizer.ask()
    with pytest.raises((TypeError, ValueError), match="must"):
        optimizer.tell(points, [1.0])
    assert flat(optimizer.ask()[0]).tolist() == flat(asked[0]).tolist()
