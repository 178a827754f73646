"""Functions whose values do not follow slopes and curvatures: kinks, steps, distortions, many valleys.

All have the smallest value 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.problems.problem import Problem, rotated, with_relative_noise
from benchmarks.problems.valleys import chained_rosenbrock, paired_rosenbrock, spread_quadratic

KINKS, STEPS, DISTORTED, VALLEYS = "kinks", "steps", "distorted", "many valleys"
_SEED = 20140913
# The noise of a value, as a part of it.
_LOUD = 0.1


def weighted_absolutes(n: int) -> Problem:
    """Sum a_i |x_i|, a_i from 1 to 100, from 1."""
    weights = 100.0 ** (np.arange(n) / (n - 1))
    return Problem("weighted absolutes", KINKS, lambda x: np.sum(weights * np.abs(x)), np.ones(n), 0.0)


def absolutes(n: int) -> Problem:
    """Sum |x_i|, from 1."""
    return Problem("absolutes", KINKS, lambda x: np.sum(np.abs(x)), np.ones(n), 0.0)


def maximum(n: int) -> Problem:
    """Max |x_i|, from 1, 2, ..., n."""
    return Problem("maximum", KINKS, lambda x: np.max(np.abs(x)), np.arange(1.0, n + 1.0), 0.0)


def absolute_differences(n: int) -> Problem:
    """|x_1| + sum |x_{i+1} - x_i|, from points that rise and fall."""
    start = np.sin(np.arange(1.0, n + 1.0))
    return Problem(
        "absolute differences", KINKS, lambda x: np.abs(x[0]) + np.sum(np.abs(np.diff(x))), start, 0.0
    )


def rough_norm(n: int) -> Problem:
    """Sum |x_i|^1.5, from 2."""
    return Problem("rough norm", KINKS, lambda x: np.sum(np.abs(x) ** 1.5), np.full(n, 2.0), 0.0)


def largest_square(n: int) -> Problem:
    """Max i x_i^2, from 1."""
    weights = np.arange(1.0, n + 1.0)
    return Problem("largest square", KINKS, lambda x: np.max(weights * x * x), np.ones(n), 0.0)


def plateaus(n: int) -> Problem:
    """Sum floor(10 |x_i|), from 3: flat but for jumps."""
    return Problem("plateaus", STEPS, lambda x: np.sum(np.floor(10.0 * np.abs(x))), np.full(n, 3.0), 0.0)


def in_steps(problem: Problem, height: float) -> Problem:
    """Return a problem whose values are rounded down to multiples of a height."""

    def formula(x: Any) -> Any:
        return height * np.floor(problem.formula(x) / height)

    return problem._replace(name=f"{problem.name}, in steps", kind=STEPS, formula=formula, gradient=None)


def _distorted(problem: Problem, word: str, distort: Callable[[Any], Any]) -> Problem:
    return problem._replace(
        name=f"{problem.name}, {word}",
        kind=DISTORTED,
        formula=lambda x: distort(problem.formula(x)),
        gradient=None,
    )


def logarithm(problem: Problem) -> Problem:
    """Return log(1 + 1e4 f)."""
    return _distorted(problem, "logarithm", lambda f: np.log1p(1e4 * f))


def root(problem: Problem) -> Problem:
    """Return f^(1/4)."""
    return _distorted(problem, "root", lambda f: f**0.25)


def fourth_power(problem: Problem) -> Problem:
    """Return (f/f0)^4."""
    f0 = problem.f0
    return _distorted(problem, "fourth power", lambda f: (f / f0) ** 4)


def exponential(problem: Problem) -> Problem:
    """Return exp(10 f/f0) - 1."""
    f0 = problem.f0
    return _distorted(problem, "exponential", lambda f: np.expm1(10.0 * f / f0))


def rastrigin(n: int) -> Problem:
    """Sum x_i^2 + 3 (1 - cos(2 pi x_i)), from 2.2."""

    def formula(x: Any) -> Any:
        return np.sum(x * x + 3.0 * (1.0 - np.cos(2.0 * np.pi * x)))

    return Problem("Rastrigin", VALLEYS, formula, np.full(n, 2.2), 0.0)


def rough_cosines(n: int) -> Problem:
    """Sum 1 - cos(x_i^2 - x_{i+1}/2), from 1."""
    return Problem(
        "rough cosines", VALLEYS, lambda x: np.sum(1.0 - np.cos(x[:-1] ** 2 - 0.5 * x[1:])), np.ones(n), 0.0
    )


def ackley(n: int) -> Problem:
    """Ackley's function, from 3."""

    def formula(x: Any) -> Any:
        hill = np.exp(-0.2 * np.sqrt(np.mean(x * x)))
        return 20.0 * (1.0 - hill) + np.e - np.exp(np.mean(np.cos(2.0 * np.pi * x)))

    return Problem("Ackley", VALLEYS, formula, np.full(n, 3.0), 0.0)


def griewank(n: int) -> Problem:
    """Griewank's function, from 30."""

    def formula(x: Any) -> Any:
        return np.sum(x * x) / 4000.0 + 1.0 - np.prod(np.cos(x / np.sqrt(np.arange(1.0, x.size + 1.0))))

    return Problem("Griewank", VALLEYS, formula, np.full(n, 30.0), 0.0)


def choosing() -> list[Problem]:
    """Return the problems on which rules are chosen."""
    quadratic = rotated(spread_quadratic(50, 1e2), _SEED)
    return [
        weighted_absolutes(20), rotated(absolutes(40), _SEED), rotated(maximum(20), _SEED), plateaus(20),
        logarithm(quadratic), root(quadratic), rastrigin(10), rough_cosines(40),
        with_relative_noise(quadratic, _LOUD), with_relative_noise(chained_rosenbrock(10), _LOUD),
    ]  # fmt: skip


def reporting() -> list[Problem]:
    """Return the problems on which no rule was chosen."""
    return [
        absolute_differences(30), rotated(rough_norm(30), _SEED), rotated(largest_square(20), _SEED),
        in_steps(paired_rosenbrock(10), 0.1), fourth_power(paired_rosenbrock(20)),
        exponential(rotated(paired_rosenbrock(20), _SEED)), ackley(20), griewank(20),
        with_relative_noise(rotated(paired_rosenbrock(20), _SEED), _LOUD),
        with_relative_noise(largest_square(20), _LOUD),
    ]  # fmt: skip
