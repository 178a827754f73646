"""What changes of f or of the coordinates a population must not notice."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pursuit
from helpers import make_problem
from pursuit.compiling.vectors import SERIAL
from pursuit.methods import ask, create_scheme, tell
from pursuit.methods.contract import State
from pursuit.methods.rivals.populations import write_sample

POPULATIONS = {
    **{name: (name, {}) for name in ("sep-cma", "cr-fm-nes", "r1-nes", "lm-cma", "l-cma")},
    "lm-cma of 2017": ("lm-cma", {"version": "2017"}),
}
# A diagonal, or steps of random signs along the axes, do not turn with the variables.
BOUND_TO_AXES = ("sep-cma", "cr-fm-nes", "lm-cma of 2017")
every_population = pytest.mark.parametrize("name", POPULATIONS)
dimensions, seeds = st.integers(2, 8), st.integers(0, 2**32 - 1)
problems = st.sampled_from(["exp", "lin", "two", "rosenbrock"])
few = settings(max_examples=10)


def minimize(fun, x0, name, **arguments):
    method, options = POPULATIONS[name]
    return pursuit.minimize(fun, x0, method=method, options=options, maxiter=60, **arguments)


@every_population
@given(n=dimensions, seed=seeds, problem_name=problems)
@few
def test_strictly_monotone_transformations_of_f_change_nothing(name, n, seed, problem_name):
    problem = make_problem(problem_name, n, 1e3)
    plain, changed = (
        minimize(f, problem.x0, name, rng=seed)
        for f in (problem.__call__, lambda x: 1e6 * problem(x) ** 5 if problem(x) > 1 else problem(x) ** 3)
    )
    np.testing.assert_array_equal(plain.x, changed.x)
    assert (plain.nit, plain.nfev, plain.sigma) == (changed.nit, changed.nfev, changed.sigma)


@every_population
@given(n=dimensions, seed=seeds, problem_name=problems, power=st.integers(-30, 30))
@few
def test_scaling_x_together_with_sigma0_scales_the_trajectory(name, n, seed, problem_name, power):
    """By a power of two even the rounding errors are the same, and equality is exact."""
    problem = make_problem(problem_name, n, 1e3)
    plain, scaled = (
        minimize(lambda x, s=s: problem(x / s), s * problem.x0, name, rng=seed, sigma0=s)
        for s in (1.0, 2.0**power)
    )
    np.testing.assert_array_equal(2.0**power * plain.x, scaled.x)
    assert (plain.fun, plain.nit, plain.nfev) == (scaled.fun, scaled.nit, scaled.nfev)


def points_of_round(query):
    points = np.empty((query.size, query.mean.shape[0]))
    for j in range(query.size):
        write_sample(SERIAL, query, j, points[j])
    return points


def course_of(scheme, f, x0, rows):
    """Drive a scheme through its contract with given normals; return the lowest values and the best point."""
    state = scheme.init(x0.copy(), f(x0), 1.0)
    lowest = []
    for row in rows:
        query = ask(SERIAL, scheme, *state, row)
        values = np.array([f(x) for x in points_of_round(query)])
        state = State(state.arrays, tell(SERIAL, scheme, *state, query, values))
        lowest.append(values.min())
    return lowest, state.arrays.x


@pytest.mark.parametrize("name", [name for name in POPULATIONS if name not in BOUND_TO_AXES])
@given(n=dimensions, seed=seeds, problem_name=problems)
@few
def test_turning_problem_start_and_normals_turns_the_trajectory(name, n, seed, problem_name):
    problem = make_problem(problem_name, n, 1e3)
    turned = pursuit.problems.rotated(problem, seed)
    scheme = create_scheme(name, n, None, problem)
    rows = np.random.default_rng(seed).standard_normal((30, scheme.needs(n).normals))
    turned_rows = rows.copy()
    first = 0
    if name == "r1-nes":
        # The first direction, and numbers of its own for each point.
        turned_rows[:, :n] = rows[:, :n] @ turned.Q
        first = n + scheme.popsize
    vectors = rows[:, first:].reshape(len(rows), -1, n)
    turned_rows[:, first:] = (vectors @ turned.Q).reshape(len(rows), -1)
    lowest, x = course_of(scheme, problem, problem.x0, rows)
    turned_lowest, turned_x = course_of(scheme, turned, turned.x0, turned_rows)
    np.testing.assert_allclose(turned_lowest, lowest, rtol=1e-6)
    np.testing.assert_allclose(turned.Q @ turned_x, x, rtol=1e-6, atol=1e-6 * np.abs(x).max())
