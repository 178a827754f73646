"""`spsa`, simultaneous perturbation stochastic approximation: Spall's gradient from two values.

    for k = 0, 1, ...:
        a_k <- a/(k + 1 + A)^alpha;  c_k <- c/(k + 1)^gamma
        Delta ~ +-1 with equal probability, n times
        g <- (f(y + c_k Delta) - f(y - c_k Delta))/(2 c_k Delta), entry by entry
        y <- y - a_k g

with alpha = 0.602, gamma = 0.101 and A = 100, a tenth of a thousand iterations. For c, Spall takes the
standard deviation of the noise of a value; the default, 1e-7 sigma0, is for values without noise.

Spall's rule for a is that a_0 times the mean size of the entries of g at the start should equal the change
wanted in y at first, here sigma0/n in every entry: g is measured in the first rounds, before any step. A
quadratic function whose variables are sigma0 away from their best values has E|g_i| >= 0.8 L sigma0, and
steps along random signs are stable up to a = 2/(nL). Where f is flatter at the start than elsewhere, a is too
large until a_k has fallen enough, which takes long. So that the iterates do not get lost meanwhile, no entry
changes by more than sigma0 in a step. Where L, the largest curvature, is known, nothing is measured, and
a_0 = 1/(nL), which is best for a sphere.

Where a difference is not a number, y goes back to the best point. `sigma` is the mean size of the latest
steps, in every entry. Two evaluations and Theta(n) operations per iteration.

J. C. Spall, Multivariate stochastic approximation using a simultaneous perturbation gradient approximation,
IEEE Transactions on Automatic Control 37, 1992; Implementation of the simultaneous perturbation algorithm for
stochastic optimization, IEEE Transactions on Aerospace and Electronic Systems 34, 1998.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from pursuit.checks import Vector, checked_count, checked_number
from pursuit.compiling.jit import inlined
from pursuit.compiling.vectors import add, copy, repeated
from pursuit.methods import nesterov
from pursuit.methods.contract import Needs, Pair, State, ask, tell

# c where it is not given, as a multiple of sigma0.
_NEAR = 1e-7


class Spsa(NamedTuple):
    """SPSA: a step along random signs, from the values on both sides."""

    a: float
    """0 if the first rounds are to find it."""
    c: float
    """0 for a small part of sigma0."""
    A: float
    alpha: float
    gamma: float
    measured: int

    @classmethod
    def create(
        cls,
        n: int,
        *,
        a: float | None = None,
        L: float | None = None,  # noqa: N803 (the field's name)
        c: float | None = None,
        A: float = 100.0,  # noqa: N803 (the source's name)
        alpha: float = 0.602,
        gamma: float = 0.101,
        measured: int = 10,
    ) -> Spsa:
        """Return the scheme; without `a` and `L`, the slopes of the first `measured` rounds decide on a."""
        A = checked_number("A", A, at_least=0.0)  # noqa: N806
        alpha = checked_number("alpha", alpha, at_least=0.0)
        if a is None and L is not None:
            a = (1.0 + A) ** alpha / (n * checked_number("L", L, above=0.0))
        return cls(
            a=0.0 if a is None else checked_number("a", a, above=0.0),
            c=0.0 if c is None else checked_number("c", c, above=0.0),
            A=A,
            alpha=alpha,
            gamma=checked_number("gamma", gamma, at_least=0.0),
            measured=checked_count("measured", measured, at_least=1),
        )

    def init(self, x: Vector, fx: float, sigma: float) -> State:
        """Return the first state; its f is the lower value of the latest round."""
        numbers = SpsaNumbers(fx, fx, sigma, 0, sigma, Gain(self.a, slopes=0.0, rounds=0))
        return State(nesterov.BestAndIterate(x, x.copy()), numbers)

    def needs(self, n: int) -> Needs:
        """Return what the scheme needs for n variables."""
        return Needs(normals=n, points=2, patience=nesterov.wandering_patience(n))


class Gain(NamedTuple):
    """The rule's a, and the rounds that measure it."""

    a: float
    """0 while it is not known."""
    slopes: float
    """The sum of |g| of the rounds so far."""
    rounds: int


class SpsaNumbers(NamedTuple):
    """The numbers of SPSA."""

    fx: float
    f: float
    sigma: float
    k: int
    sigma0: float
    gain: Gain


@repeated
def replace_by_sign(i, x):
    """Replace every entry by its sign."""
    x[i] = 1.0 if x[i] >= 0.0 else -1.0


@ask.register(Spsa)
def _ask(team, scheme, arrays, numbers, normals):
    replace_by_sign(team, normals.shape[0], normals)
    c = (scheme.c if scheme.c > 0.0 else _NEAR * numbers.sigma0) / (numbers.k + 1.0) ** scheme.gamma
    return Pair(arrays.y, normals, c, -c)


@tell.register(Spsa)
def _tell(team, scheme, arrays, numbers, pair, values):
    fx, f = nesterov.keep_best_of_pair(team, arrays, numbers, pair, values), min(values[0], values[1])
    n, gain, sigma = arrays.y.shape[0], numbers.gain, numbers.sigma
    change = numbers.sigma0 / n  # by how much an entry of y is to change at first
    slope = (values[0] - values[1]) / (2.0 * pair.first)
    if not gain.a > 0.0:
        gain = _measured(scheme, gain, change, slope)
        return SpsaNumbers(fx, f, sigma, numbers.k, numbers.sigma0, gain)
    step = gain.a / (numbers.k + 1.0 + scheme.A) ** scheme.alpha * slope
    if math.isfinite(step):
        most = change * n
        step = min(max(step, -most), most)
        add(team, arrays.y, -step, pair.direction)
        sigma = nesterov.smoothed(sigma, step)
    else:
        copy(team, arrays.y, arrays.x)
    return SpsaNumbers(fx, f, sigma, numbers.k + 1, numbers.sigma0, gain)


@inlined
def _measured(scheme, gain, change, slope):
    """Return what is known of a after a round with this slope."""
    rounds, slopes = gain.rounds + 1, gain.slopes + (abs(slope) if math.isfinite(slope) else 0.0)
    # On a plateau there is no slope to be seen.
    is_known = rounds >= scheme.measured and slopes > 0.0
    a = change * (1.0 + scheme.A) ** scheme.alpha * rounds / slopes if is_known else 0.0
    return Gain(a, slopes, rounds)
