"""Bounds and a first step size for each variable: programs take them as they are, step methods do not."""

import copy
import json

import numpy as np
import pytest

import pursuit
from conformance.own import Narrowing

LOWER = np.array([-np.inf, -1.0, 0.1, 3.25, 0.0])
UPPER = np.array([0.3, np.inf, np.inf, 3.25, 7.7])
BOUNDS = list(zip(LOWER, UPPER, strict=True))
START = np.array([0.1, 0.0, 0.1, 3.25, 7.7])
SIZES = np.array([0.1, 30.0, 0.7, 1e-3, 2.0])
INSIDE = np.array([0.0, 1.0, 2.0, 3.25, 4.0])
every_size = pytest.mark.parametrize("sigma0", [0.5, SIZES], ids=["scalar", "vector"])


def bowl(x):
    return float(np.sum(np.abs(x - np.arange(x.size)) ** 3))


def advance(optimizer, rounds):
    for _ in range(rounds):
        X = optimizer.ask()
        optimizer.tell(X, [bowl(x) for x in X])


def assert_same(one, other):
    np.testing.assert_array_equal(one.x, other.x)
    assert [one[name] for name in ("fun", "nit", "nfev", "sigma")] == [
        other[name] for name in ("fun", "nit", "nfev", "sigma")
    ]


def test_worker_processes_evaluate_inside_the_bounds():
    arguments = {"method": "evolution", "bounds": BOUNDS, "sigma0": SIZES, "maxiter": 5, "rng": 1}
    assert_same(
        pursuit.minimize(bowl, START, workers=2, **arguments),
        pursuit.minimize(bowl, START, batch=16, **arguments),  # eight for each worker
    )


@pytest.mark.parametrize("method", ["evolution", Narrowing])
@every_size
def test_a_run_is_resumed_exactly(method, sigma0, tmp_path):
    path = tmp_path / "run.npz"
    arguments = {"method": method, "bounds": BOUNDS, "sigma0": sigma0, "rng": 1}
    through, broken = (pursuit.Optimizer(START, **arguments) for _ in range(2))
    for pause in (0, 1, 2, 40, 57):
        advance(through, pause)
        advance(broken, pause)
        broken.save(path)
        broken = pursuit.Optimizer.load(path, method=method if isinstance(method, type) else None)
        np.testing.assert_array_equal(through.ask(), broken.ask())
    np.testing.assert_array_equal(copy.deepcopy(broken).ask(), broken.ask())
    assert_same(through.result, broken.result)

    path = tmp_path / "minimize.npz"
    whole = pursuit.minimize(bowl, START, maxiter=60, **arguments)
    for maxiter, x0 in ((1, START), (20, INSIDE), (60, np.clip(0.9 * START, LOWER, UPPER))):
        # The start does not matter any more, though margins and scales of its own would be others.
        part = pursuit.minimize(bowl, x0, maxiter=maxiter, checkpoint=path, **arguments)
    assert_same(whole, part)


@pytest.mark.parametrize(
    ("method", "change", "words"),
    [
        (Narrowing, {"x0": None}, "its entry x0 is missing"),
        (Narrowing, {"x0": np.ones(4)}, "the entry x0 must have shape"),
        (Narrowing, {"x0": np.full(5, np.nan)}, "the numbers of its x0 must be finite"),
        (Narrowing, {"sigma0": None}, "the entry sigma0 is missing"),
        (Narrowing, {"sigma0": -SIZES}, "sigma0.[0-9]. must be"),
        (Narrowing, {"sigma0": np.full(5, np.inf)}, "sigma0.[0-9]. must be"),
        (Narrowing, {"sigma0": np.array([1e-308, 1e308, 1.0, 1.0, 1.0])}, "sigma0.[0-9]. must be"),
        (Narrowing, {"sigma0": np.ones(5, dtype=int)}, "the entry sigma0 is not of the type"),
        (Narrowing, {"header": {"sigma0": 1.0}}, "the entry sigma0 is not one of a checkpoint"),
        (Narrowing, {"header": {"sigma0": [1.0] * 5}}, "the entry sigma0 is not one of a checkpoint"),
        ("evolution", {"x0": np.zeros(5)}, "its entry x0 is not one of its method"),
    ],
)
def test_step_sizes_of_a_damaged_file_are_named(method, change, words, tmp_path):
    path = tmp_path / "run.npz"
    pursuit.Optimizer(START, method, sigma0=SIZES, rng=1).save(path)
    with np.load(path) as file:
        arrays = dict(file)
    header = {**json.loads(arrays["header"].tobytes()), **change.pop("header", {})}
    arrays |= {"header": np.frombuffer(json.dumps(header).encode(), dtype=np.uint8), **change}
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})
    with pytest.raises(ValueError, match=rf"run\.npz cannot be used: .*({words}).*\.$"):
        pursuit.Optimizer.load(path, method=method if isinstance(method, type) else None)
