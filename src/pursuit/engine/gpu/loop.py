"""The kernel: a loop over iterations for many runs, made of what the loop on a CPU is made of."""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
from numba import cuda

from pursuit.compiling.gpu.layout import (
    Memory,
    Span,
    Where,
    access_to,
    doubles_at,
    integers_at,
    piece,
)
from pursuit.compiling.gpu.team import ahead_type, rows_ahead, team_class
from pursuit.engine.gpu.plan import Own, Plan
from pursuit.engine.iteration import Room, concluded, evaluated, keep_unfinished, nothing
from pursuit.engine.queries import answer_to, open_query, write_point
from pursuit.engine.stopping import Reason
from pursuit.engine.tally import Counting
from pursuit.methods.contract import ask

_RUNNING, _MAXFEV = int(Reason.RUNNING), int(Reason.MAXFEV)


class Nobody(NamedTuple):
    """In place of the session: nothing that a kernel calls raises exceptions."""

    nothing: int = 0


NOBODY = Nobody()


@keep_unfinished.register(Nobody)
def _keep_unfinished(nobody, unfinished):
    pass


@numba.njit(forceinline=True)
def _copy(target, first, source, begin, span_words, lane, lanes):
    for i in range(lane, span_words, lanes):
        target[numba.uint64(first + i)] = source[numba.uint64(begin + i)]


def make_kernel(plan: Plan) -> Any:
    """Return the kernel `(fixed, own, order, count, leg)` for runs of this kind, to be compiled.

    The first three are addresses: of what the runs have in common, of their own images, and of the numbers
    of `count` runs. Each of these runs goes on for up to `leg` iterations.
    """
    Team = team_class(plan.shape)  # noqa: N806 (a class)
    wait, draw, put = Team.wait, Team.draw, Team.put
    fixed_access, own_access = access_to(plan.fixed), access_to(plan.own)
    read_fixed, read_own = fixed_access.read, own_access.read
    bind_own, write_own = own_access.bind, own_access.write
    lanes, seats, threads = plan.shape.lanes, plan.seats, plan.threads
    n, draws, warps, points = plan.shape.n, plan.shape.draws, plan.shape.warps, plan.shape.points
    run_words, block_words, own_words = plan.run_words, plan.block_words, plan.own.words
    fixed_words = plan.fixed.words
    at_normals, at_point, at_board = plan.normals, plan.point, plan.board
    ahead_words, kind_ahead = rows_ahead(plan.shape), ahead_type(plan.shape)
    block_span, fixed_span, own_span = (
        Span(*span)
        for span in (plan.fixed.span(Where.BLOCK), plan.fixed.span(Where.RUN), plan.own.span(Where.RUN))
    )
    block_at, block_from, block_count = block_span.shared, block_span.image, block_span.words
    fixed_at, fixed_from, fixed_count = fixed_span.shared, fixed_span.image, fixed_span.words
    own_at, own_from, own_count = own_span.shared, own_span.image, own_span.words

    def kernel(fixed_address, own_address, order_address, count, leg):
        shared = cuda.shared.array(0, numba.float64)
        block = piece(shared, 0, block_words)
        thread = numba.int64(cuda.threadIdx.x)
        fixed_image = doubles_at(fixed_address, fixed_words)
        _copy(block, block_at, fixed_image, block_from, block_count, thread, threads)
        cuda.syncthreads()
        seat = thread // lanes
        place = numba.int64(cuda.blockIdx.x) * seats + seat
        if place >= count:
            return
        run = integers_at(order_address, count)[numba.uint64(place)]
        pool = piece(shared, block_words + seat * run_words, run_words)
        team = Team(thread % lanes, piece(pool, at_board, warps))
        own_image_address = own_address + run * own_words * 8
        own_image = doubles_at(own_image_address, own_words)
        _copy(pool, fixed_at, fixed_image, fixed_from, fixed_count, team.lane, lanes)
        _copy(pool, own_at, own_image, own_from, own_count, team.lane, lanes)
        memory = Memory(own_image_address, pool, block)
        fixed = read_fixed(Memory(fixed_address, pool, block))
        scheme, problem, limits = fixed.scheme, fixed.problem, fixed.limits
        own = read_own(memory)
        key = own.key
        # A run that goes on has no unfinished iteration: the compiler need not keep room for one.
        own = Own(own.state, own.tally, own.trace, key, own.reason, nothing(), own.best)
        normals = piece(pool, at_normals, draws)
        room = Room(piece(pool, at_point, n), cuda.local.array(points, numba.float64))
        ahead = cuda.local.array(ahead_words, kind_ahead)
        until = own.tally.nit + leg
        draw(team, key, own.tally.nit, ahead)
        wait(team)
        while own.reason == _RUNNING and own.tally.nit < until:
            own = bind_own(own, memory)
            put(team, ahead, normals)
            query = ask(team, scheme, own.state, normals)
            query_state = open_query(team, scheme, problem, query)
            budget = limits.evaluations - own.tally.nfev
            if query_state.needed > budget:
                own = Own(own.state, own.tally, own.trace, key, _MAXFEV, own.unfinished, own.best)
                continue
            # Here, so that it fills the time in which the evaluation waits for memory: one block of code.
            draw(team, key, own.tally.nit + 1, ahead)
            query_state, unfinished = evaluated(
                NOBODY, team, scheme, problem, query, query_state, budget, room
            )
            if query_state.wanted > 0:
                own = Own(own.state, own.tally, own.trace, key, _MAXFEV, unfinished, own.best)
            else:
                answer = answer_to(query, query_state, room.values)
                counting = Counting(own.tally, own.trace, limits)
                state, tally, reason = concluded(team, scheme, own.state, query, answer, counting, unfinished)
                own = Own(state, tally, own.trace, key, reason.value, own.unfinished, own.best)
        if own.unfinished.nfev > 0:
            # The query of the iteration that did not end, asked again.
            own = bind_own(own, memory)
            draw(team, key, own.tally.nit, ahead)
            put(team, ahead, normals)
            query = ask(team, scheme, own.state, normals)
            write_point(team, query, own.unfinished.position, own.best)
        wait(team)
        _copy(own_image, own_from, pool, own_at, own_count, team.lane, lanes)
        if team.lane == 0:
            write_own(own, memory)

    return kernel
