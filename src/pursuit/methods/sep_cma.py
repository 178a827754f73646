"""`sep-cma`, the separable CMA-ES of Ros and Hansen: a CMA-ES that learns only variances.

    m <- x_0;  C <- 1 (a diagonal, D = sqrt(C));  p_sigma <- 0;  p_c <- 0
    for g = 0, 1, ...:
        x_j <- m + sigma D z_j,  z_j ~ N(0, I_n),  j = 1 ... lambda;  sort them by f(x_j)
        <z> <- sum_{j <= mu} w_j z_j;  m <- m + sigma D <z>
        p_sigma <- (1 - c_sigma) p_sigma + sqrt(c_sigma (2 - c_sigma) mu_eff) <z>
        h <- |p_sigma| / sqrt(1 - (1 - c_sigma)^(2(g+1))) < (1.4 + 2/(n+1)) E|N(0, I)|
        p_c <- (1 - c_c) p_c + h sqrt(c_c (2 - c_c) mu_eff) D <z>
        C <- (1 - c_cov) C + c_cov/mu_eff p_c^2 + c_cov (1 - 1/mu_eff) sum_{j <= mu} w_j (D z_j)^2
        sigma <- sigma exp(c_sigma/d_sigma (|p_sigma|/E|N(0, I)| - 1))

with lambda = 4 + 3 ln n, mu = lambda/2, w_j ~ ln(mu + 1) - ln j of sum 1, mu_eff = 1/sum_j w_j^2,

    c_sigma = (mu_eff + 2)/(n + mu_eff + 3),  c_c = 4/(n + 4),
    d_sigma = 1 + 2 max(0, sqrt((mu_eff - 1)/(n + 1)) - 1) + c_sigma,
    c_cov = (n + 2)/3 (2/(mu_eff (n + sqrt 2)^2)
                       + (1 - 1/mu_eff) min(1, (2 mu_eff - 1)/((n + 2)^2 + mu_eff))).

The last is the rate of a full matrix, which has to be learnt more slowly, times (n + 2)/3.
Work per evaluation is Theta(n).

C may shrink and sigma grow without end while only their product matters, as on Rosenbrock's function.
Whenever C has drifted far, a power of two is moved from one to the other, which changes no bit of the
trajectory.

R. Ros and N. Hansen, A simple modification in CMA-ES achieving linear time and space complexity, PPSN 2008.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pursuit.checks import Vector
from pursuit.compiling.inner import inner
from pursuit.compiling.vectors import blend, dot, fill, scale
from pursuit.methods.contract import Patience, ask, tell
from pursuit.methods.options import checked_rate
from pursuit.methods.samples import (
    Samples,
    checked_population,
    expected_length,
    order_of,
    population_patience,
    usual_population,
    write_sample,
)

# A rate stays below 1, so that no variance becomes 0 in a round.
_MOST = 0.9
# The mean size of D is kept between the inverse of this and this.
_FARTHEST = 2.0**16


class SepCma(NamedTuple):
    """The separable CMA-ES: a population, a step size by path length, and a variance for each variable."""

    popsize: int
    mu: int
    mu_eff: float
    c_sigma: float
    d_sigma: float
    c_c: float
    c_cov: float
    length: float
    """E|N(0, I)|."""

    @property
    def is_compiled_apart(self) -> bool:
        """That it is compiled once for all problems."""
        return True

    @classmethod
    def create(
        cls,
        n: int,
        *,
        popsize: int | None = None,
        c_sigma: float | None = None,
        c_c: float | None = None,
        c_cov: float | None = None,
    ) -> SepCma:
        """Return the scheme; `popsize` is lambda, and the rates default to those of the source."""
        popsize = checked_population("sep-cma", n, popsize, usual_population(n))
        mu = popsize // 2
        mu_eff = 1.0 / float(np.square(_weights(mu)).sum())
        c_sigma = checked_rate("c_sigma", (mu_eff + 2.0) / (n + mu_eff + 3.0) if c_sigma is None else c_sigma)
        full = 2.0 / (mu_eff * (n + math.sqrt(2.0)) ** 2)
        full += (1.0 - 1.0 / mu_eff) * min(1.0, (2.0 * mu_eff - 1.0) / ((n + 2.0) ** 2 + mu_eff))
        default = min((n + 2.0) / 3.0 * full, _MOST)
        return cls(
            popsize=popsize,
            mu=mu,
            mu_eff=mu_eff,
            c_sigma=c_sigma,
            d_sigma=1.0 + 2.0 * max(0.0, math.sqrt((mu_eff - 1.0) / (n + 1.0)) - 1.0) + c_sigma,
            c_c=checked_rate("c_c", 4.0 / (n + 4.0) if c_c is None else c_c),
            c_cov=checked_rate("c_cov", default if c_cov is None else c_cov),
            length=expected_length(n),
        )

    def init(self, x: Vector, fx: float, sigma: float) -> SepCmaState:
        """Return the first state."""
        n = x.size
        return SepCmaState(
            x=x,
            fx=fx,
            f=fx,
            sigma=sigma,
            mean=x.copy(),
            scales=np.ones(n),
            p_sigma=np.zeros(n),
            p_c=np.zeros(n),
            step=np.zeros(n),
            squares=np.zeros(n),
            weights=_weights(self.mu),
            faded=1.0,
        )

    def draws(self, n: int) -> int:
        """Return how many standard normals an iteration takes."""
        return self.popsize * n

    def points(self) -> int:
        """Return the number of points of a round."""
        return self.popsize

    def patience(self, n: int) -> Patience:
        """Return after how many rounds without a better point to give up."""
        return population_patience(n, self.popsize)


class SepCmaState(NamedTuple):
    """The state of the separable CMA-ES; `f` is the best value of the latest round."""

    x: Vector
    fx: float
    f: float
    sigma: float
    mean: Vector
    """m."""
    scales: Vector
    """D."""
    p_sigma: Vector
    p_c: Vector
    step: Vector
    """<z>, the weighted mean of the best z_j."""
    squares: Vector
    """The weighted mean of their squares."""
    weights: Vector
    """w_1, ..., w_mu."""
    faded: float
    """(1 - c_sigma)^(2g), the part of p_sigma that the rounds so far have not filled."""


@ask.register(SepCma)
def _ask(team, scheme, state, normals):
    nothing = state.mean[:0]
    return Samples(
        mean=state.mean,
        scales=state.scales,
        direction=nothing,
        along=nothing,
        z=normals,
        sigma=state.sigma,
        size=scheme.popsize,
        sides=1,
    )


@tell.register(SepCma)
def _tell(team, scheme, state, query, values):
    n, order, p_sigma = state.x.shape[0], order_of(values), state.p_sigma
    f, fx = values[order[0]], state.fx
    if f < fx:
        fx = f
        write_sample(query, order[0], state.x)
    _recombine(team, scheme, state, query.z, order)
    gain = math.sqrt(scheme.c_sigma * (2.0 - scheme.c_sigma) * scheme.mu_eff)
    blend(team, p_sigma, 1.0 - scheme.c_sigma, gain, state.step)
    faded = state.faded * (1.0 - scheme.c_sigma) * (1.0 - scheme.c_sigma)
    relative = math.sqrt(dot(team, n, p_sigma, p_sigma)) / scheme.length
    power = _learn(scheme, state, relative < (1.4 + 2.0 / (n + 1.0)) * math.sqrt(1.0 - faded))
    if power != 1.0:
        scale(team, state.scales, 1.0 / power)
        scale(team, state.p_c, 1.0 / power)
    return SepCmaState(
        x=state.x,
        fx=fx,
        f=f,
        sigma=state.sigma * power * math.exp(scheme.c_sigma / scheme.d_sigma * (relative - 1.0)),
        mean=state.mean,
        scales=state.scales,
        p_sigma=p_sigma,
        p_c=state.p_c,
        step=state.step,
        squares=state.squares,
        weights=state.weights,
        faded=faded,
    )


@inner
def _recombine(team, scheme, state, z, order):
    """Write the weighted means of the best z_j and of their squares, and move the mean."""
    n = state.x.shape[0]
    fill(team, state.step, 0.0)
    fill(team, state.squares, 0.0)
    for rank in range(scheme.mu):
        j, weight = order[rank], state.weights[rank]
        row = z[j * n : (j + 1) * n]
        for i in range(n):
            state.step[i] += weight * row[i]
            state.squares[i] += weight * row[i] * row[i]
    for i in range(n):
        state.mean[i] += state.sigma * state.scales[i] * state.step[i]


@inner
def _learn(scheme, state, is_short):
    """Learn p_c, which takes the step only where p_sigma is short, and C; return how far C has drifted."""
    total = 0.0
    one, many = scheme.c_cov / scheme.mu_eff, scheme.c_cov * (1.0 - 1.0 / scheme.mu_eff)
    gain = math.sqrt(scheme.c_c * (2.0 - scheme.c_c) * scheme.mu_eff) if is_short else 0.0
    for i in range(state.x.shape[0]):
        width, p = state.scales[i], (1.0 - scheme.c_c) * state.p_c[i]
        p += gain * width * state.step[i]
        state.p_c[i] = p
        variance = (1.0 - scheme.c_cov + many * state.squares[i]) * (width * width) + one * p * p
        state.scales[i] = math.sqrt(variance)
        total += variance
    size = math.sqrt(total / state.x.shape[0])
    return math.ldexp(1.0, round(math.log2(size))) if size > _FARTHEST or size * _FARTHEST < 1.0 else 1.0


def _weights(mu: int) -> Vector:
    """Return w_1, ..., w_mu; one logarithm at a time, since NumPy's depend on the processor."""
    weights = np.array([math.log(mu + 1.0) - math.log(rank) for rank in range(1, mu + 1)])
    return np.asarray(weights / sum(weights))
