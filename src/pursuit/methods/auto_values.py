"""`auto` with values instead of comparisons: `auto-values`.

    y <- x_0;  v <- x_0;  t <- 0
    repeat:
        s <- 0
        if there is a flat direction p (`flat_direction.py`):
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

Two probes to both sides give the curvature C along p. Steps along it are w = T/C times as long as along
others, whose mean curvature is T, and probes h' = h sqrt(w) long, with the w before, which is 1 for a new p.
w d^2 is its part of the sum of d^2.

Work and memory per iteration are Theta(n). An iteration is one probe: along p to one side, along one of the
m = sqrt(n) directions, or along their sum.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np

from pursuit.checks import Vector
from pursuit.compiling.vectors import add, copy, dot, scale, shift
from pursuit.methods.acceleration import Momentum, MomentumPast, drifting_patience
from pursuit.methods.contract import Patience, ask, tell
from pursuit.methods.flat_direction import (
    FARTHEST,
    LEARNING,
    FlatDirection,
    carry_and_learn,
    checked_learning,
)
from pursuit.methods.line_searches import Line, Probe

# How long a probe for a derivative is, as a part of the latest step along a direction.
_PROBE = 0.3
# How long the first probe is, as a part of sigma0.
_FIRST_PROBE = 1e-3
# A step is at most this many times as long as the probe of the parabola.
_LEAP = 4.0
# How much of the curvature is remembered from one step to the next.
_MEMORY = 0.8
# By how much probes grow where f is flat, the longest of them, and the shortest along p.
_LONGER, _LONGEST, _SHORTEST = 4.0, 1e100, 1e-100
# Which probe comes next from a point.
_AHEAD_ALONG_FLAT, _BACK_ALONG_FLAT, _ALONG_RANDOM, _ALONG_SUM = range(4)


class AutoValues(NamedTuple):
    """Momentum that grows until it hurts, along derivatives from differences of values."""

    line_search: Probe
    momentum: Momentum
    m: int
    """The random directions from one point."""
    learning: float

    @classmethod
    def create(
        cls, n: int, *, damping: float = 1.3, growth: float = 1.0, learning: float = LEARNING
    ) -> AutoValues:
        """Return the scheme for n variables; the defaults need no knowledge of the problem."""
        return cls(
            line_search=Probe(),
            momentum=Momentum.create(damping, growth),
            m=max(1, round(math.sqrt(n))),
            learning=checked_learning(learning),
        )

    def init(self, x: Vector, fx: float, sigma: float) -> AutoValuesState:
        """Return the first state."""
        return AutoValuesState(
            x=x,
            fx=fx,
            f=fx,
            sigma=_FIRST_PROBE * sigma,
            y=x.copy(),
            v=x.copy(),
            s=np.zeros(x.size),
            probes=Probes(phase=_ALONG_RANDOM, made=0, fy=fx, ahead=math.nan, slope=0.0),
            curvature=0.0,
            stretch=math.nan,
            flat=FlatDirection.create(x.size, self.learning),
            flat_weight=0.0,
            past=self.momentum.first_past(),
        )

    def points(self) -> int:
        """Return the most points that a query poses at once: a probe, and y itself."""
        return 2

    def patience(self, n: int) -> Patience:
        """Return after how many iterations without a better point to give up."""
        return drifting_patience(n)


class Probes(NamedTuple):
    """The probes from one y so far."""

    phase: int
    """Which one comes next."""
    made: int
    """How many there were along random directions."""
    fy: float
    """f(y), NaN before it is evaluated."""
    ahead: float
    """f(y + h' p)"""
    slope: float
    """The sum of d^2."""


class AutoValuesState(NamedTuple):
    """The state of `auto-values`; `f` is f(y)."""

    x: Vector
    fx: float
    f: float
    sigma: float
    """h, the length of a probe for a derivative."""
    y: Vector
    v: Vector
    s: Vector
    """The sum of -d u."""
    probes: Probes
    curvature: float
    """T, the mean of u'Au."""
    stretch: float
    """lambda, NaN before there was one."""
    flat: FlatDirection
    flat_weight: float
    """w; 0 if there is no flat direction."""
    past: MomentumPast


@ask.register(AutoValues)
def _ask(team, scheme, state, u):
    phase, fy = state.probes.phase, state.probes.fy
    if phase in (_AHEAD_ALONG_FLAT, _BACK_ALONG_FLAT):
        copy(team, u, state.flat.p)
        reach = _reach(state)
        return Line(state.y, u, fy, reach if phase == _AHEAD_ALONG_FLAT else -reach)
    if phase == _ALONG_RANDOM:
        n = u.shape[0]
        scale(team, u, math.sqrt(n / dot(team, n, u, u)))
        return Line(state.y, u, fy, state.sigma)
    copy(team, u, state.s)
    return Line(state.y, u, fy, state.stretch)


@tell.register(AutoValues)
def _tell(team, scheme, state, line, step):
    if step.origin == math.inf:
        return _back_at_best(team, state)
    fx = state.fx
    if step.value < fx:
        fx = step.value
        shift(team, state.x, state.y, step.length, line.direction)
    if step.origin < fx:
        fx = step.origin
        copy(team, state.x, state.y)
    phase = state.probes.phase
    if phase in (_AHEAD_ALONG_FLAT, _BACK_ALONG_FLAT):
        return _probed_along_flat(team, state, step, fx)
    if phase == _ALONG_RANDOM:
        return _probed(team, scheme, state, line, step, fx)
    return _moved(team, scheme, state, step, fx)


@numba.njit(forceinline=True)
def _back_at_best(team, state):
    """Return the state at the best point, without momentum, from where f has no value."""
    copy(team, state.y, state.x)
    copy(team, state.v, state.x)
    return AutoValuesState(
        x=state.x,
        fx=state.fx,
        f=state.fx,
        sigma=state.sigma,
        y=state.y,
        v=state.v,
        s=state.s,
        probes=_no_probes(state.flat_weight, state.fx),
        curvature=state.curvature,
        stretch=state.stretch,
        flat=state.flat,
        flat_weight=state.flat_weight,
        past=state.past,
    )


@numba.njit(forceinline=True)
def _no_probes(flat_weight, fy):
    """Return that nothing was probed from a point yet."""
    return Probes(phase=_first_phase(flat_weight), made=0, fy=fy, ahead=math.nan, slope=0.0)


@numba.njit(forceinline=True)
def _first_phase(flat_weight):
    """Return which probe is the first from a point: along the flat direction, if there is one."""
    return _AHEAD_ALONG_FLAT if flat_weight > 0.0 else _ALONG_RANDOM


@numba.njit(forceinline=True)
def _reach(state):
    """Return h', whose square shall be neither 0 nor infinite."""
    return min(max(state.sigma * math.sqrt(state.flat_weight), _SHORTEST), _LONGEST)


@numba.njit(forceinline=True)
def _probed_along_flat(team, state, step, fx):
    """Return the state after a probe along p, ahead or back."""
    weight, slope, ahead, phase = state.flat_weight, state.probes.slope, step.value, _BACK_ALONG_FLAT
    if state.probes.phase == _BACK_ALONG_FLAT:
        phase = _ALONG_RANDOM
        reach, ahead = _reach(state), state.probes.ahead
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
    return AutoValuesState(
        x=state.x,
        fx=fx,
        f=step.origin,
        sigma=state.sigma,
        y=state.y,
        v=state.v,
        s=state.s,
        probes=Probes(phase=phase, made=0, fy=step.origin, ahead=ahead, slope=slope),
        curvature=state.curvature,
        stretch=state.stretch,
        flat=state.flat,
        flat_weight=weight,
        past=state.past,
    )


@numba.njit(forceinline=True)
def _probed(team, scheme, state, line, step, fx):
    """Return the state after a probe along a random direction."""
    h, slope, stretch = state.sigma, state.probes.slope, state.stretch
    d = (step.value - step.origin) / h - 0.5 * h * state.curvature
    if math.isfinite(d):
        add(team, state.s, -d, line.direction)
        slope += d * d
    made, phase = state.probes.made + 1, _ALONG_RANDOM
    if made == scheme.m and not slope > 0.0:
        # There is no way down: longer probes where f is flat, and shorter ones where it has no value.
        h = min(_LONGER * h, _LONGEST) if math.isfinite(step.value) else 0.5 * h
        made, phase = 0, _first_phase(state.flat_weight)
        scale(team, state.s, 0.0)
    elif made == scheme.m:
        phase = _ALONG_SUM
        if math.isnan(stretch):
            stretch = h / math.sqrt(slope / made)
    return AutoValuesState(
        x=state.x,
        fx=fx,
        f=step.origin,
        sigma=h,
        y=state.y,
        v=state.v,
        s=state.s,
        probes=Probes(phase=phase, made=made, fy=step.origin, ahead=state.probes.ahead, slope=slope),
        curvature=state.curvature,
        stretch=stretch,
        flat=state.flat,
        flat_weight=state.flat_weight,
        past=state.past,
    )


@numba.njit(forceinline=True)
def _moved(team, scheme, state, step, fx):
    """Return the state at the next y, after a probe along the sum."""
    slope, stretch, curvature, h = state.probes.slope, state.stretch, state.curvature, state.sigma
    square = stretch * stretch
    bend = 2.0 * (step.value - step.origin + stretch * slope) / square if square > 0.0 else math.nan
    if square == 0.0:
        # Too short a step for double precision, as noise leads to: begin anew with the length of a probe.
        length, stretch = 0.0, math.nan
    elif step.value == step.origin:
        # Too short for the digits that f has, so that the derivatives may be nothing but rounding.
        length = 0.0
        stretch, h = min(_LONGER * stretch, _LONGEST), min(_LONGER * h, _LONGEST)
    elif not math.isfinite(bend):
        # Too long, where f has no value.
        length = 0.0
        stretch, h = 0.5 * stretch, 0.5 * h
    else:
        length = min(slope / bend, _LEAP * stretch) if bend > 0.0 else _LEAP * stretch
        stretch = math.sqrt(stretch * length)
        h = 0.5 * h + 0.5 * _PROBE * length * math.sqrt(slope / scheme.m)
        if bend > 0.0:
            mean = bend / slope
            curvature = _MEMORY * curvature + (1.0 - _MEMORY) * mean if curvature > 0.0 else mean
    scale(team, state.s, length)
    past, flat, is_new = carry_and_learn(team, scheme, state, scheme.m, step.origin)
    scale(team, state.s, 0.0)
    flat_weight = 1.0 if is_new else state.flat_weight
    return AutoValuesState(
        x=state.x,
        fx=fx,
        f=step.origin,
        sigma=h,
        y=state.y,
        v=state.v,
        s=state.s,
        probes=_no_probes(flat_weight, math.nan),
        curvature=curvature,
        stretch=stretch,
        flat=flat,
        flat_weight=flat_weight,
        past=past,
    )
