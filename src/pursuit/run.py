"""The run: iterate, count, trace and stop.

A `Session` is a run in progress. What happens in an iteration is written once, in `pose` (ask for points)
and `turn` (take their values), and driven in two ways that give the same trajectory, bit for bit:

- a Python loop that evaluates any Python function at the points and hands the values back;
- `iterate`, a loop compiled whole, for objectives that Numba can compile.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types
from numba.experimental import structref
from numpy.typing import NDArray

from pursuit.checks import Vector
from pursuit.compilation import compiled
from pursuit.problems.contract import sources_of, value
from pursuit.queries import answer_to, place, put, take
from pursuit.schemes.contract import Scheme, ask, tell
from pursuit.stopping import Reason
from pursuit.tally import (
    Limits,
    Trace,
    count_evaluations,
    count_iteration,
    finished_trace,
    open_books,
    reason_to_stop,
)
from pursuit.vectors import SERIAL

_FIELDS = [
    "team", "scheme", "problem", "state", "query", "pending", "tally", "trace", "limits", "reason",
    "block", "row", "points", "values",
]  # fmt: skip


@structref.register
class SessionType(types.StructRef):
    """Numba's type of a `Session`."""


class Session(structref.StructRefProxy):
    """A run in progress, held in compiled memory.

    Python sees it as one opaque object, which costs 0.7 microseconds to pass to a compiled function,
    however many arrays and numbers it holds; passing and returning these one by one would cost four.
    """


structref.define_proxy(Session, SessionType, _FIELDS)


class BlackBox(NamedTuple):
    """The problem of which nothing is known but the values that Python will bring."""


# --- compiled: what happens in an iteration ---------------------------------------------------------


def open_session(team, scheme, problem, state, tally, trace, limits, block, points, values):
    """Return a session whose first query is asked, but not yet put to the objective."""
    query = ask(team, scheme, state, block[0])
    pending = put(team, scheme, problem, query)
    return Session(
        team, scheme, problem, state, query, pending, tally, trace, limits, Reason.RUNNING,
        block, 1, points, values,
    )  # fmt: skip


def fill(rng, block):
    """Fill the session's normals anew."""
    for row in range(block.shape[0]):
        for i in range(block.shape[1]):
            block[row, i] = rng.standard_normal()


def lay_out(session):
    """Write the points that the session wants now and return their number; 0 if it has stopped."""
    return _lay_out(session)


def pose(session):
    """Begin an iteration with freshly filled normals and lay out its first points."""
    session.row = 0
    return _pose(session)


def turn(session):
    """Take the values of the points laid out and lay out the next.

    Returns their number: 0 if the session has stopped, or if it has used up its normals.
    """
    pending, tally, values = session.pending, session.tally, session.values
    faulty = 0
    for j in range(pending.count):
        if math.isnan(values[j]):
            values[j] = math.inf
            faulty += 1
    session.tally = count_evaluations(tally, pending.count, faulty)
    pending = take(session.scheme, session.query, pending, values)
    session.pending = pending
    if pending.count > 0:
        return _lay_out(session)
    session.state, session.tally, session.reason = _conclude(
        session.team, session.scheme, session.state, session.query, pending, values,
        session.tally, session.trace, session.limits,
    )  # fmt: skip
    if session.reason != Reason.RUNNING or session.row == session.block.shape[0]:
        return 0
    return _pose(session)


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
    if session.tally.nfev + pending.count > session.limits.evaluations:
        session.state, session.tally, session.reason = _conclude(
            session.team, session.scheme, session.state, session.query, pending, session.values,
            session.tally, session.trace, session.limits,
        )  # fmt: skip
        return 0
    for j in range(pending.count):
        place(session.team, session.query, pending, j, session.points[j])
    return pending.count


@numba.njit(forceinline=True)
def _conclude(team, scheme, state, query, pending, values, tally, trace, limits):
    """End an iteration, be it because the query is answered or because no evaluations are left."""
    answered = pending.count == 0
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

    It does what `fill`, `pose`, the objective and `turn` do, in that order, with everything that
    changes in local variables, so that the compiler can keep it in registers.
    """
    team, scheme, problem = session.team, session.scheme, session.problem
    state, query, pending = session.state, session.query, session.pending
    tally, trace, limits = session.tally, session.trace, session.limits
    points, values, normals = session.points, session.values, session.block[0]
    reason = session.reason
    while reason == Reason.RUNNING and tally.nit < until:
        if session.row == 0:
            for i in range(normals.shape[0]):
                normals[i] = rng.standard_normal()
            query = ask(team, scheme, state, normals)
            pending = put(team, scheme, problem, query)
        session.row = 0
        while pending.count > 0 and tally.nfev + pending.count <= limits.evaluations:
            faulty = 0
            for j in range(pending.count):
                place(team, query, pending, j, points[j])
                values[j] = value(team, problem, points[j])
                if math.isnan(values[j]):
                    values[j] = math.inf
                    faulty += 1
            tally = count_evaluations(tally, pending.count, faulty)
            pending = take(scheme, query, pending, values)
        state, tally, reason = _conclude(
            team, scheme, state, query, pending, values, tally, trace, limits
        )  # fmt: skip
    session.state, session.query, session.pending = state, query, pending
    session.tally, session.reason = tally, reason


def snapshot(session):
    """Return the session's state, tally and reason."""
    return session.state, session.tally, session.reason


