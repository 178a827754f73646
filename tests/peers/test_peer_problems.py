"""The fast rotation is orthogonal, and leaves no axis where it was."""

import numpy as np
import pytest
from benchmarks.problems.paper import HARD, SMOOTH, Task, fast_rotated, make_objective

import pursuit


def matrix(n):
    problem = fast_rotated(pursuit.problems.exp(n, 1e4))
    return np.array([problem.rotate_back(unit) for unit in np.eye(n)])


@pytest.mark.parametrize(("n", "largest"), [(100, 0.5), (1000, 0.3)])
def test_the_rotation_is_orthogonal_and_mixes_all_variables(n, largest):
    Q = matrix(n)
    assert np.abs(Q @ Q.T - np.eye(n)).max() < 1e-13
    # Of a uniformly random Q the largest entries are about 0.4 and 0.17, and the mean fourth power is 3/n^2.
    assert np.abs(Q).max() < largest
    assert 0.8 < (Q**4).mean() * n**2 / 3.0 < 1.3
    assert (np.abs(Q) > 0.1 / n**0.5).mean() > 0.85


def test_the_value_is_that_of_the_rotated_point():
    Q, problem = matrix(20), fast_rotated(pursuit.problems.rosenbrock(20))
    x = np.random.default_rng(1).standard_normal(20)
    assert problem(x) == pytest.approx(problem.problem(Q @ x), rel=1e-12)
    assert problem(problem.x0) == pytest.approx(19.0)
    assert problem(problem.minimizer) == pytest.approx(0.0, abs=1e-25)


def test_an_odd_number_of_variables_is_refused():
    with pytest.raises(ValueError, match="even number of variables, but it has 3"):
        fast_rotated(pursuit.problems.exp(3, 10.0))


@pytest.mark.parametrize(("name", "L"), [*SMOOTH, *((name, 100.0) for name in HARD)])
@pytest.mark.parametrize("rotated", [True, False])
def test_every_task_is_a_plain_function_with_a_start_above_its_target(name, L, rotated):
    objective = make_objective(Task(name, L, rotated, 20), 1)
    value = objective.fun(objective.x0)
    assert isinstance(value, float)
    assert value > objective.target
    assert type(objective.fun) is type(lambda: None)


def test_noise_follows_the_seed_and_rounding_keeps_three_digits():
    noisy = [make_objective(Task("noisy", 100.0, True, 20), seed).observed for seed in (1, 1, 2)]
    one, same, other = ([see(5.0) for _ in range(3)] for see in noisy)
    assert one == same != other
    assert make_objective(Task("rounded", 100.0, True, 20), 1).observed(1.23456e-7) == 1.23e-7
