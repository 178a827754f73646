"""`arp`, accelerated random pursuit: Nesterov's accelerated random search with a line search for its step.

    theta <- 1/(L n^2);  v_0 <- x_0;  gamma_0 <- m, or L where m is 0
    for k = 0, 1, ...:
        beta_k > 0 with beta_k^2/theta = (1 - beta_k) gamma_k + beta_k m;  gamma_{k+1} <- beta_k^2/theta
        lambda_k <- beta_k m/gamma_{k+1};  delta_k <- beta_k gamma_k/(gamma_k + beta_k m)
        y_k <- (1 - delta_k) x_k + delta_k v_k
        u_k ~ N(0, I_n);  s_k <- the step to the minimum of f on the line through y_k along u_k
        x_{k+1} <- y_k + s_k;  v_{k+1} <- (1 - lambda_k) v_k + lambda_k y_k + s_k/(beta_k n)

for gradients with the Lipschitz constant L and functions that are strongly convex with the parameter m >= 0.
Only L/m matters, and nothing has to be known where m is 0. The source draws u_k on a sphere; the length of
u_k does not matter to a line, so normals will do. SARP is this scheme with gamma_0 = m, which then stays m,
and with c in its theta. The source proves no rate.

Where a line has no finite value, y and v go back to the best point. With exact line search an iteration
evaluates one point. Work and memory per iteration are Theta(n).

S. U. Stich, C. L. Mueller and B. Gaertner, Optimization of convex functions with random pursuit, SIAM Journal
on Optimization 23, 2013.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Unpack

from pursuit.checks import Vector
from pursuit.methods import nesterov
from pursuit.methods.contract import Needs, State, ask, tell
from pursuit.methods.line_searches import Bracketing, ExactStep, Line, line_search_named


class AcceleratedPursuit(NamedTuple):
    """Accelerated random pursuit: random lines, and a second sequence that takes longer steps along them."""

    line_search: ExactStep | Bracketing
    curvatures: nesterov.Curvatures
    theta: float

    @classmethod
    def create(
        cls,
        n: int,
        *,
        line_search: str = "exact",
        tolerance: float = 1e-3,
        **options: Unpack[nesterov.CurvatureOptions],
    ) -> AcceleratedPursuit:
        """Return the scheme for the extreme curvatures, `L` and `m`; only their quotient matters."""
        search = line_search_named(line_search, tolerance)
        curvatures = nesterov.Curvatures.create("arp", options, scale_free=True)
        return cls(search, curvatures, theta=1.0 / (curvatures.L * n * n))

    def init(self, x: Vector, fx: float, sigma: float) -> State:
        """Return the first state; its f is f(x_k)."""
        return self.curvatures.first_state(x, fx, sigma)

    def needs(self, n: int) -> Needs:
        """Return what the scheme needs for n variables."""
        return self.curvatures.needs(n, normals=n)


@ask.register(AcceleratedPursuit)
def _ask(team, scheme, arrays, numbers, u):
    return Line(arrays.y, u, math.nan, numbers.sigma)


@tell.register(AcceleratedPursuit)
def _tell(team, scheme, arrays, numbers, line, step):
    n, length = arrays.y.shape[0], step.length
    fx = nesterov.keep_best(team, arrays, numbers, line, length, step.value)
    if not math.isfinite(step.value):
        length = 0.0
        nesterov.return_to_best(team, arrays)
    weights = nesterov.weights_of(scheme.theta, scheme.curvatures.m, numbers.gamma)
    move = nesterov.Move(length, length / (weights.alpha * n), weights.keep, weights.beta)
    nesterov.move_both(team, n, arrays.y, arrays.v, line.direction, move)
    return nesterov.Momentum(fx, step.value, step.sigma, weights.gamma)
