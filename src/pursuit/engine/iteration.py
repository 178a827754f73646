"""What happens in an iteration, and a run in progress as compiled code sees it.

A session is driven in one of two ways, which give the same trajectory, bit for bit:

- by a Python loop, which evaluates any Python function at the points that `advance` writes for it, and hands
  the values back to `advance`; `evaluate_points` does that for objectives that Numba can compile, where a
  scheme is compiled apart from them;
- by `iterate`, a loop compiled whole, for such objectives and all other schemes.
"""

from __future__ import annotations

import enum
import math
from typing import Any, NamedTuple

import numba
from numba import types
from numba.experimental import structref

from pursuit.checks import Vector
from pursuit.compiling.inner import uncounted
from pursuit.compiling.references import release
from pursuit.compiling.vectors import Matrix
from pursuit.engine.judging import count_iteration, is_measured, reason_to_stop
from pursuit.engine.queries import (
    answer_to,
    open_query,
    points_to_spend,
    position_of,
    receive,
    trial_length,
    write_point,
)
from pursuit.engine.stopping import Reason
from pursuit.engine.tally import Counting, Unfinished
from pursuit.methods.contract import ask, tell
from pursuit.problems.bounds import at_bound
from pursuit.problems.contract import value
from pursuit.problems.place import Place, placed_at_bound

_FIELDS = [
    "team", "scheme", "problem", "state", "query", "query_state", "unfinished", "tally", "trace", "limits",
    "reason", "last", "normals", "row", "points", "values",
]  # fmt: skip


@structref.register
class SessionType(types.StructRef):
    """Numba's type of a `Session`."""


class Session(structref.StructRefProxy):
    """A run in progress, held in compiled memory.

    Python sees it as one opaque object. Passing it to a compiled function that is specialized for its type
    takes 0.15 microseconds, however many arrays and numbers it holds; passing these one by one would take
    four.
    """


structref.define_proxy(Session, SessionType, _FIELDS)
# Numba optimises a function, with all that it calls, wherever it is called from. So what only leads to a
# scheme is inlined into its caller before that.
_inlined = numba.njit(inline="always")


class BlackBox(NamedTuple):
    """A problem of which nothing is known but where points lie, and the values that Python supplies."""

    place: Place = Place()


@at_bound.register(BlackBox)
def _at_bound(team, black_box, x, room):
    return placed_at_bound(team, black_box.place, x, room)


class Event(enum.IntEnum):
    """What has happened before `advance`."""

    VALUES = 0
    """The values of the points written have come in."""
    NEW_NORMALS = 1
    """There are new normals, with which the next iteration begins."""
    OPENED = 2
    """The session was opened, and has written no points yet."""


class Buffers(NamedTuple):
    """The arrays that a driver and compiled code share."""

    normals: Matrix
    """Standard normals for some iterations, a row for each."""
    points: Matrix
    """The points of a round of evaluations, one per row, or as many of them as are evaluated at a time."""
    values: Vector
    """Their values."""


def open_session(team: Any, scheme: Any, problem: Any, state: Any, counting: Any, buffers: Any) -> Any:
    """Return a session whose next query is asked, with the first row of normals, but not evaluated yet."""
    query = ask(team, scheme, state, buffers.normals[0])
    return Session(  # type: ignore[call-arg]
        team=team,
        scheme=scheme,
        problem=problem,
        state=state,
        query=query,
        query_state=open_query(team, scheme, problem, query),
        unfinished=nothing(),
        tally=counting.tally,
        trace=counting.trace,
        limits=counting.limits,
        reason=reason_to_stop(counting.tally, counting.limits, state),
        last=0,
        normals=buffers.normals,
        row=1,
        points=buffers.points,
        values=buffers.values,
    )


def draw_normals(rng: Any, normals: Any) -> Any:
    """Fill the rows with new standard normals."""
    for row in range(normals.shape[0]):
        _draw(rng, normals[row])


# A function of its own: as a part of the loop, drawing takes a fifth longer.
@numba.njit
def _draw(rng, normals):
    for i in range(normals.shape[0]):
        normals[i] = rng.standard_normal()


