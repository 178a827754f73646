"""What methods share that draw rounds of points from one normal distribution.

A round has lambda points around a mean m,

    x_j = m + sigma D (z_k + b_k v),  z_k ~ N(0, I_n),

with a diagonal D and a direction v where a method has them. Either every point has a z of its own, or two
points are mirror images of each other: z_k and b_k stand for both, and the second one has the opposite sign.

The z_k are the normals of the iteration, which a run holds anyway. So points are written one by one, and
besides them a method needs only a few vectors and lambda numbers. A method whose matrix A is not D writes
A z_k in place of z_k.

Weights and rates of the (mu/mu_w, lambda)-CMA-ES, and its control of sigma by the length of a path, are

    w_j ~ ln(mu + 1) - ln j of sum 1, for j <= mu = lambda/2;  mu_eff = 1/sum_j w_j^2
    c_sigma = (mu_eff + 2)/(n + mu_eff + 3),  c_c = 4/(n + 4)
    d_sigma = 1 + 2 max(0, sqrt((mu_eff - 1)/(n + 1)) - 1) + c_sigma
    c_cov = 2/(mu_eff (n + sqrt 2)^2) + (1 - 1/mu_eff) min(1, (2 mu_eff - 1)/((n + 2)^2 + mu_eff))

    p_sigma <- (1 - c_sigma) p_sigma + sqrt(c_sigma (2 - c_sigma) mu_eff) <z>
    h <- |p_sigma| / sqrt(1 - (1 - c_sigma)^(2(g+1))) < (1.4 + 2/(n+1)) E|N(0, I)|
    sigma <- sigma exp(c_sigma/d_sigma (|p_sigma|/E|N(0, I)| - 1))

N. Hansen, The CMA evolution strategy: a comparing review, in: Towards a New Evolutionary Computation, 2006.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypedDict

import numpy as np

from pursuit.checks import Vector, checked_count, checked_memory
from pursuit.compiling.jit import compilable
from pursuit.compiling.vectors import add, blend, copy, dot, entrywise, multiply, summed
from pursuit.methods.contract import Needs, Patience, checked_rate, count_points, spread, write_point

# A rate stays below 1, so that no variance becomes 0 in a round.
_MOST = 0.9
# The mean size of a matrix is kept between the inverse of this and this.
_FARTHEST = 2.0**16


def usual_population(n: int) -> int:
    """Return Hansen's size of a population, 4 + 3 ln n."""
    return 4 + math.floor(3.0 * math.log(n))


def checked_population(method: str, n: int, popsize: Any, default: int) -> int:
    """Return the size of a population: `default` for None."""
    size = default if popsize is None else checked_count("popsize", popsize, at_least=2)
    checked_memory(f"A round of {method} with popsize={size} points of n={n} variables", size * n)
    return size


def needs_of_population(popsize: int, n: int, normals: int) -> Needs:
    """Return what a scheme needs that draws this many points for n variables from so many normals.

    Populations take long to compile, so they are compiled once for all problems.
    """
    rounds, window = max(100, (10_000 + 1_000 * n) // popsize), max(20, (500 + 10 * n) // popsize)
    patience = Patience(rounds, share=1.0, window=window)
    return Needs(normals=normals, points=popsize, patience=patience, is_compiled_apart=True)


class RoundNumbers(NamedTuple):
    """The numbers of a scheme that counts its rounds; f is the best value of the latest one."""

    fx: float
    f: float
    sigma: float
    k: int


# --- points ----------------------------------------------------------------------------------------


class Shape(NamedTuple):
    """What turns z_k into a step; arrays are empty where a method has no such thing."""

    scales: Vector
    """D."""
    direction: Vector
    """v."""
    along: Vector
    """The b_k."""


class Samples(NamedTuple):
    """A query of points drawn from a normal distribution; the answer is the array of their values."""

    mean: Vector
    sigma: float
    z: Vector
    """The z_k, one after the other."""
    size: int
    """How many points there are."""
    sides: int
    """How many points share a z: 1, or 2 that are mirror images of each other."""
    shape: Shape


@compilable
def no_shape(x: Any) -> Any:
    """Return what leaves the z_k as they are."""
    return Shape(x[:0], x[:0], x[:0])


@count_points.register(Samples)
def _size(query):
    return query.size


@write_point.register(Samples)
def _write(team, query, position, out):
    write_sample(team, query, int(position), out)


@compilable
def write_sample(team: Any, query: Any, j: Any, out: Any) -> Any:
    """Write the j-th point of a round into `out`."""
    n, k = out.shape[0], j // query.sides
    scales, direction, along = query.shape
    copy(team, out, query.z[k * n : (k + 1) * n])
    if direction.size > 0:
        add(team, out, along[k], direction)
    if scales.size > 0:
        multiply(team, out, scales)
    blend(team, out, query.sigma if j % query.sides == 0 else -query.sigma, 1.0, query.mean)


@spread.register(Samples)
def _spread(team, query, sigma):
    n, (scales, direction, _) = query.mean.shape[0], query.shape
    if direction.size + scales.size == 0:
        count = (query.size + query.sides - 1) // query.sides * n
        return query.sigma * math.sqrt(dot(team, count, query.z, query.z) / count)
    variances = np.ones(n)
    if direction.size > 0:
        variances += direction * direction
    if scales.size > 0:
        variances *= scales * scales
    return query.sigma * math.sqrt(total(team, n, variances) / n)


@summed
def total(i, x):
    """Return the sum of x."""
    return x[i]


@entrywise
def add_squares(i: int, x: Vector, a: float, u: Vector) -> Any:
    """Add a u^2 to x, entry by entry."""
    return x[i] + a * u[i] * u[i]


@compilable
def ranked(team: Any, arrays: Any, numbers: Any, query: Any, values: Any) -> Any:
    """Return the points of a round, the best first, the best value, and that of all rounds.

    Points with equal values keep their order. The best point of all is written into x.
    """
    order = np.argsort(values, kind="mergesort")
    f = values[order[0]]
    if f < numbers.fx:
        write_sample(team, query, order[0], arrays.x)
    return order, f, min(f, numbers.fx)


# --- weights and rates -----------------------------------------------------------------------------
# One logarithm at a time: the last bits of NumPy's depend on the processor.


def log_weights(mu: int) -> Vector:
    """Return w_1, ..., w_mu."""
    weights = np.array([math.log(mu + 1.0) - math.log(rank) for rank in range(1, mu + 1)])
    return np.asarray(weights / sum(weights))


def effective_size(mu: int) -> float:
    """Return mu_eff, the number of equal weights that the weights are worth."""
    return 1.0 / float(np.square(log_weights(mu)).sum())


def utilities(popsize: int) -> Vector:
    """Return max(0, ln(popsize/2 + 1) - ln rank)."""
    half = math.log(0.5 * popsize + 1.0)
    return np.array([max(0.0, half - math.log(rank)) for rank in range(1, popsize + 1)])


@compilable
def expected_length(n: Any) -> Any:
    """Return approximately the mean length of a vector of n standard normals."""
    return math.sqrt(n) * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n * n))


