"""Trials: the runs of a solver on one problem of a suite, until its budget is spent."""

from pathlib import Path

import numpy as np
import pytest

from pursuit.experiments.coco import data_profiles, run_suite
from pursuit.experiments.coco.solvers import run_trial, solver_named


class Sphere:
    """A problem with the interface of COCO's, which observes itself."""

    id = "bbob_f001_i01_d04"
    dimension = 4
    lower_bounds = np.full(4, -5.0)
    upper_bounds = np.full(4, 5.0)
    initial_solution = np.full(4, 1.0)

    def __init__(self, target=0.0):
        self.evaluated = []
        self.target = target
        self.final_target_hit = False
        self.restarts = 0

    def __call__(self, x):
        self.evaluated.append(x.copy())
        value = float(x @ x)
        self.final_target_hit |= value <= self.target
        return value

    def signal_restart(self, problem):
        assert problem is self
        self.restarts += 1


def attempted(solve, budget, target=0.0):
    """Return the result of a trial, and the problem."""
    problem = Sphere(target)
    return run_trial(problem, problem, suite="bbob", solve=solve, budget=budget), problem


def test_runs_start_where_the_suite_says_and_then_anywhere_with_what_is_left():
    calls = []

    def solve(fun, x0, **given):
        calls.append((x0.copy(), given))
        for _ in range(10):
            fun(x0)

    outcome, problem = attempted(solve, 42)
    assert outcome == (4, 40, False)
    assert problem.restarts == 3
    starts = np.array([x0 for x0, _ in calls])
    assert [given["maxfev"] for _, given in calls] == [42, 32, 22, 12]
    assert {given["sigma0"] for _, given in calls} == {2.0}
    assert len({given["seed"] for _, given in calls}) == 4
    np.testing.assert_array_equal(starts[0], problem.initial_solution)
    assert len(np.unique(starts)) > 12
    assert np.abs(starts).max() <= 5.0
    again, _ = attempted(solve, 42)
    assert again == outcome
    np.testing.assert_array_equal(starts, [x0 for x0, _ in calls[4:]])


def test_no_solver_evaluates_beyond_the_budget_or_the_last_target():
    insatiable = solver_named("tiny_solvers:insatiable").solve
    assert attempted(insatiable, 12)[0] == (1, 12, False)
    outcome, problem = attempted(solver_named("rp").solve, 100_000, target=1e-8)
    assert outcome.solved
    assert len(problem.evaluated) == outcome.evaluations < 2000
    assert sum(x @ x <= 1e-8 for x in problem.evaluated) == 1
    assert not Path("swallowed").exists()


def test_a_solver_that_does_nothing_is_found_out():
    with pytest.raises(Exception, match="the solver returned without an evaluation of bbob_f001_i01_d04"):
        attempted(solver_named("tiny_solvers:idle").solve, 12)


@pytest.mark.parametrize(("method", "times"), [("rp", 3), ("evolution", 3), ("auto", 2)])
def test_a_run_of_ours_that_has_settled_begins_again(method, times):
    """It comes down to the minimum more than once; `auto` searches more and more widely, so less often."""
    _, problem = attempted(solver_named(method).solve, 12_000, target=-1.0)
    values = np.array([x @ x for x in problem.evaluated])
    descents, is_low = 0, False
    for value in values:
        if value < 1e-8 and not is_low:
            descents, is_low = descents + 1, True
        elif value > 0.1:
            is_low = False
    assert descents >= times


@pytest.mark.parametrize(
    ("suite", "functions", "limits"),
    [
        ("bbob-noisy", [101, 130], []),
        ("bbob-boxed", [1, 24], ["bounds"]),
        ("bbob-constrained", [1, 54], ["constraint"]),
    ],
)
def test_other_suites_are_run_function_by_function_and_solvers_get_their_limits(
    suite, functions, limits, tmp_path, monkeypatch
):
    monkeypatch.setenv("SAW", str(tmp_path / "saw"))
    run = {"budget": 100, "dimensions": [2], "functions": functions, "instances": [1], "jobs": 1}
    done = run_suite(suite, "tiny_solvers:limited", tmp_path / "out", **run)
    assert done.failures == []
    assert set((tmp_path / "saw").read_text().split()) == set(limits)
    (profile,) = data_profiles([run_suite(suite, "auto", tmp_path / "auto", **run).data])
    assert [problem.function for problem in profile.problems] == functions
    assert profile.reached.size > 10
