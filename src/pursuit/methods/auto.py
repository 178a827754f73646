"""SARP without the condition number: `auto`.

    y <- x_0;  v <- x_0;  t <- 0;  m <- 1
    repeat:
        s <- the sum of the steps with which m mirrored trials of aSS, all from y, succeed, and one more along
             a flat direction p (`flatness.py`), with a step size of its own
        if f(y + s) > f(y): s <- 0 and halve m, else let m grow towards sqrt(n)
        carry y and v along (`acceleration.py`)

This is the paper's SARP but for five things.

- *kappa grows* with age until momentum hurts, and then starts anew at half the age.
- *Trials are mirrored*: before a trial fails, the other side is tried. Steps to one side alone are a noise
  that momentum adds up; those to both sides cancel.
- *Several trials share f(y)*, which SARP evaluates for each of them.
- *Their sum is tried as well*: along a direction much stiffer than all others they overshoot together.
- *A flat direction is learnt*, along which steps may be longer than along others.

Where momentum has led to a y at which f has no value, y and v go back to the best point seen.

f is only ever compared: the scheme is invariant under increasing transformations of f, and knows nothing
of its smallest value. Work and memory per iteration are Theta(n). An iteration is a line looked along: that
of a trial or that of a sum.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np

from pursuit.checks import Vector
from pursuit.compiling.vectors import add, copy, scale, shift
from pursuit.methods.acceleration import Momentum, Past, drifting_patience
from pursuit.methods.contract import Patience, ask, tell
from pursuit.methods.flat_direction import (
    FARTHEST,
    LEARNING,
    Flat,
    carried_and_learnt,
    checked_learning,
    resized,
)
from pursuit.methods.line_searches import Line, MirroredStep

# How fast the number of trials from one point grows while their sum succeeds.
_GROWTH = 1.05


class Auto(NamedTuple):
    """SARP whose condition number grows until momentum hurts."""

    oracle: MirroredStep
    momentum: Momentum
    most: float
    """The most trials from one point, but for that along the flat direction."""
    learning: float

    @classmethod
    def create(
        cls, n: int, *, damping: float = 2.5, growth: float = 1.0, p: float = 0.5, learning: float = LEARNING
    ) -> Auto:
        """Return the scheme for n variables; the defaults need no knowledge of the problem."""
        oracle, momentum = MirroredStep.create(p), Momentum.create(damping, growth)
        return cls(oracle, momentum, max(1.0, math.sqrt(n)), checked_learning(learning))

    def init(self, x: Vector, fx: float, sigma: float) -> State:
        """Return the first state."""
        flat, past = Flat.create(x.size, self.learning), self.momentum.no_past(x.size)
        return State(x, fx, fx, sigma, x.copy(), x.copy(), np.zeros(x.size), fx, 0, 0, 1.0, flat, past)

    def points(self) -> int:
        """Return the most points that a query holds."""
        return 2

    def draws(self, n: int) -> int:
        """Return the number of normals per iteration."""
        return n

    def patience(self, n: int) -> Patience:
        """Return after how many iterations without a better point to give up."""
        return drifting_patience(n)


class State(NamedTuple):
    """The state: the best x with its value, f(y), sigma, y and v, and what has come of this y so far."""

    x: Vector
    fx: float
    f: float
    sigma: float
    y: Vector
    v: Vector
    s: Vector
    """The sum of successful steps from y."""
    fy: float
    """f(y), NaN before it is evaluated."""
    trials: int
    """Those along random directions; before them -1 along p."""
    successes: int
    m: float
    """How many trials to make from y, rounded down."""
    flat: Flat
    """p; its size is the step size along it."""
    past: Past


@ask.register(Auto)
def _ask(team, scheme, state, u):
    if state.trials < 0:
        copy(team, u, state.flat.p)
        return Line(state.y, u, state.fy, state.flat.size)
    if state.trials < int(state.m):
        return Line(state.y, u, state.fy, state.sigma)
    copy(team, u, state.s)
    return Line(state.y, u, state.fy, 1.0)


@tell.register(Auto)
def _tell(team, scheme, state, line, step):
    fx = state.fx
    if step.origin == math.inf:
        return _returned(team, state)
    if step.value < fx:
        fx = step.value
        if step.length != 0.0:
            shift(team, state.x, state.y, step.length, line.direction)
        else:
            copy(team, state.x, state.y)
    trials, successes, sigma, m, flat = state.trials, state.successes, state.sigma, state.m, state.flat
    if trials < int(m):
        if trials < 0:
            flat = resized(flat, min(step.sigma, FARTHEST * sigma))
        else:
            sigma = step.sigma
        trials += 1
        if step.length != 0.0:
            successes += 1
            add(team, state.s, step.length, line.direction)
        # A sum of one step or none need not be tried.
        if trials < int(m) or successes > 1:
            return _waiting(state, fx, step.origin, sigma, trials, successes, flat)
        succeeded = True
    else:
        scale(team, state.s, step.length)
        succeeded = step.length != 0.0
    past, flat = carried_and_learnt(team, scheme, state, int(m), step.origin, sigma)
    scale(team, state.s, 0.0)
    m = min(scheme.most, _GROWTH * m) if succeeded else max(1.0, 0.5 * m)
    return State(
        state.x, fx, step.origin, sigma, state.y, state.v, state.s, math.nan, _first(flat), 0, m, flat, past
    )


@numba.njit(forceinline=True)
def _first(flat):
    """Return which trial is the first from a point."""
    return -1 if flat.size > 0.0 else 0


@numba.njit(forceinline=True)
def _returned(team, state):
    """Return the state at the best point, without momentum, from where f has no value."""
    copy(team, state.y, state.x)
    copy(team, state.v, state.x)
    return State(
        state.x, state.fx, state.fx, state.sigma, state.y, state.v, state.s, state.fx, _first(state.flat), 0,
        1.0, state.flat, state.past,
    )  # fmt: skip


@numba.njit(forceinline=True)
def _waiting(state, fx, fy, sigma, trials, successes, flat):
    """Return the state between two lines from the same y."""
    return State(
        state.x, fx, fy, sigma, state.y, state.v, state.s, fy, trials, successes, state.m, flat, state.past
    )