def advance(session: Any, event: Any) -> Any:
    """Take the values of the points written, unless something else has happened, and write the next points.

    If there is no room for all of them, these are the first ones, and `write_points` writes the others.
    Returns the number of points, which is 0 if the session has stopped or has used up its normals, and
    negative for the last points of all, for which no answer will come; the number of iterations so far; and
    whether the session is running.
    """
    return _advance(session, event)


@uncounted
def _advance(session, event):
    goes_on = session.reason == Reason.RUNNING
    begins = event == Event.NEW_NORMALS
    if event == Event.VALUES:
        goes_on, begins = _take_round(session)
    elif begins:
        session.row = 0
    if begins:
        _begin_iteration(session)
    count = _write_points(session) if goes_on else 0
    return count, session.tally.nit, session.reason == Reason.RUNNING


def write_points(session: Any, first: Any, end: Any) -> Any:
    """Write the points from the first one to before the end, where there is no room for all at once."""
    _write_rows(session, first, end)


def evaluate_points(team: Any, problem: Any, points: Any, values: Any, finished: Any) -> Any:
    """Evaluate a problem at points, one per row; `finished` marks those done, whatever exception comes."""
    for j in range(points.shape[0]):
        values[j] = value(team, problem, points[j])
        finished[j] = 1


def receive_one(session: Any, j: Any) -> Any:
    """Take the value of one of the points written, of a round that is not completed."""
    _note(session, j)


def write_best(session: Any, out: Any) -> Any:
    """Write the best point of the current iteration."""
    write_point(session.team, session.query, session.unfinished.position, out)


def ask_again(session: Any) -> Any:
    """Ask the query of the current iteration again, with the first row of normals, to read its points."""
    session.query = ask(session.team, session.scheme, session.state, session.normals[0])


@_inlined
def nothing():
    """Return the record of an iteration in which nothing was evaluated yet."""
    return Unfinished(nfev=0, faulty=0, value=math.inf, position=0.0, highest=-math.inf)


@_inlined
def _note(session, j):
    """Count the j-th value, which becomes infinite if it is not a number."""
    session.unfinished = noted(session.unfinished, session.query, session.query_state, session.values, j)


@_inlined
def noted(unfinished: Any, query: Any, query_state: Any, values: Any, j: Any) -> Any:
    """Return what was evaluated, the j-th value included, which becomes infinite if it is not a number."""
    faulty, best, position = unfinished.faulty, unfinished.value, unfinished.position
    highest = unfinished.highest
    if math.isnan(values[j]):
        values[j] = math.inf
        faulty += 1
    if values[j] < best:
        best, position = values[j], position_of(query, query_state, j)
    if highest < values[j] < math.inf:
        highest = values[j]
    return Unfinished(nfev=unfinished.nfev + 1, faulty=faulty, value=best, position=position, highest=highest)


@_inlined
def _take_round(session):
    """Take the values of the points written; return whether more are wanted, and if so of a new iteration."""
    if session.last > 0:
        for j in range(session.last):
            _note(session, j)
        session.last, session.reason = 0, Reason.MAXFEV
        return False, False
    unfinished = session.unfinished
    for j in range(session.query_state.wanted):
        unfinished = noted(unfinished, session.query, session.query_state, session.values, j)
    session.unfinished = unfinished
    session.query_state = receive(session.scheme, session.query, session.query_state, session.values)
    if session.query_state.wanted > 0:
        return True, False
    _end_iteration(session)
    begins = session.reason == Reason.RUNNING and session.row < session.normals.shape[0]
    return begins, begins


@_inlined
def _begin_iteration(session):
    team, scheme = session.team, session.scheme
    last_query, query = session.query, ask(team, scheme, session.state, session.normals[session.row])
    session.query = query
    release(last_query)
    session.query_state = open_query(team, scheme, session.problem, query)
    session.row += 1


@_inlined
def _write_points(session):
    query_state, count = session.query_state, session.query_state.wanted
    left = session.limits.evaluations - session.tally.nfev - session.unfinished.nfev
    if query_state.needed > left:
        session.last = count = points_to_spend(session.query, left)
        if count == 0:
            session.reason = Reason.MAXFEV
    _write_rows(session, 0, min(count, session.points.shape[0]))
    return count if session.last == 0 else -count


