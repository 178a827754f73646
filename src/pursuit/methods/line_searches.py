"""How far to go along a line, and what that costs: the step-size oracles of the paper's Fig. 1, and others.

A scheme asks for a `Line` and is answered with a `Step`: the paper's `lineSearch(x, u, sigma)`. In between,
its line search wants values of f along the line. It works on plain numbers, so that every driver can run it:
`begin_search` says at which positions on the line it wants values first, and `continue_search` takes these
values and says where it wants more. When it wants none (`wanted` is 0), its `step` is the answer. Every
position is one evaluation, and drivers count them.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Self

from pursuit.checks import Vector, checked_choice, checked_count, checked_number
from pursuit.compiling.dispatch import generic
from pursuit.compiling.jit import inlined
from pursuit.problems.contract import line_minimizer


class Line(NamedTuple):
    """A query of a scheme: search along origin + t direction."""

    origin: Vector
    direction: Vector
    value: float
    """f(origin), or NaN where it is not known and has to be evaluated."""
    sigma: float
    """The step size so far."""


class Step(NamedTuple):
    """The answer to a line: what its search found."""

    length: float
    """The step taken, as a multiple of the direction; 0 for none."""
    value: float
    """f at the end of the step."""
    sigma: float
    """The step size for the next line."""
    origin: float
    """f(origin), NaN where the search did not have to know it."""


class LineSearchState(NamedTuple):
    """The state of a line search that remembers nothing beyond what every search does."""

    wanted: int
    """How many values are wanted next, at most two."""
    needed: int
    """How many evaluations must be left for the search to go on."""
    positions: tuple[float, float]
    """Where on the line they are wanted."""
    step: Step
    """The best step so far, whose value may be infinite for not being known; the answer in the end."""


@generic(on="line_search", default=True)
def known_minimizer(team: Any, line_search: Any, problem: Any, line: Line) -> float:
    """Return the minimiser on a line that the problem itself knows, for searches that need it; else NaN."""
    return math.nan


def needs_problem(scheme: Any) -> bool:
    """Say whether the line search of a scheme, if it has one, wants to know minimisers from the problem."""
    return known_minimizer.handles(type(getattr(scheme, "line_search", None)))


@generic(on="line_search")
def begin_search(line_search: Any, line: Line, minimizer: float) -> Any:
    """Return the first state of a search along a line, with the positions at which it wants values."""


@generic(on="line_search")
def continue_search(line_search: Any, query_state: Any, values: Vector) -> Any:
    """Return the next state of a search, given the values at the positions wanted."""


@inlined
def _first_trial(line, reserve):
    """Return the state that wants f at distance sigma, and at the origin where it is not known.

    `reserve` is how many evaluations must be left after these.
    """
    wanted = 2 if math.isnan(line.value) else 1
    step = Step(0.0, math.inf, line.sigma, line.value)
    return LineSearchState(wanted, wanted + reserve, (line.sigma, 0.0), step)


@inlined
def _finished(query_state, step):
    """Return the state of a search that wants no more values."""
    return LineSearchState(0, 0, query_state.positions, step)


@inlined
def _origin_value(query_state, values):
    """Return f(origin), which is the second value wanted where it was not known."""
    return values[1] if query_state.wanted == 2 else query_state.step.origin


# --- adaptive step size, aSS -----------------------------------------------------------------------


class AdaptiveStep(NamedTuple):
    """The paper's aSS: one trial at distance sigma; longer steps after a success, shorter ones otherwise."""

    grow: float
    shrink: float

    @classmethod
    def create(cls, p: float) -> Self:
        """Return the search that aims at a success probability p."""
        p = checked_number("p", p, above=0.0, below=1.0)
        return cls(grow=math.exp(1.0 / 3.0), shrink=math.exp(-p / (3.0 * (1.0 - p))))


@begin_search.register(AdaptiveStep)
def _begin_adaptive(line_search, line, minimizer):
    return _first_trial(line, 0)


@continue_search.register(AdaptiveStep)
def _continue_adaptive(line_search, query_state, values):
    sigma, trial, origin = query_state.step.sigma, values[0], _origin_value(query_state, values)
    if trial <= origin:
        return _finished(query_state, Step(sigma, trial, sigma * line_search.grow, origin))
    return _finished(query_state, Step(0.0, origin, sigma * line_search.shrink, origin))


# --- adaptive step size to both sides --------------------------------------------------------------


class MirroredStep(AdaptiveStep):
    """aSS that tries the other side, at -sigma, before it fails.

    Where there is nothing to gain, steps to both sides cancel on average. Steps to one side alone, as aSS
    takes them, are noise that momentum accumulates. The success probability is that of both sides together.
    """

    __slots__ = ()


@begin_search.register(MirroredStep)
def _begin_mirrored(line_search, line, minimizer):
    # A line is not begun without an evaluation in reserve for its other side: a run that is resumed later
    # could not continue as if it had never stopped.
    return _first_trial(line, 1)


@continue_search.register(MirroredStep)
def _continue_mirrored(line_search, query_state, values):
    position, sigma, origin = (
        query_state.positions[0],
        query_state.step.sigma,
        _origin_value(query_state, values),
    )
    if values[0] <= origin:
        return _finished(query_state, Step(position, values[0], sigma * line_search.grow, origin))
    if position > 0.0:
        return LineSearchState(1, 1, (-sigma, 0.0), Step(0.0, origin, sigma, origin))
    return _finished(query_state, Step(0.0, origin, sigma * line_search.shrink, origin))


# --- exact line search -----------------------------------------------------------------------------


class ExactStep(NamedTuple):
    """The paper's exactLS: the global minimiser of f on the line, which the problem itself knows."""


@known_minimizer.register(ExactStep)
def _known_minimizer(team, line_search, problem, line):
    return line_minimizer(team, problem, line.origin, line.direction)


