"""SARP without the condition number: `adaptive-sarp`.

    y <- x_0;  v <- x_0;  d <- 0;  t <- 0;  m <- 1;  p is not known
    repeat:
        s <- the sum of the successful steps of m mirrored trials of aSS, all from y, and of one more along p,
             with a step size of its own
        if f(y + s) > f(y): s <- 0 and halve m, else let m grow towards sqrt(n)
        root <- max(1, zeta t/n);  theta <- m/(n sqrt(c) root);  gamma <- root/sqrt(c)
        y' <- (theta v + y + s)/(1 + theta)
        v <- (1 - theta) v + theta y' + gamma s;  t <- t + m
        d <- (1 - m/(5n)) d + y' - y;  y <- y'
        every 50n directions:  p <- d, scaled to the length sqrt(n)
        if f(y) was lately higher than 2n iterations earlier more often than not:  v <- y, halve t

This is the paper's SARP (`sarp.py`), m of its iterations at once, except for five things.

- *`root` stands for the square root of kappa.* It grows with the age t, as in Nesterov's method for functions
  that are not strongly convex, until momentum hurts, and then starts again at half the age.
- *Trials are mirrored*: before a trial fails, the other side is tried. Steps to one side alone are noise
  that momentum accumulates; those to both sides cancel.
- *Several trials share f(y)*, which SARP evaluates for each of them.
- *Their sum is tried as well*: along a direction much stiffer than all others, the steps together overshoot.
- *A flat direction p is learnt*, along which steps may be longer than along others. Where f is flat, y moves
  slowly and for a long time, and its displacement d points there. Along p a scheme measures how long a step
  may be, as if f were stretched until it is no flatter there than elsewhere. When f falls no further along
  p, y moves in another direction, and that is learnt next.

If momentum leads to a y at which f has no value, y and v go back to the best point seen.

The scheme uses only comparisons of f: it is invariant under increasing transformations of f, and does not
need to know its smallest value. Work and memory per iteration are Theta(n). An iteration is one line search:
along the direction of a trial, or along a sum.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pursuit.checks import Vector, checked_number
from pursuit.compiling.jit import compilable, inlined
from pursuit.compiling.vectors import add, blend, copy, dot, drift, exchange, fill, scale
from pursuit.methods.contract import Needs, Numbers, State, ask, is_valid, tell
from pursuit.methods.line_searches import Line, MirroredStep
from pursuit.methods.nesterov import keep_best, return_to_best, wandering_patience

# How fast the number of trials from one point grows while their sum succeeds.
_GROWTH = 1.05
# Which line comes next from a point.
_ALONG_FLAT, _ALONG_RANDOM, _ALONG_SUM = range(3)
# How many values of f(y) are kept, evenly spread over the iterations that the test of momentum spans. In few
# dimensions f(y) is known only every few iterations, and more values would reach too far back.
_KEPT = 16
# How many iterations lie between two values that are compared, divided by n.
_APART = 2.0
# What a restart of momentum leaves of the age.
_AGE_LEFT = 0.5
# How many directions the displacement spans, divided by n. Older ones have faded.
_SPAN = 5.0
# How many times as far as elsewhere to go along p, at most: f may not depend on p at all.
_FARTHEST = 1e5


class AdaptiveSarp(NamedTuple):
    """SARP whose condition number grows until momentum hurts."""

    line_search: MirroredStep
    damping: float
    """c: how much of momentum is lost to noise."""
    growth: float
    """zeta: how fast momentum grows with age."""
    most: float
    """The most trials from one point, not counting the one along the flat direction."""
    learning: float
    """After how many directions, divided by n, p is chosen again."""

    @classmethod
    def create(
        cls, n: int, *, damping: float = 2.5, growth: float = 1.0, p: float = 0.5, learning: float = 50.0
    ) -> AdaptiveSarp:
        """Return the scheme for n variables; the defaults need no knowledge of the problem."""
        return cls(
            line_search=MirroredStep.create(p),
            damping=checked_number("damping", damping, above=0.0),
            growth=checked_number("growth", growth, above=0.0),
            most=max(1.0, math.sqrt(n)),
            learning=checked_number("learning", learning, above=0.0),
        )

    def init(self, x: Vector, fx: float, sigma: float) -> State:
        """Return the first state; its f is f(y)."""
        s, p, d = (np.zeros(x.size) for _ in range(3))
        arrays = AdaptiveArrays(x, x.copy(), x.copy(), s=s, p=p, d=d, values=np.full(_KEPT, math.inf))
        course = Course(m=1.0, due=self.learning * x.size, past=Past(0.0, 0, 0, 0.0))
        return State(arrays, AdaptiveNumbers(fx, fx, sigma, 0.0, _no_trials(0.0, fx), course))

    def needs(self, n: int) -> Needs:
        """Return what the scheme needs for n variables: a trial and y itself are evaluated at once."""
        return Needs(normals=n, points=2, patience=wandering_patience(n))


class AdaptiveArrays(NamedTuple):
    """The arrays of `adaptive-sarp`."""

    x: Vector
    y: Vector
    v: Vector
    s: Vector
    """The sum of successful steps from y."""
    p: Vector
    """The flat direction."""
    d: Vector
    """How far y has moved recently."""
    values: Vector
    """Earlier values of f(y)."""


class Trials(NamedTuple):
    """The trials from one y so far."""

    phase: int
    """Which line comes next."""
    made: int
    """How many there were along random directions."""
    successes: int
    fy: float
    """f(y), NaN before it is evaluated."""


class Past(NamedTuple):
    """The age of momentum, and what is known of earlier values of f(y)."""

    age: float
    """t."""
    oldest: int
    """The index of the value that is replaced next."""
    rises: int
    """How often a value was higher than the one that it replaced, since the index was 0."""
    due: float
    """Iterations until the next value is kept."""


class Course(NamedTuple):
    """What changes only when y moves."""

    m: float
    """How many trials to make from y, rounded down."""
    due: float
    """Directions until the flat one is chosen again."""
    past: Past


class AdaptiveNumbers(NamedTuple):
    """The numbers of `adaptive-sarp`."""

    fx: float
    f: float
    sigma: float
    flat_sigma: float
    """The step size along the flat direction; 0 if there is none."""
    trials: Trials
    course: Course


@is_valid.register(AdaptiveSarp)
def _is_valid(scheme, arrays, numbers):
    return 0 <= numbers.course.past.oldest < _KEPT


@ask.register(AdaptiveSarp)
def _ask(team, scheme, arrays, numbers, u):
    phase, fy = numbers.trials.phase, numbers.trials.fy
    if phase == _ALONG_FLAT:
        copy(team, u, arrays.p)
        return Line(arrays.y, u, fy, numbers.flat_sigma)
    if phase == _ALONG_RANDOM:
        return Line(arrays.y, u, fy, numbers.sigma)
    copy(team, u, arrays.s)
    return Line(arrays.y, u, fy, 1.0)


@tell.register(AdaptiveSarp)
def _tell(team, scheme, arrays, numbers, line, step):
    trials, course, flat_sigma = numbers.trials, numbers.course, numbers.flat_sigma
    if step.origin == math.inf:
        return_to_best(team, arrays)
        fx, again = numbers.fx, _no_trials(flat_sigma, numbers.fx)
        return AdaptiveNumbers(fx, fx, numbers.sigma, flat_sigma, again, Course(1.0, course.due, course.past))
    fx, sigma = keep_best(team, arrays, numbers, line, step.length, step.value), numbers.sigma
    if trials.phase == _ALONG_SUM:
        scale(team, arrays.s, step.length)
        return _moved(team, scheme, arrays, numbers, Numbers(fx, step.origin, sigma), step.length != 0.0)
    made, successes = trials.made, trials.successes
    if trials.phase == _ALONG_FLAT:
        flat_sigma = min(step.sigma, _FARTHEST * sigma)
    else:
        sigma = step.sigma
        made += 1
    if step.length != 0.0:
        successes += 1
        add(team, arrays.s, step.length, line.direction)
    # A sum of one step or none need not be tried.
    if made == int(course.m) and successes <= 1:
        return _moved(team, scheme, arrays, numbers, Numbers(fx, step.origin, sigma), True)
    phase = _ALONG_RANDOM if made < int(course.m) else _ALONG_SUM
    trials = Trials(phase, made, successes, step.origin)
    return AdaptiveNumbers(fx, step.origin, sigma, flat_sigma, trials, course)


@inlined
def _moved(team, scheme, arrays, numbers, found, succeeded):
    """Return the numbers at the next y, after trials with what was `found`, whose sum is a success or not."""
    n, m, d = arrays.y.shape[0], int(numbers.course.m), arrays.d
    blend(team, d, 1.0 - m / (_SPAN * n), -1.0, arrays.y)
    past = _carry(team, scheme, numbers.course.past, arrays, m, found.f)
    add(team, d, 1.0, arrays.y)
    scale(team, arrays.s, 0.0)
    due, square = numbers.course.due - m, 0.0
    if due <= 0.0:
        due += scheme.learning * n
        square = dot(team, n, d, d)
    flat_sigma = numbers.flat_sigma
    if 0.0 < square < math.inf:
        flat_sigma = found.sigma
        copy(team, arrays.p, d)
        scale(team, arrays.p, math.sqrt(n / square))
    grown = numbers.course.m
    grown = min(scheme.most, _GROWTH * grown) if succeeded else max(1.0, 0.5 * grown)
    trials, course = _no_trials(flat_sigma, math.nan), Course(grown, due, past)
    return AdaptiveNumbers(found.fx, found.f, found.sigma, flat_sigma, trials, course)


@inlined
def _no_trials(flat_sigma, fy):
    """Return the trials of a point from which none was made yet; the flat direction comes first, if any."""
    return Trials(_ALONG_FLAT if flat_sigma > 0.0 else _ALONG_RANDOM, 0, 0, fy)


@compilable
def _carry(team, scheme, past, arrays, m, value):
    """Move y and v after m directions whose steps add up to s; return the past with f(y) in it."""
    n, root = arrays.y.shape[0], math.sqrt(scheme.damping)
    kappa_root = max(1.0, scheme.growth * past.age / n)
    theta = m / (n * root * kappa_root)
    drift(team, arrays.y, arrays.v, theta, (1.0, kappa_root / root), arrays.s)
    age, due = past.age + m, past.due - m
    if due > 0.0:
        return Past(age, past.oldest, past.rises, due)
    due += max(1.0, _APART * n / _KEPT)
    replaced = exchange(team, arrays.values, past.oldest, value)
    rises = past.rises + (1 if value > replaced else 0)
    if past.oldest + 1 < _KEPT:
        return Past(age, past.oldest + 1, rises, due)
    if 2 * rises <= _KEPT:
        return Past(age, 0, 0, due)
    copy(team, arrays.v, arrays.y)
    fill(team, arrays.values, math.inf)
    return Past(_AGE_LEFT * age, 0, 0, due)
