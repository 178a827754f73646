"""The schemes that accelerate by themselves."""

import numpy as np
import pytest

import pursuit
from helpers import make_problem
from reference import auto as reference
from reference import problems as reference_problems

COURSES = {"auto": reference.auto, "auto-values": reference.auto_values}


@pytest.mark.parametrize("n", [2, 3, 20])
@pytest.mark.parametrize("problem_name", ["exp", "lin", "two", "rosenbrock"])
@pytest.mark.parametrize("method", COURSES)
def test_follows_its_pseudo_code(method, problem_name, n):
    iterations = 400 if method == "auto" else 100
    f, x0 = reference_problems.make(problem_name, n, 1e4)
    course = COURSES[method](f, x0, 1.0, np.random.default_rng(n).standard_normal((iterations, n)))
    problem = make_problem(problem_name, n, 1e4)
    result = pursuit.minimize(problem, x0, method=method, rng=n, maxiter=iterations, trace=True)
    here = np.array([value for value, _, _ in course])
    # Besides f(y) the trace has the best value seen, which is that of a trial.
    iterates = result.trace.fun[1:-1] != result.fun
    nit = result.trace.nit[1:-1][iterates]
    np.testing.assert_allclose(result.trace.fun[1:-1][iterates], here[nit - 1], rtol=1e-6)
    np.testing.assert_allclose(result.fun, course[result.nit - 1][1], rtol=1e-6)
    np.testing.assert_allclose(result.sigma, course[result.nit - 1][2], rtol=1e-6)
