"""How a scheme's query is evaluated: which points it wants, and what answer their values amount to.

A line is searched step by step by the scheme's line search; a set of points is evaluated at once. Both are
handled alike: while `query_state.wanted` is not 0, that many points are wanted.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from pursuit.checks import Vector
from pursuit.compiling.dispatch import generic
from pursuit.compiling.vectors import copy, dot
from pursuit.methods.contract import Pair, Points, write_on_line
from pursuit.methods.line_searches import Line, Step, begin_search, continue_search, known_minimizer
from pursuit.methods.samples import Samples, length_of_samples, write_sample


class PointsState(NamedTuple):
    """The state of a query of points, which are all evaluated in one round."""

    wanted: int
    needed: int
    value: float


class Answer(NamedTuple):
    """What the scheme is told, in a record: on a GPU no function returns a part of an array by itself."""

    content: Any


@generic(on="query")
def open_query(team: Any, scheme: Any, problem: Any, query: Any) -> Any:
    """Return the state of a new query, with the number of points that it wants first."""


@generic(on="query")
def points_to_spend(query: Any, left: int) -> int:
    """Return how many points of a query to evaluate at the end, if too few evaluations are left for all.

    The query will not be answered. But if its points are in order, any of them may be the best of all.
    """


@generic(on="query")
def position_of(query: Any, query_state: Any, j: int) -> float:
    """Return where the j-th point wanted is: its position on a line, or its row among several points."""


@generic(on="query")
def write_point(team: Any, query: Any, position: float, out: Vector) -> None:
    """Write the point at a position into `out`."""


@generic(on="query")
def receive(scheme: Any, query: Any, query_state: Any, values: Vector) -> Any:
    """Return the state of a query after the values of the points wanted have come in."""


@generic(on="query")
def answer_to(query: Any, query_state: Any, values: Vector) -> Answer:
    """Return what the scheme is told."""


@generic(on="query")
def trial_length(team: Any, query: Any, state: Any) -> float:
    """Return how far the trial of a query is from its origin, divided by sqrt(n)."""


@points_to_spend.register(Line)
@points_to_spend.register(Points)
def _none(query, left):
    return 0


@points_to_spend.register(Pair)
@points_to_spend.register(Samples)
def _all_left(query, left):
    return max(left, 0)


@open_query.register(Line)
def _open_line(team, scheme, problem, line):
    minimizer = known_minimizer(team, scheme.line_search, problem, line)
    return begin_search(scheme.line_search, line, minimizer)


@position_of.register(Line)
def _position_on_line(line, query_state, j):
    # An index that may be out of range is an error path, on which a GPU's compiler loses track of the arrays.
    return query_state.positions[0] if j == 0 else query_state.positions[1]


@write_point.register(Line)
@write_point.register(Pair)
def _write_on_line(team, line, position, out):
    write_on_line(team, line, position, out)


@receive.register(Line)
def _receive_on_line(scheme, line, query_state, values):
    return continue_search(scheme.line_search, query_state, values)


@answer_to.register(Line)
def _answer_line(line, query_state, values):
    return Answer(Step(query_state.length, query_state.value, query_state.sigma, query_state.origin))


@trial_length.register(Line)
def _length_on_line(team, line, state):
    n = line.direction.shape[0]
    return abs(line.sigma) * math.sqrt(dot(team, n, line.direction, line.direction) / n)


@open_query.register(Pair)
def _open_pair(team, scheme, problem, pair):
    return PointsState(2, 2, math.inf)


@position_of.register(Pair)
def _position_in_pair(pair, query_state, j):
    return pair.first if j == 0 else pair.second


@answer_to.register(Pair)
def _answer_pair(pair, query_state, values):
    return Answer((values[0], values[1]))


@open_query.register(Points)
def _open_points(team, scheme, problem, points):
    count = points.rows.shape[0]
    return PointsState(count, count, math.inf)


@position_of.register(Points)
def _row_number(points, query_state, j):
    return float(j)


@write_point.register(Points)
def _write_row(team, points, position, out):
    copy(team, out, points.rows[int(position)])


@receive.register(Points)
def _receive_all(scheme, points, query_state, values):
    return PointsState(0, 0, math.inf)


@trial_length.register(Points)
def _length_to_points(team, points, state):
    return state.sigma


@answer_to.register(Points)
def _answer_points(points, query_state, values):
    return Answer(values[: points.rows.shape[0]])


@open_query.register(Samples)
def _open_round(team, scheme, problem, query):
    return PointsState(query.size, query.size, math.inf)


@position_of.register(Samples)
def _number(query, query_state, j):
    return float(j)


@receive.register(Pair)
@receive.register(Samples)
def _receive_round(scheme, query, query_state, values):
    return PointsState(0, 0, math.inf)


@trial_length.register(Pair)
def _length_of_round(team, query, state):
    return state.sigma


@answer_to.register(Samples)
def _answer_round(query, query_state, values):
    return Answer(values[: query.size])


@write_point.register(Samples)
def _write_sample(team, query, position, out):
    write_sample(query, int(position), out)


@trial_length.register(Samples)
def _length_of_samples(team, query, state):
    return length_of_samples(team, query)
