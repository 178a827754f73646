"""A run in progress, and all that happens in it.

A session is driven in one of two ways, which give the same trajectory, bit for bit:

- by a Python loop, which evaluates any Python function at the points that `pose` and `turn` lay out for it,
  and hands the values back to `turn`;
- by `iterate`, a loop compiled whole, for objectives that Numba can compile.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
from numba import types
from numba.experimental import structref

from pursuit.engine.queries import answer_to, place, put, take
from pursuit.engine.stopping import Reason
from pursuit.engine.tally import count_evaluations, count_iteration, reason_to_stop
from pursuit.methods.contract import ask, tell
from pursuit.problems.contract import value

_FIELDS = [
    "team", "scheme", "problem", "state", "query", "pending", "tally", "trace", "limits", "reason",
    "block", "row", "points", "values",
]  # fmt: skip


@structref.register
class SessionType(types.StructRef):
    """Numba's type of a `Session`."""


class Session(structref.StructRefProxy):
    """A run in progress, held in compiled memory.

    Python sees it as one opaque object, which costs 0.15 microseconds to pass to a compiled function that is
    told its type once, however many arrays and numbers it holds; passing these one by one would cost four.
    """


structref.define_proxy(Session, SessionType, _FIELDS)


class BlackBox(NamedTuple):
    """The problem of which nothing is known but the values that Python will bring."""


def open_session(team, scheme, problem, state, tally, trace, limits, block, row, points, values):
    """Return a session whose next query is asked, with that row of normals, but not yet put to anyone."""
    query = ask(team, scheme, state, block[row])
    pending = put(team, scheme, problem, query)
    return Session(
        team, scheme, problem, state, query, pending, tally, trace, limits,
        reason_to_stop(tally, limits, state), block, row + 1, points, values,
    )  # fmt: skip


def fill(rng, block):
    """Fill the session's normals anew."""
    for row in range(block.shape[0]):
        for i in range(block.shape[1]):
            block[row, i] = rng.standard_normal()


def lay_out(session):
    """Write the points that the session wants now and return their number; 0 if it has stopped."""
    return _lay_out(session) if session.reason == Reason.RUNNING else 0


def pose(session):
    """Begin an iteration with freshly filled normals and lay out its first points."""
    session.row = 0
    return _pose(session)


def turn(session):
    """Take the values of the points laid out and lay out the next.

    Returns their number, which is 0 if the session has stopped or used up its normals, and the numbers of
    iterations and evaluations so far.
    """
    wanted = _turn(session)
    return wanted, session.tally.nit, session.tally.nfev


@numba.njit(forceinline=True)
def _turn(session):
    pending, tally, values = session.pending, session.tally, session.values
    faulty = _reject_faulty(values[: pending.wanted])
    session.tally = count_evaluations(tally, pending.wanted, faulty)
    pending = take(session.scheme, session.query, pending, values)
    session.pending = pending
    if pending.wanted > 0:
        return _lay_out(session)
    session.state, session.tally, session.reason = _conclude(
        session.team, session.scheme, session.state, session.query, pending, values,
        session.tally, session.trace, session.limits,
    )  # fmt: skip
    if session.reason != Reason.RUNNING or session.row == session.block.shape[0]:
        return 0
    return _pose(session)


@numba.njit(forceinline=True)
def _reject_faulty(values):
    """Replace what is not a number by infinity and return how often."""
    faulty = 0
    for j in range(values.shape[0]):
        if math.isnan(values[j]):
            values[j] = math.inf
            faulty += 1
    return faulty


@numba.njit(forceinline=True)
def _pose(session):
    team, scheme = session.team, session.scheme
    query = ask(team, scheme, session.state, session.block[session.row])
    session.query = query
    session.pending = put(team, scheme, session.problem, query)
    session.row += 1
    return _lay_out(session)


@numba.njit(forceinline=True)
def _lay_out(session):
    pending = session.pending
    if session.tally.nfev + pending.needed > session.limits.evaluations:
        session.state, session.tally, session.reason = _conclude(
            session.team, session.scheme, session.state, session.query, pending, session.values,
            session.tally, session.trace, session.limits,
        )  # fmt: skip
        return 0
    for j in range(pending.wanted):
        place(session.team, session.query, pending, j, session.points[j])
    return pending.wanted


@numba.njit(forceinline=True)
def _conclude(team, scheme, state, query, pending, values, tally, trace, limits):
    """End an iteration, be it because the query is answered or because no evaluations are left."""
    answered = pending.wanted == 0
    if not answered and not pending.value < state.fx:
        return state, tally, Reason.MAXFEV
    state = tell(team, scheme, state, query, answer_to(query, pending, values))
    tally = count_iteration(tally, trace, state)
    reason = reason_to_stop(tally, limits, state)
    if not answered and reason == Reason.RUNNING:
        reason = Reason.MAXFEV
    return state, tally, reason


def iterate(session, rng, until):
    """Run a session whose problem can be compiled up to iteration `until`, or until it stops.

    It does what `fill`, `pose`, the objective and `turn` do, in that order, but with everything that
    changes in local variables, which the compiler can keep in registers.
    """
    team, scheme, problem = session.team, session.scheme, session.problem
    state, query, pending = session.state, session.query, session.pending
    tally, trace, limits = session.tally, session.trace, session.limits
    point, values, normals = session.points[0], session.values, session.block[0]
    reason = session.reason
    asked = session.row > 0  # the first query, by `open_session`
    while reason == Reason.RUNNING and tally.nit < until:
        if not asked:
            for i in range(normals.shape[0]):
                normals[i] = rng.standard_normal()
            query = ask(team, scheme, state, normals)
            pending = put(team, scheme, problem, query)
        asked = False
        while pending.wanted > 0 and tally.nfev + pending.needed <= limits.evaluations:
            for j in range(pending.wanted):
                place(team, query, pending, j, point)
                values[j] = value(team, problem, point)
            faulty = _reject_faulty(values[: pending.wanted])
            tally = count_evaluations(tally, pending.wanted, faulty)
            pending = take(scheme, query, pending, values)
        state, tally, reason = _conclude(
            team, scheme, state, query, pending, values, tally, trace, limits
        )  # fmt: skip
        # An objective that raises an exception then leaves the last completed iteration behind.
        session.state, session.tally = state, tally
    session.query, session.pending = query, pending
    session.reason = reason
    session.row = 1 if asked else 0


def snapshot(session):
    """Return the session's state, tally and reason."""
    return session.state, session.tally, session.reason
