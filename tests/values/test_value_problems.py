"""The problems are what their docstrings say, and their minima are minima."""

import numpy as np
import pytest
import scipy.optimize
from benchmarks.problems import fitting, valleys
from benchmarks.problems.minima import gradient_of, minimizer_of, minimum_of
from benchmarks.problems.problem import (
    badly_scaled,
    in_single_precision,
    rotated,
    rounded,
    with_additive_noise,
    with_relative_noise,
)
from benchmarks.problems.sets import (
    CHOOSING,
    REPORTING,
    ROUGH_CHOOSING,
    ROUGH_REPORTING,
    problem_named,
    problems_of,
)

SETS = (CHOOSING, REPORTING)
ROUGH = [one for group in (ROUGH_CHOOSING, ROUGH_REPORTING) for one in problems_of(group)]
SMOOTH = [one for group in SETS for one in problems_of(group) if one.noise is None]
IDS = [f"{one.name}-{one.n}" for one in SMOOTH]
ONES, ZEROS = np.ones, np.zeros


def broyden_solution(n):
    """Return where Broyden's tridiagonal equations are solved, by Newton's method."""
    x = -np.ones(n)
    for _ in range(20):
        residual = (3.0 - 2.0 * x) * x + 1.0
        residual[1:] -= x[:-1]
        residual[:-1] -= 2.0 * x[1:]
        jacobian = np.diag(3.0 - 4.0 * x) - np.eye(n, k=-1) - 2.0 * np.eye(n, k=1)
        x = x - np.linalg.solve(jacobian, residual)
    return x


# Where the minimum is known, at a small n.
SOLUTIONS = [
    (valleys.chained_rosenbrock(8), ONES(8)),
    (valleys.paired_rosenbrock(8), ONES(8)),
    (valleys.cubic_valley(8), ONES(8)),
    (valleys.powell_singular(8), ZEROS(8)),
    (valleys.wood(8), ONES(8)),
    (valleys.brown(8), ZEROS(8)),
    (valleys.broyden_tridiagonal(8), broyden_solution(8)),
    (valleys.dixon_price(8), 2.0 ** (2.0 ** (1 - np.arange(1.0, 9.0)) - 1.0)),
    (valleys.liarwhd(8), ONES(8)),
    (valleys.arwhead(8), np.append(ONES(7), 0.0)),
    (valleys.variably_dimensioned(8), ONES(8)),
    (valleys.trigonometric(8), ZEROS(8)),
    (valleys.exponentials(8), ZEROS(8)),
    (valleys.quartics(8), np.arange(1.0, 9.0) / 8.0),
    (valleys.soft_absolutes(8), ZEROS(8)),
    (valleys.spread_quadratic(8, 1e4), ZEROS(8)),
    (valleys.linear_quadratic(8, 1e4), ZEROS(8)),
    (valleys.chained_quadratic(8), 2.0 ** -np.arange(8.0)),
    (fitting.decaying_exponentials(3), np.array([1.0, 1.5, 2.0, 0.3, 0.9, 2.7])),
]


@pytest.mark.parametrize(("problem", "solution"), SOLUTIONS, ids=[one.name for one, _ in SOLUTIONS])
def test_the_known_solution_has_the_smallest_value_and_no_slope(problem, solution):
    assert problem.true_value(solution) == pytest.approx(problem.minimum, abs=1e-20)
    assert np.abs(gradient_of(problem, solution)).max() < 1e-8
    rng = np.random.default_rng(1)
    around = [problem.true_value(solution + 1e-3 * rng.standard_normal(problem.n)) for _ in range(20)]
    assert min(around) > problem.minimum


# One of each function whose minimum is computed or whose solution has no formula, with few variables.
FOUND = [
    fitting.logistic_regression(8),
    fitting.huber_regression(8),
    fitting.student_regression(8)._replace(starts=2),
    fitting.poisson_regression(8),
    fitting.least_squares(8),
    fitting.softmax_regression(3, 3),
    fitting.peaks(2),
    fitting.smoothing(8),
    fitting.reaction(8),
    fitting.network(1, 2)._replace(starts=2),
    fitting.classifying_network(2)._replace(starts=2),
    valleys.engval(8),
    valleys.cragg_levy(8),
    valleys.boundary_value(8),
    valleys.integral_equation(8),
    valleys.broyden_banded(8),
    valleys.double_wells(8),
]


@pytest.mark.parametrize("problem", FOUND, ids=lambda one: one.name)
def test_a_computed_minimum_is_one(problem):
    found = minimizer_of(problem)
    height = problem.f0 - problem.true_value(found)
    slopes = gradient_of(problem, found)
    h = 1e-5
    hessian = np.array([gradient_of(problem, found + h * unit) - slopes for unit in np.eye(problem.n)]) / h
    eigenvalues, vectors = np.linalg.eigh(0.5 * (hessian + hessian.T))
    assert eigenvalues.min() > 0.0
    # What a step of Newton's method would gain.
    assert 0.5 * np.sum((vectors.T @ slopes) ** 2 / eigenvalues) < 1e-11 * height
    assert abs(problem.true_value(found) - minimum_of(problem)) < 1e-11 * height


def test_minima_with_many_variables_cannot_be_improved():
    for problem in (fitting.smoothing(1000), valleys.engval(10_000), fitting.reaction(200)):
        found = minimizer_of(problem)
        again = scipy.optimize.minimize(
            problem.true_value,
            found,
            jac=problem.gradient,
            method="CG",
            options={"gtol": 0.0, "maxiter": 100},
        )
        gain = problem.true_value(found) - again.fun
        assert gain < 1e-11 * (problem.f0 - again.fun)


