"""Rosenbrock's function, sum_{i<n} 100 (x_i^2 - x_{i+1})^2 + (x_i - 1)^2, started at 0."""

from __future__ import annotations

import math
from typing import ClassVar, NamedTuple

import numpy as np

from pursuit.checks import checked_count, checked_memory, shown
from pursuit.compiling.jit import compilable
from pursuit.compiling.vectors import summed
from pursuit.problems.contract import ProblemBase, line_minimizer, value


class _Dimension(NamedTuple):
    n: int


class Rosenbrock(_Dimension, ProblemBase):
    """Rosenbrock's function of n variables; the start is 0, since (1, ..., 1) is the minimiser."""

    __slots__ = ()
    start: ClassVar[float] = 0.0
    optimum: ClassVar[float] = 1.0

    @property
    def m(self) -> float:
        """The smallest eigenvalue of the Hessian at the minimiser."""
        return self._eigenvalue(0)

    @property
    def L(self) -> float:  # noqa: N802 (the paper's name)
        """The largest eigenvalue of the Hessian at the minimiser."""
        return self._eigenvalue(self.n - 1)

    def _eigenvalue(self, index: int) -> float:
        """Return one eigenvalue, by size, of the tridiagonal Hessian at the minimiser."""
        from scipy.linalg import eigvalsh_tridiagonal  # here, since few need it and it loads slowly

        diagonal = np.full(self.n, 1002.0)
        diagonal[0] = 802.0
        diagonal[-1] = 200.0
        beside = np.full(self.n - 1, -400.0)
        chosen = eigvalsh_tridiagonal(diagonal, beside, select="i", select_range=(index, index))
        return float(chosen[0])


@summed
def _sum_of_terms(i, x):
    valley = x[i] * x[i] - x[i + 1]
    along = x[i] - 1.0
    return 100.0 * valley * valley + along * along


@value.register(Rosenbrock)
def _value(team, problem, x):
    return _sum_of_terms(team, x.shape[0] - 1, x)


# On the line x + t u the i-th term is 100 (a + b t + c t^2)^2 + (x_i - 1 + t u_i)^2 with
# a = x_i^2 - x_{i+1}, b = 2 x_i u_i - u_{i+1}, c = u_i^2. The four sums below are the coefficients of
# t, t^2, t^3 and t^4 in the sum of all terms.


@summed
def _coefficient_1(i, x, u):
    a = x[i] * x[i] - x[i + 1]
    b = 2.0 * x[i] * u[i] - u[i + 1]
    return 200.0 * a * b + 2.0 * (x[i] - 1.0) * u[i]


@summed
def _coefficient_2(i, x, u):
    a = x[i] * x[i] - x[i + 1]
    b = 2.0 * x[i] * u[i] - u[i + 1]
    return 100.0 * (b * b + 2.0 * a * u[i] * u[i]) + u[i] * u[i]


@summed
def _coefficient_3(i, x, u):
    b = 2.0 * x[i] * u[i] - u[i + 1]
    return 200.0 * b * u[i] * u[i]


@summed
def _coefficient_4(i, x, u):
    return 100.0 * u[i] * u[i] * u[i] * u[i]


@line_minimizer.register(Rosenbrock)
def _line_minimizer(team, problem, x, u):
    terms = x.shape[0] - 1
    return _quartic_minimizer(
        _coefficient_1(team, terms, x, u),
        _coefficient_2(team, terms, x, u),
        _coefficient_3(team, terms, x, u),
        _coefficient_4(team, terms, x, u),
    )


@compilable
def _quartic_minimizer(c1, c2, c3, c4):
    """Return the global minimiser of c1 t + c2 t^2 + c3 t^3 + c4 t^4, which is bounded below."""
    if c4 <= 0.0:
        return -0.5 * c1 / c2 if c2 > 0.0 else 0.0
    # The derivative, made monic, and its depressed form s^3 + p s + q with t = s - shift.
    b2 = 0.75 * c3 / c4
    b1 = 0.5 * c2 / c4
    b0 = 0.25 * c1 / c4
    shift = b2 / 3.0
    p = b1 - b2 * shift
    q = (2.0 * shift * shift - b1) * shift + b0
    discriminant = 0.25 * q * q + p * p * p / 27.0
    if discriminant > 0.0:
        # One real root. Of the two cube roots the one without cancellation is taken.
        root = math.sqrt(discriminant)
        big = -0.5 * q - math.copysign(root, q)
        cube = math.copysign(abs(big) ** (1.0 / 3.0), big)
        other = -p / (3.0 * cube) if cube != 0.0 else 0.0
        return _polished(cube + other - shift, b2, b1, b0)
    # Three real roots: the outer two are the minima.
    radius = 2.0 * math.sqrt(max(-p / 3.0, 0.0))
    if radius == 0.0:
        return _polished(-shift, b2, b1, b0)
    cosine = 3.0 * q / (p * radius)
    angle = math.acos(min(1.0, max(-1.0, cosine))) / 3.0
    right = _polished(radius * math.cos(angle) - shift, b2, b1, b0)
    left = _polished(radius * math.cos(angle + 2.0 * math.pi / 3.0) - shift, b2, b1, b0)
    height_right = (((c4 * right + c3) * right + c2) * right + c1) * right
    height_left = (((c4 * left + c3) * left + c2) * left + c1) * left
    return left if height_left < height_right else right


@compilable
def _polished(t, b2, b1, b0):
    """Sharpen a root of t^3 + b2 t^2 + b1 t + b0 to working precision by Newton's method.

    Near the optimum the wanted root is tiny beside the coefficients, and the closed form alone would
    lose all its digits.
    """
    for _ in range(8):
        slope = (3.0 * t + 2.0 * b2) * t + b1
        if slope == 0.0:
            break
        change = (((t + b2) * t + b1) * t + b0) / slope
        if abs(change) > 0.5 * abs(t) + 1.0:
            break
        t -= change
        if abs(change) <= 1e-16 * abs(t):
            break
    return t


def rosenbrock(n: int) -> Rosenbrock:
    """Return Rosenbrock's function of n variables.

    Parameters
    ----------
    n : int
        The number of variables, at least 2.

    Examples
    --------
    >>> import pursuit
    >>> problem = pursuit.problems.rosenbrock(20)
    >>> problem(problem.x0), problem(problem.minimizer)
    (19.0, 0.0)
    >>> round(problem.m, 3), round(problem.L)
    (0.499, 1792)
    """
    n = checked_count("n", n, at_least=2)
    checked_memory(f"A point of n={shown(n)} variables", n)
    return Rosenbrock(n)
