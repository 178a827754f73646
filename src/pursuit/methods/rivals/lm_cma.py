"""`lm-cma`, the limited memory CMA-ES of Loshchilov: a matrix made of m stored evolution paths.

The Cholesky factor A of the covariance matrix is never formed. It follows from m paths p^1, ..., p^m, the
oldest first, by A <- I and then, for i = 1 ... m,

    v^i <- A^-1 p^i;  A <- a A + b^i p^i v^iT;  A^-1 <- A^-1/a - d^i v^i v^iT A^-1
    b^i = a/|v^i|^2 (sqrt(1 + c_1/(1 - c_1) |v^i|^2) - 1)
    d^i = 1/(a |v^i|^2) (1 - 1/sqrt(1 + c_1/(1 - c_1) |v^i|^2)),  a^2 = 1 - c_1,

so that A A^T <- (1 - c_1) A A^T + c_1 p^i p^iT, and A z takes m inner products and m sums:

    repeat, t = 0, 1, ...:
        z ~ N(0, I_n);  x_{2k-1} <- m + sigma A z;  x_{2k} <- m - sigma A z,  for all pairs k
        m' <- sum_{j <= mu} w_j x_j, the x_j sorted by f
        p_c <- (1 - c_c) p_c + sqrt(c_c (2 - c_c) mu_w) (m' - m)/sigma;  m <- m'
        if there are m paths, forget one: the newer of the two that were stored with the fewest
            iterations in between, or the oldest if that is N_steps or more for all;  store p_c, with t
        z_PSR <- (sum of the ranks of the values before - sum of those of the new ones, among
            both)/lambda^2 - z*;  s <- (1 - c_sigma) s + c_sigma z_PSR;  sigma <- sigma exp(s/d_sigma)

with lambda = m = N_steps = 4 + 3 ln n, mu = lambda/2, w_j ~ ln(mu + 1) - ln j of sum 1, c_c = 1/m,
c_1 = 1/(10 ln(n + 1)), c_sigma = 0.3, d_sigma = 1 and z* = 0.25. sigma stays as it is in the first round.

The version of 2017 draws z from {-1, 1}^n, which takes less time, and makes A of the latest paths only:
|4 N(0, 1)| of them, rounded up, for each pair anew, and |40 N(0, 1)| for the first pair of a round. It has
N_steps = n, c_c = 1/(2 sqrt n) and z* = 0.3, and stores a path every ln n iterations. Work per evaluation is
Theta(mn).

I. Loshchilov, A computationally efficient limited memory CMA-ES for large scale optimization, GECCO 2014, and
LM-CMA: an alternative to L-BFGS for large-scale black box optimization, Evolutionary Computation 25, 2017.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from pursuit.checks import Vector, checked_choice, checked_count, checked_memory, checked_number
from pursuit.compiling.jit import compilable
from pursuit.compiling.rows import SLICE, add_products, mix_rows, mix_slice, push
from pursuit.compiling.vectors import Matrix, copy
from pursuit.methods.contract import Needs, State, ask, checked_rate, is_valid, tell
from pursuit.methods.rivals import populations

# How many paths the pairs of 2017 use: the size of |N(0, 1)| of them, and of the first pair of a round.
_USED, _USED_FIRST = 4.0, 40.0
_C_SIGMA, _D_SIGMA = 0.3, 1.0
# SplitMix64 (Steele, Lea and Flood 2014), and the factor that turns a standard normal into a whole number.
_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_WHOLE = 2.0**50


class LmCma(NamedTuple):
    """LM-CMA-ES: mirrored points, a step size by ranks, and a matrix made of paths."""

    popsize: int
    m: int
    n_steps: int
    period: int
    """After how many iterations a path is stored."""
    mu_w: float
    c_c: float
    c_1: float
    z_star: float
    is_later: bool
    """Whether points are drawn as in 2017."""
    weights: Vector
    """w_1, ..., w_mu."""

    @classmethod
    def create(
        cls,
        n: int,
        *,
        version: str = "2014",
        popsize: int | None = None,
        m: int | None = None,
        n_steps: int | None = None,
        c_c: float | None = None,
        c_1: float | None = None,
        z_star: float | None = None,
    ) -> LmCma:
        """Return the scheme; `popsize` is lambda, and the defaults are those of the source of that year."""
        is_later = checked_choice("version", version, ("2014", "2017")) == "2017"
        usual = populations.usual_population(n)
        m = usual if m is None else checked_count("m", m, at_least=1)
        checked_memory(f"lm-cma with m={m} paths of n={n} variables", 2 * m * n)
        popsize = populations.checked_population("lm-cma", n, popsize, usual)
        if n_steps is None:
            n_steps = n if is_later else m
        return cls(
            popsize=popsize,
            m=m,
            n_steps=checked_count("n_steps", n_steps, at_least=0),
            period=max(1, math.floor(math.log(n))) if is_later else 1,
            mu_w=populations.effective_size(popsize // 2),
            c_c=checked_rate("c_c", c_c, 0.5 / math.sqrt(n) if is_later else 1.0 / m),
            c_1=checked_number("c_1", 0.1 / math.log(n + 1.0) if c_1 is None else c_1, above=0.0, below=1.0),
            z_star=checked_number("z_star", (0.3 if is_later else 0.25) if z_star is None else z_star),
            is_later=is_later,
            weights=populations.log_weights(popsize // 2),
        )

    def init(self, x: Vector, fx: float, sigma: float) -> State:
        """Return the first state, without a path; its f is the best value of the latest round."""
        n, m = x.size, self.m
        arrays = LmCmaArrays(
            x=x,
            mean=x.copy(),
            p_c=np.zeros(n),
            paths=np.zeros((m, n)),
            v=np.zeros((m, n)),
            b=np.zeros(m),
            times=np.zeros(m),
            products=np.zeros((m, m)),
            before=np.full(self.popsize, np.inf),
        )
        return State(arrays, LmCmaNumbers(fx, fx, sigma, s=0.0, stored=0, t=0))

    def needs(self, n: int) -> Needs:
        """Return what the scheme needs for n variables: n normals per pair, or two in 2017."""
        return populations.needs_of_population(
            self.popsize, n, (self.popsize + 1) // 2 * (2 if self.is_later else n)
        )


class LmCmaArrays(NamedTuple):
    """The arrays of LM-CMA-ES."""

    x: Vector
    mean: Vector
    """m."""
    p_c: Vector
    paths: Matrix
    """The stored p_c, the oldest first."""
    v: Matrix
    """Their v."""
    b: Vector
    times: Vector
    """The iteration in which each path was stored."""
    products: Matrix
    """The inner products of the paths."""
    before: Vector
    """The values of the round before."""


class LmCmaNumbers(NamedTuple):
    """The numbers of LM-CMA-ES."""

    fx: float
    f: float
    sigma: float
    s: float
    stored: int
    """How many paths there are."""
    t: int


@is_valid.register(LmCma)
def _is_valid(scheme, arrays, numbers):
    return 0 <= numbers.stored <= arrays.times.size and numbers.t >= 0


@ask.register(LmCma)
def _ask(team, scheme, arrays, numbers, normals):
    n, pairs = arrays.x.shape[0], (scheme.popsize + 1) // 2
    z, oldest = normals, np.zeros(pairs, dtype=np.int64)
    if scheme.is_later:
        z = np.empty(pairs * n)
        for k in range(pairs):
            used = abs(normals[2 * k]) * (_USED_FIRST if k == 0 else _USED)
            oldest[k] = numbers.stored - math.ceil(min(used, float(numbers.stored)))
            z[k * n : (k + 1) * n] = random_signs(normals[2 * k + 1], n)
    _transform(scheme, arrays, numbers.stored, z.reshape(pairs, n), oldest)
    return populations.Samples(
        arrays.mean, numbers.sigma, z, scheme.popsize, 2, populations.no_shape(arrays.mean)
    )


@compilable
def random_signs(normal: Any, n: Any) -> Any:
    """Return n signs that depend on one standard normal, so that they need not be kept."""
    start = _hashed(np.full(1, np.uint64(abs(normal) * _WHOLE)))
    words = _hashed(start + np.arange((n + 63) // 64).astype(np.uint64) * _STEP)
    bits = (words.reshape(-1, 1) >> np.arange(64).astype(np.uint64)) & np.uint64(1)
    return 1.0 - 2.0 * bits.ravel()[:n]


@compilable
def _hashed(words):
    """Return the words hashed; integers wrap around, and so are the same on every processor."""
    words = (words ^ (words >> np.uint64(30))) * _FIRST
    words = (words ^ (words >> np.uint64(27))) * _SECOND
    return words ^ (words >> np.uint64(31))


@compilable
def _transform(scheme, arrays, stored, z, oldest):
    """Turn every row z into A z, A made of the paths from the `oldest` on for that row.

    All inner products are with z as it was. Slice by slice, so that paths pass through memory twice a round.
    """
    pairs, n = z.shape
    along, powers = np.zeros((pairs, stored)), np.ones(pairs)
    for start in range(0, n, SLICE):
        end = min(start + SLICE, n)
        for k in range(pairs):
            used = slice(oldest[k], stored)
            add_products(along[k, used], arrays.v[used], z[k, start:end], start)
    for k in range(pairs):
        for i in range(stored - 1, oldest[k] - 1, -1):
            along[k, i] *= powers[k] * arrays.b[i]
            powers[k] *= math.sqrt(1.0 - scheme.c_1)
    for start in range(0, n, SLICE):
        end = min(start + SLICE, n)
        for k in range(pairs):
            used = slice(oldest[k], stored)
            mix_slice(z[k, start:end], powers[k], along[k, used], arrays.paths[used], start)


@tell.register(LmCma)
def _tell(team, scheme, arrays, numbers, query, values):
    order, f, fx = populations.ranked(team, arrays, numbers, query, values)
    _move(team, scheme, arrays, numbers.sigma, query.z, order)
    is_due = numbers.t % scheme.period == 0
    count = _store(team, scheme, arrays, numbers) if is_due else numbers.stored
    s, sigma = numbers.s, numbers.sigma
    if numbers.t > 0:
        success = _success(values, arrays.before) - scheme.z_star
        s = (1.0 - _C_SIGMA) * s + _C_SIGMA * success
        sigma *= math.exp(s / _D_SIGMA)
    copy(team, arrays.before, values)
    return LmCmaNumbers(fx, f, sigma, s, count, numbers.t + 1)


@compilable
def _move(team, scheme, arrays, sigma, z, order):
    """Move the mean, and p_c with it."""
    n, pairs = arrays.x.shape[0], (scheme.popsize + 1) // 2
    weights = np.zeros(pairs)
    for rank in range(scheme.weights.shape[0]):
        j = order[rank]
        weights[j // 2] += scheme.weights[rank] if j % 2 == 0 else -scheme.weights[rank]
    gain = math.sqrt(scheme.c_c * (2.0 - scheme.c_c) * scheme.mu_w)
    steps = z.reshape(pairs, n)
    mix_rows(team, arrays.mean, 1.0, sigma * weights, steps)
    mix_rows(team, arrays.p_c, 1.0 - scheme.c_c, gain * weights, steps)


@compilable
def _store(team, scheme, arrays, numbers):
    """Store p_c, in place of another path if there is no room; return how many there are."""
    n, changed, count = arrays.x.size, numbers.stored, numbers.stored + 1
    if numbers.stored == scheme.m:
        changed, count = _forget(team, scheme, arrays), scheme.m
    last = count - 1
    arrays.times[last] = numbers.t
    arrays.paths[last] = arrays.p_c
    new = np.zeros(count)
    add_products(new, arrays.paths[:count], arrays.p_c, 0)
    arrays.products[last, :count] = arrays.products[:count, last] = new
    parts = _invert(scheme, arrays, count)
    for start in range(0, n, SLICE):
        for i in range(changed, count):
            v = arrays.v[i, start : min(start + SLICE, n)]
            v[:] = 0.0
            mix_slice(v, 1.0, parts[i], arrays.paths[: i + 1], start)
    return count


@compilable
def _forget(team, scheme, arrays):
    """Forget a path: later ones move one place up. Return which it was, counted from the oldest."""
    distances = np.full(scheme.m, float(scheme.n_steps))
    distances[1:] = np.diff(arrays.times)
    forgotten = np.argmin(distances)
    push(team, arrays.paths[forgotten:])
    push(team, arrays.products[forgotten:])
    arrays.products[:, forgotten:-1] = arrays.products[:, forgotten + 1 :].copy()
    arrays.times[forgotten:-1] = arrays.times[forgotten + 1 :].copy()
    return forgotten


@compilable
def _invert(scheme, arrays, count):
    """Compute the b, and the v as sums of the paths: return how much of each path is in each v.

    v^i is a sum of the paths up to the i-th. So its inner products follow from those of the paths.
    """
    a = math.sqrt(1.0 - scheme.c_1)
    parts, d = np.eye(count), np.zeros(count)
    along = np.zeros((count, count))  # <v, p> of each v with each path
    for i in range(count):
        part = parts[i]
        for t in range(i):
            product = 0.0
            for j in range(i + 1):
                product += along[t, j] * part[j]
            for j in range(i + 1):
                part[j] /= a
            for j in range(t + 1):
                part[j] -= d[t] * product * parts[t, j]
        square = 0.0
        for k in range(i + 1):
            along[i] += part[k] * arrays.products[k, :count]
        for j in range(i + 1):
            square += along[i, j] * part[j]
        root = math.sqrt(1.0 + scheme.c_1 / (1.0 - scheme.c_1) * square)
        arrays.b[i] = a / square * (root - 1.0)
        d[i] = (1.0 - 1.0 / root) / (a * square)
    return parts


@compilable
def _success(values, before):
    """Return the difference of the sums of ranks over lambda^2.

    It is the share of pairs with a better new value, less that of pairs with a better old one; pairs of equal
    values do not count.
    """
    new = values.reshape(-1, 1)
    better = np.count_nonzero(new < before) - np.count_nonzero(new > before)
    return better / (values.size * values.size)
