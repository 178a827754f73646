"""The methods of others against literal transcriptions of their pseudo-code, fed the same normals."""

import math

import numpy as np
import pytest

import pursuit
from helpers import make_problem, options_for
from pursuit.compiling.vectors import SERIAL
from pursuit.methods import ask, create_scheme, tell
from reference import limited_memory
from reference import problems as reference_problems
from reference import rivals as reference

L = 1e2
PROBLEMS = ["exp", "rosenbrock"]
# As long as rounding errors, which grow, stay small.
ROUNDS = 150
SIGMA = 0.1
TARGET = 1e-6
# Differences over less than this would show how a function rounds its values, more than anything else.
NEAR = {"spsa": {"c": 1e-2}, "rg": {"mu": 1e-2}, "ars": {"mu": 1e-2}}


def course_of(method, problem_name, n, rounds):
    """Return the rounds of the reference; the normals are drawn by NumPy, ours by compiled code."""
    f, x0 = reference_problems.make(problem_name, n, L)
    problem = make_problem(problem_name, n, L)
    scheme = create_scheme(method, n, NEAR.get(method), problem)
    normals = np.random.default_rng(n).standard_normal((rounds, scheme.needs(n).normals))
    return REFERENCES[method](f, x0, normals, scheme, problem)


def of_population(transcription):
    """Return a transcription that knows the size of the population, and nothing of the problem."""
    return lambda f, x, normals, scheme, problem: transcription(f, x, SIGMA, normals, scheme.popsize)


REFERENCES = {
    "sep-cma": of_population(reference.sep_cma),
    "cr-fm-nes": of_population(reference.cr_fm_nes),
    "r1-nes": of_population(reference.r1_nes),
    "lm-cma": of_population(limited_memory.lm_cma),
    "l-cma": of_population(limited_memory.l_cma),
    "spsa": lambda f, x, normals, scheme, problem: reference.spsa(
        f, x, SIGMA, normals, NEAR["spsa"]["c"], problem.L
    ),
    "rg": lambda f, x, normals, scheme, problem: reference.rg(f, x, SIGMA, normals, problem.L, scheme.mu),
    "ars": lambda f, x, normals, scheme, problem: reference.ars(
        f, x, SIGMA, normals, problem.L, problem.m, scheme.mu
    ),
}


@pytest.mark.parametrize("n", [2, 7, 20])
@pytest.mark.parametrize("problem_name", PROBLEMS)
@pytest.mark.parametrize("method", REFERENCES)
def test_follows_the_pseudo_code(method, problem_name, n):
    """Up to a target: below it, f is made of rounding errors of the iterates."""
    check_rounds(
        method, NEAR.get(method), make_problem(problem_name, n, L), course_of(method, problem_name, n, ROUNDS)
    )


@pytest.mark.parametrize("problem_name", PROBLEMS)
def test_ars_follows_the_pseudo_code_without_strong_convexity(problem_name):
    n, problem = 7, make_problem(problem_name, 7, L)
    options = {"mu": 1e-2, "m": 0.0, "L": problem.L}
    f, x0 = reference_problems.make(problem_name, n, L)
    normals = np.random.default_rng(n).standard_normal((ROUNDS, n))
    check_rounds("ars", options, problem, reference.ars(f, x0, SIGMA, normals, problem.L, 0.0, 1e-2))


@pytest.mark.parametrize("n", [2, 7, 20, 100, 500])
def test_populations_are_as_large_as_the_sources_say(n):
    usual = 4 + int(3 * np.log(n))
    sizes = {
        "sep-cma": usual,
        "lm-cma": usual,
        "l-cma": usual,
        "cr-fm-nes": 2 * int(np.ceil(usual / 2)),
        "r1-nes": int(max(5, 4 * np.log2(n), n / 5)),
    }
    problem = make_problem("exp", n, L)
    assert {method: create_scheme(method, n, None, problem).popsize for method in sizes} == sizes


def check_rounds(method, options, problem, course):
    """Check that a run with n as its seed is the one of the reference, round by round."""
    result = pursuit.minimize(
        problem,
        problem.x0,
        method=method,
        options=options,
        rng=problem.n,
        sigma0=SIGMA,
        maxiter=ROUNDS,
        xtol=0.0,
        ftol=0.0,
        ftarget=TARGET,
        trace=True,
    )
    # The start may be better than what follows, and the best point another one than the iterate.
    points = [problem.x0, *(point for _, point, _ in course)]
    lowest = np.array([problem(point) for point in points])
    reached = np.flatnonzero(lowest <= TARGET)
    assert result.nit == (reached[0] if reached.size else ROUNDS)
    best = int(np.argmin(lowest[: result.nit + 1]))
    np.testing.assert_allclose(result.fun, lowest[best], rtol=1e-9)
    scale = np.abs(points[best]).max()
    np.testing.assert_allclose(result.x, points[best], rtol=1e-9, atol=1e-9 * scale)
    others = result.trace.nit[(result.trace.nit > 0) & (result.trace.nit != best)]
    values = result.trace.fun[np.isin(result.trace.nit, others)]
    np.testing.assert_allclose(values, [course[nit - 1][0] for nit in others], rtol=1e-9)
    np.testing.assert_allclose(result.sigma, course[result.nit - 1][2], rtol=1e-9)


