"""The step-size oracles of the paper's Fig. 1: how far to go along a line, and what that costs.

A scheme hands out a `Line` and gets a `Step` back: the paper's `lineSearch(x, u, sigma)`. In between an
oracle wants values of f along the line. It is written as a conversation in plain numbers, so that any
driver can hold it: `begin` says which positions on the line it wants first, and `learn` takes their
values and says which it wants next. When it wants none (`wanted` is 0), `length`, `value` and `sigma` are
the answer. Every position asked for is one evaluation, and drivers count them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numba

from pursuit.checks import Vector, checked_count, checked_number
from pursuit.compiling.dispatch import Generic
from pursuit.problems.contract import line_minimizer


class Line(NamedTuple):
    """A line to look along: origin + t direction."""

    origin: Vector
    direction: Vector
    value: float
    """f(origin), or NaN where it is not known and has to be evaluated."""
    sigma: float
    """The step size so far."""


class Step(NamedTuple):
    """What an oracle found on a line."""

    length: float
    """The step taken, as a multiple of the direction; 0 for none."""
    value: float
    """f at the end of the step."""
    sigma: float
    """The step size for the next line."""
    origin: float
    """f(origin), NaN where the oracle did not have to know it."""


class Talk(NamedTuple):
    """A conversation with an oracle that has nothing else to remember."""

    wanted: int
    """How many values it wants next."""
    needed: int
    """How many evaluations must be left for it to go on."""
    positions: tuple[float, float]
    """Where on the line it wants them."""
    origin: float
    length: float
    value: float
    sigma: float


aim = Generic("aim", on=1)
begin = Generic("begin", on=0)
learn = Generic("learn", on=0)


# --- aSS -------------------------------------------------------------------------------------------


class AdaptiveStep(NamedTuple):
    """The oracle aSS: one trial at distance sigma, longer steps after a success, shorter ones else."""

    grow: float
    shrink: float

    @classmethod
    def create(cls, p: float) -> AdaptiveStep:
        """Return the oracle that aims at a success probability p."""
        p = checked_number("p", p, above=0.0, below=1.0)
        return cls(grow=math.exp(1.0 / 3.0), shrink=math.exp(-p / (3.0 * (1.0 - p))))


@aim.register(AdaptiveStep)
def _aim_nowhere(team, oracle, problem, line):
    return math.nan


@begin.register(AdaptiveStep)
def _begin_adaptive(oracle, line, target):
    wanted = 2 if math.isnan(line.value) else 1
    return Talk(wanted, wanted, (line.sigma, 0.0), line.value, 0.0, math.inf, line.sigma)


@learn.register(AdaptiveStep)
def _learn_adaptive(oracle, trial, values):
    sigma = trial.sigma
    there = values[0]
    here = trial.origin if trial.wanted == 1 else values[1]
    if there <= here:
        return Talk(0, 0, trial.positions, here, sigma, there, sigma * oracle.grow)
    return Talk(0, 0, trial.positions, here, 0.0, here, sigma * oracle.shrink)


# --- aSS to both sides -----------------------------------------------------------------------------


class MirroredStep(NamedTuple):
    """aSS that tries the other side, at -sigma, before it fails.

    Steps to both sides of a point where nothing is to be gained cancel each other on average, while aSS
    steps to one side alone are a noise that momentum adds up.
    """

    grow: float
    shrink: float

    @classmethod
    def create(cls, p: float) -> MirroredStep:
        """Return the oracle that aims at a success probability p, of both sides together."""
        return cls(*AdaptiveStep.create(p))


@aim.register(MirroredStep)
def _aim_to_both_sides(team, oracle, problem, line):
    return math.nan


@begin.register(MirroredStep)
def _begin_mirrored(oracle, line, target):
    wanted = 2 if math.isnan(line.value) else 1
    # A line is not begun if there is nothing left for its other side: the run could not go on as if nothing
    # had happened.
    return Talk(wanted, wanted + 1, (line.sigma, 0.0), line.value, 0.0, math.inf, line.sigma)


@learn.register(MirroredStep)
def _learn_mirrored(oracle, sides, values):
    t, sigma = sides.positions[0], sides.sigma
    there = values[0]
    here = sides.origin if sides.wanted == 1 else values[1]
    if there <= here:
        return Talk(0, 0, sides.positions, here, t, there, sigma * oracle.grow)
    if t > 0.0:
        return Talk(1, 1, (-sigma, 0.0), here, 0.0, here, sigma)
    return Talk(0, 0, sides.positions, here, 0.0, here, sigma * oracle.shrink)


# --- a look ----------------------------------------------------------------------------------------


class Look(NamedTuple):
    """The value at distance sigma, for a scheme that decides by itself what to make of it."""


@aim.register(Look)
def _aim_by_looking(team, oracle, problem, line):
    return math.nan


@begin.register(Look)
def _begin_looking(oracle, line, target):
    wanted = 2 if math.isnan(line.value) else 1
    return Talk(wanted, wanted, (line.sigma, 0.0), line.value, line.sigma, math.inf, line.sigma)


@learn.register(Look)
def _learn_looking(oracle, look, values):
    origin = values[1] if look.wanted == 2 else look.origin
    return Talk(0, 0, look.positions, origin, look.length, values[0], look.sigma)


# --- exact -----------------------------------------------------------------------------------------


class ExactStep(NamedTuple):
    """The oracle exactLS: the global minimiser of f on the line, which the problem itself knows."""


@aim.register(ExactStep)
def _aim_exactly(team, oracle, problem, line):
    return line_minimizer(team, problem, line.origin, line.direction)


@begin.register(ExactStep)
def _begin_exact(oracle, line, target):
    return Talk(1, 1, (target, 0.0), line.value, target, math.inf, abs(target))


@learn.register(ExactStep)
def _learn_exact(oracle, aimed, values):
    return Talk(0, 0, aimed.positions, aimed.origin, aimed.length, values[0], aimed.sigma)


# --- bracketing ------------------------------------------------------------------------------------


class Bracketing(NamedTuple):
    """A line search for functions that know nothing but their values.

    It steps downhill, doubling its stride, until the minimum lies between three points, and then fits
    parabolas, or cuts the longer part of the bracket by the golden ratio where they make no headway,
    until the minimum is known to lie within `tolerance` times the step found, on either side of it.
    """

    tolerance: float
    limit: int

    @classmethod
    def create(cls, tolerance: float, limit: int = 60) -> Bracketing:
        """Return the search with a relative tolerance and a limit of evaluations per line."""
        return cls(
            checked_number("tolerance", tolerance, above=0.0, below=1.0),
            checked_count("limit", limit, at_least=3),
        )


_FIRST, _BEHIND, _DOWNHILL, _BRACKETED = range(4)
_GOLDEN = 0.5 * (3.0 - math.sqrt(5.0))
# A step shorter than this part of the first stride need not be found to a tolerance of its own length.
_SHORTEST = 1e-3


class Bracket(NamedTuple):
    """The state of the bracketing search: three positions in order, the middle one the best."""

    wanted: int
    needed: int
    positions: tuple[float, float]
    origin: float
    phase: int
    spent: int
    a: float
    f_a: float
    length: float
    value: float
    c: float
    f_c: float
    width: float
    """The bracket's width two points ago, to notice when parabolas make no headway."""
    last_width: float
    sigma: float


