"""The memory of `values`: as many vectors as people allow it, and by default never too many."""

import math
import tracemalloc

import numpy as np
import pytest

import pursuit
from pursuit.methods import Values

LEAST = 16
"""What it takes in any case, in vectors."""
QUARTER = 2**28


def peak(n, memory):
    """Return the most vectors that a run around a Python function holds, beside the point passed in."""
    options = {} if memory is None else {"memory": memory}
    x0 = np.ones(n)

    def f(x):
        return float(x @ x) + float(x[0] * x[1])

    def run(evaluations):
        return pursuit.minimize(f, x0, method="values", rng=1, options=options, maxfev=evaluations)

    run(2)  # what is compiled and imported is not counted
    tracemalloc.start()
    try:
        run(1_000)
        return tracemalloc.get_traced_memory()[1] / (8 * n)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("memory", [0, LEAST, 17, 30, 100, None])
def test_a_run_holds_no_more_vectors_than_it_may(memory):
    # So many that 4096 normals and the trace count for nothing.
    n = 100_000
    found = peak(n, memory)
    assert found <= max(LEAST, 200 if memory is None else memory) + 0.5


def vectors_of(scheme, n):
    """Return how many vectors the state of a scheme and the points of a round take.

    The sizes of all arrays are linear in n, so that two small states tell that of a large one.
    """

    def numbers(k):
        entries = scheme.init(np.zeros(k), 0.0, 1.0)
        flat = [*entries[:-2], *entries.pairs, entries.lists]
        return sum(np.size(entry) for entry in flat if isinstance(entry, np.ndarray))

    slope = numbers(200) - numbers(199)
    return slope + scheme.points()


@pytest.mark.parametrize("n", [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000])
def test_the_default_never_exceeds_200_vectors_or_a_quarter_of_a_gigabyte(n):
    """But for what it needs in any case, which is more than that from about two million variables on."""
    scheme = Values.create(n)
    allowed = max(LEAST, min(200, QUARTER / (8 * n)))
    assert vectors_of(scheme, n) <= allowed


@pytest.mark.parametrize("memory", [0, 1, LEAST, LEAST + 1, 40, 100, 1000])
@pytest.mark.parametrize("n", [10, 1_000, 10_000_000])
def test_a_scheme_has_no_more_vectors_than_it_may(memory, n):
    assert vectors_of(Values.create(n, memory=memory), n) <= max(LEAST, memory)


@pytest.mark.parametrize("memory", [-3, 1.5, math.nan, "many", True])
def test_a_memory_that_is_no_count_is_refused(memory):
    with pytest.raises((ValueError, TypeError), match="memory must be"):
        pursuit.minimize(lambda x: float(x @ x), np.ones(3), method="values", options={"memory": memory})


def test_more_memory_than_there_are_variables_is_not_taken():
    assert vectors_of(Values.create(5, memory=10_000), 5) < 40


def test_any_memory_solves_a_problem():
    problem = pursuit.problems.rosenbrock(20)
    for memory in (LEAST, LEAST + 10, 200):
        options = {"memory": memory}
        result = pursuit.minimize(
            lambda x: problem(x), problem.x0, method="values", rng=1, options=options, ftarget=1e-9
        )
        assert result.success
