"""What schemes share whose iterate y is not their best point x, above all Nesterov's accelerated ones.

These have two sequences x and v, and y between them:

    alpha > 0 with alpha^2/theta = (1 - alpha) gamma + alpha m = gamma';  lambda <- alpha m/gamma'
    x <- y + s;  v <- (1 - lambda) v + lambda y + a long step along s
    y <- (1 - beta) x + beta v,  beta = alpha' gamma'/(gamma' + alpha' m) with the next alpha'

is `ars` and `arp`, and with other weights `acdm`. Only v and y are kept, since this x is needed only for the
next y. In the states of all schemes x is the best point of all.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypedDict

from pursuit.checks import Vector, checked_number
from pursuit.compiling.jit import inlined
from pursuit.compiling.vectors import copy, repeated
from pursuit.methods.contract import Needs, Patience, State, write_on_line

# The condition number that is assumed if f is only known to be convex: if m is 0.
_CONDITION = 1e4
# How much the latest step counts in the mean of their sizes.
_LATEST = 0.1


class CurvatureOptions(TypedDict, total=False):
    """The extreme curvatures as options: m is 0 by default."""

    L: float | None
    m: float


class Curvatures(NamedTuple):
    """The extreme curvatures: f is strongly convex with m >= 0, its gradient Lipschitz with L."""

    m: float
    L: float

    @classmethod
    def create(cls, method: str, options: CurvatureOptions, *, scale_free: bool = False) -> Curvatures:
        """Return the curvatures, checked; a method that is `scale_free` needs no L where m is 0."""
        m, L = options.get("m", 0.0), options.get("L")  # noqa: N806
        largest = checked_curvature(method, 1.0 if scale_free and L is None and m == 0.0 else L)
        smallest = checked_number("m", m, at_least=0.0)
        if smallest > largest:
            raise ValueError(f"m must be at most L, but m={smallest:g} and L={largest:g} were given.")
        return cls(smallest, largest)

    @property
    def root_of_condition(self) -> float:
        """The square root of the condition number, or of the one that is assumed."""
        return math.sqrt(self.L / self.m if self.m > 0.0 else _CONDITION)

    def first_state(self, x: Vector, fx: float, sigma: float) -> State:
        """Return the first state of a scheme whose weights follow from gamma; it may keep x."""
        gamma = self.m if self.m > 0.0 else self.L
        return State(first_iterates(x), Momentum(fx, fx, sigma, gamma))

    def needs(self, n: int, normals: int) -> Needs:
        """Return what a scheme needs for n variables, with as many normals in an iteration.

        v remembers steps for a multiple of n sqrt(kappa) iterations, and may lead uphill for several times as
        long: so patience is long. A trial and y itself, or the points of a difference, are evaluated at once.
        """
        patience = Patience(int(min(10_000 + 100.0 * n * self.root_of_condition, 2.0**62)), share=1.0)
        return Needs(normals, points=2, patience=patience)


def checked_curvature(method: str, top: float | None) -> float:
    """Return L, the largest curvature, which a method cannot do without."""
    if top is None:
        raise ValueError(f"{method} needs the largest curvature of the problem as the option L.")
    return checked_number("L", top, above=0.0)


def wandering_patience(n: int) -> Patience:
    """Return the patience of schemes that may go uphill for long, and for longer the older they are."""
    return Patience(10_000 + 1_000 * n, share=1.0)


class Iterates(NamedTuple):
    """The arrays of accelerated schemes: the best point of all, and the sequences y and v."""

    x: Vector
    y: Vector
    v: Vector


def first_iterates(x: Vector) -> Iterates:
    """Return the arrays at the start, which they may keep."""
    return Iterates(x, y=x.copy(), v=x.copy())


class BestAndIterate(NamedTuple):
    """The arrays of schemes with one sequence: the best point of all, and the iterate."""

    x: Vector
    y: Vector


class Momentum(NamedTuple):
    """The numbers of a scheme whose weights follow from gamma."""

    fx: float
    f: float
    sigma: float
    gamma: float


class Weights(NamedTuple):
    """The weights of an iteration."""

    alpha: float
    gamma: float
    """gamma'."""
    keep: float
    """lambda, the part of y in v."""
    beta: float
    """The part of v in the next y."""


class Move(NamedTuple):
    """How y and v move, as multiples of a direction u, and how they are mixed."""

    step: float
    long_step: float
    """How far v moves."""
    keep: float
    beta: float


@inlined
def weights_of(theta: Any, m: Any, gamma: Any) -> Any:
    """Return the weights of the iteration that begins with gamma."""
    alpha = _root(theta, m, gamma)
    after = alpha * alpha / theta
    following = _root(theta, m, after)
    beta = following * after / (after + following * m)
    return Weights(alpha, after, alpha * m / after, beta)


@inlined
def _root(theta, m, gamma):
    """Return the positive root of alpha^2 = theta ((1 - alpha) gamma + alpha m)."""
    half = 0.5 * theta * (gamma - m)
    return math.sqrt(half * half + theta * gamma) - half


@repeated
def move_both(i, y, v, u, move):
    """Set v to (1 - keep) v + keep y + long_step u, and y to (1 - beta) (y + step u) + beta v."""
    x = y[i] + move.step * u[i]
    v[i] = (1.0 - move.keep) * v[i] + move.keep * y[i] + move.long_step * u[i]
    y[i] = (1.0 - move.beta) * x + move.beta * v[i]


@inlined
def return_to_best(team: Any, arrays: Any) -> Any:
    """Let y and v begin again at the best point."""
    copy(team, arrays.y, arrays.x)
    copy(team, arrays.v, arrays.x)


@inlined
def keep_best(team: Any, arrays: Any, numbers: Any, line: Any, position: Any, value: Any) -> Any:
    """Write a point on a line into x if it is the best of all; return the best value."""
    if value < numbers.fx:
        write_on_line(team, line, position, arrays.x)
        return value
    return numbers.fx


@inlined
def keep_best_of_pair(team: Any, arrays: Any, numbers: Any, pair: Any, values: Any) -> Any:
    """Write the better of two points into x if it is the best of all; return the best value."""
    if values[0] <= values[1]:
        return keep_best(team, arrays, numbers, pair, pair.first, values[0])
    return keep_best(team, arrays, numbers, pair, pair.second, values[1])


@inlined
def smoothed(sigma: Any, step: Any) -> Any:
    """Return the mean size of the latest steps: a single one may be 0 by chance, which would end a run."""
    return sigma + _LATEST * (abs(step) - sigma)
