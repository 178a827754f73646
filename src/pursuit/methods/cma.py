"""The (1+1)-CMA-ES, the paper's Fig. 2, bottom right.

    C_0 <- I_n;  p_0 <- 0
    for k = 1 to N:
        u_k ~ N(0, C_{k-1})
        (x_k, sigma_k) <- aSS(x_{k-1}, u_k, sigma_{k-1})
        if success:  p_k <- (1 - c_c) p_{k-1} + sqrt(c_c (2 - c_c)) u_k
                     C_k <- (1 - c_cov) C_{k-1} + c_cov p_k p_k^T
        else:        p_k <- (1 - c_p) p_{k-1};  C_k <- C_{k-1}

C lives as A A^T with a lower triangular A, which a rank-one update keeps in Theta(n^2) operations, the
same order that drawing u = A z takes. Work and memory per iteration are Theta(n^2).

C shrinks and sigma grows without end while only their product matters. Whenever C has drifted far, a power
of two is moved from one to the other, which changes no bit of the trajectory.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pursuit.checks import Vector, checked_number
from pursuit.compiling.vectors import add, apply_factor, blend, scale, update_factor
from pursuit.methods.contract import ask, elitist_patience, tell
from pursuit.methods.line_searches import AdaptiveStep, Line
from pursuit.methods.options import reading_named

# A's first entry is kept between the inverse of this and this.
_FARTHEST = 2.0**32


class Cma(NamedTuple):
    """The (1+1)-CMA-ES: a full covariance matrix, learned from the evolution path alone."""

    oracle: AdaptiveStep
    c_c: float
    c_cov: float
    c_p: float

    @classmethod
    def create(
        cls,
        n: int,
        *,
        c_c: float | None = None,
        c_cov: float | None = None,
        c_p: float | None = None,
        p: float = 0.27,
        reading: str = "frozen",
    ) -> Cma:
        """Return the scheme; the rates default to the paper's, c_p to the reading's."""
        default_c_p = reading_named(reading).c_p(n)
        return cls(
            AdaptiveStep.create(p),
            checked_rate("c_c", 2.0 / (n + 2.0) if c_c is None else c_c),
            checked_rate("c_cov", 2.0 / (n * n + 6.0) if c_cov is None else c_cov),
            checked_rate("c_p", default_c_p if c_p is None else c_p),
        )

    def init(self, x: Vector, fx: float, sigma: float) -> State:
        """Return the first state."""
        n = x.size
        return State(x, fx, fx, sigma, np.zeros(n), np.eye(n), np.empty(n), np.empty(n))

    def points(self) -> int:
        """Return the most points that a query holds."""
        return 1

    def draws(self, n: int) -> int:
        """Return the number of normals per iteration."""
        return n

    def patience(self, n: int) -> int:
        """Return after how many iterations without a better point to give up."""
        return elitist_patience(n)


class State(NamedTuple):
    """The state of the (1+1)-CMA-ES: x_k, its value, sigma_k, p_k and the columns of A, one a row."""

    x: Vector
    fx: float
    f: float
    sigma: float
    p: Vector
    columns: NDArray[np.float64]
    u: Vector
    work: Vector


@ask.register(Cma)
def _ask(team, scheme, state, z):
    apply_factor(team, state.u, state.columns, z)
    return Line(state.x, state.u, state.fx, state.sigma)


@tell.register(Cma)
def _tell(team, scheme, state, line, step):
    fx, sigma = state.fx, step.sigma
    if step.length != 0.0:
        fx = step.value
        add(team, state.x, step.length, line.direction)
        blend(team, state.p, 1.0 - scheme.c_c, math.sqrt(scheme.c_c * (2.0 - scheme.c_c)), line.direction)
        update_factor(team, state.columns, 1.0 - scheme.c_cov, scheme.c_cov, state.p, state.work)
        size = state.columns[0, 0]
        if size > _FARTHEST or size < 1.0 / _FARTHEST:
            power = math.ldexp(1.0, round(math.log2(size)))
            sigma *= power
            scale(team, state.p, 1.0 / power)
            scale(team, state.columns.ravel(), 1.0 / power)
    elif scheme.c_p != 0.0:
        scale(team, state.p, 1.0 - scheme.c_p)
    return State(state.x, fx, fx, sigma, state.p, state.columns, state.u, state.work)


def checked_rate(name: str, value: float) -> float:
    """Return a learning rate: at least 0 and below 1."""
    return checked_number(name, value, at_least=0.0, below=1.0)
