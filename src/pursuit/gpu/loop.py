"""The kernel: a loop over iterations for many runs, made of what the loop on a CPU is made of."""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
from numba import cuda

from pursuit.checks import Vector
from pursuit.engine.counters import Counting, count_iteration, reason_to_stop
from pursuit.engine.iteration import (
    answer_to,
    measured,
    note_at_bound,
    noted,
    nothing,
    open_query,
    position_of,
    receive,
)
from pursuit.engine.stopping import Reason
from pursuit.gpu.access import Memory, doubles_at, integers_at, piece, reading, writing
from pursuit.gpu.layout import Where
from pursuit.gpu.plan import Course, Own, Plan
from pursuit.gpu.team import ahead_type, draw, put, rows_ahead, team_class, wait
from pursuit.gpu.threads import BLOCK, GridBoard, inline
from pursuit.methods.contract import ask, tell, write_point
from pursuit.problems.contract import value

_RUNNING, _MAXFEV = int(Reason.RUNNING), int(Reason.MAXFEV)


class Room(NamedTuple):
    """The arrays of a loop."""

    normals: Vector
    """The normals of an iteration."""
    point: Vector
    """The point that is evaluated."""
    values: Vector
    """The values of a round of evaluations."""
    ahead: Any
    """The normals that a thread has drawn for the next iteration."""


@inline
def _evaluated(team, fixed, query, query_state, budget, room):
    """Evaluate the points that a query wants, for as long as the budget lasts; it allows the first.

    Returns the state of the query and what was evaluated; a query that still wants points has not been
    answered.
    """
    scheme, problem = fixed.scheme, fixed.problem
    # Most searches have no second round. Apart from the loop, the first one is compiled without it.
    unfinished = _evaluated_round(team, problem, query, query_state, nothing(), room)
    query_state = receive(scheme, query, query_state, room.values)
    while query_state.wanted > 0 and unfinished.nfev + query_state.needed <= budget:
        unfinished = _evaluated_round(team, problem, query, query_state, unfinished, room)
        query_state = receive(scheme, query, query_state, room.values)
    return query_state, unfinished


@inline
def _evaluated_round(team, problem, query, query_state, unfinished, room):
    """Evaluate the points wanted, and return what was evaluated in this iteration."""
    values = room.values
    # The compiler knows how many values there are at most, and unrolls the loop.
    for j in range(values.shape[0]):
        if j < query_state.wanted:
            write_point(team, query, position_of(query, query_state, j), room.point)
            values[j] = value(team, problem, room.point)
            unfinished = noted(unfinished, query, query_state, values, j)
    return unfinished


@inline
def _continued(team, fixed, own, room, leg):
    """Return where a run stands after up to `leg` iterations."""
    # A run that continues has no unfinished iteration: the compiler need not keep room for one.
    numbers, counters, reason, _ = own.course
    course = Course(numbers, counters, reason, nothing())
    until = course.counters.nit + leg
    draw(team, own.key, course.counters.nit, room.ahead)
    wait(team)
    while course.reason == _RUNNING and course.counters.nit < until:
        course = _iterated(team, fixed, own, course, room)
    if course.unfinished.nfev > 0:
        _write_best(team, fixed, own, course, room)
    return course


@inline
def _iterated(team, fixed, own, course, room):
    """Return where a run stands after another iteration, whose normals were drawn ahead."""
    scheme, problem, limits, arrays = fixed.scheme, fixed.problem, fixed.limits, own.arrays
    numbers, counters, normals = course.numbers, course.counters, room.normals
    put(team, own.key, counters.nit, room.ahead, normals)
    query = ask(team, scheme, arrays, numbers, normals)
    query_state = open_query(team, scheme, problem, query)
    budget = limits.evaluations - counters.nfev
    if query_state.needed > budget:
        return Course(numbers, counters, _MAXFEV, course.unfinished)
    # Here, so that it fills the time in which the evaluation waits for memory: both are one block of code.
    draw(team, own.key, counters.nit + 1, room.ahead)
    query_state, unfinished = _evaluated(team, fixed, query, query_state, budget, room)
    if query_state.wanted > 0:
        return Course(numbers, counters, _MAXFEV, unfinished)
    counting = Counting(counters, own.trace, limits)
    length, answer = (
        measured(team, query, counting, numbers),
        answer_to(query, query_state, room.values).content,
    )
    numbers = tell(team, scheme, arrays, numbers, query, answer)
    counters = count_iteration(counting, numbers, unfinished, length)
    reason = reason_to_stop(counters, limits, numbers)
    note_at_bound(team, problem, counting, counters, arrays.x, room.point)
    return Course(numbers, counters, reason.value, course.unfinished)


