"""`auto` with values instead of comparisons: `auto-values`.

    y <- x_0;  v <- x_0;  t <- 0
    repeat:
        s <- 0
        if there is a flat direction p (`flatness.py`):
            d <- (f(y + h' p) - f(y - h' p))/(2 h');  C <- (f(y + h' p) + f(y - h' p) - 2 f(y))/h'^2
            w <- T/C;  s <- -w d p
        for m directions u, random of the length sqrt(n):
            d <- (f(y + h u) - f(y))/h - h T/2;  s <- s - d u
        s <- lambda s, where lambda minimises the parabola along s that has the value f(y) and the slope
             -(sum of d^2) at y, and the value f(y + lambda' s), lambda' being the lambda before
        carry y and v along (`acceleration.py`)

d is the derivative along u: the difference of two values, less what the mean curvature T adds to it. The
sum of d^2 is then the slope along s itself, so that one more value gives the curvature there: a line search
at the price of one evaluation, which does not overshoot however stiff a direction is. h is a part of the
length of recent steps; where every d is 0, or f(y + lambda' s) = f(y), h is too short for the digits that f
has, and grows.

Two looks to both sides tell the curvature C along p. Steps along it are w = T/C times as long as along
others, whose mean curvature is T, and looks h' = h sqrt(w), with the w before, which is 1 for a new p. w d^2
is its part of the sum of d^2.

Work and memory per iteration are Theta(n). An iteration is a value looked at: along p to one side, along one
of the m = sqrt(n) directions, or along their sum.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np

from pursuit.checks import Vector
from pursuit.compiling.vectors import add, copy, dot, scale, shift
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
from pursuit.methods.line_searches import Line, Look

# How far to look for a derivative, as a part of the latest step along a direction.
_LOOK = 0.3
# How long the first look is, as a part of sigma0.
_FIRST_LOOK = 1e-3
# A step is at most this many times as long as the parabola was looked at.
_LEAP = 4.0
# How much of the curvature is remembered from one step to the next.
_MEMORY = 0.8
# How many times as far to look where f is flat, and how far at the most, and how near along p.
_FARTHER, _FARTHEST, _NEAREST = 4.0, 1e100, 1e-100


class AutoValues(NamedTuple):
    """Momentum that grows until it hurts, along derivatives from differences of values."""

    oracle: Look
    momentum: Momentum
    m: int
    """The random directions from one point."""
    learning: float

    @classmethod
    def create(
        cls, n: int, *, damping: float = 1.3, growth: float = 1.0, learning: float = LEARNING
    ) -> AutoValues:
        """Return the scheme for n variables; the defaults need no knowledge of the problem."""
        momentum = Momentum.create(damping, growth)
        return cls(Look(), momentum, max(1, round(math.sqrt(n))), checked_learning(learning))

    def init(self, x: Vector, fx: float, sigma: float) -> State:
        """Return the first state."""
        n, nan = x.size, math.nan
        h = _FIRST_LOOK * sigma
        flat, past = Flat.create(n, self.learning), self.momentum.no_past(n)
        return State(x, fx, fx, h, x.copy(), x.copy(), np.zeros(n), fx, 0, nan, 0.0, 0.0, nan, flat, past)

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
    """Those along random directions; before them -2 and -1 along p, ahead and back."""
    ahead: float
    """f(y + h' p)"""
    slope: float
    """The sum of d^2."""
    curvature: float
    """T, the mean of u'Au."""
    stretch: float
    """lambda, NaN before there was one."""
    flat: Flat
    """p; its size is w."""
    past: Past


@ask.register(AutoValues)
def _ask(team, scheme, state, u):
    if state.looks < 0:
        copy(team, u, state.flat.p)
        return Line(state.y, u, state.fy, _reach(state) if state.looks == -2 else -_reach(state))
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
    if state.looks < 0:
        return _looked_along_p(team, state, step, fx)
    if state.looks < scheme.m:
        return _looked(team, scheme, state, line, step, fx)
    return _moved(team, scheme, state, step, fx)


@numba.njit(forceinline=True)
def _returned(team, state):
    """Return the state at the best point, without momentum, from where f has no value."""
    copy(team, state.y, state.x)
    copy(team, state.v, state.x)
    return State(
        state.x, state.fx, state.fx, state.sigma, state.y, state.v, state.s, state.fx, _first(state.flat),
        math.nan, 0.0, state.curvature, state.stretch, state.flat, state.past,
    )  # fmt: skip


@numba.njit(forceinline=True)
def _first(flat):
    """Return which look is the first from a point."""
    return -2 if flat.size > 0.0 else 0


@numba.njit(forceinline=True)
def _reach(state):
    """Return h', whose square shall be neither 0 nor infinite."""
    return min(max(state.sigma * math.sqrt(state.flat.size), _NEAREST), _FARTHEST)


@numba.njit(forceinline=True)
def _looked_along_p(team, state, step, fx):
    """Return the state after a look along p, ahead or back."""
    weight, slope, ahead = state.flat.size, state.slope, step.value
    if state.looks == -1:
        reach, ahead = _reach(state), state.ahead
        d = (ahead - step.value) / (2.0 * reach)
        bend = (ahead - step.origin + step.value - step.origin) / (reach * reach)
        if not math.isfinite(bend):
            # f has no value there: without p, until it is chosen anew.
            weight = 0.0
        elif bend > 0.0 and state.curvature > 0.0:
            weight = min(state.curvature / bend, _LEAP * _LEAP * weight, FARTHEST * FARTHEST)
        if math.isfinite(bend):
            add(team, state.s, -weight * d, state.flat.p)
            slope += weight * d * d
    return State(
        state.x, fx, step.origin, state.sigma, state.y, state.v, state.s, step.origin, state.looks + 1, ahead,
        slope, state.curvature, state.stretch, resized(state.flat, weight), state.past,
    )  # fmt: skip


@numba.njit(forceinline=True)
def _looked(team, scheme, state, line, step, fx):
    """Return the state after a look along a random direction."""
    h, slope, stretch = state.sigma, state.slope, state.stretch
    d = (step.value - step.origin) / h - 0.5 * h * state.curvature
    if math.isfinite(d):
        add(team, state.s, -d, line.direction)
        slope += d * d
    looks = state.looks + 1
    if looks == scheme.m and not slope > 0.0:
        # There is no way down: look farther where f is flat, and nearer where it has no value.
        h = min(_FARTHER * h, _FARTHEST) if math.isfinite(step.value) else 0.5 * h
        looks = _first(state.flat)
        scale(team, state.s, 0.0)
    elif looks == scheme.m and math.isnan(stretch):
        stretch = h / math.sqrt(slope / looks)
    return State(
        state.x, fx, step.origin, h, state.y, state.v, state.s, step.origin, looks, state.ahead,
        slope, state.curvature, stretch, state.flat, state.past,
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
    past, flat = carried_and_learnt(team, scheme, state, scheme.m, step.origin, 1.0)
    scale(team, state.s, 0.0)
    return State(
        state.x, fx, step.origin, h, state.y, state.v, state.s, math.nan, _first(flat), math.nan, 0.0,
        curvature, stretch, flat, past,
    )  # fmt: skip
