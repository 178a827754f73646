"""`rg`, the random gradient method of Nesterov and Spokoiny for smooth functions, RG_mu.

    for k = 0, 1, ...:
        u ~ N(0, I_n)
        y <- y - h (f(y + mu u) - f(y))/mu u,  h = 1/(4(n + 4) L)

with L, the Lipschitz constant of the gradient. The difference has a bias, which keeps f(y) above the minimum
by up to epsilon, in expectation, if mu <= 5/(3(n + 4)) sqrt(epsilon/(2L)): the default of mu, for
epsilon = 1e-10. Where a difference is not a number, y goes back to the best point. `sigma` is the mean size
of the latest steps, as multiples of u. Two evaluations and Theta(n) operations per iteration.

Yu. Nesterov and V. Spokoiny, Random gradient-free minimization of convex functions, Foundations of
Computational Mathematics 17, 2017.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from pursuit.checks import Vector, checked_number
from pursuit.compiling.vectors import add, copy
from pursuit.methods import nesterov
from pursuit.methods.contract import Needs, Numbers, Pair, State, ask, tell

# How far above the minimum the bias of differences may leave f, if mu is not given.
_EPSILON = 1e-10


class RandomGradient(NamedTuple):
    """Random gradient: a step along a random direction, as long as the slope says."""

    h: float
    mu: float

    @classmethod
    def create(
        cls,
        n: int,
        *,
        L: float | None = None,  # noqa: N803 (the source's name)
        mu: float | None = None,
    ) -> RandomGradient:
        """Return the scheme for `L`, the largest curvature, and differences over `mu`."""
        top = nesterov.checked_curvature("rg", L)
        default = 5.0 / (3.0 * (n + 4.0)) * math.sqrt(_EPSILON / (2.0 * top))
        mu = checked_number("mu", default if mu is None else mu, above=0.0)
        return cls(h=1.0 / (4.0 * (n + 4.0) * top), mu=mu)

    def init(self, x: Vector, fx: float, sigma: float) -> State:
        """Return the first state; its f is f(y)."""
        return State(nesterov.BestAndIterate(x, x.copy()), Numbers(fx, fx, sigma))

    def needs(self, n: int) -> Needs:
        """Return what the scheme needs for n variables."""
        return Needs(normals=n, points=2, patience=nesterov.wandering_patience(n))


@ask.register(RandomGradient)
def _ask(team, scheme, arrays, numbers, u):
    return Pair(arrays.y, u, 0.0, scheme.mu)


@tell.register(RandomGradient)
def _tell(team, scheme, arrays, numbers, pair, values):
    fx, sigma = nesterov.keep_best_of_pair(team, arrays, numbers, pair, values), numbers.sigma
    step = scheme.h * (values[1] - values[0]) / scheme.mu
    if math.isfinite(step):
        add(team, arrays.y, -step, pair.direction)
        sigma = nesterov.smoothed(sigma, step)
    else:
        copy(team, arrays.y, arrays.x)
    return Numbers(fx, values[0], sigma)
