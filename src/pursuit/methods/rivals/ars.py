"""`ars`, the accelerated random search of Nesterov and Spokoiny, their FG_mu.

    v <- x_0;  x <- x_0;  gamma <- m, or L where m is 0
    for k = 0, 1, ...:
        alpha > 0 with alpha^2/theta = (1 - alpha) gamma + alpha m;  gamma' <- alpha^2/theta
        lambda <- alpha m/gamma';  beta <- alpha gamma/(gamma + alpha m);  y <- (1 - beta) x + beta v
        u ~ N(0, I_n);  g <- (f(y + mu u) - f(y))/mu u
        x <- y - h g;  v <- (1 - lambda) v + lambda y - theta/alpha g;  gamma <- gamma'

with theta = 1/(16 (n + 1)^2 L) and h = 1/(4(n + 4) L), for gradients with the Lipschitz constant L and
functions that are strongly convex with the parameter m >= 0. Where m > 0, gamma stays m, and alpha is
sqrt(theta m).

The bias of differences adds up for as long as v remembers it, C = 1/sqrt(theta m) = 4(n + 1) sqrt(L/m)
iterations. So the default of mu is that of `rg` divided by sqrt(C); where m is 0, L/m is taken to be 1e4.
Where a difference is not a number, y and v go back to the best point. `sigma` is the mean size of the latest
steps of v, as multiples of u: those from y are sqrt(L/m) times shorter, but v carries y along.

Two evaluations and Theta(n) operations per iteration.

Yu. Nesterov and V. Spokoiny, Random gradient-free minimization of convex functions, Foundations of
Computational Mathematics 17, 2017.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Unpack

from pursuit.checks import Vector
from pursuit.methods import nesterov
from pursuit.methods.contract import Needs, Pair, State, ask, tell
from pursuit.methods.rivals.rg import RandomGradient


class AcceleratedSearch(NamedTuple):
    """Accelerated random search: random gradients, and a second sequence that sums them up."""

    curvatures: nesterov.Curvatures
    theta: float
    h: float
    mu: float

    @classmethod
    def create(
        cls, n: int, *, mu: float | None = None, **options: Unpack[nesterov.CurvatureOptions]
    ) -> AcceleratedSearch:
        """Return the scheme for the extreme curvatures, `L` and `m`, and differences over `mu`."""
        curvatures = nesterov.Curvatures.create("ars", options)
        plain = RandomGradient.create(n, L=curvatures.L, mu=mu)
        lives = 4.0 * (n + 1.0) * curvatures.root_of_condition
        theta = 1.0 / (16.0 * (n + 1.0) ** 2 * curvatures.L)
        return cls(curvatures, theta, plain.h, plain.mu / math.sqrt(lives) if mu is None else plain.mu)

    def init(self, x: Vector, fx: float, sigma: float) -> State:
        """Return the first state; its f is f(y)."""
        return self.curvatures.first_state(x, fx, sigma)

    def needs(self, n: int) -> Needs:
        """Return what the scheme needs for n variables."""
        return self.curvatures.needs(n, normals=n)


@ask.register(AcceleratedSearch)
def _ask(team, scheme, arrays, numbers, u):
    return Pair(arrays.y, u, 0.0, scheme.mu)


@tell.register(AcceleratedSearch)
def _tell(team, scheme, arrays, numbers, pair, values):
    fx, sigma = nesterov.keep_best_of_pair(team, arrays, numbers, pair, values), numbers.sigma
    slope = (values[1] - values[0]) / scheme.mu
    weights = nesterov.weights_of(scheme.theta, scheme.curvatures.m, numbers.gamma)
    if math.isfinite(slope):
        sigma = nesterov.smoothed(sigma, scheme.theta / weights.alpha * slope)
    else:
        slope = 0.0
        nesterov.return_to_best(team, arrays)
    long_step = -scheme.theta / weights.alpha * slope
    move = nesterov.Move(-scheme.h * slope, long_step, weights.keep, weights.beta)
    nesterov.move_both(team, arrays.y.shape[0], arrays.y, arrays.v, pair.direction, move)
    return nesterov.Momentum(fx, values[0], sigma, weights.gamma)
