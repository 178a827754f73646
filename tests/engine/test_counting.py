"""Functions that count their evaluations and end runs."""

import contextlib
import math

import pytest

from pursuit.engine.counting import CAP, CountedFunction, RunEnded


def test_every_evaluation_counts_and_none_beyond_the_cap():
    seen = []
    fun = CountedFunction(lambda x: seen.append(x) or float(x), 3)
    assert (fun.left, fun.best, fun.status) == (3, math.inf, "")
    assert [fun(x) for x in (2, 1, 5)] == [2.0, 1.0, 5.0]
    assert (fun.evaluations, fun.left, fun.best, fun.status) == (3, 0, 1.0, "")
    for _ in range(2):
        with pytest.raises(RunEnded):
            fun(0)
    assert (fun.status, fun.evaluations, seen) == (CAP, 3, [2, 1, 5])


def test_a_reason_ends_the_run_with_the_value_that_gives_it():
    fun = CountedFunction(float, 9, lambda value: "target" if value <= 1 else "")
    assert fun(2) == 2.0
    with pytest.raises(RunEnded):
        fun(1)
    assert (fun.status, fun.best, fun.evaluations) == ("target", 1.0, 2)
    with pytest.raises(RunEnded):
        fun(0)
    assert (fun.best, fun.evaluations) == (1.0, 2)


def test_solvers_that_catch_exceptions_are_stopped_too():
    def insatiable(fun):
        while True:
            with contextlib.suppress(Exception):
                fun(1)

    fun = CountedFunction(float, 5)
    with pytest.raises(RunEnded):
        insatiable(fun)
    assert fun.evaluations == 5


def test_an_evaluation_that_raises_counts():
    fun = CountedFunction(lambda x: 1.0 / x, 5)
    with pytest.raises(ZeroDivisionError):
        fun(0)
    assert (fun.evaluations, fun.left) == (1, 4)
