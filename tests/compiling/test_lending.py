"""Arrays that compiled code borrows: of whatever kind, they are read and written as they are, and freed."""

import gc
import weakref
from typing import NamedTuple

import numpy as np
import pytest

import pursuit
from pursuit.problems import evaluate, value


class Odd(NamedTuple):
    """A function with data of many kinds."""

    weights: np.ndarray
    is_used: np.ndarray
    order: np.ndarray
    columns: np.ndarray
    constant: np.ndarray
    room: np.ndarray
    part: tuple

    @property
    def n(self):
        return self.weights.size

    def __call__(self, x):
        return evaluate(self, x)


@value.register(Odd)
def _value(team, problem, x):
    total = problem.constant[()]
    for k in range(x.shape[0]):
        i = problem.order[k]
        problem.room[0] += 1.0
        if problem.is_used[i]:
            total += problem.weights[i] * x[i] * x[i] + problem.columns[i, 0] * problem.part[0][i]
    return total


def make(n):
    return Odd(
        weights=np.linspace(1.0, 9.0, 2 * n)[::2],
        is_used=np.arange(n) > 0,
        order=np.arange(n)[::-1].copy(),
        columns=np.asfortranarray(np.ones((n, 2))),
        constant=np.array(0.5),
        room=np.zeros(1),
        part=(np.ones(n), 3),
    )


@pytest.mark.parametrize("switch", ["0", "1"])
def test_problems_with_data_of_many_kinds_are_minimised(switch, monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", switch)
    problem = make(4)
    result = pursuit.minimize(problem, np.ones(4), method="rp", rng=1, maxiter=300)
    assert problem.room[0] == 4.0 * result.nfev
    assert result.fun == make(4)(result.x)
    assert result.fun == pytest.approx(3.5, abs=1e-6)


def test_arrays_of_a_run_are_freed_when_it_is_over():
    problem = make(3)
    result = pursuit.minimize(problem, np.ones(3), method="rp", rng=1, maxiter=10)
    held = [weakref.ref(problem.weights), weakref.ref(problem.room), weakref.ref(result.x)]
    del problem, result
    gc.collect()
    assert [reference() for reference in held] == [None, None, None]


class Failing(NamedTuple):
    n: int
    room: np.ndarray

    def __call__(self, x):
        return evaluate(self, x)


@value.register(Failing)
def _value_or_error(team, problem, x):
    problem.room[0] += 1.0
    if problem.room[0] > 20.0:
        raise ValueError("enough")
    return np.sum(x * x)


def test_arrays_are_freed_after_an_exception_in_compiled_code():
    problem = Failing(3, np.zeros(1))
    held = weakref.ref(problem.room)
    with pytest.raises(ValueError, match="enough"):
        pursuit.minimize(problem, np.ones(3), method="sarp", options={"kappa": 2.0}, rng=1, maxiter=100)
    assert problem.room[0] == 21.0
    del problem
    gc.collect()
    assert held() is None