class RateOptions(TypedDict, total=False):
    """The rates of a CMA-ES as options; None for the above."""

    c_sigma: float | None
    c_c: float | None
    c_cov: float | None


class CmaRates(NamedTuple):
    """The weights and rates of a CMA-ES."""

    weights: Vector
    """w_1, ..., w_mu."""
    mu_eff: float
    c_sigma: float
    d_sigma: float
    c_c: float
    c_cov: float

    @classmethod
    def create(
        cls,
        n: int,
        popsize: int,
        factor: float = 1.0,
        *,
        c_sigma: float | None = None,
        c_c: float | None = None,
        c_cov: float | None = None,
    ) -> CmaRates:
        """Return the rates: those that are given, or the above, c_cov times `factor`."""
        mu_eff = effective_size(popsize // 2)
        full = 2.0 / (mu_eff * (n + math.sqrt(2.0)) ** 2)
        full += (1.0 - 1.0 / mu_eff) * min(1.0, (2.0 * mu_eff - 1.0) / ((n + 2.0) ** 2 + mu_eff))
        excess = 2.0 * max(0.0, math.sqrt((mu_eff - 1.0) / (n + 1.0)) - 1.0)
        c_sigma = checked_rate("c_sigma", c_sigma, (mu_eff + 2.0) / (n + mu_eff + 3.0))
        return cls(
            weights=log_weights(popsize // 2),
            mu_eff=mu_eff,
            c_sigma=c_sigma,
            d_sigma=1.0 + excess + c_sigma,
            c_c=checked_rate("c_c", c_c, 4.0 / (n + 4.0)),
            c_cov=checked_rate("c_cov", c_cov, min(factor * full, _MOST)),
        )


class PathLength(NamedTuple):
    """What the path p_sigma says after a round."""

    change: float
    """By which factor sigma changes."""
    gain: float
    """What p_c takes of the step <y>: nothing where the path is long, which is h = 0."""
    faded: float
    """(1 - c_sigma)^(2(g+1)), the part of p_sigma that the rounds so far have not filled."""


@compilable
def follow_path(team: Any, rates: Any, p_sigma: Any, faded: Any, step: Any) -> Any:
    """Add the step <z> to p_sigma, of which a part had `faded` before, and measure its length."""
    n = p_sigma.shape[0]
    gain = math.sqrt(rates.c_sigma * (2.0 - rates.c_sigma) * rates.mu_eff)
    blend(team, p_sigma, 1.0 - rates.c_sigma, gain, step)
    faded = faded * (1.0 - rates.c_sigma) * (1.0 - rates.c_sigma)
    relative = math.sqrt(dot(team, n, p_sigma, p_sigma)) / expected_length(n)
    is_short = relative < (1.4 + 2.0 / (n + 1.0)) * math.sqrt(1.0 - faded)
    gain = math.sqrt(rates.c_c * (2.0 - rates.c_c) * rates.mu_eff) if is_short else 0.0
    return PathLength(math.exp(rates.c_sigma / rates.d_sigma * (relative - 1.0)), gain, faded)


@compilable
def surplus_of(size: Any) -> Any:
    """Return the power of two by which the square root of a matrix, of this mean size, is too large; often 1.

    The matrix may shrink and sigma grow without end while only their product matters, as on Rosenbrock's
    function. A power of two moved from one to the other changes no bit of the trajectory.
    """
    return math.ldexp(1.0, round(math.log2(size))) if size > _FARTHEST or size * _FARTHEST < 1.0 else 1.0
