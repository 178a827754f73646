"""Whatever ends a run, everything that was evaluated is in its result."""

import math
import threading

import numba
import numpy as np
import pytest

import pursuit
from conformance.own import Narrowing
from helpers import options_for

START = np.array([1.0, -2.0, 0.5, 3.0])
METHODS = [
    "auto",
    "adaptive-sarp",
    "evolution",
    "differences",
    "rp",
    "rp-exact",
    "sarp",
    "sarp-exact",
    "cma",
    "ep-cma-4",
    "ars",
    Narrowing,
]
every_method = pytest.mark.parametrize("method", METHODS, ids=str)


def options(method):
    return options_for(method, kappa=50.0) if isinstance(method, str) else {}


class Recorder:
    """A function that remembers what it has returned, and raises an exception in one of its calls."""

    def __init__(self, failing=math.inf, error=OSError):
        self.values = []
        self.points = []
        self._failing = failing
        self._error = error

    def __call__(self, x):
        if len(self.values) == self._failing:
            raise self._error("The simulator has crashed.")
        self.points.append(x.copy())
        self.values.append(float(np.sum(np.linspace(1.0, 50.0, x.size) * x * x + x**4)))
        return self.values[-1]


def assert_complete(result, recorder):
    """Everything evaluated was counted, and the best of it is the result."""
    best = int(np.argmin(recorder.values))
    assert result.nfev == len(recorder.values)
    assert result.fun == recorder.values[best]
    np.testing.assert_array_equal(result.x, recorder.points[best])
    assert result.trace.nfev[-1] == result.nfev
    assert result.trace.nit[-1] == result.nit
    assert result.fun in result.trace.fun


@every_method
@pytest.mark.parametrize("bounds", [None, [(-1.5, 4.0)] * 4], ids=["free", "bounded"])
def test_an_exception_anywhere_loses_nothing(method, bounds):
    start = START if bounds is None else np.clip(START, -1.0, 3.0)
    for failing in range(1, 60):
        recorder = Recorder(failing)
        with pytest.raises(OSError, match="crashed") as caught:
            pursuit.minimize(recorder, start, method=method, rng=5, bounds=bounds, options=options(method))
        assert_complete(caught.value.pursuit_result, recorder)


@every_method
def test_a_limit_of_evaluations_anywhere_loses_nothing(method):
    for maxfev in range(1, 40):
        recorder = Recorder()
        result = pursuit.minimize(
            recorder, START, method=method, rng=5, maxfev=maxfev, options=options(method), trace=True
        )
        assert result.nfev <= maxfev
        assert_complete(result, recorder)


@every_method
def test_ctrl_c_anywhere_loses_nothing(method):
    for failing in range(1, 30):
        recorder = Recorder(failing, KeyboardInterrupt)
        result = pursuit.minimize(recorder, START, method=method, rng=5, options=options(method), trace=True)
        assert "interrupted" in result.message
        assert_complete(result, recorder)


@pytest.mark.parametrize("workers", [1, map], ids=["alone", "map"])
@every_method
def test_stop_iteration_of_the_objective_is_not_swallowed(method, workers):
    """Any `next` of an exhausted iterator raises it."""
    for failing in range(1, 25):
        recorder = Recorder(failing, StopIteration)
        with pytest.raises(StopIteration, match="crashed") as caught:
            pursuit.minimize(recorder, START, method=method, rng=19, workers=workers, options=options(method))
        assert_complete(caught.value.pursuit_result, recorder)


@numba.njit
def walled(x, wall):
    if x[0] < wall:
        raise ValueError("x[0] is too small")
    return np.sum(x * x)


@pytest.mark.parametrize("method", ["adaptive-sarp", "rp", "rp-exact", "sarp", "cma"])
def test_an_exception_in_compiled_code_loses_nothing_either(method):
    """The same evaluations are made from Python, where every call is recorded."""
    for seed in range(10):
        values, points = [], []

        def watched(x, wall, values=values, points=points):
            value = walled(x, wall)
            values.append(value)
            points.append(x.copy())
            return value

        found = []
        for fun in (walled, watched):
            with pytest.raises(ValueError, match="too small") as caught:
                pursuit.minimize(
                    fun, [1.0, 2.0, 3.0], (0.4,), method=method, rng=seed, options=options(method)
                )
            found.append(caught.value.pursuit_result)
        compiled, python = found
        assert compiled.nfev == python.nfev == len(values)
        assert compiled.fun == python.fun == min(values)
        np.testing.assert_array_equal(compiled.x, python.x)
        np.testing.assert_array_equal(compiled.trace.fun, python.trace.fun)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_map_that_returns_too_few_or_too_many_values_is_named(count):
    def bad_map(function, points):
        return [14.25] * count if len(points) == 2 else map(function, points)

    with pytest.raises(ValueError, match=r"workers must return .* 2 (values|points)"):
        pursuit.minimize(Recorder(), START, method="sarp", rng=1, workers=bad_map, options={"kappa": 3.0})


# All of an iteration or two, and some later ones.
CUTS = [*range(1, 12), 17, 29, 58]


@every_method
@pytest.mark.parametrize("kind", ["compiled", "python"])
@pytest.mark.parametrize(
    "cuts", [CUTS, pytest.param(range(1, 60), marks=pytest.mark.long)], ids=["some", "all"]
)
def test_resuming_past_any_limit_of_evaluations_equals_an_unbroken_run(method, kind, cuts, tmp_path):
    problem = pursuit.problems.rosenbrock(4)
    fun = problem if kind == "compiled" else problem.__call__
    arguments = {"method": method, "rng": 3, "trace": True, "options": options(method)}
    whole = pursuit.minimize(fun, problem.x0, maxfev=150, **arguments)
    for cut in cuts:
        path = tmp_path / f"{cut}.npz"
        pursuit.minimize(fun, problem.x0, maxfev=cut, checkpoint=path, **arguments)
        resumed = pursuit.minimize(fun, problem.x0, maxfev=150, checkpoint=path, **arguments)
        np.testing.assert_array_equal(resumed.x, whole.x)
        assert (resumed.fun, resumed.nit, resumed.nfev) == (whole.fun, whole.nit, whole.nfev)
        np.testing.assert_array_equal(resumed.trace.nfev, whole.trace.nfev)
        np.testing.assert_array_equal(resumed.trace.fun, whole.trace.fun)


@every_method
def test_a_generator_is_left_in_the_same_state_by_every_driver(method):
    problem = pursuit.problems.exp(7, 100.0)
    for limits in ({"maxiter": 1}, {"maxiter": 37}, {"maxfev": 50}, {"ftarget": 50.0}):
        after = []
        # A problem that knows its line minimisers is searched in another way than a function that does not.
        first = problem.__call__ if "exact" in str(method) else problem
        for fun, workers in ((first, 1), (problem.__call__, 1), (problem.__call__, map)):
            rng = np.random.default_rng(8)
            pursuit.minimize(
                fun, problem.x0, method=method, rng=rng, workers=workers, options=options(method), **limits
            )
            after.append(rng.standard_normal(3).tolist())
        assert after[0] == after[1] == after[2]


def test_interruptions_are_the_main_thread_s_alone():
    found = []
    thread = threading.Thread(
        target=lambda: found.append(pursuit.minimize(Recorder(), START, method="rp", rng=1, maxiter=20))
    )
    thread.start()
    thread.join()
    assert found[0].nit == 20
