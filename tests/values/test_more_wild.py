"""The set of Moré and Wild has the values at the starts, and the minima, that are published."""

import numpy as np
import pytest
from benchmarks.problems.more_wild import FUNCTIONS, PIECEWISE, SMOOTH, listed, load
from scipy.optimize import least_squares

# f at the start, and at the minimum to which the method of Levenberg and Marquardt descends from there.
PUBLISHED = {
    "linear full rank 9": (72.0, 36.0),
    "linear full rank 9 far": (1125.0, 36.0),
    "linear rank 1 7": (1.165420e7, 8.380281690143324),
    "linear rank 1 7 far": (1.168591e9, 8.380281690143324),
    "linear rank 1 zeros 7": (4.989195e6, 9.880597014926506),
    "linear rank 1 zeros 7 far": (5.009356e8, 9.880597014926506),
    "Rosenbrock 2": (24.2, 0.0),
    "Rosenbrock 2 far": (1.795769e6, 0.0),
    "helical valley 3": (2500.0, 0.0),
    "helical valley 3 far": (10600.0, 0.0),
    "Powell singular 4": (215.0, 0.0),
    "Powell singular 4 far": (1.615400e6, 0.0),
    "Freudenstein and Roth 2": (400.5, 48.984253679240013),
    "Freudenstein and Roth 2 far": (1.545754e8, 48.984253679240013),
    "Bard 3": (41.68170, 0.00821487730657897),
    "Bard 3 far": (1306.234, 17.42869337),
    "Kowalik and Osborne 4": (5.313172e-3, 0.00030750560384924),
    "Meyer 3": (1.693608e9, 87.945855170395831),
    "Watson 6": (16.43083, 0.00228767005355236),
    "Watson 6 far": (2.323367e6, 0.00228767005355236),
    "Watson 9": (26.90417, 1.399760e-6),
    "Watson 9 far": (8.158877e6, 1.399760e-6),
    "Watson 12": (73.67821, 4.722381e-10),
    "Watson 12 far": (2.059384e7, 4.722381e-10),
    "Box 3": (1031.154, 0.0),
    "Jennrich and Sampson 2": (4171.306, 124.3621823556148),
    "Brown and Dennis 4": (7.926693e6, 85822.20162635),
    "Brown and Dennis 4 far": (3.081064e11, 85822.20162635),
    "Chebyquad 6": (4.642817e-2, 0.0),
    "Chebyquad 7": (3.377064e-2, 0.0),
    "Chebyquad 8": (3.861770e-2, 0.003516873725677),
    "Chebyquad 9": (2.888298e-2, 0.0),
    "Chebyquad 10": (3.376327e-2, 6.50395e-3),
    "Chebyquad 11": (2.674060e-2, 0.00279976155186576),
    "Brown almost linear 10": (273.2480, 1.0),
    "Osborne 1 5": (16.17411, 0.00005464894697483),
    "Osborne 2 11": (2.093420, 0.0401377362935477),
    "Osborne 2 11 far": (199.6847, 1.78981),
    "BDQRTIC 8": (904.0, 10.2389734213174),
    "BDQRTIC 10": (1356.0, 18.28116175359353),
    "BDQRTIC 11": (1582.0, 22.260591734883817),
    "BDQRTIC 12": (1808.0, 26.2727663967939),
    "Cube 5": (56.5, 0.0),
    "Cube 6": (70.5625, 0.0),
    "Cube 8": (98.6875, 0.0),
    "Mancino 5": (2.539084e9, 0.0),
    "Mancino 5 far": (6.873795e12, 0.0),
    "Mancino 8": (3.367961e9, 0.0),
    "Mancino 10": (3.735127e9, 0.0),
    "Mancino 12": (3.991072e9, 0.0),
    "Mancino 12 far": (1.130015e13, 0.0),
    "Heart 8": (9.385672, 0.0),
    "Heart 8 far": (3.365815e10, 0.0),
}


def residuals_of(name):
    return FUNCTIONS[name.removesuffix(" far").rpartition(" ")[0]][0]


def test_there_are_22_functions_and_53_problems_of_each_kind():
    assert len(FUNCTIONS) == 22
    assert {one.name for one in listed(SMOOTH)} == set(PUBLISHED)
    assert [one.name for one in listed(PIECEWISE)] == [f"|{one.name}|" for one in listed(SMOOTH)]


@pytest.mark.parametrize("name", PUBLISHED)
def test_values_at_the_start_and_the_minimum_are_the_published_ones(name):
    problem, residuals = load(name), residuals_of(name)
    start, minimum = PUBLISHED[name]
    assert problem.fun(problem.x0) == pytest.approx(start, rel=1e-6)
    with np.errstate(over="ignore"):
        found = least_squares(
            residuals, problem.x0, method="lm", x_scale="jac", xtol=1e-15, ftol=1e-15, gtol=1e-15
        ).x
    # Sums that are published as 0 were rounded to it.
    assert problem.fun(found) == pytest.approx(minimum, rel=1e-3, abs=1e-13 * start)


def test_absolute_values_are_of_positive_variables_where_others_overflow():
    for name in ("Cube 5", "Bard 3"):
        problem, residuals = load(f"|{name}|"), residuals_of(name)
        x = np.linspace(-1.0, 2.0, problem.n)
        inner = np.maximum(x, 0.0) if name.startswith("Bard") else x
        assert problem.fun(x) == np.abs(residuals(inner)).sum()
