"""`auto` with values instead of comparisons: `auto-values`.

    y <- x_0;  v <- x_0;  t <- 0
    repeat:
        s <- 0;  for m directions u, random of the length sqrt(n):
            d <- (f(y + h u) - f(y))/h - h T/2;  s <- s - d u
        s <- lambda s, where lambda minimises the parabola along s that has the value f(y) and the slope
             -(sum of d^2) at y, and the value f(y + lambda' s), lambda' being the lambda before
        carry y and v along (`acceleration.py`)

d is the derivative along u: the difference of two values, less what the mean curvature T adds to it. The
sum of d^2 is then the slope along s itself, so that one more value gives the curvature there: a line search
at the price of one evaluation, which does not overshoot however stiff a direction is. h is a part of the
length of recent steps; where every d is 0, or f(y + lambda' s) = f(y), h is too short for the digits that f
has, and grows. Work and memory per iteration are Theta(n). An iteration is a value looked at: along one of
the m = sqrt(n) directions, or along their sum.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np

from pursuit.checks import Vector
from pursuit.oracles import Line, Look
from pursuit.schemes.acceleration import Momentum, Past, carry, drifting_patience
from pursuit.schemes.contract import Patience, ask, tell
from pursuit.vectors import add, copy, dot, scale, shift

# How far to look for a derivative, as a part of the latest step along a direction.
_LOOK = 0.3
# How long the first look is, as a part of sigma0.
_FIRST_LOOK = 1e-3
# A step is at most this many times as long as the parabola was looked at.
_LEAP = 4.0
# How much of the curvature is remembered from one step to the next.
_MEMORY = 0.8
# How many times as far to look where f is flat, and how far at the most.
_FARTHER, _FARTHEST = 4.0, 1e100


class AutoValues(NamedTuple):
    """Momentum that grows until it hurts, along derivatives from differences of values."""

    oracle: Look
    momentum: Momentum
    m: int
    """The directions from one point."""

    @classmethod
    def create(cls, n: int, *, damping: float = 1.3, growth: float = 1.0) -> AutoValues:
        """Return the scheme for n variables; the defaults need no knowledge of the problem."""
        return cls(Look(), Momentum.create(damping, growth), max(1, round(math.sqrt(n))))

    def init(self, x: Vector, fx: float, sigma: float) -> State:
        """Return the first state."""
        past = self.momentum.no_past(x.size)
        h = _FIRST_LOOK * sigma
        return State(x, fx, fx, h, x.copy(), x.copy(), np.zeros(x.size), fx, 0, 0.0, 0.0, math.nan, past)

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
    """The state: the best x with its value, f(y), h, y and v, and what has come of this y so far."""

    x: Vector
    fx: float
    f: float
    sigma: float
    """h, how far to look for a derivative."""
    y: Vector
    v: Vector
    s: Vector
    """The sum of -d u."""
    fy: float
    """f(y), NaN before it is evaluated."""
    looks: int
    slope: float
    """The sum of d^2."""
    curvature: float
    """T, the mean of u'Au."""
    stretch: float
    """lambda, NaN before there was one."""
    past: Past


@ask.register(AutoValues)
def _ask(team, scheme, state, u):
    if state.looks < scheme.m:
        n = u.shape[0]
        scale(team, u, math.sqrt(n / dot(team, n, u, u)))
        return Line(state.y, u, state.fy, state.sigma)
    copy(team, u, state.s)
    return Line(state.y, u, state.fy, state.stretch)


@tell.register(AutoValues)
def _tell(team, scheme, state, line, step):
    fx = state.fx
    if step.origin == math.inf:
        return _returned(team, state)
    if step.value < fx:
        fx = step.value
        shift(team, state.x, state.y, step.length, line.direction)
    if step.origin < fx:
        fx = step.origin
        copy(team, state.x, state.y)
    if state.looks < scheme.m:
        return _learnt(team, scheme, state, line, step, fx)
    return _moved(team, scheme, state, step, fx)


@numba.njit(forceinline=True)
def _returned(team, state):
    """Return the state at the best point, without momentum, from where f has no value."""
    copy(team, state.y, state.x)
    copy(team, state.v, state.x)
    return State(
        state.x, state.fx, state.fx, state.sigma, state.y, state.v, state.s, state.fx, 0, 0.0,
        state.curvature, state.stretch, state.past,
    )  # fmt: skip


@numba.njit(forceinline=True)
def _learnt(team, scheme, state, line, step, fx):
    """Return the state after a look along a direction."""
    h, slope, stretch = state.sigma, state.slope, state.stretch
    d = (step.value - step.origin) / h - 0.5 * h * state.curvature
    if math.isfinite(d):
        add(team, state.s, -d, line.direction)
        slope += d * d
    looks = state.looks + 1
    if looks == scheme.m and not slope > 0.0:
        # There is no way down: look farther where f is flat, and nearer where it has no value.
        h = min(_FARTHER * h, _FARTHEST) if math.isfinite(step.value) else 0.5 * h
        looks = 0
        scale(team, state.s, 0.0)
    elif looks == scheme.m and math.isnan(stretch):
        stretch = h / math.sqrt(slope / looks)
    return State(
        state.x, fx, step.origin, h, state.y, state.v, state.s, step.origin, looks, slope,
        state.curvature, stretch, state.past,
    )  # fmt: skip


@numba.njit(forceinline=True)
def _moved(team, scheme, state, step, fx):
    """Return the state at the next y, after a look along the sum."""
    slope, stretch, curvature, h = state.slope, state.stretch, state.curvature, state.sigma
    square = stretch * stretch
    bend = 2.0 * (step.value - step.origin + stretch * slope) / square if square > 0.0 else math.nan
    if square == 0.0:
        # Too short a step for double precision, as noise leads to: begin anew with that to the next look.
        length, stretch = 0.0, math.nan
    elif step.value == step.origin:
        # Too near for the digits that f has, so that the derivatives may be nothing but rounding.
        length = 0.0
        stretch, h = min(_FARTHER * stretch, _FARTHEST), min(_FARTHER * h, _FARTHEST)
    elif not math.isfinite(bend):
        # Too far, where f has no value: look nearer.
        length = 0.0
        stretch, h = 0.5 * stretch, 0.5 * h
    else:
        length = min(slope / bend, _LEAP * stretch) if bend > 0.0 else _LEAP * stretch
        stretch = math.sqrt(stretch * length)
        h = 0.5 * h + 0.5 * _LOOK * length * math.sqrt(slope / scheme.m)
        if bend > 0.0:
            mean = bend / slope
            curvature = _MEMORY * curvature + (1.0 - _MEMORY) * mean if curvature > 0.0 else mean
    scale(team, state.s, length)
    past = carry(team, scheme.momentum, state.past, state.y, state.v, state.s, scheme.m, step.origin)
    scale(team, state.s, 0.0)
    return State(
        state.x, fx, step.origin, h, state.y, state.v, state.s, math.nan, 0, 0.0, curvature, stretch, past
    )