# Fewer vectors than the default, as many as there are variables, and the sampling of 2017.
VARIANTS = {
    "lm-cma, 1 path": ("lm-cma", {"m": 1}, limited_memory.lm_cma, {"m": 1}),
    "lm-cma, 3 paths": ("lm-cma", {"m": 3}, limited_memory.lm_cma, {"m": 3}),
    "lm-cma of 2017": ("lm-cma", {"version": "2017"}, limited_memory.lm_cma, {"later": True}),
    "l-cma, 1 eigenvector": ("l-cma", {"m": 1}, limited_memory.l_cma, {"m": 1}),
    "l-cma, 20 eigenvectors": ("l-cma", {"m": 20}, limited_memory.l_cma, {"m": 20}),
}


@pytest.mark.parametrize("n", [20, 70])
@pytest.mark.parametrize("problem_name", PROBLEMS)
@pytest.mark.parametrize("name", VARIANTS)
def test_variants_of_limited_memory_follow_the_pseudo_code(name, problem_name, n):
    """In more variables than a word has bits as well, from which signs are made."""
    method, options, transcription, settings = VARIANTS[name]
    problem = make_problem(problem_name, n, L)
    scheme = create_scheme(method, n, options, problem)
    normals = np.random.default_rng(n).standard_normal((ROUNDS, scheme.needs(n).normals))
    # By the same f: steps of random signs have equal values, which an f that rounds otherwise would sort.
    course = transcription(problem, problem.x0, SIGMA, normals, scheme.popsize, **settings)
    check_rounds(method, options, problem, course)


def test_spsa_measures_slopes_where_the_curvature_is_unknown():
    f, x0 = reference_problems.make("exp", 7, L)
    normals = np.random.default_rng(7).standard_normal((ROUNDS, 7))
    course = reference.spsa(f, x0, SIGMA, normals, NEAR["spsa"]["c"])
    result = pursuit.minimize(
        f, x0, method="spsa", options=NEAR["spsa"], rng=7, sigma0=SIGMA, maxiter=ROUNDS, trace=True
    )
    np.testing.assert_allclose(result.fun, min(value for value, _, _ in course), rtol=1e-9)
    np.testing.assert_allclose(result.sigma, course[-1][2], rtol=1e-9)


def test_differences_are_small_without_options():
    """Nesterov and Spokoiny, Theorem 8, for an accuracy of 1e-10; and what accumulates, for `ars`."""
    plain = create_scheme("rg", 20, {"L": 50.0}, None)
    np.testing.assert_allclose(plain.mu, 5 / (3 * 24) * math.sqrt(1e-10 / 100))
    fast = create_scheme("ars", 20, {"L": 50.0, "m": 0.5}, None)
    np.testing.assert_allclose(fast.mu, plain.mu / math.sqrt(4 * 21 * 10))


def parabola(x):
    return 0.5 * float(np.square(x - 1.0).sum())


@pytest.mark.parametrize("method", REFERENCES)
def test_reaches_the_minimum_of_a_sphere(method):
    result = pursuit.minimize(
        parabola, np.zeros(10), method=method, options=options_for(method, 1.0), rng=1, ftarget=1e-6
    )
    assert result.success
    np.testing.assert_allclose(result.x, 1.0, atol=2e-3)


@pytest.mark.parametrize("method", REFERENCES)
def test_lives_with_points_that_have_no_value(method):
    """About half of the space has none, among it the minimum."""

    def half(x):
        return math.nan if x[0] > 0.9 else parabola(x)

    result = pursuit.minimize(
        half, np.zeros(10), method=method, options=options_for(method, 1.0), rng=1, ftarget=1e-2
    )
    assert result.success
    assert result.nfaulty > 0


def test_a_path_that_is_not_a_number_leaves_the_matrix_as_it_is():
    """LAPACK takes no such matrix."""
    problem = pursuit.problems.exp(3, 10.0)
    scheme = create_scheme("l-cma", 3, None, problem)
    arrays, numbers = scheme.init(problem.x0, problem(problem.x0), 1.0)
    rng, values = np.random.default_rng(1), np.arange(1.0, scheme.popsize + 1.0)
    for p_c in (0.0, np.nan):
        arrays.p_c[:], before = p_c, numbers
        query = ask(SERIAL, scheme, arrays, numbers, rng.standard_normal(3 * scheme.popsize))
        numbers = tell(SERIAL, scheme, arrays, numbers, query, values)
    assert (numbers.rest, numbers.rank) == (before.rest, before.rank) != (1.0, 0)
    assert np.isfinite(arrays.mean).all()
