"""The functions of the paper: the quadratics of its Table 1, and Rosenbrock's function.

f(x) = 1/2 sum_i a_i x_i^2, with a spectrum a from 1 to L, started at (1, ..., 1)
f(x) = sum_{i<n} 100 (x_i^2 - x_{i+1})^2 + (x_i - 1)^2, started at 0
"""

from __future__ import annotations

import math
from decimal import Context, Decimal
from typing import ClassVar, NamedTuple

import numpy as np

from pursuit.checks import Vector, checked_count, checked_memory, checked_number, shown
from pursuit.compiling.jit import compilable
from pursuit.compiling.vectors import summed
from pursuit.problems.contract import ProblemBase, line_minimizer, value

# How many arrays of n numbers there are while a spectrum is computed.
_ARRAYS = 2
# More digits than a float has, whatever decimal context the caller has set.
_DECIMALS = Context(prec=30)


class _Spectrum(NamedTuple):
    spectrum: Vector


class Quadratic(_Spectrum, ProblemBase):
    """The quadratic 1/2 sum_i a_i x_i^2 with the spectrum a, started at (1, ..., 1); the minimiser is 0."""

    __slots__ = ()
    constants: ClassVar[tuple[str, ...]] = ("spectrum",)

    @property
    def n(self) -> int:
        """The number of variables."""
        return self.spectrum.size

    @property
    def m(self) -> float:
        """The smallest eigenvalue."""
        return float(self.spectrum.min())

    @property
    def L(self) -> float:  # noqa: N802 (the paper's name)
        """The largest eigenvalue."""
        return float(self.spectrum.max())


@summed
def _sum_of_squares(i, a, x):
    return a[i] * x[i] * x[i]


@summed
def _sum_of_products(i, a, x, u):
    return a[i] * x[i] * u[i]


@value.register(Quadratic)
def _quadratic_value(team, problem, x):
    return 0.5 * _sum_of_squares(team, x.shape[0], problem.spectrum, x)


@line_minimizer.register(Quadratic)
def _quadratic_minimizer(team, problem, x, u):
    slope = _sum_of_products(team, x.shape[0], problem.spectrum, x, u)
    curvature = _sum_of_squares(team, x.shape[0], problem.spectrum, u)
    return -slope / curvature if curvature > 0.0 else 0.0


def exp(n: int, L: float) -> Quadratic:  # noqa: N803 (the paper's name)
    """Return the quadratic whose eigenvalues L^((i-1)/(n-1)) are spaced evenly on a log scale.

    Parameters
    ----------
    n : int
        The number of variables, at least 2.
    L : float
        The largest eigenvalue, at least 1; the smallest is 1.

    Examples
    --------
    >>> import pursuit
    >>> problem = pursuit.problems.exp(3, 100.0)
    >>> problem.spectrum
    array([  1.,  10., 100.])
    >>> problem([1.0, 1.0, 1.0])
    55.5
    """
    n, top = _checked(n, L)
    return Quadratic(_log_spaced(n, top))


def lin(n: int, L: float) -> Quadratic:  # noqa: N803 (the paper's name)
    """Return the quadratic whose eigenvalues 1 + (i-1)(L-1)/(n-1) are spaced evenly.

    The paper prints i for (i-1), which would move the spectrum off [1, L].

    Parameters
    ----------
    n : int
        The number of variables, at least 2.
    L : float
        The largest eigenvalue, at least 1; the smallest is 1.

    Examples
    --------
    >>> import pursuit
    >>> pursuit.problems.lin(3, 101.0).spectrum
    array([  1.,  51., 101.])
    """
    n, top = _checked(n, L)
    return Quadratic(np.linspace(1.0, top, n))


def two(n: int, L: float) -> Quadratic:  # noqa: N803 (the paper's name)
    """Return the quadratic with floor(n/2) eigenvalues 1 and the others L.

    The paper prints ceil(n/2) where the second sum begins, which for even n would count a coordinate
    twice.

    Parameters
    ----------
    n : int
        The number of variables, at least 2.
    L : float
        The larger eigenvalue, at least 1.

    Examples
    --------
    >>> import pursuit
    >>> pursuit.problems.two(5, 100.0).spectrum
    array([  1.,   1., 100., 100., 100.])
    """
    n, top = _checked(n, L)
    return Quadratic(np.where(np.arange(n) < n // 2, 1.0, top))


def _log_spaced(n: int, top: float) -> Vector:
    """Return top^(i/(n-1)) for i = 0, ..., n-1.

    NumPy's powers of whole arrays have last digits that depend on the processor. These do not: the powers for
    i = 1, 2, 4, 8, ... are computed with decimals, and those in between are products of them.
    """
    powers = np.ones(n)
    known = 1
    while known < n:
        power = float(_DECIMALS.power(Decimal(top), _DECIMALS.divide(known, n - 1)))
        added = min(known, n - known)
        np.multiply(powers[:added], power, out=powers[known : known + added])
        known += added
    powers[-1] = top
    return np.minimum(powers, top, out=powers)


def _checked(n: int, top: float) -> tuple[int, float]:
    n, top = checked_count("n", n, at_least=2), checked_number("L", top, at_least=1.0)
    checked_memory(f"A quadratic of n={shown(n)} variables", _ARRAYS * n)
    return n, top


# --- Rosenbrock's function ------------------------------------------------------------------------


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
def _rosenbrock_value(team, problem, x):
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
def _rosenbrock_minimizer(team, problem, x, u):
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
