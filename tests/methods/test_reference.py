"""Every scheme against a literal transcription of the paper's pseudo-code, fed the same normals."""

import numpy as np
import pytest

import pursuit
from helpers import PAPER, make_problem
from reference import problems as reference_problems
from reference import schemes as reference

ITERATIONS = 400
L = 1e4
C_P = {"printed": lambda n: 1 / 12, "fitted": lambda n: 1 / n, "frozen": lambda n: 0.0}
# Here the drift throws the iterates about: the reference itself, started 1e-16 beside, is 4e-8 off after 250
# iterations and 1e-11 after 100.
CHAOTIC = {("sarp-exact", "rosenbrock", 2): 100}
DAMPING = {"printed": 2, "fitted": 3, "frozen": 3}


def reference_course(method, problem_name, reading, n, seed):
    """Return the reference's iterates; the normals are drawn by NumPy, ours by compiled code."""
    f, x0 = reference_problems.make(problem_name, n, L)
    rng = np.random.default_rng(seed)
    c_p = C_P[reading](n)

    def normals(columns):
        return rng.standard_normal((ITERATIONS, columns))

    if method.startswith("rp"):
        return reference.rp(f, x0, 1.0, normals(n), exact=method.endswith("exact"))
    if method.startswith("sarp"):
        exact = method.endswith("exact")
        problem = make_problem(problem_name, n, L)
        c = 2 if exact else DAMPING[reading]
        return reference.sarp(f, x0, 1.0, normals(n), kappa=problem.L / problem.m, c=c, exact=exact)
    if method == "cma":
        return reference.cma(f, x0, 1.0, normals(n), c_p=c_p)
    memory = method.removeprefix("ep-cma-")
    m = {"sqrt": round(np.sqrt(n)), "n": n}.get(memory) or int(memory)
    return reference.ep_cma(f, x0, 1.0, normals(n + m), m=m, c_p=c_p)


# Readings differ in SARP's damping, and in a rate that CMA and EP-CMA have alike, whatever its memory.
READINGS = [
    *((method, "printed") for method in PAPER),
    *((method, reading) for method in ("sarp", "cma", "ep-cma-4") for reading in ("fitted", "frozen")),
]


@pytest.mark.parametrize("n", [2, 3, 20])
@pytest.mark.parametrize(("method", "reading"), READINGS)
@pytest.mark.parametrize("problem_name", ["exp", "lin", "two", "rosenbrock"])
def test_follows_the_pseudo_code(method, problem_name, reading, n):
    """Up to the study's target: below it, at n = 2, f is made of rounding errors of the iterates."""
    course = reference_course(method, problem_name, reading, n, seed=n)
    iterations = CHAOTIC.get((method, problem_name, n), ITERATIONS)
    problem = make_problem(problem_name, n, L)
    result = pursuit.minimize(
        problem,
        problem.x0,
        method=method,
        rng=n,
        ftarget=1e-9,
        maxiter=iterations,
        options={"reading": reading},
        trace=True,
    )
    values = np.array([f for f, _, _ in course])
    reached = np.flatnonzero(values[:iterations] <= 1e-9)
    assert result.nit == (reached[0] + 1 if reached.size else iterations)
    np.testing.assert_allclose(result.trace.fun[1:], values[result.trace.nit[1:] - 1], rtol=1e-9)
    best = int(np.argmin(values[: result.nit]))
    np.testing.assert_allclose(result.fun, values[best], rtol=1e-9)
    scale = np.abs(course[best][1]).max()
    np.testing.assert_allclose(result.x, course[best][1], rtol=1e-9, atol=1e-9 * scale)
    np.testing.assert_allclose(result.sigma, course[result.nit - 1][2], rtol=1e-9)


def test_follows_the_pseudo_code_for_any_memory():
    f, x0 = reference_problems.make("exp", 20, L)
    normals = np.random.default_rng(5).standard_normal((ITERATIONS, 27))
    course = reference.ep_cma(f, x0, 1.0, normals, m=7, c_p=0.0)
    result = pursuit.minimize(pursuit.problems.exp(20, L), x0, method="ep-cma-7", rng=5, maxiter=ITERATIONS)
    np.testing.assert_allclose(result.x, course[-1][1], rtol=1e-9)


@pytest.mark.parametrize("p", [0.05, 0.4, 0.6])
def test_follows_the_pseudo_code_for_any_success_probability(p):
    f, x0 = reference_problems.make("exp", 20, L)
    normals = np.random.default_rng(5).standard_normal((ITERATIONS, 20))
    course = reference.rp(f, x0, 1.0, normals, p=p)
    result = pursuit.minimize(
        pursuit.problems.exp(20, L), x0, method="rp", rng=5, maxiter=ITERATIONS, options={"p": p}
    )
    np.testing.assert_allclose(result.x, course[-1][1], rtol=1e-9)
    np.testing.assert_allclose(result.sigma, course[-1][2], rtol=1e-9)
