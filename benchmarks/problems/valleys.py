"""Classical test functions: curved valleys, chains, separable ones and quadratics.

Most formulas are those of Moré, Garbow and Hillstrom (ACM Transactions on Mathematical Software 7, 1981) and
of the collection CUTEst; docstrings give the others. Indices in docstrings begin with 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.problems.problem import Problem, counted
from pursuit.checks import Vector

VALLEY, SEPARABLE, QUADRATIC, NONCONVEX = "valley", "separable", "quadratic", "nonconvex"


# --- chains and valleys ----------------------------------------------------------------------------


def chained_rosenbrock(n: int) -> Problem:
    """Rosenbrock's chain, sum 100 (x_{i+1} - x_i^2)^2 + (1 - x_i)^2, from 0, far from its local minimum."""

    def formula(x: Any) -> Any:
        return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)

    return Problem("chained Rosenbrock", VALLEY, formula, np.zeros(n), 0.0)


def paired_rosenbrock(n: int) -> Problem:
    """Rosenbrock's function of n/2 pairs of variables, from (-1.2, 1)."""

    def formula(x: Any) -> Any:
        return np.sum(100.0 * (x[1::2] - x[::2] ** 2) ** 2 + (1.0 - x[::2]) ** 2)

    return Problem("paired Rosenbrock", VALLEY, formula, np.tile([-1.2, 1.0], n // 2), 0.0)


def cubic_valley(n: int) -> Problem:
    """Sum 10 (x_{i+1} - x_i^3)^2, plus (x_1 - 1)^2, from 0.5."""

    def formula(x: Any) -> Any:
        return (x[0] - 1.0) ** 2 + 10.0 * np.sum((x[1:] - x[:-1] ** 3) ** 2)

    return Problem("cubic valley", VALLEY, formula, np.full(n, 0.5), 0.0)


def powell_singular(n: int) -> Problem:
    """Powell's function of fours of variables, whose Hessian is singular at the minimum."""

    def formula(x: Any) -> Any:
        a, b, c, d = x[::4], x[1::4], x[2::4], x[3::4]
        return np.sum((a + 10 * b) ** 2 + 5 * (c - d) ** 2 + (b - 2 * c) ** 4 + 10 * (a - d) ** 4)

    return Problem("Powell singular", VALLEY, formula, np.tile([3.0, -1.0, 0.0, 1.0], n // 4), 0.0)


def wood(n: int) -> Problem:
    """Wood's function of fours of variables."""

    def formula(x: Any) -> Any:
        a, b, c, d = x[::4], x[1::4], x[2::4], x[3::4]
        return np.sum(
            100 * (b - a**2) ** 2 + (1 - a) ** 2 + 90 * (d - c**2) ** 2 + (1 - c) ** 2
            + 10 * (b + d - 2) ** 2 + 0.1 * (b - d) ** 2
        )  # fmt: skip

    return Problem("Wood", VALLEY, formula, np.tile([-3.0, -1.0, -3.0, -1.0], n // 4), 0.0)


def brown(n: int) -> Problem:
    """Brown's chain, sum (x_i^2)^(x_{i+1}^2 + 1) + (x_{i+1}^2)^(x_i^2 + 1), from (-1, 1)."""

    def formula(x: Any) -> Any:
        a, b = x[:-1] ** 2, x[1:] ** 2
        return np.sum(a ** (b + 1.0) + b ** (a + 1.0))

    return Problem("Brown", VALLEY, formula, np.resize([-1.0, 1.0], n), 0.0)


def broyden_tridiagonal(n: int) -> Problem:
    """Sum the squares of Broyden's equations (3 - 2 x_i) x_i - x_{i-1} - 2 x_{i+1} + 1 = 0, from -1."""

    def formula(x: Any) -> Any:
        residual = (3.0 - 2.0 * x) * x + 1.0
        residual[1:] -= x[:-1]
        residual[:-1] -= 2.0 * x[1:]
        return np.sum(residual**2)

    return Problem("Broyden tridiagonal", VALLEY, formula, np.full(n, -1.0), 0.0)


def broyden_banded(n: int) -> Problem:
    """Broyden's banded equations x_i (2 + 5 x_i^2) + 1 - sum x_j (1 + x_j), i - 5 <= j <= i + 1, j != i."""

    def formula(x: Any) -> Any:
        residual, neighbour = x * (2.0 + 5.0 * x**2) + 1.0, x * (1.0 + x)
        residual[:-1] -= neighbour[1:]
        for distance in range(1, min(6, n)):
            residual[distance:] -= neighbour[:-distance]
        return np.sum(residual**2)

    return Problem("Broyden banded", VALLEY, formula, np.full(n, -1.0), 0.0)


def dixon_price(n: int) -> Problem:
    """Dixon's and Price's function, (x_1 - 1)^2 + sum i (2 x_i^2 - x_{i-1})^2, i >= 2, from 1."""
    weights = np.arange(2.0, n + 1.0)

    def formula(x: Any) -> Any:
        return (x[0] - 1.0) ** 2 + np.sum(weights * (2.0 * x[1:] ** 2 - x[:-1]) ** 2)

    return Problem("Dixon-Price", VALLEY, formula, np.ones(n), 0.0)


def cragg_levy(n: int) -> Problem:
    """Cragg's and Levy's chain of fours of variables (CUTEst's CRAGGLVY)."""

    def formula(x: Any) -> Any:
        a, b, c, d = x[:-3:2], x[1:-2:2], x[2:-1:2], x[3::2]
        u = c - d
        return np.sum((np.exp(a) - b) ** 4 + 100 * (b - c) ** 6 + (np.tan(u) + u) ** 4 + a**8 + (d - 1) ** 2)

    x0 = np.full(n, 2.0)
    x0[0] = 1.0
    return Problem("Cragg-Levy", VALLEY, formula, x0)


def boundary_value(n: int) -> Problem:
    """Sum the squares of a discrete boundary value problem, divided by h^2: a condition number like n^4."""
    h = 1.0 / (n + 1.0)
    t = h * counted(n)

    def formula(x: Any) -> Any:
        residual = 2.0 * x + 0.5 * h**2 * (x + t + 1.0) ** 3
        residual[1:] -= x[:-1]
        residual[:-1] -= x[1:]
        return np.sum(residual**2) / h**2

    return Problem("boundary value", VALLEY, formula, t * (t - 1.0), 0.0)


def integral_equation(n: int) -> Problem:
    """Sum the squares of a discrete integral equation, in which every equation has all variables."""
    h = 1.0 / (n + 1.0)
    t = h * counted(n)

    def formula(x: Any) -> Any:
        cube = (x + t + 1.0) ** 3
        low, high = np.cumsum(t * cube), np.cumsum(((1.0 - t) * cube)[::-1])[::-1]
        above = np.concatenate([high[1:], [0.0]])
        return np.sum((x + 0.5 * h * ((1.0 - t) * low + t * above)) ** 2)

    return Problem("integral equation", VALLEY, formula, t * (t - 1.0), 0.0)


def liarwhd(n: int) -> Problem:
    """CUTEst's LIARWHD, sum 4 (x_i^2 - x_1)^2 + (x_i - 1)^2, from 4."""

    def formula(x: Any) -> Any:
        return np.sum(4.0 * (x**2 - x[0]) ** 2 + (x - 1.0) ** 2)

    return Problem("LIARWHD", VALLEY, formula, np.full(n, 4.0), 0.0)


def arwhead(n: int) -> Problem:
    """CUTEst's ARWHEAD, sum (x_i^2 + x_n^2)^2 - 4 x_i + 3, i < n, from 1."""

    def formula(x: Any) -> Any:
        return np.sum((x[:-1] ** 2 + x[-1] ** 2) ** 2 - 4.0 * x[:-1] + 3.0)

    return Problem("ARWHEAD", VALLEY, formula, np.ones(n), 0.0)


def engval(n: int) -> Problem:
    """CUTEst's ENGVAL1, sum (x_i^2 + x_{i+1}^2)^2 - 4 x_i + 3, i < n, from 2."""

    def formula(x: Any) -> Any:
        return np.sum((x[:-1] ** 2 + x[1:] ** 2) ** 2 - 4.0 * x[:-1] + 3.0)

    def gradient(x: Vector) -> Vector:
        squares = x[:-1] ** 2 + x[1:] ** 2
        slopes = np.zeros(n)
        slopes[:-1] += 4.0 * squares * x[:-1] - 4.0
        slopes[1:] += 4.0 * squares * x[1:]
        return slopes

    return Problem("ENGVAL1", VALLEY, formula, np.full(n, 2.0), gradient=gradient)


def variably_dimensioned(n: int) -> Problem:
    """Sum (x_i - 1)^2 + s^2 + s^4, s = sum i (x_i - 1), from 1 - i/n."""
    weights = counted(n)

    def formula(x: Any) -> Any:
        s = weights @ (x - 1.0)
        return np.sum((x - 1.0) ** 2) + s**2 + s**4

    return Problem("variably dimensioned", VALLEY, formula, 1.0 - weights / n, 0.0)


def trigonometric(n: int) -> Problem:
    """Sum (n - sum cos x_j + i (1 - cos x_i) - sin x_i)^2, from 1/n; it has local minima."""
    weights = counted(n)

    def formula(x: Any) -> Any:
        cosines = np.cos(x)
        return np.sum((n - np.sum(cosines) + weights * (1.0 - cosines) - np.sin(x)) ** 2)

    return Problem("trigonometric", NONCONVEX, formula, np.full(n, 1.0 / n), 0.0)


def cosines(n: int) -> Problem:
    """CUTEst's COSINE, sum cos(x_i^2 - x_{i+1}/2), from 1."""

    def formula(x: Any) -> Any:
        return np.sum(np.cos(x[:-1] ** 2 - 0.5 * x[1:]))

    return Problem("COSINE", NONCONVEX, formula, np.ones(n), 1.0 - n)


# --- separable -------------------------------------------------------------------------------------


def exponentials(n: int) -> Problem:
    """Raydan's sum (i/10)(exp(x_i) - x_i), from 1."""
    weights = counted(n) / 10.0

    def formula(x: Any) -> Any:
        return np.sum(weights * (np.exp(x) - x))

    return Problem("exponentials", SEPARABLE, formula, np.ones(n), float(np.sum(weights)))


def quartics(n: int) -> Problem:
    """Sum (x_i - i/n)^4 + 0.01 i (x_i - i/n)^2, from 2."""
    weights = counted(n)

    def formula(x: Any) -> Any:
        away = x - weights / n
        return np.sum(away**4 + 0.01 * weights * away**2)

    return Problem("quartics", SEPARABLE, formula, np.full(n, 2.0), 0.0)


def soft_absolutes(n: int) -> Problem:
    """Sum s_i (sqrt(1 + x_i^2) - 1) with s_i from 1 to 1e4, from 3: |x_i| far away, a parabola near 0."""
    scales = 10.0 ** np.linspace(0.0, 4.0, n)

    def formula(x: Any) -> Any:
        return np.sum(scales * (x**2 / (np.sqrt(1.0 + x**2) + 1.0)))

    return Problem("soft absolutes", SEPARABLE, formula, np.full(n, 3.0), 0.0)


def double_wells(n: int) -> Problem:
    """Sum (x_i^2 - 1)^2 + 0.3 x_i, from -0.2, each variable with two minima of which the deeper is nearer."""

    def formula(x: Any) -> Any:
        return np.sum((x**2 - 1.0) ** 2 + 0.3 * x)

    # The smallest root of the derivative, 4 x^3 - 4 x + 0.3.
    lowest = min(np.roots([4.0, 0.0, -4.0, 0.3]).real)
    return Problem(
        "double wells", NONCONVEX, formula, np.full(n, -0.2), n * float(formula(np.array([lowest])))
    )


# --- quadratics ------------------------------------------------------------------------------------


def spread_quadratic(n: int, condition: float) -> Problem:
    """Sum a_i x_i^2/2 with eigenvalues a_i evenly spread on a logarithmic scale, from 1."""
    spectrum = condition ** np.linspace(0.0, 1.0, n)

    def formula(x: Any) -> Any:
        return 0.5 * np.sum(spectrum * x**2)

    return Problem(f"quadratic {condition:g}", QUADRATIC, formula, np.ones(n), 0.0)


def linear_quadratic(n: int, condition: float) -> Problem:
    """Sum a_i x_i^2/2 with eigenvalues a_i evenly spread from 1 to the condition number, from 1."""
    spectrum = np.linspace(1.0, condition, n)

    def formula(x: Any) -> Any:
        return 0.5 * np.sum(spectrum * x**2)

    return Problem(f"linear quadratic {condition:g}", QUADRATIC, formula, np.ones(n), 0.0)


def chained_quadratic(n: int) -> Problem:
    """CUTEst's TRIDIA, (x_1 - 1)^2 + sum i (2 x_i - x_{i-1})^2, i >= 2, from 1."""
    weights = np.arange(2.0, n + 1.0)

    def formula(x: Any) -> Any:
        return (x[0] - 1.0) ** 2 + np.sum(weights * (2.0 * x[1:] - x[:-1]) ** 2)

    return Problem("TRIDIA", QUADRATIC, formula, np.ones(n), 0.0)
