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
from typing import NamedTuple

import numpy as np

from pursuit.checks import Vector, checked_choice, checked_count, checked_memory, checked_number
from pursuit.compiling.hashing import write_signs
from pursuit.compiling.inner import inner
from pursuit.compiling.vectors import SLICE, Matrix, add_products, copy, fill, mix_rows, mix_slice, push
from pursuit.methods.cma_rates import effective_size, log_weights
from pursuit.methods.contract import ask, tell
from pursuit.methods.options import checked_rate
from pursuit.methods.samples import (
    Samples,
    checked_population,
    of_population,
    order_of,
    usual_population,
    write_sample,
)

# How many paths the pairs of 2017 use: the size of |N(0, 1)| of them, and of the first pair of a round.
_USED, _USED_FIRST = 4.0, 40.0


@of_population
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
    c_sigma: float
    d_sigma: float
    z_star: float
    is_later: bool
    """Whether points are drawn as in 2017."""

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
        usual = usual_population(n)
        m = usual if m is None else checked_count("m", m, at_least=1)
        checked_memory(f"lm-cma with m={m} paths of n={n} variables", 2 * m * n)
        popsize = checked_population("lm-cma", n, popsize, usual)
        default_c_c, default_z = (0.5 / math.sqrt(n), 0.3) if is_later else (1.0 / m, 0.25)
        return cls(
            popsize=popsize,
            m=m,
            n_steps=(n if is_later else m)
            if n_steps is None
            else checked_count("n_steps", n_steps, at_least=0),
            period=max(1, math.floor(math.log(n))) if is_later else 1,
            mu_w=effective_size(popsize // 2),
            c_c=default_c_c if c_c is None else checked_rate("c_c", c_c),
            c_1=checked_number("c_1", 0.1 / math.log(n + 1.0) if c_1 is None else c_1, above=0.0, below=1.0),
            c_sigma=0.3,
            d_sigma=1.0,
            z_star=checked_number("z_star", default_z if z_star is None else z_star),
            is_later=is_later,
        )

    def init(self, x: Vector, fx: float, sigma: float) -> LmCmaState:
        """Return the first state, without a path."""
        n, m = x.size, self.m
        return LmCmaState(
            x=x,
            fx=fx,
            f=fx,
            sigma=sigma,
            mean=x.copy(),
            p_c=np.zeros(n),
            z=np.zeros((self.popsize + 1) // 2 * n if self.is_later else 0),
            paths=np.zeros((m, n)),
            v=np.zeros((m, n)),
            b=np.zeros(m),
            d=np.zeros(m),
            times=np.zeros(m),
            products=np.zeros((m, m)),
            parts=np.zeros((m, m)),
            weights=log_weights(self.popsize // 2),
            before=np.full(self.popsize, np.inf),
            s=0.0,
            stored=0,
            t=0,
        )

    def draws(self, n: int) -> int:
        """Return how many standard normals an iteration takes: n per pair, or two in 2017."""
        return (self.popsize + 1) // 2 * (2 if self.is_later else n)


class LmCmaState(NamedTuple):
    """The state of LM-CMA-ES; `f` is the best value of the latest round."""

    x: Vector
    fx: float
    f: float
    sigma: float
    mean: Vector
    """m."""
    p_c: Vector
    z: Vector
    """Room for the z of 2017; those of 2014 are the normals of the iteration."""
    paths: Matrix
    """The stored p_c, the oldest first."""
    v: Matrix
    """Their v."""
    b: Vector
    d: Vector
    times: Vector
    """The iteration in which each path was stored."""
    products: Matrix
    """The inner products of the paths."""
    parts: Matrix
    """How much of each path is in each v."""
    weights: Vector
    """w_1, ..., w_mu."""
    before: Vector
    """The values of the round before."""
    s: float
    stored: int
    """How many paths there are."""
    t: int

    def is_valid(self) -> bool:
        """Say whether there is room for the stored paths."""
        return 0 <= self.stored <= self.times.size and self.t >= 0


@ask.register(LmCma)
def _ask(team, scheme, state, normals):
    n, pairs = state.x.shape[0], (scheme.popsize + 1) // 2
    z = state.z if scheme.is_later else normals
    oldest = np.zeros(pairs, dtype=np.int64)
    if scheme.is_later:
        for k in range(pairs):
            used = abs(normals[2 * k]) * (_USED_FIRST if k == 0 else _USED)
            oldest[k] = state.stored - math.ceil(min(used, float(state.stored)))
            write_signs(normals[2 * k + 1], z[k * n : (k + 1) * n])
    _transform(scheme, state, z.reshape(pairs, n), oldest)
    nothing = state.mean[:0]
    return Samples(
        mean=state.mean,
        scales=nothing,
        direction=nothing,
        along=nothing,
        z=z,
        sigma=state.sigma,
        size=scheme.popsize,
        sides=2,
    )


@inner
def _transform(scheme, state, z, oldest):
    """Turn every row z into A z, A made of the paths from the `oldest` on for that row.

    All inner products are with z as it was. Slice by slice, so that paths pass through memory twice a round.
    """
    pairs, n = z.shape
    stored = state.stored
    along, powers = np.zeros((pairs, stored)), np.ones(pairs)
    for start in range(0, n, SLICE):
        end = min(start + SLICE, n)
        for k in range(pairs):
            used = slice(oldest[k], stored)
            add_products(along[k, used], state.v[used], z[k, start:end], start)
    for k in range(pairs):
        for i in range(stored - 1, oldest[k] - 1, -1):
            along[k, i] *= powers[k] * state.b[i]
            powers[k] *= math.sqrt(1.0 - scheme.c_1)
    for start in range(0, n, SLICE):
        end = min(start + SLICE, n)
        for k in range(pairs):
            used = slice(oldest[k], stored)
            mix_slice(z[k, start:end], powers[k], along[k, used], state.paths[used], start)


@tell.register(LmCma)
def _tell(team, scheme, state, query, values):
    order = order_of(values)
    f, fx = values[order[0]], state.fx
    if f < fx:
        fx = f
        write_sample(query, order[0], state.x)
    _move(team, scheme, state, query.z, order)
    count = _store(team, scheme, state) if state.t % scheme.period == 0 else state.stored
    s, sigma = state.s, state.sigma
    if state.t > 0:
        success = _success(values, state.before) - scheme.z_star
        s = (1.0 - scheme.c_sigma) * s + scheme.c_sigma * success
        sigma *= math.exp(s / scheme.d_sigma)
    copy(team, state.before, values)
    return LmCmaState(
        x=state.x,
        fx=fx,
        f=f,
        sigma=sigma,
        mean=state.mean,
        p_c=state.p_c,
        z=state.z,
        paths=state.paths,
        v=state.v,
        b=state.b,
        d=state.d,
        times=state.times,
        products=state.products,
        parts=state.parts,
        weights=state.weights,
        before=state.before,
        s=s,
        stored=count,
        t=state.t + 1,
    )


@inner
def _move(team, scheme, state, z, order):
    """Move the mean, and p_c with it."""
    n, pairs = state.x.shape[0], (scheme.popsize + 1) // 2
    weights = np.zeros(pairs)
    for rank in range(state.weights.shape[0]):
        j = order[rank]
        weights[j // 2] += state.weights[rank] if j % 2 == 0 else -state.weights[rank]
    gain = math.sqrt(scheme.c_c * (2.0 - scheme.c_c) * scheme.mu_w)
    steps = z.reshape(pairs, n)
    mix_rows(team, state.mean, 1.0, state.sigma * weights, steps)
    mix_rows(team, state.p_c, 1.0 - scheme.c_c, gain * weights, steps)


@inner
def _store(team, scheme, state):
    """Store p_c, in place of another path if there is no room; return how many there are."""
    changed, count = state.stored, state.stored + 1
    if state.stored == scheme.m:
        changed, count = _least_missed(scheme, state), state.stored
        _forget(team, state, changed)
    last = count - 1
    state.times[last] = state.t
    copy(team, state.paths[last], state.p_c)
    new = state.products[last, :count]
    fill(team, new, 0.0)
    add_products(new, state.paths[:count], state.p_c, 0)
    copy(team, state.products[:count, last], new)
    _invert(scheme, state, changed, count)
    _write_inverses(team, state, changed, count)
    return count


@inner
def _least_missed(scheme, state):
    """Return which path to forget, counted from the oldest."""
    least, closest = 0, float(scheme.n_steps)
    for i in range(1, scheme.m):
        distance = state.times[i] - state.times[i - 1]
        if distance < closest:
            least, closest = i, distance
    return least


@inner
def _forget(team, state, forgotten):
    """Forget a path: later ones move one place up."""
    push(team, state.paths[forgotten:])
    push(team, state.products[forgotten:])
    for i in range(forgotten, state.times.shape[0] - 1):
        state.times[i] = state.times[i + 1]
        copy(team, state.products[:, i], state.products[:, i + 1])


@inner
def _invert(scheme, state, changed, count):
    """Compute the v from the one `changed` on, as sums of the paths, and their b and d.

    v^i is a sum of the paths up to the i-th. So its inner products follow from those of the paths.
    """
    a = math.sqrt(1.0 - scheme.c_1)
    along = np.zeros((count, count))  # <v, p> of each v with each path
    for i in range(count):
        part = state.parts[i]
        if i >= changed:
            part[:i] = 0.0
            part[i] = 1.0
            for t in range(i):
                product = 0.0
                for j in range(i + 1):
                    product += along[t, j] * part[j]
                for j in range(i + 1):
                    part[j] /= a
                for j in range(t + 1):
                    part[j] -= state.d[t] * product * state.parts[t, j]
        square = 0.0
        for k in range(i + 1):
            for j in range(count):
                along[i, j] += part[k] * state.products[k, j]
        for j in range(i + 1):
            square += along[i, j] * part[j]
        if i >= changed:
            root = math.sqrt(1.0 + scheme.c_1 / (1.0 - scheme.c_1) * square)
            state.b[i] = a / square * (root - 1.0)
            state.d[i] = (1.0 - 1.0 / root) / (a * square)


@inner
def _write_inverses(team, state, changed, count):
    """Write the v from the one `changed` on."""
    n = state.x.shape[0]
    for start in range(0, n, SLICE):
        for i in range(changed, count):
            v = state.v[i, start : min(start + SLICE, n)]
            fill(team, v, 0.0)
            mix_slice(v, 1.0, state.parts[i], state.paths[: i + 1], start)


@inner
def _success(values, before):
    """Return the difference of the sums of ranks over lambda^2.

    It is the share of pairs with a better new value, less that of pairs with a better old one; pairs of equal
    values do not count.
    """
    better = 0
    for new in values:
        for old in before:
            better += 1 if new < old else (-1 if new > old else 0)
    return better / (values.shape[0] * values.shape[0])
