"""`l-cma`, the limited memory CMA-ES of Knight and Lunacek: the m leading eigenvectors of the matrix.

Of the covariance matrix C of the CMA-ES only the m largest eigenvalues are kept, with their eigenvectors b_i,
and the mean r of the others:

    C = sum_{i <= m} (r + e_i) b_i b_i^T + r (I - sum_{i <= m} b_i b_i^T),

    m <- x_0;  e <- 0;  r <- 1;  p_sigma <- 0;  p_c <- 0
    for g = 0, 1, ...:
        y_j <- C^(1/2) z_j,  z_j ~ N(0, I_n);  x_j <- m + sigma y_j,  j = 1 ... lambda;  sort them by f(x_j)
        <y> <- sum_{j <= mu} w_j y_j;  m <- m + sigma <y>
        p_sigma <- (1 - c_sigma) p_sigma + sqrt(c_sigma (2 - c_sigma) mu_eff) C^(-1/2) <y>
        p_c <- (1 - c_c) p_c + h sqrt(c_c (2 - c_c) mu_eff) <y>
        C <- (1 - c_cov) C + c_cov/mu_eff p_c p_c^T + c_cov (1 - 1/mu_eff) sum_{j <= mu} w_j y_j y_j^T,
            of which the m leading eigenvectors are kept
        sigma <- sigma exp(c_sigma/d_sigma (|p_sigma|/E|N(0, I)| - 1))

with lambda = 4 + 3 ln n, h, weights and rates of `populations.py`, and m = 4 + 3 ln n, but at most n. C
is never formed: what is added to (1 - c_cov) r I has the rank m + mu + 1 at most. In an orthonormal basis of
the b_i and of what is new it is a small matrix, whose eigenvectors turn that basis. Work per iteration is
Theta(n m^2), memory Theta(nm). With m = n this is the CMA-ES.

J. N. Knight and M. Lunacek, Reducing the space-time complexity of the CMA-ES, GECCO 2007.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Unpack

import numpy as np

from pursuit.checks import Vector, checked_count, checked_memory
from pursuit.compiling.jit import compilable
from pursuit.compiling.rows import SLICE, add_products, mix_rows, mix_slice
from pursuit.compiling.vectors import Matrix, add, blend, copy, dot, scale
from pursuit.methods.contract import Needs, State, ask, is_valid, tell
from pursuit.methods.rivals import populations

# If less than this part of a vector is outside a basis, its square is a rounding error.
_NOTHING = 1e-8


class LCma(NamedTuple):
    """L-CMA-ES: a population, a step size by path length, and the leading eigenvectors of a matrix."""

    popsize: int
    m: int
    rates: populations.CmaRates

    @classmethod
    def create(
        cls,
        n: int,
        *,
        popsize: int | None = None,
        m: int | None = None,
        **rates: Unpack[populations.RateOptions],
    ) -> LCma:
        """Return the scheme; `popsize` is lambda, and m is at most n."""
        popsize = populations.checked_population("l-cma", n, popsize, populations.usual_population(n))
        m = min(n, populations.usual_population(n) if m is None else checked_count("m", m, at_least=1))
        checked_memory(f"l-cma with m={m} eigenvectors of n={n} variables", (m + popsize // 2 + 1) * n)
        return cls(popsize, m, populations.CmaRates.create(n, popsize, **rates))

    def init(self, x: Vector, fx: float, sigma: float) -> State:
        """Return the first state, without an eigenvector; its f is the best value of the latest round."""
        n = x.size
        basis, excess = np.zeros((self.m + self.popsize // 2 + 1, n)), np.zeros(self.m)
        arrays = LCmaArrays(x, x.copy(), np.zeros(n), np.zeros(n), basis, excess)
        return State(arrays, LCmaNumbers(fx, fx, sigma, rest=1.0, rank=0, faded=1.0))

    def needs(self, n: int) -> Needs:
        """Return what the scheme needs for n variables."""
        return populations.needs_of_population(self.popsize, n, self.popsize * n)


class LCmaArrays(NamedTuple):
    """The arrays of L-CMA-ES."""

    x: Vector
    mean: Vector
    """m."""
    p_sigma: Vector
    p_c: Vector
    basis: Matrix
    """The b_i, and room for what is new in a round."""
    excess: Vector
    """The e_i."""


class LCmaNumbers(NamedTuple):
    """The numbers of L-CMA-ES."""

    fx: float
    f: float
    sigma: float
    rest: float
    """r; 0 where there are n eigenvectors."""
    rank: int
    """How many eigenvectors there are."""
    faded: float
    """(1 - c_sigma)^(2g), the part of p_sigma that the rounds so far have not filled."""


@is_valid.register(LCma)
def _is_valid(scheme, arrays, numbers):
    return (
        0 <= numbers.rank <= min(arrays.excess.size, arrays.x.size)
        and 0.0 <= numbers.rest < math.inf
        and bool((arrays.excess >= 0.0).all())
    )


@ask.register(LCma)
def _ask(team, scheme, arrays, numbers, normals):
    roots = np.sqrt(numbers.rest + arrays.excess[: numbers.rank])
    z = normals.reshape(-1, arrays.x.size)
    _stretch(z, arrays.basis[: numbers.rank], roots, math.sqrt(numbers.rest))
    return populations.Samples(
        arrays.mean, numbers.sigma, normals, scheme.popsize, 1, populations.no_shape(arrays.mean)
    )


@compilable
def _stretch(z, basis, factors, of_rest):
    """Multiply every row z by `factors` along the rows of a basis, and by `of_rest` in all other directions.

    Slice by slice, so that eigenvectors pass through memory twice.
    """
    count, n = z.shape
    along = np.zeros((count, factors.size))
    for start in range(0, n, SLICE):
        for j in range(count):
            add_products(along[j], basis, z[j, start : min(start + SLICE, n)], start)
    along *= factors - of_rest
    for start in range(0, n, SLICE):
        for j in range(count):
            mix_slice(z[j, start : min(start + SLICE, n)], of_rest, along[j], basis, start)


@tell.register(LCma)
def _tell(team, scheme, arrays, numbers, query, values):
    rates, n = scheme.rates, arrays.x.size
    order, f, fx = populations.ranked(team, arrays, numbers, query, values)
    best = query.z.reshape(-1, n)[order[: rates.weights.size]]
    step = np.zeros((1, n))  # <y>, and then C^(-1/2) <y>
    mix_rows(team, step[0], 1.0, rates.weights, best)
    add(team, arrays.mean, numbers.sigma, step[0])
    whitened = step.copy()
    inverse_roots = 1.0 / np.sqrt(numbers.rest + arrays.excess[: numbers.rank])
    of_rest = 1.0 / math.sqrt(numbers.rest) if numbers.rest > 0.0 else 0.0
    _stretch(whitened, arrays.basis[: numbers.rank], inverse_roots, of_rest)
    path = populations.follow_path(team, rates, arrays.p_sigma, numbers.faded, whitened[0])
    blend(team, arrays.p_c, 1.0 - rates.c_c, path.gain, step[0])
    rest, rank = _learn(team, scheme, arrays, numbers, best)
    power = populations.surplus_of(math.sqrt(rest + populations.total(team, rank, arrays.excess) / n))
    scale(team, arrays.excess, 1.0 / (power * power))
    scale(team, arrays.p_c, 1.0 / power)
    sigma = numbers.sigma * power * path.change
    return LCmaNumbers(fx, f, sigma, rest / (power * power), rank, path.faded)


@compilable
def _learn(team, scheme, arrays, numbers, best):
    """Update C, and keep its leading eigenvectors; return r and how many there are."""
    rates, n, basis, size = scheme.rates, arrays.x.size, arrays.basis, numbers.rank
    kept_part = (1.0 - rates.c_cov) * numbers.rest
    weights = rates.c_cov * (1.0 - 1.0 / rates.mu_eff) * rates.weights
    small = np.zeros((len(basis) + 1, len(basis) + 1))
    for i in range(size):
        small[i, i] = (1.0 - rates.c_cov) * arrays.excess[i]
    size = _add_square(team, basis, small, size, rates.c_cov / rates.mu_eff, arrays.p_c)
    for j in range(len(best)):
        size = _add_square(team, basis, small, size, weights[j], best[j])
    small = small[:size, :size].copy()
    if not np.isfinite(small).all():
        return numbers.rest, numbers.rank
    eigenvalues, vectors = np.linalg.eigh(small)
    leading, kept = np.maximum(0.0, eigenvalues[::-1]), min(scheme.m, size)
    rest = kept_part
    if kept < n:
        rest += populations.total(team, size - kept, leading[kept:]) / (n - kept)
    arrays.excess[:kept] = np.maximum(0.0, leading[:kept] + kept_part - rest)
    turned = np.ascontiguousarray(vectors.T[::-1])
    for start in range(0, n, SLICE):
        old = basis[:size, start : start + SLICE].copy()
        for i in range(kept):
            new = basis[i, start : start + SLICE]
            new[:] = 0.0
            mix_slice(new, 1.0, turned[i], old, 0)
    return rest, kept


@compilable
def _add_square(team, basis, small, size, weight, u):
    """Add weight u u^T to the matrix in the basis; return the basis's size, which u may have increased.

    If little of u is left after the projections are subtracted, it is not orthogonal yet. So they are
    subtracted twice.
    """
    n, row = u.size, basis[size]
    copy(team, row, u)
    along = np.zeros(size + 1)
    for _ in range(2):
        products = np.zeros(size)
        add_products(products, basis[:size], row, 0)
        mix_rows(team, row, 1.0, -products, basis[:size])
        along[:size] += products
    left = math.sqrt(dot(team, n, row, row))
    is_new = size < n and left > _NOTHING * math.sqrt(dot(team, n, u, u))
    if is_new:
        along[size] = left
        scale(team, row, 1.0 / left)
    small[: size + 1, : size + 1] += weight * np.outer(along, along)
    return size + 1 if is_new else size