@inline
def _write_best(team, fixed, own, course, room):
    """Write the best point of an iteration that did not end, whose query is asked again."""
    draw(team, own.key, course.counters.nit, room.ahead)
    put(team, own.key, course.counters.nit, room.ahead, room.normals)
    query = ask(team, fixed.scheme, own.arrays, course.numbers, room.normals)
    write_point(team, query, course.unfinished.position, own.best)


@inline
def _copy(target, source, words, lane, lanes):
    for i in range(lane, words, lanes):
        target[numba.uint64(i)] = source[numba.uint64(i)]


def make_kernel(plan: Plan) -> Any:
    """Return the kernel `(fixed, own, order, count, leg)` for runs of this kind, to be compiled.

    The first three are addresses: of what the runs have in common, of their own images, and of the numbers
    of `count` runs. Each of these runs continues for up to `leg` iterations.
    """
    if plan.shape.is_grid:
        return _make_grid_kernel(plan)
    Team = team_class(plan.shape)  # noqa: N806 (a class)
    read_fixed, read_own = reading(plan.fixed.root), reading(plan.own.root)
    write_course = writing(plan.own.root.parts[Own._fields.index("course")])
    lanes, n, draws, points = plan.shape
    seats, threads, warps = plan.seats, plan.threads, plan.shape.warps
    run_words, block_words, own_words = plan.run_words, plan.block_words, plan.own.words
    at_normals, at_point, at_board = plan.normals, plan.point, plan.board
    ahead_words, kind_ahead = rows_ahead(plan.shape), ahead_type(plan.shape)
    block_from, block_at, block_count = plan.fixed.span(Where.BLOCK)
    fixed_from, fixed_at, fixed_count = plan.fixed.span(Where.RUN)
    own_from, own_at, own_count = plan.own.span(Where.RUN)

    def kernel(fixed_address, own_address, order_address, count, leg):
        shared = cuda.shared.array(0, numba.float64)
        block = piece(shared, 0, block_words)
        thread = numba.int64(cuda.threadIdx.x)
        constants = doubles_at(fixed_address + 8 * block_from, block_count)
        _copy(piece(block, block_at, block_count), constants, block_count, thread, threads)
        cuda.syncthreads()
        seat = thread // lanes
        place = numba.int64(cuda.blockIdx.x) * seats + seat
        if place >= count:
            return
        run = integers_at(order_address, count)[numba.uint64(place)]
        pool = piece(shared, block_words + seat * run_words, run_words)
        team = Team(thread % lanes, piece(pool, at_board, warps))
        lent = doubles_at(fixed_address + 8 * fixed_from, fixed_count)
        _copy(piece(pool, fixed_at, fixed_count), lent, fixed_count, team.lane, lanes)
        memory = Memory(own_address + run * own_words * 8, pool, block)
        near, kept = piece(pool, own_at, own_count), doubles_at(memory.image + 8 * own_from, own_count)
        _copy(near, kept, own_count, team.lane, lanes)
        fixed = read_fixed(Memory(fixed_address, pool, block))
        own = read_own(memory)
        room = Room(
            piece(pool, at_normals, draws),
            piece(pool, at_point, n),
            cuda.local.array(points, numba.float64),
            cuda.local.array(ahead_words, kind_ahead),
        )
        course = _continued(team, fixed, own, room, leg)
        wait(team)
        _copy(kept, near, own_count, team.lane, lanes)
        if team.lane == 0:
            write_course(course, memory)

    return kernel


def _make_grid_kernel(plan: Plan) -> Any:
    """Return the kernel `(fixed, own, board, count, leg)` for one run that all threads of the GPU execute.

    All arrays are in global memory, and the point that is evaluated is where the best one will be.
    """
    Team = team_class(plan.shape)  # noqa: N806 (a class)
    read_fixed, read_own = reading(plan.fixed.root), reading(plan.own.root)
    write_course = writing(plan.own.root.parts[Own._fields.index("course")])
    points, warps = plan.shape.points, plan.shape.warps
    blocks = plan.blocks

    def kernel(fixed_address, own_address, board_address, count, leg):
        shared = cuda.shared.array(0, numba.float64)
        lane = numba.int64(cuda.blockIdx.x) * BLOCK + numba.int64(cuda.threadIdx.x)
        numbers = doubles_at(board_address + 8, blocks)
        team = Team(lane, GridBoard(piece(shared, 0, warps), integers_at(board_address, 1), numbers))
        memory = Memory(own_address, shared, shared)
        fixed, own = read_fixed(Memory(fixed_address, shared, shared)), read_own(memory)
        room = Room(
            own.normals,
            own.best,
            cuda.local.array(points, numba.float64),
            cuda.local.array(4, numba.float32),
        )
        # All threads have read the image before one of them writes it: they wait before the first iteration.
        course = _continued(team, fixed, own, room, leg)
        if lane == 0:
            write_course(course, memory)

    return kernel