@pytest.mark.parametrize(
    "problem", [one for one in SMOOTH if one.n <= 1000], ids=lambda one: f"{one.name}-{one.n}"
)
def test_gradients_agree_with_differences(problem):
    rng = np.random.default_rng(2)
    # Steps in the units of each variable.
    scales = (
        1e6 ** (-np.arange(problem.n) / problem.n) if problem.kind == "badly scaled" else np.ones(problem.n)
    )
    x = problem.x0 + 0.1 * scales * rng.standard_normal(problem.n)
    along = scales * rng.standard_normal(problem.n)
    along /= np.linalg.norm(along / scales)
    h = 1e-5
    slope = (problem.true_value(x + h * along) - problem.true_value(x - h * along)) / (2 * h)
    assert slope == pytest.approx(
        gradient_of(problem, x) @ along, rel=1e-5, abs=1e-6 * abs(problem.true_value(x))
    )


def test_gradients_that_are_written_out_agree_with_complex_steps():
    for problem in (valleys.engval(7), fitting.smoothing(7), fitting.reaction(7)):
        x = problem.x0 + np.random.default_rng(3).standard_normal(7)
        exact = gradient_of(problem._replace(gradient=None), x)
        assert gradient_of(problem, x) == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("problem", SMOOTH, ids=IDS)
def test_a_value_is_a_finite_number_above_the_minimum(problem):
    assert isinstance(problem.f0, float)
    assert np.isfinite(problem.f0)
    if problem.minimum is not None:
        assert problem.f0 > problem.minimum


@pytest.mark.parametrize("problem", ROUGH, ids=[one.name for one in ROUGH])
def test_rough_functions_have_the_minimum_0(problem):
    # Where that is: at 1 for those made of Rosenbrock's function, else at 0. Rotations have no inverse here.
    solution = np.ones(problem.n) if "Rosenbrock" in problem.name else np.zeros(problem.n)
    if "rotated" not in problem.name or not solution.any():
        assert problem.true_value(solution) == pytest.approx(0.0, abs=1e-14)
    rng = np.random.default_rng(1)
    assert all(problem.true_value(problem.x0 + rng.standard_normal(problem.n)) >= 0.0 for _ in range(50))
    assert problem.f0 > 0.0


def test_the_rough_sets_have_no_function_in_common():
    names = [{one.name for one in problems_of(group)} for group in (ROUGH_CHOOSING, ROUGH_REPORTING)]
    assert not names[0] & names[1]


def test_the_sets_have_no_function_in_common_and_all_kinds():
    names = {group: {one.name for one in problems_of(group)} for group in SETS}
    assert not names[CHOOSING] & names[REPORTING]
    for group in SETS:
        problems = problems_of(group)
        assert len({(one.name, one.n) for one in problems}) == len(problems)
        assert min(one.n for one in problems) <= 6
        assert max(one.n for one in problems) == 10_000
        assert sum(one.noise is None for one in problems) >= 25
        assert sum(one.noise is not None for one in problems) == 12
        kinds = {one.kind.split(":")[0] for one in problems}
        assert kinds >= {"fitting", "valley", "separable", "badly scaled", "nonconvex", "noisy"}
    assert problem_named(CHOOSING, "Wood", 100).n == 100


def test_rotation_and_scaling_keep_the_values():
    base = valleys.chained_rosenbrock(6)
    for made in (rotated(base, 1), badly_scaled(base)):
        assert made.f0 == pytest.approx(base.f0, rel=1e-12)
        assert minimum_of(made) == 0.0
    scales = 10.0 ** (6.0 * np.arange(6) / 6)
    assert badly_scaled(base).true_value(1.0 / scales) == pytest.approx(0.0, abs=1e-20)
    unit = valleys.spread_quadratic(6, 1.0)
    x = np.random.default_rng(4).standard_normal(6)
    assert rotated(unit, 1).true_value(x) == pytest.approx(unit.true_value(x))


def test_a_rotation_hides_the_curvatures_along_the_axes():
    problem = rotated(valleys.linear_quadratic(50, 1e3), 1)
    curvatures = [problem.true_value(unit) for unit in np.eye(50)]
    assert max(curvatures) < 4.0 * min(curvatures)


def test_noise_is_of_four_kinds_and_follows_the_seed():
    base = valleys.chained_rosenbrock(6)
    for made in (with_additive_noise(base, 0.1), with_relative_noise(base, 0.1)):
        one, same, other = ([made.observer(seed)(2.0) for _ in range(1)] for seed in (1, 1, 2))
        assert one == same != other
        see = made.observer(1)
        seen = np.array([see(2.0) for _ in range(2000)])
        assert seen.mean() == pytest.approx(2.0, abs=0.03)
        assert seen.std() == pytest.approx(0.1 if "additive" in made.name else 0.2, rel=0.1)
        assert made.true_value(made.x0) == base.f0
    assert rounded(base, 3).observer(1)(1.23456e-7) == 1.23e-7
    assert in_single_precision(base).observer(1)(0.1) == float(np.float32(0.1))
    assert base.observer(1) is None


def test_what_is_not_a_number_is_infinite():
    broken = valleys.chained_rosenbrock(3)._replace(formula=lambda x: np.log(x[0]))
    assert broken.true_value(-np.ones(3)) == np.inf
