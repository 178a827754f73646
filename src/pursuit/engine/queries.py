"""How a scheme's query is evaluated: which points it wants, and what answer their values amount to.

There are two kinds. A line is searched step by step by the scheme's line search; a batch of points, whatever
its class, is evaluated at once. Both are handled alike: while `query_state.wanted` is not 0, that many points
are wanted.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from pursuit.checks import Vector
from pursuit.compiling.dispatch import generic
from pursuit.compiling.vectors import dot
from pursuit.methods.contract import count_points, spread, write_on_line, write_point
from pursuit.methods.line_searches import Line, begin_search, continue_search, known_minimizer


class BatchState(NamedTuple):
    """The state of a batch of points."""

    wanted: int
    needed: int
    """How many evaluations must be left to evaluate it."""


class Answer(NamedTuple):
    """What the scheme is told, in a record: on a GPU no function returns a part of an array by itself."""

    content: Any


@generic(on="query", default=True)
def open_query(team: Any, scheme: Any, problem: Any, query: Any) -> Any:
    """Return the state of a new query, with the number of points that it wants first."""
    count = count_points(query)
    return BatchState(count, count)


@open_query.register(Line)
def _open_line(team, scheme, problem, line):
    minimizer = known_minimizer(team, scheme.line_search, problem, line)
    return begin_search(scheme.line_search, line, minimizer)


@generic(on="query", default=True)
def points_to_spend(query: Any, left: int) -> int:
    """Return how many points of a query to evaluate at the end, if too few evaluations are left for all.

    The query will not be answered. But points of a batch are in order, and any may be the best of all.
    """
    return max(left, 0)


@points_to_spend.register(Line)
def _none(line, left):
    return 0


@generic(on="query", default=True)
def position_of(query: Any, query_state: Any, j: int) -> float:
    """Return where the j-th point wanted is: its position on a line, or its number in a batch."""
    return float(j)


@position_of.register(Line)
def _position_on_line(line, query_state, j):
    # An index that may be out of range is an error path, on which a GPU's compiler loses track of the arrays.
    return query_state.positions[0] if j == 0 else query_state.positions[1]


@write_point.register(Line)
def _write_on_line(team, line, position, out):
    write_on_line(team, line, position, out)


@generic(on="query", default=True)
def receive(scheme: Any, query: Any, query_state: Any, values: Vector) -> Any:
    """Return the state of a query after the values of the points wanted have come in."""
    return BatchState(0, 0)


@receive.register(Line)
def _receive_on_line(scheme, line, query_state, values):
    return continue_search(scheme.line_search, query_state, values)


@generic(on="query", default=True)
def answer_to(query: Any, query_state: Any, values: Vector) -> Answer:
    """Return what the scheme is told."""
    return Answer(values[: count_points(query)])


@answer_to.register(Line)
def _answer_line(line, query_state, values):
    return Answer(query_state.step)


@spread.register(Line)
def _length_on_line(team, line, sigma):
    n = line.direction.shape[0]
    return abs(line.sigma) * math.sqrt(dot(team, n, line.direction, line.direction) / n)
