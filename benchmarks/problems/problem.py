"""What a test problem is, and what is made of one: rotated, badly scaled, with noise."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from pursuit.checks import Vector

Formula = Callable[[Any], Any]
"""f of a point as NumPy arithmetic that complex points pass through, from which `minima` takes gradients."""
Noise = Callable[[float, np.random.Generator], float]

# The ratio of the scales of the last and the first variable of a badly scaled problem, nearly.
_SPREAD = 1e6


class Problem(NamedTuple):
    """A function to be minimised, its start and its smallest value."""

    name: str
    kind: str
    formula: Formula
    x0: Vector
    minimum: float | None = None
    """The smallest value, None where `minima` computes it."""
    starts: int = 1
    """From how many points `minima` looks for it: several where there are local minima."""
    gradient: Callable[[Vector], Vector] | None = None
    """Where there are too many variables for differences in the complex plane."""
    noise: Noise | None = None
    origin: Any = None
    """The problem from which this one was made, with the same minimum."""

    @property
    def n(self) -> int:
        """The number of variables."""
        return self.x0.size

    @property
    def f0(self) -> float:
        """The true value at the start."""
        return self.true_value(self.x0)

    def true_value(self, x: Vector) -> float:
        """Return f(x) without noise, and infinity where it is not a number."""
        with np.errstate(all="ignore"):
            found = float(self.formula(np.asarray(x, dtype=np.float64)))
        return math.inf if math.isnan(found) else found

    def observer(self, seed: int) -> Callable[[float], float] | None:
        """Return what a run sees of a value, None where it sees the value itself."""
        if self.noise is None:
            return None
        noise, rng = self.noise, np.random.default_rng([seed, self.n])
        return lambda value: noise(value, rng)


def counted(n: int) -> Vector:
    """Return 1, 2, ..., n."""
    return np.arange(1.0, n + 1.0)


def rotated(problem: Problem, seed: int) -> Problem:
    """Return f(Qx), started at Q^T x0, with a random orthogonal matrix Q; a product takes n^2 operations.

    A few reflections would be cheaper, but turn every axis by an angle of the order 1/sqrt(n) alone.
    """
    Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((problem.n, problem.n)))[0]
    return problem._replace(
        name=f"{problem.name}, rotated",
        formula=lambda x: problem.formula(Q @ x),
        x0=Q.T @ problem.x0,
        gradient=None,
        origin=problem,
    )


def badly_scaled(problem: Problem) -> Problem:
    """Return the problem in variables x_i, i = 0, ..., n - 1, of which x_i 10^(6i/n) are the given ones."""
    scales = _SPREAD ** (np.arange(problem.n) / problem.n)
    return problem._replace(
        name=f"{problem.name}, badly scaled",
        kind="badly scaled",
        formula=lambda x: problem.formula(scales * x),
        x0=problem.x0 / scales,
        gradient=None,
        origin=problem,
    )


# --- noise of four kinds ---------------------------------------------------------------------------


def with_additive_noise(problem: Problem, deviation: float) -> Problem:
    """Return a problem to whose values normal numbers are added."""
    return _noisy(problem, "additive", lambda value, rng: value + deviation * rng.standard_normal())


def with_relative_noise(problem: Problem, deviation: float) -> Problem:
    """Return a problem whose values are multiplied by normal numbers of mean 1."""
    return _noisy(problem, "relative", lambda value, rng: value * (1.0 + deviation * rng.standard_normal()))


def rounded(problem: Problem, digits: int) -> Problem:
    """Return a problem whose values are rounded to a few decimal digits."""
    return _noisy(problem, f"{digits} digits", lambda value, rng: float(f"{value:.{digits - 1}e}"))


def in_single_precision(problem: Problem) -> Problem:
    """Return a problem whose values are rounded to single precision."""
    return _noisy(problem, "float32", lambda value, rng: _single(value))


def _single(value: float) -> float:
    with np.errstate(over="ignore"):
        return float(np.float32(value))


def _noisy(problem: Problem, word: str, noise: Noise) -> Problem:
    return problem._replace(
        name=f"{problem.name}, {word}", kind=f"noisy: {word}", noise=noise, origin=problem
    )
