"""What accelerated schemes share: Nesterov's two sequences x and v, and y between them.

    alpha > 0 with alpha^2/theta = (1 - alpha) gamma + alpha m = gamma';  lambda <- alpha m/gamma'
    x <- y + s;  v <- (1 - lambda) v + lambda y + a long step along s
    y <- (1 - beta) x + beta v,  beta = alpha' gamma'/(gamma' + alpha' m) with the next alpha'

is `ars` and `arp`, and with other weights `acdm`. Only v and y are kept, since x is needed only for the next
y. In the states of these schemes, and of SARP's, x is the best point of all.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from pursuit.checks import Vector
from pursuit.compiling.jit import inlined
from pursuit.compiling.vectors import repeated
from pursuit.methods.contract import Patience, write_on_line

CONDITION = 1e4
"""The condition number that is assumed if f is only known to be convex: if m is 0."""


class Iterates(NamedTuple):
    """The arrays of accelerated schemes: the best point of all, and the sequences y and v."""

    x: Vector
    y: Vector
    v: Vector


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


def root_of_condition(m: float, top: float) -> float:
    """Return the square root of the condition number, or of the one that is assumed."""
    return math.sqrt(top / m if m > 0.0 else CONDITION)


def accelerated_patience(n: int, m: float, top: float) -> Patience:
    """Return after how many iterations without a better point to give up.

    v remembers steps for a multiple of n sqrt(kappa) iterations, and may lead uphill for several times as
    long.
    """
    return Patience(int(min(10_000 + 100.0 * n * root_of_condition(m, top), 2.0**62)), share=1.0)


@inlined
def weights_of(theta: Any, m: Any, gamma: Any) -> Any:
    """Return the weights of the iteration that begins with gamma."""
    alpha = _root(theta, m, gamma)
    after = alpha * alpha / theta
    following = _root(theta, m, after)
    return Weights(
        alpha=alpha,
        gamma=after,
        keep=alpha * m / after,
        beta=following * after / (after + following * m),
    )


@inlined
def _root(theta, m, gamma):
    """Return the positive root of alpha^2 = theta ((1 - alpha) gamma + alpha m)."""
    half = 0.5 * theta * (gamma - m)
    return math.sqrt(half * half + theta * gamma) - half


@inlined
def keep_best_of_line(team: Any, arrays: Any, numbers: Any, line: Any, step: Any) -> Any:
    """Write the end of a step from y into x if it is the best point of all; return the best value."""
    if step.value < numbers.fx:
        write_on_line(team, line, step.length, arrays.x)
        return step.value
    return numbers.fx


@repeated
def advance(i, y, v, u, move):
    """Set v to (1 - keep) v + keep y + long_step u, and y to (1 - beta) (y + step u) + beta v."""
    x = y[i] + move.step * u[i]
    v[i] = (1.0 - move.keep) * v[i] + move.keep * y[i] + move.long_step * u[i]
    y[i] = (1.0 - move.beta) * x + move.beta * v[i]
