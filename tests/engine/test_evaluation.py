"""Workers: what dies is noticed, what cannot be sent is named, and no wait is longer than the limit."""

import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest

import pursuit

START = np.array([1.0, 2.0, 3.0])


def sphere(x):
    return float(x @ x)


def dying(x, folder, deaths):
    """End the process in the first calls that come to the second point, which are so many."""
    for number in range(deaths):
        mark = Path(folder, str(number))
        if x[0] != 1.0 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
    return float(x @ x)


def raising(x):
    raise StopIteration("nothing is left")


def sleeping(x):
    if x[0] != 1.0:
        time.sleep(600.0)
    return float(x @ x)


def test_a_worker_that_dies_costs_its_points_once_more(tmp_path):
    arguments = {"method": "sarp", "rng": 1, "maxiter": 20, "options": {"kappa": 3.0}}
    expected = pursuit.minimize(sphere, START, **arguments)
    result = pursuit.minimize(dying, START, (tmp_path, 1), workers=2, **arguments)
    np.testing.assert_array_equal(result.x, expected.x)
    assert result.nfev == expected.nfev


def test_a_second_death_in_a_row_ends_the_run_with_what_was_found(tmp_path):
    with pytest.raises(RuntimeError, match="Workers died 2 times") as caught:
        pursuit.minimize(
            dying, START, (tmp_path, 50), method="sarp", rng=1, workers=2, options={"kappa": 3.0}
        )
    assert caught.value.pursuit_result.fun <= 14.0


def test_stop_iteration_comes_back_from_workers():
    with pytest.raises(StopIteration, match="nothing is left"):
        pursuit.minimize(raising, START, method="rp", rng=1, workers=2)


def test_a_function_that_cannot_be_sent_to_workers_is_named():
    with pytest.raises(TypeError, match="fun must be a function that other processes can import"):
        pursuit.minimize(lambda x: 0.0, START, method="rp", workers=2)


def test_the_time_limit_bounds_waiting_for_workers():
    result = pursuit.minimize(sleeping, START, method="rp", rng=1, workers=2, maxtime=0.5)
    assert result.message == "The limit of time, maxtime, was reached."
    assert (result.nfev, result.fun) == (1, 14.0)
