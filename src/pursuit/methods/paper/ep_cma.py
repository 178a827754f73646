"""EP-CMA-m, the paper's Fig. 2, bottom left: a few evolution paths instead of a covariance matrix.

    p_0 <- 0;  P_1, ..., P_{m-1} <- 0;  q <- 0
    for k = 1 to N:
        C_k <- I_n;  for P in P_1, ..., P_{m-1}, p_{k-1}:  C_k <- (1 - c_cov) C_k + c_cov P P^T
        u_k ~ N(0, C_k)
        (x_k, sigma_k) <- aSS(x_{k-1}, u_k, sigma_{k-1})
        if success:  p_k <- (1 - c_c) p_{k-1} + sqrt(c_c (2 - c_c)) u_k
        else:        p_k <- (1 - c_p) p_{k-1}
        if k > q + n^2/m:  P_1, ..., P_{m-1} <- P_2, ..., P_{m-1}, p_k;  q <- k

The printed algorithm forgets to store p_k. Written out, C_k = (1-c)^m I + sum_i c (1-c)^(m-i) P_i P_i^T with
P_m the current path. So with n + m standard normals z, w a draw is u = (1-c)^(m/2) z + sum_i b_i w_i P_i with
b_i = sqrt(c (1-c)^(m-i)): no matrix is ever formed. Work and memory per iteration are Theta(mn).
"""

from __future__ import annotations

import math
from typing import NamedTuple, Unpack

import numpy as np

from pursuit.checks import Vector, checked_count, checked_memory, shown
from pursuit.compiling.rows import mix_rows, push
from pursuit.compiling.vectors import Matrix, add, blend, multiply, scale
from pursuit.methods.contract import Needs, State, ask, is_valid, tell
from pursuit.methods.line_searches import AdaptiveStep, Line
from pursuit.methods.paper import PathOptions, path_settings


class EpCma(NamedTuple):
    """EP-CMA-m: a search biased along the current evolution path and m - 1 earlier ones."""

    line_search: AdaptiveStep
    m: int
    c_c: float
    c_cov: float
    c_p: float
    rest: float
    """(1 - c_cov)^(m/2), the part of a draw that no path has."""

    @classmethod
    def create(cls, n: int, *, m: int = 4, **options: Unpack[PathOptions]) -> EpCma:
        """Return the scheme with m paths; the rates default to the paper's, c_p to the reading's."""
        m = checked_count("m", m, at_least=1)
        checked_memory(f"EP-CMA with m={shown(m)} paths of n={n} variables", m * (n + 1))
        settings = path_settings(n, 0.2 if m == 1 else 2.0 / (6.0 + m), **options)
        return cls(m=m, rest=(1.0 - settings["c_cov"]) ** (0.5 * m), **settings)

    def init(self, x: Vector, fx: float, sigma: float) -> State:
        """Return the first state."""
        # One power at a time: the last bits of NumPy's powers of whole arrays depend on the processor.
        faded = np.array([(1.0 - self.c_cov) ** age for age in range(self.m - 1, -1, -1)])
        weights = np.sqrt(self.c_cov * faded)
        paths = np.zeros((self.m, x.size))
        return State(EpCmaArrays(x, paths, weights), EpCmaNumbers(fx, fx, sigma, k=0, q=0))

    def needs(self, n: int) -> Needs:
        """Return what the scheme needs for n variables: z and w are normals."""
        return Needs(normals=n + self.m)


class EpCmaArrays(NamedTuple):
    """The arrays of EP-CMA-m."""

    x: Vector
    paths: Matrix
    """The paths P_1, ..., P_{m-1} and p_k, one per row."""
    weights: Vector
    """b_1, ..., b_m."""


class EpCmaNumbers(NamedTuple):
    """The numbers of EP-CMA-m."""

    fx: float
    f: float
    sigma: float
    k: int
    q: int
    """The iteration in which a path was stored last."""


@is_valid.register(EpCma)
def _is_valid(scheme, arrays, numbers):
    return 0 <= numbers.q <= numbers.k


@ask.register(EpCma)
def _ask(team, scheme, arrays, numbers, normals):
    n = arrays.x.shape[0]
    u = normals[:n]
    w = normals[n:]
    multiply(team, w, arrays.weights)
    mix_rows(team, u, scheme.rest, w, arrays.paths)
    return Line(arrays.x, u, numbers.fx, numbers.sigma)


@tell.register(EpCma)
def _tell(team, scheme, arrays, numbers, line, step):
    n = arrays.x.shape[0]
    p = arrays.paths[scheme.m - 1]
    fx, k, q = numbers.fx, numbers.k + 1, numbers.q
    if step.length != 0.0:
        fx = step.value
        add(team, arrays.x, step.length, line.direction)
        blend(team, p, 1.0 - scheme.c_c, math.sqrt(scheme.c_c * (2.0 - scheme.c_c)), line.direction)
    elif scheme.c_p != 0.0:
        scale(team, p, 1.0 - scheme.c_p)
    if (k - q) * scheme.m > n * n:
        push(team, arrays.paths)
        q = k
    return EpCmaNumbers(fx, fx, step.sigma, k, q)
