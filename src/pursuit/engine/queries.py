"""How a scheme's query is put to an objective: which points it wants, and what their values amount to.

A line is answered in a conversation with the scheme's oracle, a set of points at once. Both are held the
same way: while `pending.wanted` is not 0, that many points are wanted.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from pursuit.compiling.dispatch import Generic
from pursuit.compiling.vectors import copy, shift
from pursuit.methods.contract import Points
from pursuit.methods.line_searches import Line, Step, aim, begin, learn

put = Generic("put", on=3)
place = Generic("place", on=1)
take = Generic("take", on=1)
answer_to = Generic("answer_to", on=0)


@put.register(Line)
def _put_line(team, scheme, problem, line):
    """Return the conversation about a new query, with the first points it wants."""
    return begin(scheme.oracle, line, aim(team, scheme.oracle, problem, line))


@place.register(Line)
def _place_on_line(team, line, pending, j, out):
    """Write the j-th point wanted into `out`."""
    position = pending.positions[j]
    if position == 0.0:
        copy(team, out, line.origin)
    else:
        shift(team, out, line.origin, position, line.direction)


@take.register(Line)
def _take_from_line(scheme, line, pending, values):
    """Return the conversation after the values of the points wanted have come in."""
    return learn(scheme.oracle, pending, values)


@answer_to.register(Line)
def _answer_line(line, pending, values):
    """Return what the scheme is told."""
    return Step(pending.length, pending.value, pending.sigma, pending.origin)


class Ballot(NamedTuple):
    """The conversation about a set of points, which has a single round."""

    wanted: int
    needed: int
    value: float


@put.register(Points)
def _put_points(team, scheme, problem, points):
    count = points.rows.shape[0]
    return Ballot(count, count, math.inf)


@place.register(Points)
def _place_row(team, points, pending, j, out):
    copy(team, out, points.rows[j])


@take.register(Points)
def _take_all(scheme, points, pending, values):
    return Ballot(0, 0, math.inf)


@answer_to.register(Points)
def _answer_points(points, pending, values):
    return values[: points.rows.shape[0]]
