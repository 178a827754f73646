"""Teams of GPU threads: part of a warp, a warp or a block of them executes one run.

Entry i of every vector belongs to thread i modulo the width of the team. Numbers that are no arrays exist on
every thread: all compute them, from sums that are the same on all threads to the last bit, and so all take
the same branches. An operation that reads entries of other threads waits for these first.

A class of teams is made for one width and one number of variables, both of which the compiler then knows: it
unrolls the loops over the entries of a thread, and keeps in registers what one operation writes and the next
one reads.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numba

from pursuit.checks import shown
from pursuit.compiling.dispatch import generic
from pursuit.gpu.access import seen_from
from pursuit.gpu.operations import register_matrices, register_rows, register_vectors
from pursuit.gpu.philox import four_words, two_normals, widened
from pursuit.gpu.threads import BLOCK, GRID, Shape, Waiting, u64, waiting_of


@generic(on="team")
def wait(team: Any) -> None:
    """Wait for all threads of a team."""


@generic(on="team")
def draw(team: Any, key: Any, nit: int, ahead: Any) -> None:
    """Draw a thread's normals of an iteration."""


@generic(on="team")
def put(team: Any, key: Any, nit: int, ahead: Any, normals: Any) -> None:
    """Put the normals of an iteration, drawn ahead if there is room for that, where they are used."""


@functools.cache
def team_class(shape: Shape) -> Any:
    """Return the class of teams of this shape, with all operations registered for it.

    Its fields are `lane`, the number of a thread in its team, and `board`, an array in shared memory with a
    number for each warp of the team.
    """

    class Team(NamedTuple):
        lane: int
        board: Any

    Team.__qualname__ = f"Team{shape.lanes}x{shape.n}x{shape.draws}x{shape.points}"
    waiting = waiting_of(shape)
    drawing = _register_drawing_in_place if shape.is_grid else _register_drawing
    for registered in register_vectors, register_rows, register_matrices, drawing:
        registered(Team, waiting, shape)
    all_wait = waiting.wait
    wait.register(Team)(lambda team: all_wait(team))
    return Team


def _register_drawing(team_class: Any, waiting: Waiting, shape: Shape) -> None:
    """Register how a team draws normals ahead, and puts them where they are used."""
    wait, lanes, draws = waiting.wait, shape.lanes, shape.draws
    rows = -(-draws // lanes)
    calls = -(-rows // 4)
    whole = draws // lanes
    early = ahead_type(shape) == numba.float64
    divided_anew = draws >= 2 * shape.n

    @draw.register(team_class)
    def _draw(team, key, nit, ahead):
        for call in range(calls):
            a, b, c, d = four_words(nit, team.lane + lanes * call, key)
            normals = *two_normals(a, b), *two_normals(c, d)
            for k in range(4):
                ahead[u64(4 * call + k)] = widened(normals[k]) if early else normals[k]

    @put.register(team_class)
    def _put(team, key, nit, ahead, normals):
        (seen,) = seen_from(team.lane, (normals,))
        for row in range(whole):
            seen[u64(row * lanes)] = numba.float64(ahead[u64(row)])
        for row in range(whole, rows):
            if u64(team.lane) + u64(row * lanes) < u64(draws):
                seen[u64(row * lanes)] = numba.float64(ahead[u64(row)])
        if divided_anew:
            # Vectors among them begin anywhere, so that their entries belong to other threads.
            wait(team)


def _register_drawing_in_place(team_class: Any, waiting: Waiting, shape: Shape) -> None:
    """Register how a team draws more normals than its threads could hold: when they are needed."""
    wait, lanes, draws = waiting.wait, u64(shape.lanes), u64(shape.draws)
    divided_anew = shape.draws >= 2 * shape.n

    @draw.register(team_class)
    def _draw(team, key, nit, ahead):
        pass

    @put.register(team_class)
    def _put(team, key, nit, ahead, normals):
        i, place = u64(team.lane), team.lane
        while i < draws:
            a, b, c, d = four_words(nit, place, key)
            four = *two_normals(a, b), *two_normals(c, d)
            for k in range(4):
                if i < draws:
                    normals[i] = numba.float64(four[k])
                i += lanes
            place += lanes
        if divided_anew:
            wait(team)


def ahead_type(shape: Shape) -> Any:
    """Return the type of normals drawn ahead: double where there are registers for it, to save time later."""
    return numba.float64 if rows_ahead(shape) <= 4 else numba.float32


def rows_ahead(shape: Shape) -> int:
    """Return how many normals a thread draws ahead: a multiple of four."""
    if shape.is_grid:
        return 4
    return 4 * -(-shape.draws // (4 * shape.lanes))


def checked_lanes(lanes: Any) -> int:
    """Return the width of a team: a power of two within a block, or all threads of the GPU."""
    if lanes not in {GRID, *(1 << k for k in range(BLOCK.bit_length()))}:
        raise ValueError(
            f"lanes must be a power of two from 1 to {BLOCK}, or {GRID} for all threads of the GPU, "
            f"but {shown(lanes)} was given."
        )
    return int(lanes)
