"""Problems that played no part in choosing the rules, for `report.toml`. All have the minimum 0."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numba
import numpy as np
import scipy.optimize
import scipy.special
from numpy.typing import NDArray

import pursuit
from pursuit.checks import Vector
from pursuit.problems import evaluate, value
from pursuit.problems.quadratic import Quadratic


def few(n: int, L: float) -> Quadratic:
    """Return the quadratic with three stiff directions among n."""
    spectrum = np.ones(n)
    spectrum[-3:] = L
    return Quadratic(spectrum)


def rotated_exp(n: int, L: float) -> Any:
    return pursuit.problems.rotated(pursuit.problems.exp(n, L), 1)


def rotated_lin(n: int, L: float) -> Any:
    return pursuit.problems.rotated(pursuit.problems.lin(n, L), 1)


def rotated_two(n: int, L: float) -> Any:
    return pursuit.problems.rotated(pursuit.problems.two(n, L), 1)


def rotated_rosenbrock(n: int) -> Any:
    return pursuit.problems.rotated(pursuit.problems.rosenbrock(n), 1)


# --- sums of functions of one variable -------------------------------------------------------------


class Separable(NamedTuple):
    """f(x) = sum_i g(sqrt(a_i) x_i), g one of the functions of one variable below."""

    spectrum: Vector
    kind: int

    @property
    def n(self) -> int:
        """The number of variables."""
        return self.spectrum.size

    @property
    def x0(self) -> Vector:
        """A new copy of the start, (1, ..., 1)."""
        return np.ones(self.n)

    @property
    def minimizer(self) -> Vector:
        """A new copy of the minimiser, 0."""
        return np.zeros(self.n)

    @property
    def m(self) -> float:
        """The smallest curvature at the minimum."""
        return float(self.spectrum.min())

    @property
    def L(self) -> float:
        """The largest curvature at the minimum."""
        return float(self.spectrum.max())

    def __call__(self, x: Any) -> float:
        """Return f(x)."""
        return evaluate(self, x)


_SMOOTHED_NORM, _BUMPY, _NOISY = range(3)
# The relative noise, and a factor that makes the digits of log f look random.
_NOISE = 1e-3
_SPREAD = 1e9


@value.register(Separable)
def _separable(team, problem, x):
    total = 0.0
    for i in range(x.shape[0]):
        total += _term(problem.kind, math.sqrt(problem.spectrum[i]) * x[i])
    if problem.kind == _NOISY and total > 0.0:
        digits = _SPREAD * math.log(total)
        total *= 1.0 + _NOISE * (digits - math.floor(digits) - 0.5)
    return total


@numba.njit
def _term(kind, z):
    if kind == _SMOOTHED_NORM:
        # This form avoids cancellation near 0.
        return z * z / (math.sqrt(z * z + 1.0) + 1.0)
    if kind == _BUMPY:
        return (z * z + 3.0 * math.sin(z) ** 2) / 8.0
    return 0.5 * z * z


def smoothed_norm(n: int, L: float) -> Separable:
    """Return the sum of sqrt(a_i x_i^2 + 1) - 1: a parabola near 0, a cone far from it."""
    return Separable(pursuit.problems.exp(n, L).spectrum, _SMOOTHED_NORM)


def bumpy(n: int, L: float) -> Separable:
    """Return a sum of z^2 + 3 sin(z)^2, z = sqrt(a_i) x_i: not convex, and without local minima."""
    return Separable(pursuit.problems.exp(n, L).spectrum, _BUMPY)


def noisy(n: int, L: float) -> Separable:
    """Return `exp` with a relative noise of a thousandth."""
    return Separable(pursuit.problems.exp(n, L).spectrum, _NOISY)


# --- logistic regression ---------------------------------------------------------------------------


class Logistic(NamedTuple):
    """Mean of log(1 + exp(-b_k a_k'x)) + ridge |x|^2 / 2, less its minimum; the rows are b_k a_k."""

    rows: NDArray[np.float64]
    ridge: float
    least: float

    @property
    def n(self) -> int:
        """The number of variables."""
        return int(self.rows.shape[1])

    @property
    def x0(self) -> Vector:
        """A new copy of the start, 0."""
        return np.zeros(self.n)

    @property
    def minimizer(self) -> Vector:
        """The minimiser, by Newton's method."""
        found: Vector = _minimum(self.rows, self.ridge).x
        return found

    @property
    def m(self) -> float:
        """A lower bound of the curvature."""
        return self.ridge

    @property
    def L(self) -> float:
        """An upper bound of the curvature."""
        return float(np.linalg.norm(self.rows, 2) ** 2 / (4 * len(self.rows)) + self.ridge)

    def __call__(self, x: Any) -> float:
        """Return f(x)."""
        return evaluate(self, x)


@value.register(Logistic)
def _logistic(team, problem, x):
    rows = problem.rows
    loss = 0.0
    for k in range(rows.shape[0]):
        z = 0.0
        for i in range(rows.shape[1]):
            z += rows[k, i] * x[i]
        loss += math.log1p(math.exp(-z)) if z > 0.0 else math.log1p(math.exp(z)) - z
    square = 0.0
    for i in range(x.shape[0]):
        square += x[i] * x[i]
    return loss / rows.shape[0] + 0.5 * problem.ridge * square - problem.least


def _minimum(rows: NDArray[np.float64], ridge: float) -> Any:
    """Return SciPy's result of Newton's method."""
    count = len(rows)

    def sigmoids(x: Vector) -> Vector:
        chances: Vector = scipy.special.expit(-rows @ x)
        return chances

    def f(x: Vector) -> float:
        return float(np.logaddexp(0.0, -rows @ x).mean() + 0.5 * ridge * x @ x)

    def gradient(x: Vector) -> Vector:
        return -rows.T @ sigmoids(x) / count + ridge * x

    def hessian(x: Vector) -> NDArray[np.float64]:
        s = sigmoids(x)
        return rows.T @ (rows * (s * (1.0 - s))[:, None]) / count + ridge * np.eye(rows.shape[1])

    start = np.zeros(rows.shape[1])
    return scipy.optimize.minimize(
        f, start, jac=gradient, hess=hessian, method="trust-exact", options={"gtol": 1e-12}
    )


def logistic(n: int, L: float) -> Logistic:
    """Return a regression of 4n observations of n features of different scales, condition number about L."""
    rng = np.random.default_rng(1)
    scales = pursuit.problems.exp(n, L).spectrum ** 0.5 / L**0.5
    features = rng.standard_normal((4 * n, n)) * scales
    labels = np.where(features @ (rng.standard_normal(n) / scales) > rng.logistic(size=4 * n), 1.0, -1.0)
    rows = features * labels[:, None]
    ridge = np.linalg.norm(rows, 2) ** 2 / (16 * n) / L
    return Logistic(rows, float(ridge), float(_minimum(rows, float(ridge)).fun))
