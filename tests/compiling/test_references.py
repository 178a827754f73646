"""Functions that leave out the counting of references free what they make, and nothing else."""

import gc
import sys
from typing import NamedTuple

import numba
import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys

import pursuit
from pursuit.checks import Vector
from pursuit.compiling.inner import inner


class Pair(NamedTuple):
    first: Vector
    second: Vector


@inner
def total(x):
    """Only borrow parts of an array."""
    sum_ = 0.0
    for i in range(x.shape[0]):
        rest = x[i:]
        sum_ += rest[0]
    return sum_


@inner
def swapped_difference(pair):
    """Only borrow the arrays of records, under other names in turn."""
    one, other = pair.first, pair.second
    for _ in range(3):
        one, other = other, one
    return total(Pair(one, other).first) - total(other)


@inner
def doubled(x):
    """Make an array, and give it away."""
    out = np.empty(x.shape[0])
    for i in range(x.shape[0]):
        out[i] = 2.0 * x[i]
    return out


@inner
def tail(x):
    """Give a part of an array away."""
    return x[1:]


@inner
def shifted(x):
    """Copy between parts that overlap, for which Numba makes a third."""
    x[1:] = x[:-1]


@inner
def chosen(x):
    """Select entries by an array, which copies them."""
    return x[np.array([0, 2])].sum()


@numba.njit
def everything(x, y):
    z = doubled(x)
    shifted(z)
    return total(tail(doubled(tail(x)))) + swapped_difference(Pair(x, y)) + chosen(z), z


def test_all_that_is_made_is_freed_and_what_is_borrowed_is_left_alone():
    x, y = np.array([1.0, 2.0, 4.0, 8.0]), np.array([5.0, 6.0])
    everything(x, y)
    _nrt_python.memsys_enable_stats()
    references, before = (sys.getrefcount(x), sys.getrefcount(y)), rtsys.get_allocation_stats()
    for _ in range(100):
        number, z = everything(x, y)
        assert number == 24.0 + (11.0 - 15.0) + 6.0
        np.testing.assert_array_equal(z, [2.0, 2.0, 4.0, 8.0])
    del z
    after = rtsys.get_allocation_stats()
    assert after.alloc > before.alloc
    assert after.alloc - before.alloc == after.free - before.free
    assert (sys.getrefcount(x), sys.getrefcount(y)) == references


@pytest.mark.parametrize(
    ("method", "is_compiled"),
    [("rp", True), ("spsa", True), ("acdm", True), ("sep-cma", True), ("rp", False), ("spsa", False)],
)
def test_a_run_frees_the_arrays_of_its_states_and_queries(method, is_compiled):
    def minimise():
        problem = pursuit.problems.exp(3, 10.0)
        fun = problem if is_compiled else problem.__call__
        return pursuit.minimize(fun, problem.x0, method=method, rng=1, maxiter=100).x

    expected = minimise()
    _nrt_python.memsys_enable_stats()
    gc.collect()
    before = rtsys.get_allocation_stats()
    for _ in range(5):
        np.testing.assert_array_equal(minimise(), expected)
    gc.collect()
    after = rtsys.get_allocation_stats()
    assert after.mi_alloc - before.mi_alloc == after.mi_free - before.mi_free > 0


def test_a_run_that_an_exception_ends_frees_its_arrays():
    """All but the point: code that Numba makes of a function that raises leaves its argument behind."""

    @numba.njit
    def failing(x):
        if x[0] < 0.9:
            raise ValueError("too low")
        return x[0] * x[0]

    def fail():
        with pytest.raises(ValueError, match="too low"):
            pursuit.minimize(failing, np.ones(3), method="rp", rng=1)

    fail()
    _nrt_python.memsys_enable_stats()
    gc.collect()
    before = rtsys.get_allocation_stats()
    for _ in range(5):
        fail()
    gc.collect()
    after = rtsys.get_allocation_stats()
    made, freed = after.mi_alloc - before.mi_alloc, after.mi_free - before.mi_free
    assert made - 5 <= freed <= made > 50
