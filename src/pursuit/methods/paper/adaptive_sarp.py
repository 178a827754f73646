"""SARP without the condition number: `adaptive-sarp`.

    y <- x_0;  v <- x_0;  t <- 0;  m <- 1
    repeat:
        s <- the sum of the successful steps of m mirrored trials of aSS, all from y, and of one more along a
             flat direction p (`flat_direction.py`), with a step size of its own
        if f(y + s) > f(y): s <- 0 and halve m, else let m grow towards sqrt(n)
        carry y and v along (`acceleration.py`)

This is the paper's SARP except for five things.

- *kappa grows* with age until momentum hurts, and then starts again at half the age.
- *Trials are mirrored*: before a trial fails, the other side is tried. Steps to one side alone are noise
  that momentum accumulates; those to both sides cancel.
- *Several trials share f(y)*, which SARP evaluates for each of them.
- *Their sum is tried as well*: along a direction much stiffer than all others, the steps together overshoot.
- *A flat direction is learnt*, along which steps may be longer than along others.

If momentum leads to a y at which f has no value, y and v go back to the best point seen.

The scheme uses only comparisons of f: it is invariant under increasing transformations of f, and does not
need to know its smallest value. Work and memory per iteration are Theta(n). An iteration is one line search:
along the direction of a trial, or along a sum.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pursuit.checks import Vector
from pursuit.compiling.jit import inlined
from pursuit.compiling.vectors import add, copy, scale
from pursuit.methods.contract import Needs, Numbers, State, ask, is_valid, tell
from pursuit.methods.line_searches import Line, MirroredStep
from pursuit.methods.nesterov import keep_best_of_line
from pursuit.methods.paper.acceleration import Momentum, MomentumPast, drifting_patience, is_valid_past
from pursuit.methods.paper.flat_direction import (
    FARTHEST,
    LEARNING,
    FlatDirection,
    carry_and_learn,
    checked_learning,
)

# How fast the number of trials from one point grows while their sum succeeds.
_GROWTH = 1.05
# Which line comes next from a point.
_ALONG_FLAT, _ALONG_RANDOM, _ALONG_SUM = range(3)


class AdaptiveSarp(NamedTuple):
    """SARP whose condition number grows until momentum hurts."""

    line_search: MirroredStep
    momentum: Momentum
    most: float
    """The most trials from one point, not counting the one along the flat direction."""
    learning: float

    @classmethod
    def create(
        cls, n: int, *, damping: float = 2.5, growth: float = 1.0, p: float = 0.5, learning: float = LEARNING
    ) -> AdaptiveSarp:
        """Return the scheme for n variables; the defaults need no knowledge of the problem."""
        return cls(
            line_search=MirroredStep.create(p),
            momentum=Momentum.create(damping, growth),
            most=max(1.0, math.sqrt(n)),
            learning=checked_learning(learning),
        )

    def init(self, x: Vector, fx: float, sigma: float) -> State:
        """Return the first state; its f is f(y)."""
        arrays = AdaptiveArrays(
            x=x,
            y=x.copy(),
            v=x.copy(),
            s=np.zeros(x.size),
            flat=FlatDirection.create(x.size),
            values=self.momentum.first_values(),
        )
        numbers = AdaptiveNumbers(
            fx=fx,
            f=fx,
            sigma=sigma,
            trials=Trials(phase=_ALONG_RANDOM, made=0, successes=0, fy=fx),
            m=1.0,
            flat_sigma=0.0,
            due=self.learning * x.size,
            past=self.momentum.first_past(),
        )
        return State(arrays, numbers)

    def needs(self, n: int) -> Needs:
        """Return what the scheme needs for n variables: a trial and y itself are evaluated at once."""
        return Needs(normals=n, points=2, patience=drifting_patience(n))


class Trials(NamedTuple):
    """The trials from one y so far."""

    phase: int
    """Which line comes next."""
    made: int
    """How many there were along random directions."""
    successes: int
    fy: float
    """f(y), NaN before it is evaluated."""


class AdaptiveArrays(NamedTuple):
    """The arrays of `adaptive-sarp`."""

    x: Vector
    y: Vector
    v: Vector
    s: Vector
    """The sum of successful steps from y."""
    flat: FlatDirection
    values: Vector
    """Earlier values of f(y)."""


class AdaptiveNumbers(NamedTuple):
    """The numbers of `adaptive-sarp`."""

    fx: float
    f: float
    sigma: float
    trials: Trials
    m: float
    """How many trials to make from y, rounded down."""
    flat_sigma: float
    """The step size along the flat direction; 0 if there is none."""
    due: float
    """Directions until the flat one is chosen again."""
    past: MomentumPast


@is_valid.register(AdaptiveSarp)
def _is_valid(scheme, arrays, numbers):
    return is_valid_past(numbers.past)


@ask.register(AdaptiveSarp)
def _ask(team, scheme, arrays, numbers, u):
    phase, fy = numbers.trials.phase, numbers.trials.fy
    if phase == _ALONG_FLAT:
        copy(team, u, arrays.flat.p)
        return Line(arrays.y, u, fy, numbers.flat_sigma)
    if phase == _ALONG_RANDOM:
        return Line(arrays.y, u, fy, numbers.sigma)
    copy(team, u, arrays.s)
    return Line(arrays.y, u, fy, 1.0)


@tell.register(AdaptiveSarp)
def _tell(team, scheme, arrays, numbers, line, step):
    if step.origin == math.inf:
        return _back_at_best(team, arrays, numbers)
    fx = keep_best_of_line(team, arrays, numbers, line, step)
    trials, sigma, flat_sigma = numbers.trials, numbers.sigma, numbers.flat_sigma
    if trials.phase == _ALONG_SUM:
        scale(team, arrays.s, step.length)
        return _moved(team, scheme, arrays, numbers, Numbers(fx, step.origin, sigma), step.length != 0.0)
    made, successes = trials.made, trials.successes
    if trials.phase == _ALONG_FLAT:
        flat_sigma = min(step.sigma, FARTHEST * sigma)
    else:
        sigma = step.sigma
        made += 1
    if step.length != 0.0:
        successes += 1
        add(team, arrays.s, step.length, line.direction)
    # A sum of one step or none need not be tried.
    if made == int(numbers.m) and successes <= 1:
        return _moved(team, scheme, arrays, numbers, Numbers(fx, step.origin, sigma), True)
    phase = _ALONG_RANDOM if made < int(numbers.m) else _ALONG_SUM
    return AdaptiveNumbers(
        fx=fx,
        f=step.origin,
        sigma=sigma,
        trials=Trials(phase=phase, made=made, successes=successes, fy=step.origin),
        m=numbers.m,
        flat_sigma=flat_sigma,
        due=numbers.due,
        past=numbers.past,
    )


@inlined
def _moved(team, scheme, arrays, numbers, found, succeeded):
    """Return the numbers at the next y, after trials with what was `found`, whose sum is a success or not."""
    past, due, is_new = carry_and_learn(team, scheme, arrays, numbers, int(numbers.m), found.f)
    scale(team, arrays.s, 0.0)
    flat_sigma = found.sigma if is_new else numbers.flat_sigma
    return AdaptiveNumbers(
        fx=found.fx,
        f=found.f,
        sigma=found.sigma,
        trials=_no_trials(flat_sigma, math.nan),
        m=min(scheme.most, _GROWTH * numbers.m) if succeeded else max(1.0, 0.5 * numbers.m),
        flat_sigma=flat_sigma,
        due=due,
        past=past,
    )


@inlined
def _back_at_best(team, arrays, numbers):
    """Return the numbers at the best point, without momentum, from where f has no value."""
    copy(team, arrays.y, arrays.x)
    copy(team, arrays.v, arrays.x)
    return AdaptiveNumbers(
        fx=numbers.fx,
        f=numbers.fx,
        sigma=numbers.sigma,
        trials=_no_trials(numbers.flat_sigma, numbers.fx),
        m=1.0,
        flat_sigma=numbers.flat_sigma,
        due=numbers.due,
        past=numbers.past,
    )


@inlined
def _no_trials(flat_sigma, fy):
    """Return the trials of a point from which none was made yet; the flat direction comes first, if any."""
    return Trials(phase=_ALONG_FLAT if flat_sigma > 0.0 else _ALONG_RANDOM, made=0, successes=0, fy=fy)
