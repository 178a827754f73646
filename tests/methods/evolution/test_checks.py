"""Checkpoints of `evolution` that others made: states that do not fit their number of variables."""

import json
import zlib

import numpy as np
import pytest

import pursuit


def bowl(x):
    return float(np.geomspace(1.0, 30.0, x.size) @ (x - 0.3) ** 2)


def noisy(x):
    """Return values whose noise is that of a function of how many calls there were."""
    noisy.calls += 1
    return bowl(x) + 0.3 * (zlib.crc32(noisy.calls.to_bytes(8)) / 2**31 - 1.0)


# With a full matrix and with directions, in bounds, under noise, and after an end under noise.
RUNS = {
    "few": (bowl, 3, None, 100),
    "few in bounds": (bowl, 5, [(0.0, 1.0)] * 5, 200),
    "many": (bowl, 201, None, 100),
    "few under noise": (noisy, 3, [(0.0, 1.0)] * 3, 300),
    "many under noise": (noisy, 201, None, 300),
    "at its end": (noisy, 2, None, 100_000),
}
every_run = pytest.mark.parametrize("name", RUNS)
UNLIMITED = {"f", "gained", "began_with", "box.lower", "box.upper"}


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory):
    """Return the entries and arrays of a checkpoint of each run."""
    found = {}
    for name, (fun, n, bounds, maxfev) in RUNS.items():
        path, noisy.calls = tmp_path_factory.mktemp("runs") / "run.npz", 0
        optimizer = pursuit.Optimizer(np.full(n, 0.9), "evolution", rng=1, bounds=bounds, sigma0=0.3)
        while not optimizer.stop() and optimizer.result.nfev < maxfev:
            X = optimizer.ask()
            optimizer.tell(X, [fun(x) for x in X])
        optimizer.save(path)
        with np.load(path) as file:
            arrays = dict(file)
        found[name] = json.loads(arrays.pop("header").tobytes()), arrays
    return found


@pytest.fixture
def refuse(checkpoints, tmp_path):
    """Return a function that expects a sentence instead of a checkpoint with other numbers in its state."""

    def refused(name, field, value):
        header, arrays = checkpoints[name]
        header, arrays = {**header, "state": dict(header["state"])}, dict(arrays)
        if isinstance(value, np.ndarray):
            arrays[f"state.{field}"] = value
        else:
            arrays.pop(f"state.{field}", None)
            header["state"][field] = value
        with pytest.raises(ValueError, match=r"run\.npz (cannot be used: |is not a checkpoint).*\.$"):
            loaded(tmp_path / "run.npz", header, arrays)

    return refused


def loaded(path, header, arrays):
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    with path.open("wb") as file:
        np.savez(file, header=text, **arrays)
    return pursuit.Optimizer.load(path)


def state_of(checkpoints, name):
    """Return the numbers and the arrays of a state, by names."""
    header, arrays = checkpoints[name]
    numbers = {key: entry for key, entry in header["state"].items() if type(entry) in (int, float)}
    return numbers, {key[6:]: array for key, array in arrays.items() if key.startswith("state.")}


def test_the_runs_of_these_tests_have_states_of_every_kind(checkpoints):
    states = [header["state"] for header, _ in checkpoints.values()]
    assert {state["matrix"]["class"] for state in states} == {"Full", "Limited"}
    for field in ("error", "ending"):
        assert {state[field] is None for state in states} == {True, False}
    assert {"state.seen" in arrays for _, arrays in checkpoints.values()} == {True, False}


@every_run
def test_a_state_as_it_was_saved_is_accepted(checkpoints, tmp_path, name):
    optimizer = loaded(tmp_path / "run.npz", *checkpoints[name])
    assert optimizer.stop() if name == "at its end" else len(optimizer.ask()) > 0


@every_run
def test_an_array_of_another_shape_is_refused(refuse, checkpoints, name):
    for field, array in state_of(checkpoints, name)[1].items():
        # There may be any number of points that were seen.
        longer = array[:, :-1] if field == "seen" else np.concatenate([array, array])
        for other in (longer[:-1], array[np.newaxis], longer):
            refuse(name, field, np.ascontiguousarray(other))
        refuse(name, field, np.zeros(array.shape, dtype=np.int64))


@every_run
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_is_refused(refuse, checkpoints, name, bad):
    """But for bounds and tolerances, and for values where f may have none."""
    numbers, arrays = state_of(checkpoints, name)
    free = {*UNLIMITED, "xtol", "ftol"} if bad == np.inf else set()
    for field in arrays.keys() - free:
        other = arrays[field].copy()
        other.flat[other.size // 2] = bad
        refuse(name, field, other)
    for field in numbers.keys() - free:
        refuse(name, field, bad)


@every_run
def test_numbers_that_cannot_be_so_small_are_refused(refuse, checkpoints, name):
    numbers, arrays = state_of(checkpoints, name)
    sizes = {"xtol", "ftol", "longest", "average.level", "average.spread", "error", "box.sigma0", "scale"}
    counts = {field for field, number in numbers.items() if type(number) is int and field not in UNLIMITED}
    assert {"batch", "rounds", "evaluations"} <= counts
    for field in (numbers.keys() & sizes) | counts:
        refuse(name, field, type(numbers[field])(-1))
    for field in numbers.keys() & {"batch", "scale", "box.sigma0"}:
        refuse(name, field, type(numbers[field])(0))
    if "matrix.diagonal" in arrays:
        refuse(name, "matrix.diagonal", np.zeros_like(arrays["matrix.diagonal"]))


@pytest.mark.parametrize("name", ["few in bounds", "few under noise"])
def test_an_iterate_outside_of_bounds_is_refused(refuse, name):
    n = RUNS[name][1]
    for field in ("x", "lowest_x"):
        refuse(name, field, np.full(n, 1.5))
    refuse(name, "box.upper", np.full(n, -1.0))
    # There are bounds on both sides, infinite perhaps, or on none.
    refuse(name, "box.upper", np.inf)


def test_a_matrix_of_the_wrong_kind_or_without_its_directions_is_refused(checkpoints, tmp_path):
    many, others = checkpoints["many"]
    directions = many["state"]["matrix.paths"]["length"]
    less = {**many, "state": {**many["state"], "matrix.paths": {"length": directions - 1}}}
    fewer = {key: array for key, array in others.items() if key != f"state.matrix.paths.{directions - 1}"}
    with pytest.raises(
        ValueError,
        match=f"its matrix must be Limited with {directions} paths, but is Limited with {directions - 1}",
    ):
        loaded(tmp_path / "run.npz", less, fewer)
    full = {key: entry for key, entry in many["state"].items() if not key.startswith("matrix.")}
    full["matrix"] = {"class": "Full"}
    square = {key: array for key, array in others.items() if not key.startswith("state.matrix.")}
    with pytest.raises(ValueError, match="must be Limited with 19 paths, but is Full with 0"):
        loaded(tmp_path / "run.npz", {**many, "state": full}, {**square, "state.matrix.M": np.eye(201)})