# --- Python: the two drivers ------------------------------------------------------------------------

# The normals that the Python loop draws at a time, so that passing the generator costs little.
_BLOCK = 4096
# How long the compiled loop runs between two looks at the clock, in seconds.
_LEG = 0.05


class Outcome(NamedTuple):
    """What a run came to."""

    x: Vector
    fun: float
    nit: int
    nfev: int
    faulty: int
    sigma: float
    reason: Reason
    trace: Trace


def run(
    scheme: Scheme,
    objective: Any,
    x0: Vector,
    *,
    sigma0: float,
    rng: np.random.Generator,
    limits: Limits,
    maxtime: float = math.inf,
    whole: bool = True,
) -> Outcome:
    """Minimise `objective` from `x0`, which the run makes its own, and return what came of it.

    Parameters
    ----------
    scheme : Scheme
        Created for this many variables.
    objective : Problem or callable
        A problem, or any function of a point.
    x0 : ndarray
        The start; it is overwritten.
    sigma0 : float
        The first step size.
    rng : numpy.random.Generator
        The source of all randomness.
    limits : Limits
        When to stop.
    maxtime : float
        The limit of time, in seconds.
    whole : bool
        Whether to compile the whole loop if the objective is a problem. The trajectory is the same.
    """
    end = time.perf_counter() + maxtime
    can_compile = value.handles(type(objective))
    whole = whole and can_compile
    fx = float(objective(x0.copy()))
    if not math.isfinite(fx):
        raise ValueError(f"The objective must be finite at x0, but it is {fx} there.")
    n, draws = x0.size, scheme.draws(x0.size)
    block = np.empty((1 if whole else max(1, _BLOCK // draws), draws))
    points, values = np.empty((scheme.points, n)), np.empty(scheme.points)
    sources = [ask.source_of(type(scheme)), tell.source_of(type(scheme)), *sources_of(objective)]
    tally, trace = open_books(fx, sigma0)
    compiled(fill)(rng, block)
    session = compiled(open_session, *sources)(
        SERIAL, scheme, objective if can_compile else BlackBox(), scheme.init(x0, fx, sigma0),
        tally, trace, limits, block, points, values,
    )  # fmt: skip
    look = compiled(snapshot, *sources)
    reason = Reason.RUNNING
    try:
        if whole:
            legs = _compiled_legs(compiled(iterate, *sources), session, rng, look)
        else:
            legs = _python_legs(objective, session, rng, sources, block, points, values)
        for _ in legs:
            if time.perf_counter() > end:
                reason = Reason.MAXTIME
                break
    except KeyboardInterrupt:
        reason = Reason.INTERRUPTED
    state, tally, own_reason = look(session)
    return Outcome(
        x=state.x,
        fun=state.fx,
        nit=tally.nit,
        nfev=tally.nfev,
        faulty=tally.faulty,
        sigma=state.sigma,
        reason=Reason(own_reason) if own_reason != Reason.RUNNING else reason,
        trace=finished_trace(tally, trace, state.f),
    )


def _compiled_legs(
    iterate_session: Any, session: Session, rng: np.random.Generator, look: Any
) -> Iterator[None]:
    """Drive a session in compiled legs of about `_LEG` seconds; yield after each."""
    iterations, leg = 0, 1
    while True:
        before = time.perf_counter()
        iterations += leg
        iterate_session(session, rng, iterations)
        _, _, reason = look(session)
        if reason != Reason.RUNNING:
            return
        yield
        if time.perf_counter() - before < _LEG:
            leg *= 2


def _python_legs(
    objective: Callable[[Vector], float],
    session: Session,
    rng: np.random.Generator,
    sources: list[Callable[..., Any]],
    block: NDArray[np.float64],
    points: NDArray[np.float64],
    values: Vector,
) -> Iterator[None]:
    """Drive a session from Python, an evaluation at a time; yield after each round of them."""
    fill_block, pose_session = compiled(fill), compiled(pose, *sources)
    turn_session, look = compiled(turn, *sources), compiled(snapshot, *sources)
    rows = list(points)
    wanted = compiled(lay_out, *sources)(session)
    while True:
        for j in range(wanted):
            values[j] = objective(rows[j])
        if wanted:
            yield
            wanted = turn_session(session)
            continue
        _, _, reason = look(session)
        if reason != Reason.RUNNING:
            return
        fill_block(rng, block)
        wanted = pose_session(session)
