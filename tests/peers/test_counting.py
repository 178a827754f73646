"""Every call counts, once, and a run ends by the same rule whatever the solver does."""

import math
import time

import numpy as np
import pytest
from benchmarks.recording import ERROR, QUIT, REACHED, TIME, Recorder, run_solver
from benchmarks.suites.peers import SOLVERS

from pursuit.engine.counting import CAP, RunEnded

ALL = pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.name)


def sphere(x):
    return float(x @ x)


def counted(fun=sphere, target=-1.0, maxfev=10**9, maxtime=60.0, observed=None):
    return Recorder(fun, target=target, maxfev=maxfev, maxtime=maxtime, observed=observed)


def run(solve, record, x0=None, **asked):
    """Run a solver that needs the function alone, or one with all that it is asked."""
    if not asked:
        return run_solver(lambda fun, x0, **_: solve(fun), record, np.ones(2), seed=1, maxfev=10**9)
    return run_solver(solve, record, x0, seed=1, **asked)


def skip_if_missing(solver):
    if not solver.installed:
        pytest.skip(f"{solver.package} is not installed.")


@ALL
@pytest.mark.filterwarnings("ignore")
def test_an_adapter_never_gets_more_than_it_may(solver):
    skip_if_missing(solver)
    calls = []

    def fun(x):
        calls.append(1)
        return sphere(x)

    result = run(solver.solve, counted(fun, maxfev=100), np.ones(6), maxfev=100)
    assert result.status in (CAP, QUIT)
    assert result.evaluations == len(calls) <= 100


@ALL
@pytest.mark.filterwarnings("ignore")
def test_an_adapter_minimises_and_ends_at_the_target(solver):
    skip_if_missing(solver)

    record = counted(target=2.0, maxfev=20_000)
    result = run(solver.solve, record, np.ones(20), maxfev=20_000)
    assert result.status == REACHED
    assert record.best <= 2.0


def test_calls_from_everywhere_count_alike():
    def solve(fun):
        def helper(x):
            return fun(x) + fun(-x)

        for _ in range(10):
            helper(np.ones(2))
            [fun(x) for x in np.ones((3, 2))]

    assert run(solve, counted()).evaluations == 50


def test_the_target_ends_a_run_at_the_call_that_reaches_it():
    values = iter([3.0, 2.0, 1.0, 0.0])

    def solve(fun):
        while True:
            fun(np.zeros(1))

    record = counted(lambda x: next(values), target=1.0)
    result = run(solve, record)
    assert (result.status, result.evaluations, record.best) == (REACHED, 3, 1.0)


def test_time_ends_a_run():
    def solve(fun):
        while True:
            fun(np.zeros(1))

    result = run(solve, counted(maxtime=0.05))
    assert result.status == TIME
    assert result.seconds < 10.0


def test_a_solver_that_swallows_the_end_is_not_credited_with_what_it_does_afterwards():
    def solve(fun):
        for _ in range(1000):
            try:
                fun(np.zeros(1))
            except BaseException:
                time.sleep(0.0)

    result = run(solve, counted(maxfev=7))
    assert (result.status, result.evaluations) == (CAP, 7)


def test_a_solver_that_responds_to_the_end_with_an_exception_has_not_failed():
    def solve(fun):
        try:
            while True:
                fun(np.zeros(1))
        except RunEnded:
            raise RuntimeError("The objective is gone.") from None

    assert run(solve, counted(maxfev=7)).status == CAP


def test_an_exception_of_a_solver_is_an_error_with_its_message():
    def solve(fun):
        fun(np.zeros(1))
        raise ValueError("no\nway")

    result = run(solve, counted())
    assert (result.status, result.detail, result.evaluations) == (ERROR, "ValueError: no way", 1)


def test_a_solver_that_returns_has_quit_unless_its_evaluations_are_used_up():
    assert run(lambda fun: fun(np.ones(2)), counted()).status == QUIT
    result = run(lambda fun: [fun(np.ones(2)) for _ in range(1999)], counted(maxfev=2000))
    assert result.status == CAP


def test_the_target_is_judged_without_noise():
    seen = []

    def solve(fun):
        for _ in range(3):
            seen.append(fun(np.ones(2)))

    record = counted(target=1.0, observed=lambda value: value - 100.0)
    assert run(solve, record).status == QUIT
    assert seen == [-98.0] * 3
    assert record.best == 2.0


def test_nothing_is_found_where_nothing_is_evaluated():
    record = counted()
    run(lambda fun: None, record)
    assert (record.best, record.point) == (math.inf, None)


def test_the_lowest_values_and_the_lowest_point_as_it_was_seen_are_recorded():
    record = counted(lambda x: float(x[0]), observed=lambda value: -value)
    for value in (3.0, 1.0, 2.0, 0.5):
        record(np.array([value]))
    assert (record.at, record.values) == ([1, 2, 4], [3.0, 1.0, 0.5])
    assert record.point == 3.0
    assert [record.evaluations_to(value) for value in (2.0, 0.5, 0.1)] == [2, 4, None]
    assert record.lowest_by([1, 3, 9]) == [3.0, 1.0, 0.5]
