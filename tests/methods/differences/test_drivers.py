"""A run of `values` is the same, bit for bit, whoever drives it and wherever it is stopped and resumed."""

import pickle
import zlib

import numba
import numpy as np
import pytest

import pursuit
from pursuit.methods.values.state import EVALUATE_AGAIN, LOOK_IN_PLANE

N = 10
VALLEY = pursuit.problems.rosenbrock(N)
SPECTRUM = np.geomspace(1.0, 1e3, N)
ROUNDS = 400


def valley(x):
    """Rosenbrock's function, whose curvature changes."""
    return VALLEY(x)


def bowl(x):
    """A quadratic function with its minimum outside of some bounds."""
    return float(SPECTRUM @ (x - np.linspace(-2.0, 2.0, N)) ** 2)


def rotated(x):
    """A quadratic function whose curvatures along the axes are alike."""
    return ROTATED(x)


ROTATED = pursuit.problems.rotated(pursuit.problems.exp(N, 1e3), 1)


def noisy(x):
    """A quadratic function with noise that depends on the point alone."""
    return bowl(x) + 1e-2 * (zlib.crc32(x.tobytes()) / 2**31 - 1.0)


RUNS = {
    "valley": (valley, {}),
    "rotated": (rotated, {}),
    "bounds": (bowl, {"bounds": [(-1.0, 1.5)] * (N - 1) + [(None, None)]}),
    "noise": (noisy, {}),
    "noise in bounds": (noisy, {"bounds": [(-1.0, 1.5)] * N}),
    "steps of different sizes": (bowl, {"sigma0": np.linspace(0.1, 2.0, N)}),
    "valley in batches": (valley, {"batch": 7}),
    "rotated in batches": (rotated, {"batch": 16}),
    "little memory": (valley, {"options": {"memory": 20}}),
}
every_run = pytest.mark.parametrize("name", RUNS)


def minimized(name, **arguments):
    fun, settings = RUNS[name]
    return pursuit.minimize(fun, np.zeros(N), method="values", rng=5, trace=True, **settings, **arguments)


def assert_same(one, other):
    np.testing.assert_array_equal(one.x, other.x)
    for field in ("fun", "fun_is_estimate", "noise", "nit", "nfev", "nfaulty", "sigma", "status"):
        assert one[field] == other[field]
    for column, twin in zip(one.trace, other.trace, strict=True):
        np.testing.assert_array_equal(column, twin)


def phase(optimizer):
    """Return what the next round is about."""
    return int(optimizer._run.memory().state.now["phase"][0])


def asked_and_told(name, pause):
    """Run an optimizer, sent through a checkpoint after every so many rounds; return it and all phases."""
    fun, settings = RUNS[name]
    optimizer = pursuit.Optimizer(np.zeros(N), "values", rng=5, trace=True, maxiter=ROUNDS, **settings)
    phases = set()
    k = 0
    while not optimizer.stop():
        if pause and k % pause == 0:
            before = optimizer.ask()
            optimizer = pickle.loads(pickle.dumps(optimizer))  # which is a checkpoint in memory
            np.testing.assert_array_equal(optimizer.ask(), before)
        X = optimizer.ask()
        optimizer.tell(X, [fun(x) for x in X])
        phases.add(phase(optimizer))
        k += 1
    return optimizer, phases


@every_run
def test_ask_and_tell_through_a_checkpoint_before_every_round_is_minimize(name):
    optimizer, phases = asked_and_told(name, 1)
    assert_same(optimizer.result, minimized(name, maxiter=ROUNDS))
    if name.startswith("noise"):
        assert {LOOK_IN_PLANE, EVALUATE_AGAIN} <= phases


def test_the_runs_of_these_tests_have_rounds_of_every_kind():
    phases = set()
    for name in RUNS:
        phases |= asked_and_told(name, 0)[1]
    assert phases == set(range(9))


@every_run
def test_minimize_resumes_where_limits_stopped_it(name, tmp_path):
    whole = minimized(name, maxfev=900)
    for maxfev in (1, 2, 9, 10, 40, 150, 151, 152, 500, 900):
        part = minimized(name, maxfev=maxfev, checkpoint=tmp_path / "run.npz")
        # What is left is less than a round.
        assert maxfev - 10 < part.nfev <= maxfev or part.success
    assert_same(whole, part)


@every_run
def test_other_processes_or_a_map_change_nothing(name):
    plain = minimized(name, maxfev=300)
    assert_same(plain, minimized(name, maxfev=300, workers=map))
    if name in ("valley", "noise"):
        batch = {"maxfev": 300, "batch": 8}
        assert_same(minimized(name, **batch), minimized(name, workers=2, **batch))


def test_the_compiled_loop_gives_the_same_run():
    python = minimized("valley", maxiter=ROUNDS)
    compiled = pursuit.minimize(VALLEY, np.zeros(N), method="values", rng=5, trace=True, maxiter=ROUNDS)
    assert_same(compiled, python)


@numba.njit
def fails_late(x):
    """A smooth function without a value where x[3] is below 0.7, so that some points of a round have one."""
    if x[3] < 0.7:
        raise ValueError("x[3] is below 0.7.")
    total = 0.0
    for entry in x:
        total += entry * entry
    return total


def test_an_exception_of_a_jitted_function_keeps_what_was_found_before():
    ends = []
    for fun in (fails_late, fails_late.py_func):
        rng = np.random.default_rng(5)
        with pytest.raises(ValueError, match="below") as caught:
            pursuit.minimize(fun, np.ones(N), method="values", rng=rng)
        ends.append((caught.value.pursuit_result, rng.bit_generator.state))
    (compiled, generator), (python, twin) = ends
    assert_same(compiled, python)
    assert generator == twin
    assert compiled.nfev > 1


def test_a_compiled_problem_resumes_inside_of_bounds(tmp_path):
    arguments = {"method": "values", "bounds": [(-1.0, 0.5)] * N, "trace": True}
    whole = pursuit.minimize(VALLEY, np.zeros(N), rng=5, maxfev=400, **arguments)
    for maxfev in (1, 2, 37, 400):
        part = pursuit.minimize(
            VALLEY, np.zeros(N), rng=5, maxfev=maxfev, checkpoint=tmp_path / "run.npz", **arguments
        )
    assert_same(part, whole)


def test_many_runs_are_those_of_minimize():
    results = pursuit.minimize_many(VALLEY, VALLEY.x0, seeds=[3, 5], method="values", maxfev=2000, trace=True)
    for result in results:
        single = pursuit.minimize(
            VALLEY, VALLEY.x0, method="values", rng=result.seed, maxfev=2000, trace=True
        )
        assert_same(result, single)


def test_scipy_gives_the_same_run():
    import scipy.optimize

    ours = minimized("valley", maxfev=500)
    theirs = scipy.optimize.minimize(
        valley,
        np.zeros(N),
        method=pursuit.scipy_method("values"),
        options={"rng": 5, "maxfev": 500, "trace": True},
    )
    assert_same(ours, theirs)
