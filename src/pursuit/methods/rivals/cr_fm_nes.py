"""`cr-fm-nes`, the fast moving natural evolution strategy of Nomura and Ono for many variables.

The covariance matrix is sigma^2 D (I + v v^T) D, with a diagonal D and one direction v:

    v ~ N(0, I_n/n);  D <- 1;  p_sigma <- 0;  p_c <- 0
    repeat:
        z_{2k-1} ~ N(0, I_n),  z_{2k} <- -z_{2k-1}
        y_j <- z_j + (sqrt(1 + |v|^2) - 1) <z_j, v'> v';  x_j <- m + sigma D y_j        (v' = v/|v|)
        sort by f(x_j), points without a value last, by |z_j|;  lambda_F <- the number of the others
        p_sigma <- (1 - c_sigma) p_sigma + sqrt(c_sigma (2 - c_sigma) mu_w) sum_j w_j^rank z_j
        if |p_sigma| >= E|N(0, I)|:  w <- w^dist, eta_sigma <- 1, l_c <- 1              (it moves)
        else:  w <- w^rank,  l_c <- 0, and eta_sigma is that of a distribution that
               stagnates, or that converges where |p_sigma| < E|N(0, I)|/10
        m <- m + sum_j w_j (x_j - m)
        p_c <- (1 - c_c) p_c + sqrt(c_c (2 - c_c) mu_w) sum_j w_j (x_j - m)/sigma
        v <- v + (eta_B sum_j w_j t(y_j) + l_c c_1 t(p_c/D))/|v|
        D <- D + (eta_B sum_j w_j s(y_j) + l_c c_1 s(p_c/D)) D
        G <- sum_j w_j (|z_j|^2/n - 1);  if it moves and G < 0:  G <- 0
        sigma <- sigma exp(eta_sigma G/2) det(A)^(1/n), with A of before;  D <- D/det(A)^(1/n), of now

where A = D sqrt(I + v v^T), and s(y) and t(y) are the natural gradient in D and v of Akimoto, Auger and
Hansen (2014):

    g = 1 + |v|^2;  t_1 = y <y, v'> - v' (<y, v'>^2 + g)/2;  s_1 = y^2 - |v|^2/g y v' <y, v'> - 1
    a = min(1, sqrt(|v|^4 + (2g - sqrt g)/max v'^2)/(2 + |v|^2));  b = 2a^2 - (1 - a^2) |v|^4/g
    H = 2 - (b + 2a^2) v'^2;  s_2 = s_1 - a/g ((2 + |v|^2) t_1 v' - |v|^2 v'^2 <v', t_1>)
    s = s_2/H - b v'^2/H <v'^2/H, s_2>/(1 + b <v'^2, v'^2/H>)
    t = t_1 - a ((2 + |v|^2) s v' - v' <v'^2, s>)

All of that is linear in s_1 and t_1, so it is done once for their weighted sums. And mirror images have the
same y^2 and y <y, v'>, so that a pair is added once.

With w'_j = max(0, ln(lambda/2 + 1) - ln j):  w^rank ~ w' of sum 1, less 1/lambda; w^dist ~ w' exp(alpha
|z_j|) of sum 1, less 1/lambda, where alpha = h min(1, sqrt(lambda/n)) sqrt(lambda_F/lambda) and (1 + h^2)
exp(h^2/2) = 0.24 (10 + n);

    mu_w = 1/sum_j (w_j^rank + 1/lambda)^2;  c_sigma = (mu_w + 2)/(n + mu_w + 5)
    c_c = (4 + mu_w/n)/(n + 4 + 2 mu_w/n)
    c_1 = lambda_F/lambda (n - 5)/6 2/((n + 1.3)^2 + mu_w)
    eta_sigma = tanh((0.024 lambda_F + 0.7n + 20)/(n + 12)), stagnating
    eta_sigma = 2 tanh((0.025 lambda_F + 0.75n + 10)/(n + 4)), converging
    eta_B = tanh((min(0.02 lambda_F, 3 ln n) + 5)/(0.23n + 25))

Below six variables c_1 would not be positive; it is 0 there. Work per evaluation is Theta(n).

M. Nomura and I. Ono, Fast moving natural evolution strategy for high-dimensional problems, CEC 2022.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pursuit.checks import Vector
from pursuit.compiling.jit import compilable
from pursuit.compiling.rows import SLICE, mix_rows
from pursuit.compiling.vectors import SERIAL, add, blend, dot, scale
from pursuit.methods.contract import Needs, State, ask, tell
from pursuit.methods.rivals import populations


class CrFmNes(NamedTuple):
    """CR-FM-NES: mirrored points, a variance for each variable, and one direction."""

    popsize: int
    mu_w: float
    c_sigma: float
    c_c: float
    c_1: float
    """c_1 where all points have values."""
    distance: float
    """alpha where all points have values."""
    raw: Vector
    """w'_j, by rank."""

    @classmethod
    def create(cls, n: int, *, popsize: int | None = None) -> CrFmNes:
        """Return the scheme; `popsize` is lambda, and an odd one is raised by 1."""
        popsize = populations.checked_population("cr-fm-nes", n, popsize, populations.usual_population(n))
        popsize += popsize % 2
        weights = populations.utilities(popsize)
        mu_w = 1.0 / float(np.square(weights / weights.sum()).sum())
        return cls(
            popsize=popsize,
            mu_w=mu_w,
            c_sigma=(mu_w + 2.0) / (n + mu_w + 5.0),
            c_c=(4.0 + mu_w / n) / (n + 4.0 + 2.0 * mu_w / n),
            c_1=max(0.0, (n - 5.0) / 6.0) * 2.0 / ((n + 1.3) ** 2 + mu_w),
            distance=_inverse_h(n) * min(1.0, math.sqrt(popsize / n)),
            raw=weights,
        )

    def init(self, x: Vector, fx: float, sigma: float) -> State:
        """Return the first state; v is drawn by the first iteration."""
        n, pairs = x.size, self.popsize // 2
        arrays = CrFmNesArrays(
            x=x,
            mean=x.copy(),
            scales=np.ones(n),
            v=np.zeros(n),
            p_sigma=np.zeros(n),
            p_c=np.zeros(n),
            products=np.zeros(pairs),
            squares=np.zeros(pairs),
        )
        return State(arrays, populations.RoundNumbers(fx, fx, sigma, k=0))

    def needs(self, n: int) -> Needs:
        """Return what the scheme needs for n variables: normals for the pairs, and for v of the first one."""
        return populations.needs_of_population(self.popsize, n, (self.popsize // 2 + 1) * n)


class CrFmNesArrays(NamedTuple):
    """The arrays of CR-FM-NES."""

    x: Vector
    mean: Vector
    """m."""
    scales: Vector
    """D."""
    v: Vector
    p_sigma: Vector
    p_c: Vector
    products: Vector
    """<z, v> of a pair."""
    squares: Vector
    """|z|^2 of a pair."""


@ask.register(CrFmNes)
def _ask(team, scheme, arrays, numbers, normals):
    n, v = arrays.x.shape[0], arrays.v
    if numbers.k == 0:
        v[:] = normals[:n] / math.sqrt(n)
    for k in range(scheme.popsize // 2):
        z = normals[(k + 1) * n : (k + 2) * n]
        arrays.products[k] = dot(team, n, z, v)
        arrays.squares[k] = dot(team, n, z, z)
    shape = populations.Shape(arrays.scales, v, _excess(dot(team, n, v, v)) * arrays.products)
    return populations.Samples(arrays.mean, numbers.sigma, normals[n:], scheme.popsize, 2, shape)


@compilable
def _excess(square):
    """Return by what multiple of <z, v> v the y of a z differs from it, where |v|^2 is `square`."""
    return (math.sqrt(1.0 + square) - 1.0) / square


@tell.register(CrFmNes)
def _tell(team, scheme, arrays, numbers, query, values):
    n, p_sigma = arrays.x.shape[0], arrays.p_sigma
    order, f, fx = populations.ranked(team, arrays, numbers, query, values)
    finite = _sort_the_infinite(arrays, values, order)
    share = finite / scheme.popsize
    weights, step = _weighted(team, scheme, arrays, query, order, 0.0)
    gain = math.sqrt(scheme.c_sigma * (2.0 - scheme.c_sigma) * scheme.mu_w)
    blend(team, p_sigma, 1.0 - scheme.c_sigma, gain, step)
    relative = math.sqrt(dot(team, n, p_sigma, p_sigma)) / populations.expected_length(n)
    moves = relative >= 1.0
    if moves:
        alpha = scheme.distance * math.sqrt(share)
        weights, step = _weighted(team, scheme, arrays, query, order, alpha)
    # The step is the sum of the y_j: that of the z_j, and what v adds to them.
    of_v = growth = 0.0
    for k in range(arrays.products.size):
        of_v += (weights[2 * k] - weights[2 * k + 1]) * query.shape.along[k]
    step = arrays.scales * (step + of_v * arrays.v)
    blend(team, arrays.p_c, 1.0 - scheme.c_c, math.sqrt(scheme.c_c * (2.0 - scheme.c_c) * scheme.mu_w), step)
    add(team, arrays.mean, numbers.sigma, step)
    # D has been divided by det(A)^(1/n) in all rounds but the first.
    root = math.exp(math.log(1.0 + dot(team, n, arrays.v, arrays.v)) / (2.0 * n)) if numbers.k == 0 else 1.0
    eta = math.tanh((min(0.02 * finite, 3.0 * math.log(n)) + 5.0) / (0.23 * n + 25.0))
    weights_of_pairs = eta * (weights[::2] + weights[1::2])
    _learn(team, arrays, query.z, weights_of_pairs, scheme.c_1 * share if moves else 0.0)
    for j in range(scheme.popsize):
        growth += weights[j] * (arrays.squares[j // 2] / n - 1.0)
    if moves and growth < 0.0:
        growth = 0.0
    _renormalise(team, arrays)
    change = math.exp(0.5 * _rate_of_size(n, finite, relative) * growth)
    return populations.RoundNumbers(fx, f, numbers.sigma * change * root, numbers.k + 1)


@compilable
def _sort_the_infinite(arrays, values, order):
    """Sort points without a value by |z|; return how many have one."""
    finite = 0
    while finite < values.shape[0] and values[order[finite]] < math.inf:
        finite += 1
    others = order[finite:].copy()
    order[finite:] = others[np.argsort(arrays.squares[others // 2], kind="mergesort")]
    return finite


@compilable
def _weighted(team, scheme, arrays, query, order, alpha):
    """Return the weights of points, those of ranks times exp(alpha |z|), and the weighted sum of the z_j."""
    weights, longest, whole = np.zeros(scheme.popsize), math.sqrt(np.max(arrays.squares)), 0.0
    for rank in range(scheme.popsize):
        j, weight = order[rank], scheme.raw[rank]
        if alpha > 0.0 and weight > 0.0:
            # The longest z counts 1: a factor common to all weights cancels, and might be infinite.
            weight *= math.exp(alpha * (math.sqrt(arrays.squares[j // 2]) - longest))
        weights[j] = weight
        whole += weight
    weights = weights / whole - 1.0 / scheme.popsize
    step = np.zeros(arrays.x.size)
    mix_rows(team, step, 1.0, weights[::2] - weights[1::2], query.z.reshape(-1, step.size))
    return weights, step


@compilable
def _learn(team, arrays, z, weights, c_1):
    """Change v and D along the natural gradient, given the weights of pairs, eta_B among them."""
    n, v, scales = arrays.x.shape[0], arrays.v, arrays.scales
    square = dot(team, n, v, v)
    length, g = math.sqrt(square), 1.0 + square
    s, t, mixed, constant = _sum_gradients(team, arrays, z, weights, c_1)
    way = v * (1.0 / length)  # v'
    ways = way * way
    root = math.sqrt(square * square + (2.0 * g - math.sqrt(g)) * square / np.max(v * v))
    a = min(1.0, root / (2.0 + square))
    b = 2.0 * a * a - (1.0 - a * a) * square * square / g
    H = 2.0 - (b + 2.0 * a * a) * ways  # noqa: N806 (the source's name)
    s -= constant + square / g * way * mixed
    s -= a / g * ((2.0 + square) * t * way - square * way * way * (dot(team, n, v, t) / length))
    part = populations.total(team, n, ways * s / H) / (1.0 + b * populations.total(team, n, ways * ways / H))
    s = (s - b * ways * part) / H
    t -= a * ((2.0 + square) * s * way - way * dot(team, n, ways, s))
    v += t * (1.0 / length)
    scales += s * scales


@compilable
def _sum_gradients(team, arrays, z, weights, c_1):
    """Return the sums of y^2, of t_1, of y <y, v'>, and of the weights.

    As y = z + e <z, v> v and <y, v> = sqrt(g) <z, v>, they follow from the sums of z^2 and of z <z, v>.
    """
    n, v = arrays.x.shape[0], arrays.v
    square = dot(team, n, v, v)
    length, g, excess = math.sqrt(square), 1.0 + square, _excess(square)
    squares, mixed = _sums_of_squares(z.reshape(-1, n), arrays.products, weights)
    constant = products = 0.0
    for k in range(weights.size):
        constant += weights[k]
        products += weights[k] * arrays.products[k] * arrays.products[k]
    of_v = excess * products
    squares += excess * v * (2.0 * mixed + of_v * v)
    mixed = math.sqrt(g) / length * (mixed + of_v * v)
    products *= g / square
    if c_1 > 0.0:
        y = arrays.p_c / arrays.scales
        product = dot(team, n, y, v) / length
        constant += c_1
        products += c_1 * product * product
        squares += c_1 * y * y
        mixed += c_1 * product * y
    return squares, mixed - (products + g * constant) / (2.0 * length) * v, mixed, constant


@compilable
def _sums_of_squares(rows, products, weights):
    """Return the weighted sums of z^2 and of z <z, v>, slice by slice, so that they stay in the cache."""
    n = rows.shape[1]
    squares, mixed = np.zeros(n), np.zeros(n)
    for start in range(0, n, SLICE):
        end = min(start + SLICE, n)
        squares_here, mixed_here = squares[start:end], mixed[start:end]
        for k in range(weights.size):
            z = rows[k, start:end]
            populations.add_squares(SERIAL, squares_here, weights[k], z)
            add(SERIAL, mixed_here, weights[k] * products[k], z)
    return squares, mixed


@compilable
def _renormalise(team, arrays):
    """Divide D by det(A)^(1/n)."""
    n, logarithm, product = arrays.x.shape[0], 0.0, 1.0
    # Logarithms take long, so they are those of products.
    for i in range(n):
        product *= arrays.scales[i]
        if not 1e-100 < product < 1e100:
            logarithm += math.log(product)
            product = 1.0
    logarithm += math.log(product)
    square = dot(team, n, arrays.v, arrays.v)
    scale(team, arrays.scales, math.exp(-logarithm / n - math.log(1.0 + square) / (2.0 * n)))


@compilable
def _rate_of_size(n, finite, relative):
    """Return eta_sigma where p_sigma has this part of its expected length."""
    if relative >= 1.0:
        return 1.0
    if relative >= 0.1:
        return math.tanh((0.024 * finite + 0.7 * n + 20.0) / (n + 12.0))
    return 2.0 * math.tanh((0.025 * finite + 0.75 * n + 10.0) / (n + 4.0))


def _inverse_h(n: int) -> float:
    """Return the h for which (1 + h^2) exp(h^2/2) = 0.24 (10 + n), by Newton's method from above."""
    wanted, h = 0.24 * (10.0 + n), math.sqrt(2.0 * math.log(10.0 + n))
    for _ in range(50):
        power = math.exp(0.5 * h * h)
        h -= ((1.0 + h * h) * power - wanted) / (h * power * (3.0 + h * h))
    return h
