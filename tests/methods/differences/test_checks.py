"""Checkpoints of `values` that others made: what compiled code would use as an index is checked."""

import numpy as np
import pytest

import pursuit
from pursuit.methods.values.state import NUMBERS

N = 6
COUNTS = ("phase", "cursor", "window", "planned", "made", "taken", "tau", "position", "order")


def valley(x):
    return float(np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2))


def advance(optimizer, rounds):
    for _ in range(rounds):
        if optimizer.stop():
            return
        X = optimizer.ask()
        optimizer.tell(X, [valley(x) for x in X])


def saved(rounds, path):
    """Write a checkpoint after so many rounds."""
    optimizer = pursuit.Optimizer(np.zeros(N), "values", rng=1)
    advance(optimizer, rounds)
    optimizer.save(path)


def edited(path, change):
    """Change the arrays of a checkpoint."""
    with np.load(path) as file:
        arrays = dict(file)
    change(arrays)
    with path.open("wb") as file:
        np.savez(file, **arrays)


@pytest.mark.parametrize("value", [-1.0, -1e300, 0.5, 2.0**60, 1e300, np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("name", COUNTS)
def test_a_number_that_is_no_count_is_refused(name, value, tmp_path):
    path = tmp_path / "run.npz"
    saved(12, path)
    place = NUMBERS.names.index(name)

    def change(arrays):
        arrays["state.now"][place] = value

    edited(path, change)
    with pytest.raises(ValueError, match=r"run.npz cannot be used: the entries of the state contradict"):
        pursuit.Optimizer.load(path)


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("value", [-2.0, 0.5, 1e9, np.inf])
def test_a_place_outside_of_the_memory_of_steps_is_refused(place, value, tmp_path):
    path = tmp_path / "run.npz"
    saved(12, path)

    def change(arrays):
        arrays["state.pairs.table"][2, place] = value

    edited(path, change)
    with pytest.raises(ValueError, match=r"run.npz cannot be used: the ent"):
        pursuit.Optimizer.load(path)


def test_damaged_numbers_are_refused_or_do_no_harm(tmp_path):
    """Any number in place of any other: an error, or a run that goes on."""
    rng, path, refused = np.random.default_rng(4), tmp_path / "run.npz", 0
    for _ in range(300):
        saved(int(rng.integers(1, 40)), path)
        place = rng.integers(len(NUMBERS.names))
        value = rng.choice([0.0, -1.0, 1.0, 3.0, 7.0, 1e-300, 1e300, np.nan, np.inf])

        def change(arrays, place=place, value=value):
            arrays["state.now"][place] = value

        edited(path, change)
        try:
            # Points that hold NaN are never the ones asked for.
            with np.errstate(all="ignore"):
                advance(pursuit.Optimizer.load(path), 30)
        except ValueError:
            refused += 1
    assert 0 < refused < 150
