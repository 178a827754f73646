"""The memory of `differences`: linear in n, as of so many vectors of n numbers."""

import copy
import tracemalloc

import numpy as np
import pytest

import pursuit
from pursuit.methods.catalogue import create_scheme
from pursuit.methods.programs import Probes, Start

MOST = 33.0
"""The vectors that a run holds at its peak, half of them for the time of an expression."""
BLOCK = 10_000


class Separable:
    """A quadratic function of each variable, evaluated block by block, which takes no memory."""

    def __init__(self, n):
        self._weights = np.linspace(1.0, 50.0, n)

    def value(self, x):
        """Return f at a point."""
        return float(
            sum(self._parts(slice(first, first + BLOCK), x).sum() for first in range(0, x.size, BLOCK))
        )

    def values(self, request):
        """Return the values of all points of a request; those of probes without their points."""
        if not isinstance(request, Probes):
            return np.array([self.value(x) for x in request])
        x, indices, steps = request.origin, request.indices, request.steps
        values, f = np.empty(indices.size), self.value(x)
        for first in range(0, indices.size, BLOCK):
            some = slice(first, first + BLOCK)
            i, h = indices[some], steps[some]
            values[some] = f + self._weights[i] * h * (h + 2.0 * (x[i] - 0.3))
        return values

    def _parts(self, some, x):
        return self._weights[some] * (x[some] - 0.3) ** 2


def run(n, evaluations, upper=np.inf):
    """Return the most vectors that a run holds at any time, and its value after so many evaluations.

    It is run as by `minimize`: the state before an iteration is kept, and the values received since.
    """
    program, rng, f = create_scheme("differences", n, None, None), np.random.default_rng(0), Separable(n)
    x0 = np.zeros(n)
    start = Start(x0, f.value(x0), np.ones(n), np.full(n, -np.inf), np.full(n, upper), 1e-8, 1e-13)
    count = 0
    tracemalloc.start()
    try:
        state = program.begin(start)
        with np.errstate(all="ignore"):
            while state.ending is None and count < evaluations:
                before, received, values = copy.copy(state), [], None
                iteration = program.iterate(state, rng)
                try:
                    while True:
                        values = f.values(iteration.send(values))
                        received.append(values)
                        count += values.size
                except StopIteration:
                    del before, received, values
        return tracemalloc.get_traced_memory()[1] / (8 * n), state.f
    finally:
        tracemalloc.stop()


def test_many_variables_take_the_memory_of_a_few_vectors():
    n = 100_000
    vectors, f = run(n, 3 * n)
    assert vectors < MOST
    # The minimum is 0, and all variables have been moved.
    assert f < 1e-3 * Separable(n).value(np.zeros(n))


@pytest.mark.long
def test_a_million_variables_take_the_memory_of_a_few_vectors():
    """To the end of the run: the fewer steps are remembered the more variables there are."""
    assert run(1_000_000, 1e9)[0] < MOST


@pytest.mark.parametrize("upper", [np.inf, 0.2])
def test_memory_is_linear_in_the_number_of_variables(upper):
    """To the end of a run, bounds or not."""
    small, large = (run(n, 1e9, upper)[0] for n in (5_000, 20_000))
    assert large < 1.5 * small


@pytest.mark.parametrize("n", [1_000, 100_000])
def test_a_sweep_of_minimize_takes_no_matrix_of_points(n):
    """The points of a sweep would be n^2 numbers; a chunk of them is 64 points or 64 K numbers at most."""
    x0 = np.ones(n)

    def minimized(evaluations):
        pursuit.minimize(lambda x: float(x @ x), x0, method="differences", rng=1, maxfev=evaluations)

    minimized(2)  # what is imported is not counted
    tracemalloc.start()
    try:
        minimized(1_000)
        points = min(64, max(1, 65_536 // n))
        # The row passed to f is a copy, and there are a few objects of other sizes.
        assert tracemalloc.get_traced_memory()[1] / (8 * n) < MOST + points + 1 + 1e5 / n
    finally:
        tracemalloc.stop()
