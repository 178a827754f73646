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
from typing import NamedTuple

from pursuit.checks import Vector
from pursuit.compiling.vectors import copy
from pursuit.methods.contract import ask, tell
from pursuit.methods.hooks import Patience
from pursuit.methods.line_searches import Bracketing, ExactStep, Line
from pursuit.methods.nesterov import Move, accelerated_patience, advance, keep_best_of_line, weights_of
from pursuit.methods.options import checked_curvatures, full_search_named


class AcceleratedPursuit(NamedTuple):
    """Accelerated random pursuit: random lines, and a second sequence that takes longer steps along them."""

    line_search: ExactStep | Bracketing
    m: float
    L: float
    theta: float

    @classmethod
    def create(
        cls,
        n: int,
        *,
        L: float | None = None,  # noqa: N803 (the source's name)
        m: float = 0.0,
        line_search: str = "exact",
        tolerance: float = 1e-3,
    ) -> AcceleratedPursuit:
        """Return the scheme for the extreme curvatures, `L` and `m`; only their quotient matters."""
        search = full_search_named(line_search, tolerance)
        m, top = checked_curvatures("arp", m, 1.0 if L is None and m == 0.0 else L)
        return cls(search, m=m, L=top, theta=1.0 / (top * n * n))

    def init(self, x: Vector, fx: float, sigma: float) -> AcceleratedPursuitState:
        """Return the first state."""
        return AcceleratedPursuitState(
            x=x,
            fx=fx,
            f=fx,
            sigma=sigma,
            y=x.copy(),
            v=x.copy(),
            gamma=self.m if self.m > 0.0 else self.L,
        )

    def points(self) -> int:
        """Return the largest number of points in a query: a trial, and y itself."""
        return 2

    def patience(self, n: int) -> Patience:
        """Return after how many iterations without a better point to give up."""
        return accelerated_patience(n, self.m, self.L)


class AcceleratedPursuitState(NamedTuple):
    """The state of accelerated random pursuit: the best point, f(x_k), and the sequences y and v."""

    x: Vector
    fx: float
    f: float
    sigma: float
    y: Vector
    v: Vector
    gamma: float


@ask.register(AcceleratedPursuit)
def _ask(team, scheme, state, u):
    return Line(state.y, u, math.nan, state.sigma)


@tell.register(AcceleratedPursuit)
def _tell(team, scheme, state, line, step):
    n, length = state.y.shape[0], step.length
    fx = keep_best_of_line(team, state, line, step)
    if not math.isfinite(step.value):
        length = 0.0
        copy(team, state.y, state.x)
        copy(team, state.v, state.x)
    weights = weights_of(scheme.theta, scheme.m, state.gamma)
    far = length / (weights.alpha * n)
    move = Move(step=length, long_step=far, keep=weights.keep, beta=weights.beta)
    advance(team, n, state.y, state.v, line.direction, move)
    return AcceleratedPursuitState(
        x=state.x,
        fx=fx,
        f=step.value,
        sigma=step.sigma,
        y=state.y,
        v=state.v,
        gamma=weights.gamma,
    )
