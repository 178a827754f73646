"""What happens in an iteration, and the two loops around it on a CPU.

An iteration asks the scheme, evaluates what it wants round by round, and tells it. Three drivers put these
parts together, on a CPU with the same trajectory, bit for bit:

- `advance`, between two rounds of evaluations, for points that others evaluate: any Python function, or
  `evaluate_round` where a scheme is compiled apart from the problem;
- `iterate`, a loop around a problem;
- a GPU's kernel (`gpu/loop.py`), for many runs at once.

All of it is plain Python, and is compiled as a whole where there is a compiler.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, NamedTuple

from pursuit.checks import Vector
from pursuit.compiling.dispatch import generic
from pursuit.compiling.jit import compilable, inlined, lent, loop_for
from pursuit.compiling.vectors import Matrix, dot
from pursuit.engine.counters import Counting, Unfinished, count_iteration, is_measured, reason_to_stop
from pursuit.engine.stopping import Reason
from pursuit.methods.contract import ask, count_points, spread, tell, write_on_line, write_point
from pursuit.methods.line_searches import Line, begin_search, continue_search, known_minimizer
from pursuit.problems.contract import value
from pursuit.problems.transform import Transform, at_bound, transformed_at_bound

# A transform stands for a problem of which no more is known: Python supplies the values.
at_bound.register(Transform)(transformed_at_bound)


class Buffers(NamedTuple):
    """The arrays that a driver and compiled code share."""

    normals: Matrix
    """Standard normals for some iterations, a row for each."""
    points: Matrix
    """The points of a round of evaluations, one per row, or room for one if they are evaluated in turn."""
    values: Vector
    """Their values."""


class Bench(NamedTuple):
    """What a run has all along."""

    team: Any
    scheme: Any
    problem: Any
    """The problem, as far as the scheme and the trace need it."""
    arrays: Any
    trace: Any
    limits: Any
    buffers: Buffers


@dataclasses.dataclass(slots=True)
class Session:
    """What changes in a run.

    Compiled code holds its own kind of it (`sessions.py`), which Python sees as one opaque object: to pass it
    takes 0.15 microseconds, however many arrays and numbers there are; one by one they would take four.
    """

    numbers: Any
    counters: Any
    unfinished: Any
    reason: Any
    bench: Any = None
    """This, and what follows, is for `advance`."""
    query: Any = None
    query_state: Any = None
    last: Any = 0
    """How many last points were written, for which no answer will come."""
    row: Any = 0
    """The row of the normals that comes next."""


# What has happened before `advance`: the session was opened and has written no points, the values of the
# points have come in, or there are new normals, with which the next iteration begins.
OPENED, VALUES, NEW_NORMALS = range(3)


# --- How a query is evaluated ----------------------------------------------------------------------
#
# A line is searched step by step by the scheme's line search; a batch of points, whatever its class, is
# evaluated at once. Both are handled alike: while `query_state.wanted` is not 0, that many points are wanted.


class BatchState(NamedTuple):
    """The state of a batch of points."""

    wanted: int
    needed: int
    """How many evaluations must be left to evaluate it."""


class Answer(NamedTuple):
    """What the scheme is told: on a GPU no function returns a part of an array by itself."""

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

    The query will not be answered. But any point of a batch, in their order, may be the best of all.
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


# --- The parts of an iteration ---------------------------------------------------------------------


@inlined
def nothing() -> Any:
    """Return the record of an iteration in which nothing was evaluated yet."""
    return Unfinished(nfev=0, faulty=0, value=math.inf, position=0.0, highest=-math.inf)


@inlined
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


@inlined
def granted(query: Any, query_state: Any, counting: Any, unfinished: Any) -> Any:
    """Return how many points to evaluate next, and whether they are the last ones that the limit allows."""
    left = counting.limits.evaluations - counting.counters.nfev - unfinished.nfev
    if query_state.needed > left:
        return points_to_spend(query, left), True
    return query_state.wanted, False


@inlined
def measured(team: Any, query: Any, counting: Any, numbers: Any) -> Any:
    """Return the length of the trials of an iteration that began with these numbers, 0 if it is not due."""
    return spread(team, query, numbers.sigma) if is_measured(counting.counters, counting.limits) else 0.0


@inlined
def note_at_bound(team: Any, problem: Any, counting: Any, counters: Any, x: Any, room: Any) -> Any:
    """Note how many variables of x are at a bound, if the trace has a new row since `counting`.

    `room` is an array for a point, and is overwritten.
    """
    if counters.rows > counting.counters.rows:
        counting.trace.at_bound[counting.counters.rows] = at_bound(team, problem, x, room)


# --- A loop around a problem -----------------------------------------------------------------------


def draw_normals(rng: Any, normals: Any) -> Any:
    """Fill the rows with new standard normals, in a third of the time that NumPy takes if it is compiled."""
    for row in range(normals.shape[0]):
        _draw(rng, normals[row])


@compilable
def _draw(rng, normals):
    rng.standard_normal(out=normals)


@loop_for(_draw)
def _loop_draw(rng, normals):
    for i in range(normals.shape[0]):
        normals[i] = rng.standard_normal()


def iterate(session: Any, bench: Any, problem: Any, rng: Any, until: Any) -> Any:
    """Run a session on a problem up to iteration `until`, or until it stops.

    What changes is in local variables, which a compiler can keep in registers.
    """
    team, scheme, problem = bench.team, lent(bench.scheme), lent(problem)
    arrays, trace, limits, buffers = lent(bench.arrays), lent(bench.trace), bench.limits, lent(bench.buffers)
    numbers, counters = session.numbers, session.counters
    unfinished, reason = session.unfinished, session.reason
    normals, point, values = buffers.normals[0], buffers.points[0], buffers.values
    while reason == Reason.RUNNING and counters.nit < until:
        _draw(rng, normals)
        query = ask(team, scheme, arrays, numbers, normals)
        counting = Counting(counters, trace, limits)
        query_state = open_query(team, scheme, problem, query)
        while query_state.wanted > 0 and reason == Reason.RUNNING:
            count, is_last = granted(query, query_state, counting, unfinished)
            for j in range(count):
                write_point(team, query, position_of(query, query_state, j), point)
                values[j] = value(team, problem, point)
                unfinished = noted(unfinished, query, query_state, values, j)
                # A problem that raises an exception leaves behind what was evaluated before,
                session.unfinished = unfinished
            if is_last:
                reason = Reason.MAXFEV
            else:
                query_state = receive(scheme, query, query_state, values)
        if reason == Reason.RUNNING:
            length = measured(team, query, counting, numbers)
            answer = answer_to(query, query_state, values).content
            numbers = tell(team, scheme, arrays, numbers, query, answer)
            counters = count_iteration(counting, numbers, unfinished, length)
            reason = reason_to_stop(counters, limits, numbers)
            note_at_bound(team, problem, counting, counters, arrays.x, point)
            unfinished = nothing()
            # and the last finished iteration.
            session.numbers, session.counters, session.unfinished = numbers, counters, unfinished
    session.reason = reason


# --- What happens between two rounds of evaluations ------------------------------------------------


def open_session(bench: Any, numbers: Any, counters: Any, reason: Any) -> Any:
    """Return a session whose next query is asked, with the first row of normals, but not evaluated yet."""
    bench = lent(bench)
    query, query_state = _asked(bench, numbers, 0)
    return Session(
        numbers, counters, nothing(), reason, bench=bench, query=query, query_state=query_state, last=0, row=1
    )


def open_loop(numbers: Any, counters: Any, reason: Any) -> Any:
    """Return a session for `iterate`."""
    return Session(
        numbers, counters, nothing(), reason, bench=None, query=None, query_state=None, last=0, row=0
    )


@inlined
def _asked(bench, numbers, row):
    """Return the next query, and its state."""
    query = ask(bench.team, bench.scheme, bench.arrays, numbers, bench.buffers.normals[row])
    return query, open_query(bench.team, bench.scheme, bench.problem, query)


def advance(session: Any, event: Any) -> Any:
    """Take the values of the points written, unless something else has happened, and write the next points.

    Returns the number of points, which is 0 if the session has stopped or has used up its normals, and
    negative for the last points of all, for which no answer will come; the number of iterations so far; and
    whether the session is running.

    Compilers optimise a function anew in each one that calls it. So what is long, `tell`, is called here.
    """
    bench = lent(session.bench)
    team, scheme, arrays, buffers = bench.team, bench.scheme, bench.arrays, bench.buffers
    goes_on, begins = session.reason == Reason.RUNNING, event == NEW_NORMALS
    if event == VALUES:
        is_answered = _take_values(session, bench)
        goes_on = session.reason == Reason.RUNNING
        if is_answered:
            query, counting = session.query, Counting(session.counters, bench.trace, bench.limits)
            length = measured(team, query, counting, session.numbers)
            answer = answer_to(query, session.query_state, buffers.values).content
            numbers = tell(team, scheme, arrays, session.numbers, query, answer)
            counters = count_iteration(counting, numbers, session.unfinished, length)
            session.reason = reason_to_stop(counters, bench.limits, numbers)
            # The points are evaluated, so there is room for another.
            note_at_bound(team, bench.problem, counting, counters, arrays.x, buffers.points[0])
            session.numbers, session.counters, session.unfinished = numbers, counters, nothing()
            goes_on = begins = session.reason == Reason.RUNNING and session.row < buffers.normals.shape[0]
    elif begins:
        session.row = 0
    if begins:
        session.query, session.query_state = _asked(bench, session.numbers, session.row)
        session.row += 1
    count = _write_round(session, bench) if goes_on else 0
    return count, session.counters.nit, session.reason == Reason.RUNNING


@inlined
def _take_values(session, bench):
    """Take the values of the points written; return whether the query is answered."""
    query, query_state, values = session.query, session.query_state, bench.buffers.values
    unfinished = session.unfinished
    for j in range(session.last if session.last > 0 else query_state.wanted):
        unfinished = noted(unfinished, query, query_state, values, j)
    session.unfinished = unfinished
    if session.last > 0:
        session.last, session.reason = 0, Reason.MAXFEV
        return False
    session.query_state = query_state = receive(bench.scheme, query, query_state, values)
    return query_state.wanted == 0


@inlined
def _write_round(session, bench):
    """Write the next points; return how many are wanted, negative if they are the last ones."""
    query, query_state = session.query, session.query_state
    counting = Counting(session.counters, bench.trace, bench.limits)
    count, is_last = granted(query, query_state, counting, session.unfinished)
    if is_last:
        session.last = count
        if count == 0:
            session.reason = Reason.MAXFEV
    # Where there is no room for them, `evaluate_round` writes them one by one.
    if count <= bench.buffers.points.shape[0]:
        for j in range(count):
            write_point(bench.team, query, position_of(query, query_state, j), bench.buffers.points[j])
    return -count if is_last else count


def evaluate_round(session: Any, problem: Any, count: Any, done: Any) -> Any:
    """Evaluate a problem at the points of a round; `done` says at how many, whatever exception comes."""
    bench, problem = lent(session.bench), lent(problem)
    query, query_state, point = session.query, session.query_state, bench.buffers.points[0]
    for j in range(count):
        write_point(bench.team, query, position_of(query, query_state, j), point)
        bench.buffers.values[j] = value(bench.team, problem, point)
        done[0] = j + 1


def receive_one(session: Any, j: Any) -> Any:
    """Take the value of one of the points written."""
    values = session.bench.buffers.values
    session.unfinished = noted(session.unfinished, session.query, session.query_state, values, j)


def present(session: Any) -> Any:
    """Return the session's numbers, counters, reason, and the evaluations of the current iteration."""
    return session.numbers, session.counters, session.reason, session.unfinished