@aim.register(Bracketing)
def _aim_by_search(team, oracle, problem, line):
    return math.nan


@begin.register(Bracketing)
def _begin_bracketing(oracle, line, target):
    wanted = 2 if math.isnan(line.value) else 1
    stride = line.sigma
    return Bracket(
        wanted, wanted, (stride, 0.0), line.value, _FIRST, 0, 0.0, math.inf, 0.0, line.value, 0.0, math.inf,
        math.inf, math.inf, stride,
    )  # fmt: skip


@learn.register(Bracketing)
def _learn_bracketing(oracle, bracket, values):
    stride = bracket.sigma
    spent = bracket.spent + bracket.wanted
    origin = values[1] if bracket.wanted == 2 else bracket.origin
    phase, a, f_a, b, f_b, c, f_c = _with_value(bracket, values)
    width, last_width = bracket.width, bracket.last_width
    finished = spent >= oracle.limit
    if phase == _BEHIND:
        t = -stride
    elif phase == _DOWNHILL:
        t = b + 2.0 * (b - a)
        finished = finished or not math.isfinite(t)
    else:
        t = _next_inside(a, f_a, b, f_b, c, f_c, width)
        width, last_width = last_width, abs(c - a)
        near = oracle.tolerance * max(abs(b), _SHORTEST * stride)
        if abs(t - b) < near:
            # The minimum seems to be here: look on the side that is still open whether it is.
            t = b + math.copysign(near, c - b if abs(c - b) > abs(b - a) else a - b)
        finished = finished or max(abs(c - b), abs(b - a)) <= 2.0 * near
    sigma = stride
    if finished:
        # Halfway, on a log scale, from the first stride to the step found: one short step along an
        # unlucky direction must not make the next line start with a hopelessly short stride.
        sigma = math.sqrt(stride * abs(b)) if b != 0.0 else 0.5 * stride
    wanted = 0 if finished else 1
    return Bracket(
        wanted, wanted, (t, 0.0), origin, phase, spent, a, f_a, b, f_b, c, f_c, width, last_width, sigma
    )  # fmt: skip


@numba.njit(forceinline=True)
def _with_value(bracket, values):
    """Return the phase and the three points, in order, once the value looked for is known."""
    t, f_t = bracket.positions[0], values[0]
    a, f_a = bracket.a, bracket.f_a
    b, f_b = bracket.length, bracket.value
    c, f_c = bracket.c, bracket.f_c
    phase = bracket.phase
    if phase == _FIRST and bracket.wanted == 2:
        f_b = values[1]
    if f_t < f_b:
        if phase == _BRACKETED and (t - b) * (c - b) < 0.0:
            c, f_c = b, f_b
        else:
            a, f_a = b, f_b
        if phase != _BRACKETED:
            phase = _DOWNHILL
        return phase, a, f_a, t, f_t, c, f_c
    if phase == _FIRST:
        return _BEHIND, a, f_a, b, f_b, t, f_t
    if phase == _BEHIND or (phase == _BRACKETED and (t - b) * (c - b) < 0.0):
        return _BRACKETED, t, f_t, b, f_b, c, f_c
    return _BRACKETED, a, f_a, b, f_b, t, f_t


@numba.njit(forceinline=True)
def _next_inside(a, f_a, b, f_b, c, f_c, width):
    """Return where to look next inside a bracket: at a parabola's vertex or by the golden ratio."""
    rise_a = (b - c) * (f_a - f_b)
    rise_c = (b - a) * (f_c - f_b)
    below = rise_a - rise_c
    if math.isfinite(below) and below != 0.0 and abs(c - a) <= 0.5 * width:
        vertex = b - 0.5 * ((b - c) * rise_a - (b - a) * rise_c) / below
        if min(a, c) < vertex < max(a, c):
            return vertex
    return b + _GOLDEN * (c - b) if abs(c - b) > abs(b - a) else b + _GOLDEN * (a - b)
