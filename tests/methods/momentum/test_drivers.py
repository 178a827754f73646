"""A run of `momentum` is the same, bit for bit, whoever drives it and wherever it is stopped and resumed."""

import pickle
import zlib

import numpy as np
import pytest
import scipy.optimize

import pursuit
from methods.momentum.calls import assert_same, momentum
from pursuit.methods import momentum as module

N = 10
VALLEY = pursuit.problems.rosenbrock(N)
SPECTRUM = np.geomspace(1.0, 1e3, N)
ROUNDS = 600


def valley(x):
    """Rosenbrock's function."""
    return VALLEY(x)


def bowl(x):
    """A quadratic function with its minimum outside of some bounds."""
    return float(SPECTRUM @ (x - np.linspace(-2.0, 2.0, N)) ** 2)


def noisy(x):
    """A quadratic function with noise: another value at each call, but a function of how many there were."""
    noisy.calls += 1
    return bowl(x) + 3.0 * (zlib.crc32(noisy.calls.to_bytes(8)) / 2**31 - 1.0)


RUNS = {
    "valley": (valley, {}),
    "bounds": (bowl, {"bounds": [(-1.0, 1.5)] * (N - 1) + [(None, None)]}),
    "noise": (noisy, {}),
    "steps of different sizes": (bowl, {"sigma0": np.linspace(0.1, 2.0, N)}),
    "large rounds": (valley, {"options": {"m": 20}}),
    "learning soon": (valley, {"options": {"learning": 2.0}}),
}
every_run = pytest.mark.parametrize("name", RUNS)


@pytest.fixture(autouse=True)
def _from_the_start():
    noisy.calls = 0


def minimized(name, **arguments):
    noisy.calls = 0
    fun, settings = RUNS[name]
    return momentum(fun, np.zeros(N), rng=5, trace=True, **settings, **arguments)


@every_run
def test_ask_and_tell_through_a_checkpoint_before_every_round_is_minimize(name):
    fun, settings = RUNS[name]
    whole = minimized(name, maxiter=ROUNDS)
    noisy.calls = 0
    optimizer = pursuit.Optimizer(np.zeros(N), "momentum", rng=5, trace=True, maxiter=ROUNDS, **settings)
    phases = set()
    while not optimizer.stop():
        before = optimizer.ask()
        optimizer = pickle.loads(pickle.dumps(optimizer))  # which is a checkpoint in memory
        X = optimizer.ask()
        np.testing.assert_array_equal(X, before)
        optimizer.tell(X, [fun(x) for x in X])
        phases.add(int(optimizer._run.memory().state.now["phase"][0]))
    assert_same(optimizer.result, whole)
    assert phases == {module.TRIALS, module.SUM, module.AGAIN}
    assert optimizer.result.fun_is_estimate == (name == "noise")


@every_run
def test_minimize_resumes_where_limits_stopped_it(name, tmp_path):
    whole = minimized(name, maxfev=2000)
    noisy.calls = 0
    fun, settings = RUNS[name]
    for maxfev in (1, 2, 9, 10, 40, 151, 152, 500, 2000):
        part = momentum(
            fun,
            np.zeros(N),
            rng=5,
            trace=True,
            maxfev=maxfev,
            checkpoint=tmp_path / "run.npz",
            checkpoint_check=False,
            **settings,
        )
        assert maxfev - 43 < part.nfev <= maxfev
    assert_same(whole, part)


@every_run
def test_other_processes_or_a_map_change_nothing(name):
    plain = minimized(name, maxfev=600)
    assert_same(plain, minimized(name, maxfev=600, workers=map))
    if name == "valley":
        batch = {"maxfev": 600, "batch": 8}
        assert_same(minimized(name, **batch), minimized(name, workers=2, **batch))


def test_the_compiled_loop_many_runs_and_scipy_give_the_same_run():
    python = minimized("valley", maxfev=5000)
    arguments = {"rng": 5, "trace": True, "maxfev": 5000}
    assert_same(momentum(VALLEY, np.zeros(N), **arguments), python)
    (one,) = pursuit.minimize_many(VALLEY, np.zeros(N), seeds=[5], method="momentum", maxfev=5000, trace=True)
    assert_same(one, python)
    theirs = scipy.optimize.minimize(
        valley, np.zeros(N), method=pursuit.scipy_method("momentum"), options=arguments
    )
    assert_same(theirs, python)


def test_a_round_that_is_divided_gives_the_same_run(monkeypatch):
    """But for the number of iterations, and where the run ends."""
    whole = minimized("valley", maxfev=4000)
    monkeypatch.setattr(module, "_ROOM_FOR_NUMBERS", 3 * N)
    parts = minimized("valley", maxfev=whole.nfev)
    np.testing.assert_array_equal(whole.x, parts.x)
    assert (whole.fun, whole.sigma, whole.nfev) == (parts.fun, parts.sigma, parts.nfev)
    assert parts.nit > 2 * whole.nit


@pytest.mark.parametrize("value", [-1.0, 0.5, 2.0**60, np.inf, np.nan])
@pytest.mark.parametrize("name", ["phase", "place", "until", "number", "pairs"])
def test_a_number_in_a_file_that_is_no_count_is_refused(name, value, tmp_path):
    path = tmp_path / "run.npz"
    optimizer = pursuit.Optimizer(np.zeros(N), "momentum", rng=1)
    for _ in range(7):
        X = optimizer.ask()
        optimizer.tell(X, [valley(x) for x in X])
    optimizer.save(path)
    with np.load(path) as file:
        arrays = dict(file)
    arrays["state.now"][module.NUMBERS.names.index(name)] = value
    with path.open("wb") as file:
        np.savez(file, **arrays)
    with pytest.raises(ValueError, match=r"run.npz cannot be used: the entries of the state contradict"):
        pursuit.Optimizer.load(path)
