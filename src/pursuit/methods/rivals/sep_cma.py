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
from typing import NamedTuple, Unpack

import numpy as np

from pursuit.checks import Vector
from pursuit.compiling.vectors import add
from pursuit.methods.contract import Needs, State, ask, tell
from pursuit.methods.rivals import populations


class SepCma(NamedTuple):
    """The separable CMA-ES: a population, a step size by path length, and a variance for each variable."""

    popsize: int
    rates: populations.CmaRates

    @classmethod
    def create(
        cls, n: int, *, popsize: int | None = None, **rates: Unpack[populations.RateOptions]
    ) -> SepCma:
        """Return the scheme; `popsize` is lambda, and the rates default to those of the source."""
        popsize = populations.checked_population("sep-cma", n, popsize, populations.usual_population(n))
        # Fewer numbers than in a full matrix are learnt faster.
        return cls(popsize, populations.CmaRates.create(n, popsize, factor=(n + 2.0) / 3.0, **rates))

    def init(self, x: Vector, fx: float, sigma: float) -> State:
        """Return the first state; its f is the best value of the latest round."""
        n = x.size
        arrays = SepCmaArrays(x, x.copy(), np.ones(n), np.zeros(n), np.zeros(n))
        return State(arrays, SepCmaNumbers(fx, fx, sigma, faded=1.0))

    def needs(self, n: int) -> Needs:
        """Return what the scheme needs for n variables."""
        return populations.needs_of_population(self.popsize, n, self.popsize * n)


class SepCmaArrays(NamedTuple):
    """The arrays of the separable CMA-ES."""

    x: Vector
    mean: Vector
    """m."""
    scales: Vector
    """D."""
    p_sigma: Vector
    p_c: Vector


class SepCmaNumbers(NamedTuple):
    """The numbers of the separable CMA-ES; f is the best value of the latest round."""

    fx: float
    f: float
    sigma: float
    faded: float
    """(1 - c_sigma)^(2g), the part of p_sigma that the rounds so far have not filled."""


@ask.register(SepCma)
def _ask(team, scheme, arrays, numbers, normals):
    nothing = arrays.mean[:0]
    shape = populations.Shape(arrays.scales, nothing, nothing)
    return populations.Samples(arrays.mean, numbers.sigma, normals, scheme.popsize, 1, shape)


@tell.register(SepCma)
def _tell(team, scheme, arrays, numbers, query, values):
    order, f, fx = populations.ranked(team, arrays, numbers, query, values)
    rates, n = scheme.rates, arrays.x.shape[0]
    mean, scales, p_c = arrays.mean, arrays.scales, arrays.p_c
    step, squares = np.zeros(n), np.zeros(n)
    for rank in range(rates.weights.size):
        z = query.z[order[rank] * n : (order[rank] + 1) * n]
        add(team, step, rates.weights[rank], z)
        populations.add_squares(team, squares, rates.weights[rank], z)
    mean += numbers.sigma * scales * step
    path = populations.follow_path(team, rates, arrays.p_sigma, numbers.faded, step)
    p_c[:] = (1.0 - rates.c_c) * p_c + path.gain * scales * step
    one, many = rates.c_cov / rates.mu_eff, rates.c_cov * (1.0 - 1.0 / rates.mu_eff)
    variances = (1.0 - rates.c_cov + many * squares) * (scales * scales) + one * p_c * p_c
    scales[:] = np.sqrt(variances)
    power = populations.surplus_of(math.sqrt(populations.total(team, n, variances) / n))
    scales /= power
    p_c /= power
    return SepCmaNumbers(fx, f, numbers.sigma * power * path.change, path.faded)
