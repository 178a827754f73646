"""A problem of COCO's, minimised in an experiment of the user's own."""

import numpy as np
import pytest

from pursuit.adapters.coco import minimize_problem


def problem_of(suite):
    cocoex = pytest.importorskip("cocoex", reason="coco-experiment is in the extra `coco`")
    # The suite frees its problems when it is collected.
    found = cocoex.Suite(suite, "instances: 1", "dimensions: 2 function_indices: 1")
    return found, found.get_problem(0)


@pytest.mark.parametrize("suite", ["bbob", "bbob-boxed", "bbob-constrained"])
def test_the_sphere_is_solved_within_the_budget_and_the_constraints(suite):
    kept, problem = problem_of(suite)
    found = minimize_problem(problem, 4000)
    assert len(kept) == 1
    assert found.nfev == problem.evaluations <= 4000
    assert problem.final_target_hit
    if suite == "bbob-boxed":
        assert np.all((problem.lower_bounds <= found.x) & (found.x <= problem.upper_bounds))
    if suite == "bbob-constrained":
        assert np.all(problem.constraint(found.x) <= 0.0)


def test_restarts_spend_the_budget_and_settings_come_first():
    kept, problem = problem_of("bbob")
    found = minimize_problem(problem, 400, restarts=0, sigma0=0.1, method="rp", rng=3)
    assert len(kept) == 1
    assert found.method == "rp"
    assert minimize_problem(problem, 400).nfev == 400