@begin_search.register(ExactStep)
def _begin_exact(line_search, line, minimizer):
    step = Step(minimizer, math.inf, abs(minimizer), line.value)
    return LineSearchState(1, 1, (minimizer, 0.0), step)


@continue_search.register(ExactStep)
def _continue_exact(line_search, query_state, values):
    found = query_state.step
    return _finished(query_state, Step(found.length, values[0], found.sigma, found.origin))


# --- bracketing ------------------------------------------------------------------------------------


class Bracketing(NamedTuple):
    """A line search for functions of which only values are known.

    It steps downhill, doubling its stride, until the minimum lies between three points. Then it fits
    parabolas, or cuts the longer part of the bracket by the golden ratio where these make no headway, until
    the minimum is known to lie within `tolerance` times the step found, on either side of it.
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
# A step shorter than this part of the first stride need not be found to a tolerance relative to its length.
_SHORTEST = 1e-3


class Sample(NamedTuple):
    """A position on a line, and f there."""

    position: float
    value: float


class Bracket(NamedTuple):
    """Where the minimum is known to lie."""

    phase: int
    spent: int
    """Evaluations so far."""
    a: Sample
    """The end of the bracket that the search came from; b is the best position."""
    c: Sample
    """The other end."""
    width: float
    """The bracket's width two points ago, to notice when parabolas make no headway."""
    last_width: float


class BracketingState(NamedTuple):
    """The state of the bracketing search, whose step is the best of three positions in order."""

    wanted: int
    needed: int
    positions: tuple[float, float]
    step: Step
    bracket: Bracket


@begin_search.register(Bracketing)
def _begin_bracketing(line_search, line, minimizer):
    wanted, nothing = 2 if math.isnan(line.value) else 1, Sample(0.0, math.inf)
    bracket = Bracket(_FIRST, 0, nothing, nothing, math.inf, math.inf)
    step = Step(0.0, line.value, line.sigma, line.value)
    return BracketingState(wanted, wanted, (line.sigma, 0.0), step, bracket)


@continue_search.register(Bracketing)
def _continue_bracketing(line_search, query_state, values):
    stride, bracket = query_state.step.sigma, query_state.bracket
    width, last_width, spent = bracket.width, bracket.last_width, bracket.spent + query_state.wanted
    phase, a, b, c = _with_sample(query_state, values)
    finished = spent >= line_search.limit
    if phase == _BEHIND:
        t = -stride
    elif phase == _DOWNHILL:
        t = b.position + 2.0 * (b.position - a.position)
        finished = finished or not math.isfinite(t)
    else:
        t = _next_inside(a, b, c, width)
        to_a, to_c = abs(b.position - a.position), abs(c.position - b.position)
        width, last_width = last_width, abs(c.position - a.position)
        near = line_search.tolerance * max(abs(b.position), _SHORTEST * stride)
        if abs(t - b.position) < near:
            # The minimum seems to be here: see whether it is, on the side that is still open.
            end = c if to_c > to_a else a
            t = b.position + math.copysign(near, end.position - b.position)
        finished = finished or max(to_c, to_a) <= 2.0 * near
    sigma, wanted = stride, 1
    if finished:
        # Halfway, on a log scale, between the first stride and the step found: one short step along an
        # unlucky direction must not make the next line start with a hopelessly short stride.
        sigma, wanted = math.sqrt(stride * abs(b.position)) if b.position != 0.0 else 0.5 * stride, 0
    step = Step(b.position, b.value, sigma, _origin_value(query_state, values))
    return BracketingState(wanted, wanted, (t, 0.0), step, Bracket(phase, spent, a, c, width, last_width))


@inlined
def _with_sample(query_state, values):
    """Return the phase and the three points, in order, once the value wanted is known."""
    new = Sample(query_state.positions[0], values[0])
    a, c, phase = query_state.bracket.a, query_state.bracket.c, query_state.bracket.phase
    b = Sample(query_state.step.length, values[1] if query_state.wanted == 2 else query_state.step.value)
    on_the_side_of_a = (new.position - b.position) * (c.position - b.position) < 0.0
    if new.value < b.value:
        if phase == _BRACKETED and on_the_side_of_a:
            return phase, a, new, b
        return (_BRACKETED if phase == _BRACKETED else _DOWNHILL), b, new, c
    if phase == _FIRST:
        return _BEHIND, a, b, new
    if phase == _BEHIND or (phase == _BRACKETED and on_the_side_of_a):
        return _BRACKETED, new, b, c
    return _BRACKETED, a, b, new


@inlined
def _next_inside(a, b, c, width):
    """Return where to evaluate next inside a bracket: at a parabola's vertex or by the golden ratio."""
    from_a, from_c = b.position - a.position, b.position - c.position
    rise_a = from_c * (a.value - b.value)
    rise_c = from_a * (c.value - b.value)
    below = rise_a - rise_c
    if math.isfinite(below) and below != 0.0 and abs(c.position - a.position) <= 0.5 * width:
        vertex = b.position - 0.5 * (from_c * rise_a - from_a * rise_c) / below
        if min(a.position, c.position) < vertex < max(a.position, c.position):
            return vertex
    end = c if abs(from_c) > abs(from_a) else a
    return b.position + _GOLDEN * (end.position - b.position)


# --- as an option ------------------------------------------------------------------------------------


LineSearch = AdaptiveStep | ExactStep | Bracketing


def line_search_named(name: Any, tolerance: float, **others: Any) -> Any:
    """Return the line search of that name: one that goes to a minimum on the line, or one of `others`."""
    searches = {**others, "exact": ExactStep(), "bracketing": Bracketing.create(tolerance)}
    return searches[checked_choice("line_search", name, tuple(searches))]
