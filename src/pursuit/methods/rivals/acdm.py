"""`acdm`, accelerated coordinate descent: Nesterov's ACDM, by line searches or by differences of values.

    v_0 <- x_0;  gamma_{-1} <- 1/(2n);  sigma <- m/L
    for k = 0, 1, ...:
        gamma_k > 0 with gamma_k^2 - gamma_k/n = (1 - gamma_k sigma/n) gamma_{k-1}^2
        alpha_k <- (n - gamma_k sigma)/(gamma_k (n^2 - sigma));  beta_k <- 1 - gamma_k sigma/n
        y_k <- alpha_k v_k + (1 - alpha_k) x_k
        i uniform in 1, ..., n;  s_k <- the step from y_k along coordinate i
        x_{k+1} <- y_k + s_k;  v_{k+1} <- beta_k v_k + (1 - beta_k) y_k + gamma_k s_k

with s_k = -(1/L_i) times the partial derivative, where L_i is the largest curvature along coordinate i, and
sigma the parameter of strong convexity in the norm weighted by these L_i. The source has gamma_k as a
quotient of two numbers that grow without bound, a_k/b_k, from a_0 = 1/n and b_0 = 2.

A line search needs no L_i: on a quadratic function its step is s_k. By differences, the partial derivative is
(f(y + mu e_i) - f(y - mu e_i))/(2 mu), and L stands for every L_i; by default mu is so small that f rises by
no more than 1e-10 over it at a minimum. The true sigma is at least m/L. Where m is 0, f is assumed to be
convex and no more.

A coordinate is chosen by one standard normal z: the integer part of n Phi(z) is uniform. Where there is no
finite value, y and v go back to the best point. The reported `sigma` is the mean size of the latest steps.
Work and memory per iteration are Theta(n), as those of a value are: so the bookkeeping of Lee and Sidford, by
which an iteration touches one coordinate, would save nothing.

Yu. Nesterov, Efficiency of coordinate descent methods on huge-scale optimization problems, SIAM Journal on
Optimization 22, 2012; Y. T. Lee and A. Sidford, Efficient accelerated coordinate descent methods and faster
algorithms for solving linear systems, FOCS 2013.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Unpack

import numpy as np

from pursuit.checks import Vector, checked_number
from pursuit.compiling.jit import inlined
from pursuit.compiling.vectors import exchange
from pursuit.methods import nesterov
from pursuit.methods.contract import Needs, Pair, State, ask, tell
from pursuit.methods.line_searches import Bracketing, ExactStep, Line, line_search_named

# By how much f may rise over mu at a minimum, if mu is not given.
_EPSILON = 1e-10


class DifferenceStep(NamedTuple):
    """Steps whose length follows from a difference of values over 2 mu and from the curvature L."""

    mu: float


class Acdm(NamedTuple):
    """Accelerated coordinate descent."""

    line_search: ExactStep | Bracketing | DifferenceStep
    curvatures: nesterov.Curvatures

    @classmethod
    def create(
        cls,
        n: int,
        *,
        line_search: str = "exact",
        tolerance: float = 1e-3,
        mu: float | None = None,
        **options: Unpack[nesterov.CurvatureOptions],
    ) -> Acdm:
        """Return the scheme for the extreme curvatures, `L` and `m`; a search needs only their quotient.

        `line_search` may be "difference" as well; then L is needed, and differences are taken over `mu`.
        """
        if n < 2:
            raise ValueError(f"acdm needs at least 2 variables, but n={n}.")
        curvatures = nesterov.Curvatures.create("acdm", options, scale_free=line_search != "difference")
        default = math.sqrt(2.0 * _EPSILON / curvatures.L)
        mu = checked_number("mu", default if mu is None else mu, above=0.0)
        differences = DifferenceStep(mu)
        search = line_search_named(line_search, tolerance, difference=differences)
        return (AcdmByDifferences if search is differences else cls)(search, curvatures)

    def init(self, x: Vector, fx: float, sigma: float) -> State:
        """Return the first state; its f is f(x_k), or by differences the lower of two values beside y."""
        e = np.zeros(x.size)
        e[0] = 1.0
        arrays = AcdmArrays(x, x.copy(), x.copy(), e, coordinate=np.zeros(1))
        return State(arrays, nesterov.Momentum(fx, fx, sigma, gamma=0.5 / x.size))

    def needs(self, n: int) -> Needs:
        """Return what the scheme needs for n variables: one normal chooses a coordinate."""
        return self.curvatures.needs(n, normals=1)


class AcdmByDifferences(Acdm):
    """Accelerated coordinate descent whose steps follow from differences."""

    __slots__ = ()


class AcdmArrays(NamedTuple):
    """The arrays of accelerated coordinate descent: the best point, and the sequences y and v."""

    x: Vector
    y: Vector
    v: Vector
    e: Vector
    """e_i, the direction of the latest step."""
    coordinate: Vector
    """i, counted from 0."""


class Found(NamedTuple):
    """What the values along a coordinate say."""

    length: float
    """The step, which is not finite where there is no finite value."""
    f: float
    sigma: float
    fx: float


@ask.register(Acdm)
def _ask(team, scheme, arrays, numbers, normals):
    _choose(team, arrays, normals)
    return Line(arrays.y, arrays.e, math.nan, numbers.sigma)


@ask.register(AcdmByDifferences)
def _ask_for_pair(team, scheme, arrays, numbers, normals):
    _choose(team, arrays, normals)
    return Pair(arrays.y, arrays.e, scheme.line_search.mu, -scheme.line_search.mu)


@inlined
def _choose(team, arrays, normals):
    """Choose a coordinate, and write its direction into e."""
    n = arrays.y.shape[0]
    below = 0.5 * math.erfc(-exchange(team, normals, 0, 0.0) / math.sqrt(2.0))
    i = min(int(n * below), n - 1)
    exchange(team, arrays.e, int(exchange(team, arrays.coordinate, 0, float(i))), 0.0)
    exchange(team, arrays.e, i, 1.0)


@tell.register(Acdm)
def _tell(team, scheme, arrays, numbers, line, step):
    fx = nesterov.keep_best(team, arrays, numbers, line, step.length, step.value)
    length = step.length if math.isfinite(step.value) else math.inf
    return _moved(team, scheme, arrays, numbers, Found(length, step.value, step.sigma, fx))


@tell.register(AcdmByDifferences)
def _tell_pair(team, scheme, arrays, numbers, pair, values):
    fx = nesterov.keep_best_of_pair(team, arrays, numbers, pair, values)
    length = -(values[0] - values[1]) / (2.0 * pair.first * scheme.curvatures.L)
    return _moved(team, scheme, arrays, numbers, Found(length, min(values[0], values[1]), abs(length), fx))


@inlined
def _moved(team, scheme, arrays, numbers, found):
    """Move y and v, and return the numbers after it."""
    n = arrays.y.shape[0]
    length, sigma = found.length, numbers.sigma
    if math.isfinite(length):
        sigma = nesterov.smoothed(sigma, found.sigma)
    else:
        length = 0.0
        nesterov.return_to_best(team, arrays)
    convexity = scheme.curvatures.m / scheme.curvatures.L
    gamma = _next_gamma(n, convexity, numbers.gamma)
    following = _next_gamma(n, convexity, gamma)
    alpha = (n - following * convexity) / (following * (n * n - convexity))
    move = nesterov.Move(length, gamma * length, gamma * convexity / n, alpha)
    nesterov.move_both(team, n, arrays.y, arrays.v, arrays.e, move)
    return nesterov.Momentum(found.fx, found.f, sigma, gamma)


@inlined
def _next_gamma(n, convexity, gamma):
    """Return gamma_k from gamma_{k-1}."""
    half = 0.5 * (1.0 - convexity * gamma * gamma) / n
    return half + math.sqrt(half * half + gamma * gamma)
