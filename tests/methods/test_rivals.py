"""The methods of others against literal transcriptions of their pseudo-code, fed the same normals."""

import math

import numpy as np
import pytest

import pursuit
from helpers import make_problem
from pursuit.methods import create_scheme
from pursuit.methods.contract import draws_of
from reference import problems as reference_problems
from reference import rivals as reference

L = 1e2
PROBLEMS = ["exp", "rosenbrock"]
# As long as rounding errors, which grow, stay small.
ROUNDS = 150
SIGMA = 0.1
TARGET = 1e-6


def course_of(method, problem_name, n, rounds):
    """Return the rounds of the reference; the normals are drawn by NumPy, ours by compiled code."""
    f, x0 = reference_problems.make(problem_name, n, L)
    problem = make_problem(problem_name, n, L)
    scheme = create_scheme(method, n, None, problem)
    normals = np.random.default_rng(n).standard_normal((rounds, draws_of(scheme, n)))
    return REFERENCES[method](f, x0, normals, scheme, problem)


def of_population(transcription):
    """Return a transcription that knows the size of the population, and nothing of the problem."""
    return lambda f, x, normals, scheme, problem: transcription(f, x, SIGMA, normals, scheme.popsize)


REFERENCES = {
    "sep-cma": of_population(reference.sep_cma),
    "cr-fm-nes": of_population(reference.cr_fm_nes),
    "r1-nes": of_population(reference.r1_nes),
}


@pytest.mark.parametrize("n", [2, 7, 20])
@pytest.mark.parametrize("problem_name", PROBLEMS)
@pytest.mark.parametrize("method", REFERENCES)
def test_follows_the_pseudo_code(method, problem_name, n):
    """Up to a target: below it, f is made of rounding errors of the iterates."""
    course = course_of(method, problem_name, n, ROUNDS)
    problem = make_problem(problem_name, n, L)
    result = pursuit.minimize(
        problem,
        problem.x0,
        method=method,
        rng=n,
        sigma0=SIGMA,
        maxiter=ROUNDS,
        xtol=0.0,
        ftol=0.0,
        ftarget=TARGET,
        trace=True,
    )
    values = np.array([f for f, _, _ in course])
    reached = np.flatnonzero(values <= TARGET)
    assert result.nit == (reached[0] + 1 if reached.size else ROUNDS)
    np.testing.assert_allclose(result.trace.fun[1:], values[result.trace.nit[1:] - 1], rtol=1e-9)
    best = int(np.argmin(values[: result.nit]))
    np.testing.assert_allclose(result.fun, values[best], rtol=1e-9)
    scale = np.abs(course[best][1]).max()
    np.testing.assert_allclose(result.x, course[best][1], rtol=1e-9, atol=1e-9 * scale)
    np.testing.assert_allclose(result.sigma, course[result.nit - 1][2], rtol=1e-9)


def parabola(x):
    return 0.5 * float(np.square(x - 1.0).sum())


@pytest.mark.parametrize("method", REFERENCES)
def test_reaches_the_minimum_of_a_sphere(method):
    result = pursuit.minimize(parabola, np.zeros(10), method=method, rng=1, ftarget=1e-6, maxfev=200_000)
    assert result.success
    np.testing.assert_allclose(result.x, 1.0, atol=2e-3)


@pytest.mark.parametrize("method", REFERENCES)
def test_lives_with_points_that_have_no_value(method):
    """Half of the space has none, and the minimum is at its edge."""

    def half(x):
        return math.nan if x[0] > 1.0 else parabola(x)

    result = pursuit.minimize(half, np.zeros(10), method=method, rng=1, ftarget=1e-2, maxfev=200_000)
    assert result.success
    assert result.nfaulty > 0
