"""Checkpoints of `differences` that others made: states that do not fit their number of variables."""

import json
import zlib

import numpy as np
import pytest

import pursuit


def bowl(x):
    return float(np.geomspace(1.0, 30.0, x.size) @ (x - 0.3) ** 2 + np.sum(x**4))


def noisy(x):
    """Return values whose noise depends on the point alone, but for that of repeated ones."""
    noisy.calls += 1
    return bowl(x) + 1e-2 * (zlib.crc32(x.tobytes() + bytes([noisy.calls % 256])) / 2**31 - 1.0)


# In these, a run interpolates, goes by slopes with and without matrices, and is masked by noise.
RUNS = {
    "two variables": (bowl, 2, None, 8),
    "few in bounds": (bowl, 5, [(0.0, 1.0)] * 5, 20),
    "some": (bowl, 12, None, 60),
    "some in bounds": (bowl, 12, [(0.0, 1.0)] * 12, 60),
    "many": (bowl, 210, None, 1500),
    "very many": (bowl, 600, None, 300),
    "few under noise": (noisy, 6, None, 30),
    "some under noise": (noisy, 20, None, 1000),
}
every_run = pytest.mark.parametrize("name", RUNS)


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory):
    """Return the entries and arrays of a checkpoint of each run."""
    found = {}
    for name, (fun, n, bounds, maxfev) in RUNS.items():
        path, noisy.calls = tmp_path_factory.mktemp("runs") / "run.npz", 0
        optimizer = pursuit.Optimizer(np.full(n, 0.9), "differences", rng=1, bounds=bounds)
        while not optimizer.stop() and optimizer.result.nfev < maxfev:
            X = optimizer.ask()
            optimizer.tell(X, [fun(x) for x in X])
        optimizer.save(path)
        with np.load(path) as file:
            arrays = dict(file)
        found[name] = json.loads(arrays.pop("header").tobytes()), arrays
    return found


@pytest.fixture
def load(checkpoints, tmp_path):
    """Return a function that loads a checkpoint with other numbers and arrays in its state."""

    def loaded(name, **changes):
        header, arrays = checkpoints[name]
        header, arrays = {**header, "state": dict(header["state"])}, dict(arrays)
        for field, value in changes.items():
            field = field.replace("__", ".")
            if isinstance(value, np.ndarray):
                arrays[f"state.{field}"] = value
            else:
                arrays.pop(f"state.{field}", None)
                header["state"][field] = value
        path = tmp_path / "run.npz"
        text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
        with path.open("wb") as file:
            np.savez(file, header=text, **arrays)
        return pursuit.Optimizer.load(path)

    return loaded


def refused(load, name, **changes):
    """Expect that a checkpoint is refused with a sentence that names the file."""
    with pytest.raises(ValueError, match=r"run\.npz (cannot be used: |is not a checkpoint).*\.$"):
        load(name, **changes)


def state_of(checkpoints, name):
    """Return the numbers and the arrays of a state, by names."""
    header, arrays = checkpoints[name]
    numbers = {key: entry for key, entry in header["state"].items() if type(entry) in (int, float)}
    return numbers, {key[6:]: array for key, array in arrays.items() if key.startswith("state.")}


def test_the_runs_of_these_tests_have_states_of_every_kind(checkpoints):
    states = [header["state"] for header, _ in checkpoints.values()]
    for field in ("opening", "masked"):
        assert {state[field] is None for state in states} == {True, False}
    assert {state["matrix"]["class"] for state in states} == {"Dense", "Limited"}
    assert any(state.get("matrix.steps", {}).get("length", 0) > 1 for state in states)


@every_run
def test_a_state_as_it_was_saved_is_accepted(load, name):
    optimizer = load(name)
    assert optimizer.result.nfev >= RUNS[name][-1] or optimizer.stop()


@every_run
def test_an_array_of_another_shape_is_refused(load, checkpoints, name):
    for field, array in state_of(checkpoints, name)[1].items():
        for other in (array[:-1], array[np.newaxis], np.concatenate([array, array])):
            refused(load, name, **{field: np.ascontiguousarray(other)})
        refused(load, name, **{field: np.zeros(array.shape, dtype=np.int64)})


@every_run
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_is_refused(load, checkpoints, name, bad):
    """But for bounds, and for the inverse of next to nothing."""
    numbers, arrays = state_of(checkpoints, name)
    for field, array in arrays.items():
        if field not in ("box.lower", "box.upper", "matrix.inverse") and array.dtype == float:
            other = array.copy()
            other.flat[array.size // 2] = bad
            refused(load, name, **{field: other})
    for field, number in numbers.items():
        is_any = field in ("xtol", "ftol", "longest", "noise_model.at") and bad == np.inf
        if isinstance(number, float) and not is_any and field not in ("box.lower", "box.upper"):
            refused(load, name, **{field: bad})
    if "box.lower" in arrays:
        refused(load, name, **{"box.lower": np.full(RUNS[name][1], np.nan)})
    else:
        refused(load, name, **{"box.lower": np.nan})


COUNTS = (
    "sweeps",
    "failures",
    "opening.evaluations",
    "idle",
)
SIZES = (
    "longest",
    "noise_model.level",
    "noise_model.at",
    "xtol",
    "ftol",
    "opening.spacing",
    "noise_model.grain",
    "masked.lowest_noise",
)
LENGTHS = ("batch", "probe_factor", "opening.radius", "box.sigma0")


def test_the_numbers_that_are_tried_exist(checkpoints):
    fields = {field for name in RUNS for field in state_of(checkpoints, name)[0]}
    assert fields >= {*COUNTS, *SIZES, *LENGTHS}


@every_run
def test_numbers_that_cannot_be_so_small_are_refused(load, checkpoints, name):
    numbers, _ = state_of(checkpoints, name)
    for field in numbers.keys() & {*COUNTS, *SIZES, *LENGTHS}:
        kind = type(numbers[field])
        refused(load, name, **{field: kind(-1)})
        if field in LENGTHS:
            refused(load, name, **{field: kind(0)})


@every_run
def test_lengths_that_are_not_positive_are_refused(load, checkpoints, name):
    _, arrays = state_of(checkpoints, name)
    for field in arrays.keys() & {"lengths", "matrix.diagonal", "probes"}:
        other = arrays[field].copy()
        other[-1] = 0.0
        refused(load, name, **{field: other})


@pytest.mark.parametrize("name", ["few in bounds", "some in bounds"])
def test_an_iterate_outside_of_bounds_is_refused(load, name):
    n = RUNS[name][1]
    refused(load, name, x=np.full(n, 1.5))
    refused(load, name, **{"box.upper": np.full(n, -1.0)})
    # There are bounds on both sides, infinite perhaps, or on none.
    refused(load, name, **{"box.upper": np.inf})


def test_a_matrix_without_its_pairs_is_refused(load, checkpoints):
    header, arrays = checkpoints["many"]
    last = header["state"]["matrix.steps"]["length"] - 1
    header = {**header, "state": {**header["state"], "matrix.steps": {"length": last}}}
    arrays = {key: array for key, array in arrays.items() if key != f"state.matrix.steps.{last}"}
    checkpoints["one step less"] = header, arrays
    refused(load, "one step less")
