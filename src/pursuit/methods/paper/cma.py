"""The (1+1)-CMA-ES, the paper's Fig. 2, bottom right.

    C_0 <- I_n;  p_0 <- 0
    for k = 1 to N:
        u_k ~ N(0, C_{k-1})
        (x_k, sigma_k) <- aSS(x_{k-1}, u_k, sigma_{k-1})
        if success:  p_k <- (1 - c_c) p_{k-1} + sqrt(c_c (2 - c_c)) u_k
                     C_k <- (1 - c_cov) C_{k-1} + c_cov p_k p_k^T
        else:        p_k <- (1 - c_p) p_{k-1};  C_k <- C_{k-1}

C is stored as A A^T with a lower triangular A, which a rank-one update changes in Theta(n^2) operations, the
same order as drawing u = A z. Work and memory per iteration are Theta(n^2).

C shrinks and sigma grows without end while only their product matters. Whenever C has drifted far, a power
of two is moved from one to the other, which changes no bit of the trajectory.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Unpack

import numpy as np

from pursuit.checks import Vector, checked_memory
from pursuit.compiling.rows import apply_factor, update_factor
from pursuit.compiling.vectors import Matrix, add, blend, scale
from pursuit.methods.contract import Needs, Numbers, State, ask, tell
from pursuit.methods.line_searches import AdaptiveStep, Line
from pursuit.methods.paper import PathOptions, path_settings

# A's first entry is kept between the inverse of this and this.
_FARTHEST = 2.0**32


class Cma(NamedTuple):
    """The (1+1)-CMA-ES: a full covariance matrix, learned from the evolution path alone."""

    line_search: AdaptiveStep
    c_c: float
    c_cov: float
    c_p: float

    @classmethod
    def create(cls, n: int, **options: Unpack[PathOptions]) -> Cma:
        """Return the scheme; the rates default to the paper's, c_p to the reading's."""
        checked_memory(f"The covariance matrix of cma for n={n} variables", n * n)
        return cls(**path_settings(n, 2.0 / (n * n + 6.0), **options))

    def init(self, x: Vector, fx: float, sigma: float) -> State:
        """Return the first state."""
        n = x.size
        arrays = CmaArrays(x=x, p=np.zeros(n), columns=np.eye(n), u=np.zeros(n), work=np.zeros(n))
        return State(arrays, Numbers(fx, fx, sigma))

    def needs(self, n: int) -> Needs:
        """Return what the scheme needs for n variables."""
        return Needs(normals=n)


class CmaArrays(NamedTuple):
    """The arrays of the (1+1)-CMA-ES."""

    x: Vector
    p: Vector
    """The evolution path p_k."""
    columns: Matrix
    """The columns of A, one per row."""
    u: Vector
    """The direction drawn."""
    work: Vector
    """Room for an update of A."""


@ask.register(Cma)
def _ask(team, scheme, arrays, numbers, z):
    apply_factor(team, arrays.u, arrays.columns, z)
    return Line(arrays.x, arrays.u, numbers.fx, numbers.sigma)


@tell.register(Cma)
def _tell(team, scheme, arrays, numbers, line, step):
    fx, sigma = numbers.fx, step.sigma
    if step.length != 0.0:
        fx = step.value
        add(team, arrays.x, step.length, line.direction)
        blend(team, arrays.p, 1.0 - scheme.c_c, math.sqrt(scheme.c_c * (2.0 - scheme.c_c)), line.direction)
        update_factor(team, arrays.columns, 1.0 - scheme.c_cov, scheme.c_cov, arrays.p, arrays.work)
        size = arrays.columns[0, 0]
        if size > _FARTHEST or size < 1.0 / _FARTHEST:
            power = math.ldexp(1.0, round(math.log2(size)))
            sigma *= power
            scale(team, arrays.p, 1.0 / power)
            for j in range(arrays.columns.shape[0]):
                scale(team, arrays.columns[j], 1.0 / power)
    elif scheme.c_p != 0.0:
        scale(team, arrays.p, 1.0 - scheme.c_p)
    return Numbers(fx, fx, sigma)
