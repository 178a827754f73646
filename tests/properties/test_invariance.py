"""What changes of f or of the coordinates a trajectory must not notice."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pursuit
from helpers import make_problem, options_for
from pursuit.compiling.vectors import SERIAL
from pursuit.methods import ask, create_scheme, tell
from pursuit.methods.contract import State
from pursuit.methods.line_searches import begin_search, continue_search

COMPARING = ["adaptive-sarp", "evolution", "rp", "sarp", "cma", "ep-cma-1", "ep-cma-4", "ep-cma-n"]
# Their line searches fit parabolas to values: no change of f leaves them alone.
SEARCHING = ["rp-exact", "sarp-exact", "arp", "acdm"]
dimensions = st.integers(2, 8)
seeds = st.integers(0, 2**32 - 1)
names = st.sampled_from(["exp", "lin", "two", "rosenbrock"])
few = settings(max_examples=25)
# How far trajectories are followed: how long a gain counts, and so when a search of `evolution` ends, depends
# on how large it is.
ITERATIONS = {"evolution": 60}


# Strictly increasing on the positive numbers, in floating point too: each spreads neighbours apart.
TRANSFORMATIONS = {
    "scaled": lambda f: 2.0**40 * f,
    "cubed": lambda f: f**3,
    "with a jump": lambda f: 1e6 * f**5 if f > 1 else f**3,
    "negative": lambda f: -(f**-3.0) if f > 0 else -math.inf,
}


@pytest.mark.parametrize("method", COMPARING)
@given(n=dimensions, seed=seeds, name=names, change=st.sampled_from(sorted(TRANSFORMATIONS)))
@few
def test_strictly_monotone_transformations_of_f_change_nothing(method, n, seed, name, change):
    problem = make_problem(name, n, 1e3)
    transform = TRANSFORMATIONS[change]
    plain, changed = (
        pursuit.minimize(
            f,
            problem.x0,
            method=method,
            rng=seed,
            maxiter=ITERATIONS.get(method, 150),
            options=options_for(method, kappa=1e3),
        )
        for f in (problem, lambda x: transform(problem(x)))
    )
    np.testing.assert_array_equal(plain.x, changed.x)
    assert (plain.nit, plain.nfev, plain.sigma) == (changed.nit, changed.nfev, changed.sigma)


@pytest.mark.parametrize("method", [*COMPARING, *SEARCHING])
@given(n=dimensions, seed=seeds, name=names, power=st.integers(-30, 30))
@few
def test_scaling_x_together_with_sigma0_scales_the_trajectory(method, n, seed, name, power):
    """By a power of two even the rounding errors are the same, and equality is exact."""
    problem = make_problem(name, n, 1e3)
    scale = 2.0**power
    plain, scaled = (
        pursuit.minimize(
            lambda x, s=s: problem(x / s),
            s * problem.x0,
            method=method,
            sigma0=s,
            rng=seed,
            maxiter=100,
            options=options_for(method, kappa=1e3),
        )
        for s in (1.0, scale)
    )
    np.testing.assert_array_equal(scale * plain.x, scaled.x)
    assert (plain.fun, plain.nit, plain.nfev) == (scaled.fun, scaled.nit, scaled.nfev)
    assert scale * plain.sigma == scaled.sigma


def with_sizes(problem, sizes, **settings):
    """Return the results of f(x / s) with sigma0 = s, and of f with sigma0 = 1."""
    x = pursuit.minimize(lambda x: problem(x / sizes), sizes * problem.x0, sigma0=sizes, **settings)
    return x, pursuit.minimize(problem.__call__, problem.x0, sigma0=1.0, **settings)


@pytest.mark.parametrize("method", [*COMPARING, *SEARCHING])
@given(n=dimensions, seed=seeds, name=names, data=st.data())
@few
def test_a_step_size_for_each_variable_is_a_change_of_variables(method, n, seed, name, data):
    """Minimising f(x) with sigma0 = s is minimising f(s z) with sigma0 = 1; exactly, for powers of two."""
    problem = make_problem(name, n, 1e3)
    sizes = 2.0 ** np.array(data.draw(st.lists(st.integers(-20, 20), min_size=n, max_size=n)))
    x, z = with_sizes(
        problem, sizes, method=method, rng=seed, maxiter=100, options=options_for(method, kappa=1e3)
    )
    np.testing.assert_array_equal(x.x, sizes * z.x)
    assert (x.fun, x.nit, x.nfev, x.sigma) == (z.fun, z.nit, z.nfev, z.sigma * sizes.min())


@pytest.mark.parametrize("method", COMPARING)
@given(n=dimensions, seed=seeds, name=names, data=st.data())
@few
def test_any_step_sizes_are_a_change_of_variables_but_for_rounding(method, n, seed, name, data):
    """A few iterations, since rounding may turn a comparison sooner or later.

    Not for methods that divide differences of values, which magnifies rounding.
    """
    problem = make_problem(name, n, 10.0)
    sizes = np.array(data.draw(st.lists(st.floats(1e-3, 1e3), min_size=n, max_size=n)))
    x, z = with_sizes(
        problem, sizes, method=method, rng=seed, maxiter=10, options=options_for(method, kappa=10.0)
    )
    np.testing.assert_allclose(x.x / sizes, z.x, rtol=1e-6, atol=1e-6)


def drive(scheme, f, x0, draw, iterations):
    """Drive a scheme through its contract with given normals; return the values of all iterates."""
    state = scheme.init(x0.copy(), f(x0), 1.0)
    values = []
    for k in range(iterations):
        line = ask(SERIAL, scheme, *state, draw(k, state.arrays))
        query_state = begin_search(scheme.line_search, line, math.nan)
        while query_state.wanted:
            positions = query_state.positions[: query_state.wanted]
            answers = np.array([f(line.origin + t * line.direction) for t in positions])
            query_state = continue_search(scheme.line_search, query_state, answers)
        step = query_state.step
        state = State(state.arrays, tell(SERIAL, scheme, *state, line, step))
        values.append(state.numbers.f)
    return state.arrays.x, np.array(values)


# `evolution` draws a whole round at once; what it promises is below.
@pytest.mark.parametrize("method", [method for method in COMPARING if method != "evolution"])
@given(n=dimensions, seed=seeds, name=names)
@few
def test_rotating_problem_start_and_normals_rotates_the_trajectory(method, n, seed, name):
    problem = make_problem(name, n, 1e3)
    turned = pursuit.problems.rotated(problem, seed)
    scheme = create_scheme(method, n, options_for(method, kappa=1e3), problem)
    normals = np.random.default_rng(seed).standard_normal((60, scheme.needs(n).normals))
    if method == "cma":
        # A Cholesky factor does not turn with C, so the draws are turned, and the normals follow.
        draws = []

        def plain_normals(k, arrays):
            draws.append(np.tril(arrays.columns.T) @ normals[k])
            return normals[k].copy()

        def turned_normals(k, arrays):
            return np.linalg.solve(np.tril(arrays.columns.T), turned.Q.T @ draws[k])

    else:

        def plain_normals(k, arrays):
            return normals[k].copy()

        def turned_normals(k, arrays):
            return np.concatenate([turned.Q.T @ normals[k, :n], normals[k, n:]])

    x, values = drive(scheme, problem, problem.x0, plain_normals, len(normals))
    turned_x, turned_values = drive(scheme, turned, turned.x0, turned_normals, len(normals))
    np.testing.assert_allclose(turned_values, values, rtol=1e-6)
    np.testing.assert_allclose(turned.Q @ turned_x, x, rtol=1e-6, atol=1e-6 * np.abs(x).max())


@pytest.mark.parametrize("name", ["exp", "two"])
def test_evolution_takes_as_many_evaluations_in_turned_coordinates(name):
    """In distribution, and up to 200 variables, for which it learns a full matrix."""
    problem = make_problem(name, 6, 1e4)

    def median(problem):
        runs = pursuit.minimize_many(
            problem, problem.x0, seeds=range(11), method="evolution", ftarget=1e-9, workers=1
        )
        assert runs.success_share == 1.0
        return np.median(runs.nfev)

    along, turned = median(problem), median(pursuit.problems.rotated(problem, 1))
    assert 0.8 * along < turned < 1.25 * along
