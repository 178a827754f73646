"""Weights and rates of the (mu/mu_w, lambda)-CMA-ES, and its control of sigma by the length of a path.

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
from typing import Any, NamedTuple

import numpy as np

from pursuit.checks import Vector
from pursuit.compiling.jit import compilable
from pursuit.compiling.vectors import blend, dot
from pursuit.methods.options import checked_rate
from pursuit.methods.rivals.samples import expected_length

# A rate stays below 1, so that no variance becomes 0 in a round.
_MOST = 0.9
# The mean size of the matrix is kept between the inverse of this and this.
_FARTHEST = 2.0**16


class CmaRates(NamedTuple):
    """The rates of a CMA-ES."""

    mu: int
    mu_eff: float
    c_sigma: float
    d_sigma: float
    c_c: float
    c_cov: float
    length: float
    """E|N(0, I)|."""

    @classmethod
    def create(cls, n: int, popsize: int, factor: float = 1.0, **given: Any) -> CmaRates:
        """Return the rates; c_cov is `factor` times that above, and rates `given`, unless None, count."""
        mu = popsize // 2
        mu_eff = effective_size(mu)
        full = 2.0 / (mu_eff * (n + math.sqrt(2.0)) ** 2)
        full += (1.0 - 1.0 / mu_eff) * min(1.0, (2.0 * mu_eff - 1.0) / ((n + 2.0) ** 2 + mu_eff))
        defaults = {
            "c_sigma": (mu_eff + 2.0) / (n + mu_eff + 3.0),
            "c_c": 4.0 / (n + 4.0),
            "c_cov": min(factor * full, _MOST),
        }
        rates = {
            name: checked_rate(name, default if given.get(name) is None else given[name])
            for name, default in defaults.items()
        }
        excess = 2.0 * max(0.0, math.sqrt((mu_eff - 1.0) / (n + 1.0)) - 1.0)
        d_sigma = 1.0 + excess + rates["c_sigma"]
        return cls(mu=mu, mu_eff=mu_eff, d_sigma=d_sigma, length=expected_length(n), **rates)


def log_weights(mu: int) -> Vector:
    """Return w_1, ..., w_mu; one logarithm at a time, since NumPy's depend on the processor."""
    weights = np.array([math.log(mu + 1.0) - math.log(rank) for rank in range(1, mu + 1)])
    return np.asarray(weights / sum(weights))


def effective_size(mu: int) -> float:
    """Return mu_eff, the number of equal weights that the weights are worth."""
    return 1.0 / float(np.square(log_weights(mu)).sum())


class PathNumbers(NamedTuple):
    """The numbers of a CMA-ES with a path p_sigma."""

    fx: float
    f: float
    sigma: float
    faded: float
    """(1 - c_sigma)^(2g), the part of p_sigma that the rounds so far have not filled."""


class PathLength(NamedTuple):
    """What the path p_sigma says after a round."""

    change: float
    """By which factor sigma changes."""
    is_short: bool
    """h, whether the path is short enough for p_c to be updated."""
    faded: float
    """(1 - c_sigma)^(2(g+1)), the part of p_sigma that the rounds so far have not filled."""


@compilable
def follow_path(team: Any, rates: Any, p_sigma: Any, faded: Any, step: Any) -> Any:
    """Add the step <z> to p_sigma, of which a part had `faded` before, and measure its length."""
    n = p_sigma.shape[0]
    gain = math.sqrt(rates.c_sigma * (2.0 - rates.c_sigma) * rates.mu_eff)
    blend(team, p_sigma, 1.0 - rates.c_sigma, gain, step)
    faded = faded * (1.0 - rates.c_sigma) * (1.0 - rates.c_sigma)
    relative = math.sqrt(dot(team, n, p_sigma, p_sigma)) / rates.length
    return PathLength(
        change=math.exp(rates.c_sigma / rates.d_sigma * (relative - 1.0)),
        is_short=relative < (1.4 + 2.0 / (n + 1.0)) * math.sqrt(1.0 - faded),
        faded=faded,
    )


@compilable
def drift_of(size: Any) -> Any:
    """Return the power of two by which the square root of a matrix, of this mean size, is too large; often 1.

    The matrix may shrink and sigma grow without end while only their product matters, as on Rosenbrock's
    function. A power of two moved from one to the other changes no bit of the trajectory.
    """
    return math.ldexp(1.0, round(math.log2(size))) if size > _FARTHEST or size * _FARTHEST < 1.0 else 1.0