@_inlined
def _write_rows(session, first, end):
    for j in range(first, end):
        position = position_of(session.query, session.query_state, j)
        write_point(session.team, session.query, position, session.points[j - first])


@_inlined
def _end_iteration(session):
    answer = answer_to(session.query, session.query_state, session.values).content
    counting, last_state = Counting(session.tally, session.trace, session.limits), session.state
    session.state, session.tally, session.reason = concluded(
        session.team, session.scheme, last_state, session.query, answer, counting, session.unfinished
    )
    # The points are evaluated, so there is room for another.
    note_at_bound(session.team, session.problem, counting, session.tally, session.state.x, session.points[0])
    session.unfinished = nothing()
    release(last_state)
    release(answer)


@_inlined
def concluded(
    team: Any, scheme: Any, state: Any, query: Any, answer: Any, counting: Any, unfinished: Any
) -> Any:
    """Return state and tally after an iteration, and the reason to stop if there is one."""
    length = trial_length(team, query, state) if is_measured(counting.tally, counting.limits) else 0.0
    state = tell(team, scheme, state, query, answer)
    tally = count_iteration(counting, state, unfinished, length)
    return state, tally, reason_to_stop(tally, counting.limits, state)


@_inlined
def note_at_bound(team: Any, problem: Any, counting: Any, tally: Any, x: Any, room: Any) -> Any:
    """Note how many variables of x are at a bound, if the trace has a new row since `counting`.

    `room` is an array for a point, and is overwritten.
    """
    if tally.rows > counting.tally.rows:
        counting.trace.at_bound[counting.tally.rows] = at_bound(team, problem, x, room)


def iterate(session: Any, problem: Any, rng: Any, until: Any) -> Any:
    """Run a session on a problem that can be compiled up to iteration `until`, or until it stops.

    It does what `draw_normals`, the objective and `advance` do in turn, but with everything that changes in
    local variables, which the compiler can keep in registers. The session need not know the problem: so
    what is compiled for sessions is compiled once for all problems.
    """
    _iterate(session, problem, rng, until)


@uncounted
def _iterate(session, problem, rng, until):
    # The session owns state and query, so that none is lost or freed if the objective raises an exception.
    team, scheme = session.team, session.scheme
    state, query, query_state = session.state, session.query, session.query_state
    tally, trace, limits, unfinished = session.tally, session.trace, session.limits, session.unfinished
    point, values, normals = session.points[0], session.values, session.normals[0]
    reason = session.reason
    asked = session.row > 0  # the first query, by `open_session`
    while reason == Reason.RUNNING and tally.nit < until:
        if not asked:
            _draw(rng, normals)
            last_query, query = query, ask(team, scheme, state, normals)
            session.query = query
            release(last_query)
        asked = False
        query_state = open_query(team, scheme, problem, query)
        while query_state.wanted > 0 and reason == Reason.RUNNING:
            count, left = query_state.wanted, limits.evaluations - tally.nfev - unfinished.nfev
            if query_state.needed > left:
                count, reason = points_to_spend(query, left), Reason.MAXFEV
            for j in range(count):
                write_point(team, query, position_of(query, query_state, j), point)
                values[j] = value(team, problem, point)
                unfinished = noted(unfinished, query, query_state, values, j)
                # An objective that raises an exception leaves behind what was evaluated before,
                session.unfinished = unfinished
            if reason == Reason.RUNNING:
                query_state = receive(scheme, query, query_state, values)
        if reason == Reason.RUNNING:
            answer, counting = answer_to(query, query_state, values).content, Counting(tally, trace, limits)
            last_state = state
            state, tally, reason = concluded(team, scheme, last_state, query, answer, counting, unfinished)
            note_at_bound(team, problem, counting, tally, state.x, point)
            unfinished = nothing()
            # and the last finished iteration.
            session.state, session.tally, session.unfinished = state, tally, unfinished
            release(last_state)
            release(answer)
    session.query_state, session.reason = query_state, reason
    session.row = 1 if asked else 0


def snapshot(session: Any) -> Any:
    """Return the session's state, tally, reason, and the evaluations of the current iteration."""
    return session.state, session.tally, session.reason, session.unfinished
