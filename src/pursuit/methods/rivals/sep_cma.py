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

with lambda = 4 + 3 ln n and the weights and rates of `populations.py`. c_cov is the rate of a full matrix,
which has to be learnt more slowly, times (n + 2)/3. Work per evaluation is Theta(n).

R. Ros and N. Hansen, A simple modification in CMA-ES achieving linear time and space complexity, PPSN 2008.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pursuit.checks import Vector
from pursuit.compiling.jit import compilable
from pursuit.compiling.vectors import fill, scale
from pursuit.methods.contract import Needs, State, ask, tell
from pursuit.methods.rivals.populations import (
    CmaRates,
    checked_population,
    drift_of,
    follow_path,
    keep_best_sample,
    log_weights,
    needs_of_population,
    order_of,
    samples_around,
    usual_population,
)


class SepCma(NamedTuple):
    """The separable CMA-ES: a population, a step size by path length, and a variance for each variable."""

    popsize: int
    rates: CmaRates

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
        # Fewer numbers than in a full matrix are learnt faster.
        factor = (n + 2.0) / 3.0
        return cls(popsize, CmaRates.create(n, popsize, factor, c_sigma=c_sigma, c_c=c_c, c_cov=c_cov))

    def init(self, x: Vector, fx: float, sigma: float) -> State:
        """Return the first state; its f is the best value of the latest round."""
        n = x.size
        arrays = SepCmaArrays(
            x=x,
            mean=x.copy(),
            scales=np.ones(n),
            p_sigma=np.zeros(n),
            p_c=np.zeros(n),
            step=np.zeros(n),
            squares=np.zeros(n),
            weights=log_weights(self.rates.mu),
        )
        return State(arrays, SepCmaNumbers(fx, fx, sigma, faded=1.0))

    def needs(self, n: int) -> Needs:
        """Return what the scheme needs for n variables."""
        return needs_of_population(self.popsize, n, self.popsize * n)


class SepCmaArrays(NamedTuple):
    """The arrays of the separable CMA-ES."""

    x: Vector
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


class SepCmaNumbers(NamedTuple):
    """The numbers of the separable CMA-ES; f is the best value of the latest round."""

    fx: float
    f: float
    sigma: float
    faded: float
    """(1 - c_sigma)^(2g), the part of p_sigma that the rounds so far have not filled."""


@ask.register(SepCma)
def _ask(team, scheme, arrays, numbers, normals):
    return samples_around(arrays.mean, arrays.scales, normals, numbers.sigma, scheme.popsize, 1)


@tell.register(SepCma)
def _tell(team, scheme, arrays, numbers, query, values):
    order = order_of(values)
    f = values[order[0]]
    fx = keep_best_sample(arrays, numbers, query, order[0], f)
    _recombine(team, scheme, arrays, numbers.sigma, query.z, order)
    path = follow_path(team, scheme.rates, arrays.p_sigma, numbers.faded, arrays.step)
    power = drift_of(_learn(scheme.rates, arrays, path.is_short))
    if power != 1.0:
        scale(team, arrays.scales, 1.0 / power)
        scale(team, arrays.p_c, 1.0 / power)
    return SepCmaNumbers(fx, f, numbers.sigma * power * path.change, path.faded)


@compilable
def _recombine(team, scheme, arrays, sigma, z, order):
    """Write the weighted means of the best z_j and of their squares, and move the mean."""
    n = arrays.x.shape[0]
    fill(team, arrays.step, 0.0)
    fill(team, arrays.squares, 0.0)
    for rank in range(scheme.rates.mu):
        j, weight = order[rank], arrays.weights[rank]
        row = z[j * n : (j + 1) * n]
        for i in range(n):
            arrays.step[i] += weight * row[i]
            arrays.squares[i] += weight * row[i] * row[i]
    for i in range(n):
        arrays.mean[i] += sigma * arrays.scales[i] * arrays.step[i]


@compilable
def _learn(rates, arrays, is_short):
    """Learn p_c, which takes the step only where p_sigma is short, and C; return the mean size of D."""
    total = 0.0
    one, many = rates.c_cov / rates.mu_eff, rates.c_cov * (1.0 - 1.0 / rates.mu_eff)
    gain = math.sqrt(rates.c_c * (2.0 - rates.c_c) * rates.mu_eff) if is_short else 0.0
    for i in range(arrays.x.shape[0]):
        width, p = arrays.scales[i], (1.0 - rates.c_c) * arrays.p_c[i]
        p += gain * width * arrays.step[i]
        arrays.p_c[i] = p
        variance = (1.0 - rates.c_cov + many * arrays.squares[i]) * (width * width) + one * p * p
        arrays.scales[i] = math.sqrt(variance)
        total += variance
    return math.sqrt(total / arrays.x.shape[0])
