"""The quadratics of the paper's Table 1: f(x) = 1/2 sum_i a_i x_i^2, spectrum a from 1 to L."""

from __future__ import annotations

from decimal import Context, Decimal
from typing import ClassVar, NamedTuple

import numpy as np

from pursuit.checks import Vector, checked_count, checked_memory, checked_number, shown
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
def _value(team, problem, x):
    return 0.5 * _sum_of_squares(team, x.shape[0], problem.spectrum, x)


@line_minimizer.register(Quadratic)
def _line_minimizer(team, problem, x, u):
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
