"""What methods must do in an iteration is counted for all of linear cost, and adds up."""

import pytest
from benchmarks.operations import WORK, Work, operations, seconds_needed, work_of

import pursuit

# Those whose iterations differ too much, and those whose cost grows like the square of n.
NOT_COUNTED = {"auto", "differences", "evolution", "adaptive-sarp", "cma", "ep-cma-n"}


def test_every_method_of_linear_cost_is_counted():
    assert set(WORK) == set(pursuit.methods()) - NOT_COUNTED


@pytest.mark.parametrize("method", WORK)
def test_an_iteration_evaluates_as_many_points_as_are_counted(method):
    """But for the exact minimum on a line, whose slope and curvature are sums like a value."""
    problem, work = pursuit.problems.exp(20, 1e4), work_of(method, 20)
    result = pursuit.minimize(problem, problem.x0, method=method, rng=1, maxiter=50)
    told = {"rp-exact": 2, "sarp-exact": 2, "arp": 2, "acdm": 1}.get(method, 0)
    assert (result.nfev - 1) / result.nit == pytest.approx(work.values - told, abs=0.1)


def test_the_time_needed_is_a_sum_over_operations():
    units = {"normals": 1.0, "values": 10.0, "passes": 100.0, "products": 1000.0}
    assert seconds_needed(Work(normals=1, values=2, passes=3, products=4), units) == 4321.0
    assert set(operations(5)) == set(units)
