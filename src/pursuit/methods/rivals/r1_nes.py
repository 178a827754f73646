"""`r1-nes`, the natural evolution strategy of Sun, Gomez, Schaul and Schmidhuber with a matrix of rank one.

The covariance matrix is e^(2 lambda) (I + u u^T), with u = e^c v = r v and |v| = 1:

    mu <- x_0;  lambda <- ln sigma_0;  u <- a random direction of length 1
    repeat:
        w_j <- z_j + b_j u,  z_j ~ N(0, I_n),  b_j ~ N(0, 1);  x_j <- mu + e^lambda w_j
        q_j <- max(0, ln(p/2 + 1) - ln(rank of x_j)), divided by their sum, for the p points
        mu <- mu + e^lambda sum_j q_j w_j
        lambda' <- sum_j q_j ((|w_j|^2 - n) - (<w_j, v>^2 - 1)) / (2(n - 1))
        u' <- sum_j q_j (((r^2 - n + 2) <w_j, v>^2 - (r^2 + 1) |w_j|^2) / (2r(n - 1)) v + <w_j, v>/r w_j)
        c' <- <u', v>/r;  v' <- u'/r - c' v;  e <- min(eta, 2r/|u'|)
        if c' > 0:  u <- u + e u'
        else:       c <- c + e c';  v <- v + e v', divided by its length;  u <- e^c v
        lambda <- lambda + eta lambda'

with eta = 0.1 and p = max(5, 4 log2 n, n/5). Where u is to become shorter, adding a step could reverse it;
there its length is multiplied instead. sigma is e^lambda. Work per evaluation is Theta(n).

Y. Sun, F. Gomez, T. Schaul and J. Schmidhuber, A linear time natural evolution strategy for non-separable
functions, GECCO 2013, and arXiv:1106.1998.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pursuit.checks import Vector, checked_number
from pursuit.compiling.jit import compilable
from pursuit.compiling.vectors import add, dot
from pursuit.methods.contract import Needs, State, ask, tell
from pursuit.methods.rivals import populations


class R1Nes(NamedTuple):
    """R1-NES: a population with one direction in which it is wider."""

    popsize: int
    eta: float
    utilities: Vector
    """q_j, by rank."""

    @classmethod
    def create(cls, n: int, *, popsize: int | None = None, eta: float = 0.1) -> R1Nes:
        """Return the scheme; `popsize` is p, and `eta` the learning rate of lambda and u."""
        if n < 2:
            raise ValueError(f"r1-nes needs at least 2 variables, but n={n}.")
        default = int(max(5.0, 4.0 * math.log2(n), 0.2 * n))
        popsize = populations.checked_population("r1-nes", n, popsize, default)
        raw = populations.utilities(popsize)
        return cls(popsize, checked_number("eta", eta, above=0.0), raw / sum(raw))

    def init(self, x: Vector, fx: float, sigma: float) -> State:
        """Return the first state, whose sigma is e^lambda; u is drawn by the first iteration."""
        return State(R1NesArrays(x, x.copy(), np.zeros(x.size)), populations.RoundNumbers(fx, fx, sigma, k=0))

    def needs(self, n: int) -> Needs:
        """Return what the scheme needs: normals for z and b of all points, and for the first u."""
        return populations.needs_of_population(self.popsize, n, (self.popsize + 1) * n + self.popsize)


class R1NesArrays(NamedTuple):
    """The arrays of R1-NES."""

    x: Vector
    mean: Vector
    """mu."""
    u: Vector


@ask.register(R1Nes)
def _ask(team, scheme, arrays, numbers, normals):
    n, p, u = arrays.x.shape[0], scheme.popsize, arrays.u
    if numbers.k == 0:
        u[:] = normals[:n] / math.sqrt(dot(team, n, normals[:n], normals[:n]))
    shape = populations.Shape(u[:0], u, normals[n : n + p])
    return populations.Samples(arrays.mean, numbers.sigma, normals[n + p :], p, 1, shape)


@tell.register(R1Nes)
def _tell(team, scheme, arrays, numbers, query, values):
    order, f, fx = populations.ranked(team, arrays, numbers, query, values)
    n, u = arrays.x.shape[0], arrays.u
    square = dot(team, n, u, u)
    r = math.sqrt(square)
    step, gradient = np.zeros(n), np.zeros(n)  # the sum of the q_j w_j, and u'
    growth = of_v = 0.0  # lambda', and the part of v in u'
    for rank in range(order.size):
        q, j = scheme.utilities[rank], order[rank]
        if q > 0.0:
            w = query.z[j * n : (j + 1) * n]
            add(team, w, query.shape.along[j], u)
            length, along = dot(team, n, w, w), dot(team, n, w, u) / r
            growth += q * ((length - n) - (along * along - 1.0)) / (2.0 * (n - 1.0))
            part = (square - n + 2.0) * along * along - (square + 1.0) * length
            of_v += q * part / (2.0 * r * (n - 1.0))
            add(team, step, q, w)
            add(team, gradient, q * along / r, w)
    gradient += of_v / r * u
    add(team, arrays.mean, numbers.sigma, step)
    _turn(team, n, u, gradient, scheme.eta)
    return populations.RoundNumbers(fx, f, numbers.sigma * math.exp(scheme.eta * growth), numbers.k + 1)


@compilable
def _turn(team, n, u, gradient, eta):
    """Change u along its natural gradient."""
    r = math.sqrt(dot(team, n, u, u))
    size, growth = math.sqrt(dot(team, n, gradient, gradient)), dot(team, n, gradient, u) / (r * r)
    rate = min(eta, 2.0 * r / size) if size > 0.0 else 0.0
    if growth > 0.0:
        u += rate * gradient
    else:
        v = (1.0 - rate * growth) / r * u + rate / r * gradient
        u[:] = r * math.exp(rate * growth) / math.sqrt(dot(team, n, v, v)) * v
