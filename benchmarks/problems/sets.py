"""The sets of problems: rules are chosen on some, and results reported on others.

They have no function in common, except that quadratics are in both, with other spectra and dimensions.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from benchmarks.problems import fitting, rough, valleys
from benchmarks.problems.problem import (
    Problem,
    badly_scaled,
    in_single_precision,
    rotated,
    rounded,
    with_additive_noise,
    with_relative_noise,
)

CHOOSING, REPORTING = "choosing", "reporting"
ROUGH_CHOOSING, ROUGH_REPORTING = "choosing-rough", "reporting-rough"
_SEED = 20140913


def _choosing_smooth() -> list[Problem]:
    return [
        fitting.decaying_exponentials(3), fitting.logistic_regression(20),
        fitting.logistic_regression(100), fitting.huber_regression(50), fitting.least_squares(40),
        fitting.network(2, 8), fitting.smoothing(1000), fitting.factorisation(20, 2),
        valleys.chained_rosenbrock(10), valleys.chained_rosenbrock(100), valleys.chained_rosenbrock(1000),
        rotated(valleys.chained_rosenbrock(50), _SEED), valleys.powell_singular(20), valleys.wood(100),
        valleys.broyden_tridiagonal(50), valleys.broyden_tridiagonal(10_000), valleys.dixon_price(25),
        valleys.boundary_value(30), valleys.liarwhd(200), valleys.trigonometric(5), valleys.cosines(100),
        valleys.exponentials(100), valleys.soft_absolutes(1000),
        rotated(valleys.spread_quadratic(100, 1e4), _SEED), badly_scaled(valleys.chained_rosenbrock(20)),
        badly_scaled(valleys.broyden_tridiagonal(100)), badly_scaled(fitting.logistic_regression(20)),
    ]  # fmt: skip


def _reporting_smooth() -> list[Problem]:
    return [
        fitting.poisson_regression(10), fitting.poisson_regression(60), fitting.softmax_regression(4, 20),
        fitting.student_regression(30), fitting.peaks(5), fitting.classifying_network(10),
        fitting.reaction(200), fitting.distances(15), valleys.paired_rosenbrock(6),
        valleys.paired_rosenbrock(1000), rotated(valleys.paired_rosenbrock(40), _SEED),
        valleys.cubic_valley(30), valleys.brown(100), rotated(valleys.brown(50), _SEED),
        valleys.broyden_banded(50), valleys.cragg_levy(40), valleys.integral_equation(30),
        valleys.arwhead(100), valleys.engval(10_000), valleys.engval(50), valleys.variably_dimensioned(20),
        valleys.double_wells(50), valleys.quartics(100), valleys.chained_quadratic(1000),
        rotated(valleys.linear_quadratic(200, 1e4), _SEED), badly_scaled(valleys.broyden_banded(20)),
        badly_scaled(valleys.chained_quadratic(100)), badly_scaled(fitting.poisson_regression(20)),
    ]  # fmt: skip


def _choosing_noisy() -> list[Problem]:
    return _with_noise(
        (rotated(valleys.spread_quadratic(100, 1e2), _SEED), 1e-2),
        (valleys.chained_rosenbrock(20), 1e-3),
        (fitting.logistic_regression(30), 1e-4),
    )


def _reporting_noisy() -> list[Problem]:
    return _with_noise(
        (rotated(valleys.linear_quadratic(50, 1e3), _SEED), 1e-1),
        (valleys.paired_rosenbrock(10), 1e-2),
        (fitting.poisson_regression(40), 1e-4),
    )


def _with_noise(*bases: tuple[Problem, float]) -> list[Problem]:
    found = []
    for problem, deviation in bases:
        digits = 4 if problem.kind == fitting.FITTING else 3
        found += [with_additive_noise(problem, deviation), with_relative_noise(problem, 1e-3)]
        found += [rounded(problem, digits), in_single_precision(problem)]
    return found


_SETS: dict[str, tuple[Callable[[], list[Problem]], ...]] = {
    CHOOSING: (_choosing_smooth, _choosing_noisy),
    REPORTING: (_reporting_smooth, _reporting_noisy),
    ROUGH_CHOOSING: (rough.choosing,),
    ROUGH_REPORTING: (rough.reporting,),
}
SETS = tuple(_SETS)


@functools.cache
def problems_of(name: str) -> tuple[Problem, ...]:
    """Return the problems of a set, those without noise first."""
    return tuple(problem for make in _SETS[name] for problem in make())


def problem_named(group: str, name: str, n: int) -> Problem:
    """Return a problem of a set by its name and its number of variables."""
    return next(one for one in problems_of(group) if (one.name, one.n) == (name, n))
