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
import math
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import cuda

from pursuit.compiling import vectors
from pursuit.compiling.gpu.layout import seen_from
from pursuit.compiling.gpu.philox import four_words, two_normals, widened
from pursuit.compiling.gpu.terms import reads_own_entries_only

WARP = 32
_u64, _u32 = numba.uint64, numba.uint32
# Loops over so many entries of a thread are unrolled.
_MOST_UNROLLED = 16


class Shape(NamedTuple):
    """What a class of teams is made for."""

    lanes: int
    """The threads of a team: a power of two."""
    n: int
    draws: int
    """The normals of an iteration."""
    points: int
    """The points of a query at once."""

    @property
    def warps(self) -> int:
        """How many warps a team fills, at least one."""
        return max(1, self.lanes // WARP)


class Waiting(NamedTuple):
    """How the threads of a team wait for each other, and add up what each of them has."""

    wait: Any
    """wait(team)"""
    total: Any
    """total(team, number)"""


@functools.cache
def team_class(shape: Shape) -> Any:
    """Return the class of teams of this shape, with all vector operations registered for it.

    It has the fields `lane`, the number of a thread in its team, and `board`, an array in shared memory with
    a number for each warp of the team; and the functions `wait(team)`, `draw(team, key, nit, ahead)` and
    `put(team, ahead, normals)`.
    """

    class Team(NamedTuple):
        lane: int
        board: Any

    Team.__qualname__ = f"Team{shape.lanes}x{shape.n}x{shape.draws}"
    waiting = _waiting_in_blocks(shape) if shape.lanes > WARP else _waiting_in_warps(shape)
    entries = _Entries(shape)
    _register_elementwise(Team, waiting, entries)
    _register_rows(Team, waiting, entries)
    _register_matrices(Team, waiting, shape.lanes)
    vectors.join(Team, vectors.Executor(_summing(waiting, entries), _repeating(waiting, entries.lanes)))
    Team.shape, Team.wait = shape, staticmethod(waiting.wait)
    Team.draw, Team.put = map(staticmethod, _drawing(waiting, shape))
    return Team


def _waiting_in_warps(shape: Shape) -> Waiting:
    lanes, stages = shape.lanes, shape.lanes.bit_length() - 1
    everybody = (1 << lanes) - 1

    @numba.njit(forceinline=True)
    def mask():
        if lanes == WARP:
            return 0xFFFFFFFF
        return everybody << (cuda.laneid & (WARP - lanes))

    @numba.njit(forceinline=True)
    def wait(team):
        if lanes > 1:
            cuda.syncwarp(mask())

    @numba.njit(forceinline=True)
    def total(team, number):
        if lanes > 1:
            members = mask()
            for stage in range(stages):
                number += cuda.shfl_xor_sync(members, number, lanes >> (stage + 1))
        return number

    return Waiting(wait, total)


def _waiting_in_blocks(shape: Shape) -> Waiting:
    warps = shape.warps

    @numba.njit(forceinline=True)
    def wait(team):
        cuda.syncthreads()

    @numba.njit(forceinline=True)
    def total(team, number):
        for stage in range(5):
            number += cuda.shfl_xor_sync(0xFFFFFFFF, number, 16 >> stage)
        cuda.syncthreads()
        if (team.lane & 31) == 0:
            team.board[_u64(team.lane >> 5)] = number
        cuda.syncthreads()
        number = team.board[_u64(0)]
        for warp in range(1, warps):
            number += team.board[_u64(warp)]
        return number

    return Waiting(wait, total)


class _Entries:
    """Which entries of a vector of n numbers a thread has, in compiled functions."""

    def __init__(self, shape: Shape) -> None:
        lanes, n = shape.lanes, shape.n
        self.n = n
        self.lanes = lanes
        self.whole = n // lanes
        """Every thread has so many entries,"""
        self.rows = -(-n // lanes)
        """and some have so many."""
        self.unrolled = self.rows <= _MOST_UNROLLED
        self.evaluates_origins = shape.points > 1

        @numba.njit(forceinline=True)
        def entry(team, row):
            # Unsigned, so that nothing looks for negative indices.
            return _u64(team.lane) + _u64(row * lanes)

        self.entry = entry


def _register_elementwise(team_class: Any, waiting: Waiting, entries: _Entries) -> None:
    """Register operations in which every entry depends on the same entry of others."""
    wait, total_lanes = waiting.wait, entries.lanes
    entry, whole, rows, n = entries.entry, entries.whole, entries.rows, entries.n
    unrolled = entries.unrolled

    def elementwise(function: Any) -> Any:
        """Return the operation that sets x[i] to `function(i, x, *arguments)`."""
        compiled = numba.njit(forceinline=True)(function)

        @numba.njit(forceinline=True)
        def operation(team, x, *arguments):
            if unrolled and x.shape[0] == n:
                seen = seen_from(team.lane, (x, *arguments))
                for row in range(whole):
                    i = _u64(row * total_lanes)
                    seen[0][i] = compiled(i, *seen)
                for row in range(whole, rows):
                    i = _u64(row * total_lanes)
                    if entry(team, row) < _u64(n):
                        seen[0][i] = compiled(i, *seen)
            elif x.shape[0] == n:
                for i in range(_u64(team.lane), _u64(n), _u64(total_lanes)):
                    x[i] = compiled(i, x, *arguments)
            else:
                # It may be part of a vector that threads have divided otherwise.
                wait(team)
                if x.shape[0] <= total_lanes:
                    i = _u64(team.lane)
                    if i < _u64(x.shape[0]):
                        x[i] = compiled(i, x, *arguments)
                else:
                    for i in range(_u64(team.lane), _u64(x.shape[0]), _u64(total_lanes)):
                        x[i] = compiled(i, x, *arguments)
                wait(team)

        return operation

    shift = elementwise(lambda i, out, x, a, u: x[i] + a * u[i])
    if entries.evaluates_origins:
        walk = elementwise(lambda i, out, x, a, u: x[i] if a == 0.0 else x[i] + a * u[i])
    else:
        # Positions are 0 by chance alone, and u is finite: no need to look.
        walk = shift
    add = elementwise(lambda i, x, a, u: x[i] + a * u[i])
    blend = elementwise(lambda i, x, a, b, y: a * x[i] + b * y[i])
    scale = elementwise(lambda i, x, a: a * x[i])
    copy = elementwise(lambda i, out, x: x[i])
    fill = elementwise(lambda i, x, a: a)
    multiply = elementwise(lambda i, x, y: x[i] * y[i])
    advance, advance_by = _advancing(entries)
    vectors.shift.register(team_class)(lambda team, out, x, a, u: shift(team, out, x, a, u))
    vectors.walk.register(team_class)(lambda team, out, x, a, u: walk(team, out, x, a, u))
    vectors.add.register(team_class)(lambda team, x, a, u: add(team, x, a, u))
    vectors.blend.register(team_class)(lambda team, x, a, b, y: blend(team, x, a, b, y))
    vectors.scale.register(team_class)(lambda team, x, a: scale(team, x, a))
    vectors.copy.register(team_class)(lambda team, out, x: copy(team, out, x))
    vectors.fill.register(team_class)(lambda team, x, a: fill(team, x, a))
    vectors.multiply.register(team_class)(lambda team, x, y: multiply(team, x, y))

    @vectors.drift.register(team_class)
    def _drift(team, y, v, theta, a, b, u):
        keep, part, rest = 1.0 / (1.0 + theta), theta / (1.0 + theta), 1.0 - theta
        if a == 0.0:
            advance(team, y, v, keep, part, rest, theta)
        else:
            advance_by(team, y, v, keep, part, rest, theta, a, b, u)

    @vectors.exchange.register(team_class)
    def _exchange(team, x, i, value):
        wait(team)
        before = x[_u64(i)]
        wait(team)
        if team.lane == i % total_lanes:
            x[_u64(i)] = value
        return before


def _advancing(entries: _Entries) -> tuple[Any, Any]:
    """Return the two passes of `drift`, without a step and with one."""
    entry, whole, rows, n, lanes = entries.entry, entries.whole, entries.rows, entries.n, entries.lanes
    unrolled = entries.unrolled

    def in_one_pass(function: Any) -> Any:
        compiled = numba.njit(forceinline=True)(function)

        @numba.njit(forceinline=True)
        def operation(team, y, v, *arguments):
            if unrolled:
                seen = seen_from(team.lane, (y, v, *arguments))
                for row in range(whole):
                    i = _u64(row * lanes)
                    seen[0][i], seen[1][i] = compiled(i, *seen)
                for row in range(whole, rows):
                    i = _u64(row * lanes)
                    if entry(team, row) < _u64(n):
                        seen[0][i], seen[1][i] = compiled(i, *seen)
            else:
                for i in range(_u64(team.lane), _u64(n), _u64(lanes)):
                    y[i], v[i] = compiled(i, y, v, *arguments)

        return operation

    def advance(i, y, v, keep, part, rest, theta):
        new = keep * y[i] + part * v[i]
        return new, rest * v[i] + theta * new

    def advance_by(i, y, v, keep, part, rest, theta, a, b, u):
        new = keep * (y[i] + a * u[i]) + part * v[i]
        return new, rest * v[i] + theta * new + b * u[i]

    return in_one_pass(advance), in_one_pass(advance_by)


def _register_rows(team_class: Any, waiting: Waiting, entries: _Entries) -> None:
    """Register operations on the rows of a matrix of n columns."""
    wait, lanes = waiting.wait, entries.lanes
    entry, whole, rows, n = entries.entry, entries.whole, entries.rows, entries.n
    unrolled = entries.unrolled

    @numba.njit(forceinline=True)
    def mixed(i, x, a, weights, matrix):
        first, second, third, fourth = a * x[i], 0.0, 0.0, 0.0
        fours = matrix.shape[0] - matrix.shape[0] % 4
        for r in range(_u64(0), _u64(fours), _u64(4)):
            first += weights[r] * matrix[r, i]
            second += weights[r + _u64(1)] * matrix[r + _u64(1), i]
            third += weights[r + _u64(2)] * matrix[r + _u64(2), i]
            fourth += weights[r + _u64(3)] * matrix[r + _u64(3), i]
        for r in range(_u64(fours), _u64(matrix.shape[0])):
            first += weights[r] * matrix[r, i]
        return (first + third) + (second + fourth)

    @vectors.mix_rows.register(team_class)
    def _mix_rows(team, x, a, weights, matrix):
        if weights.shape[0] == n:
            wait(team)
        if unrolled:
            for row in range(whole):
                i = entry(team, row)
                x[i] = mixed(i, x, a, weights, matrix)
            for row in range(whole, rows):
                i = entry(team, row)
                if i < _u64(n):
                    x[i] = mixed(i, x, a, weights, matrix)
        else:
            for i in range(_u64(team.lane), _u64(n), _u64(lanes)):
                x[i] = mixed(i, x, a, weights, matrix)

    @vectors.push.register(team_class)
    def _push(team, matrix):
        for r in range(_u64(0), _u64(matrix.shape[0] - 1)):
            if unrolled:
                for row in range(rows):
                    i = entry(team, row)
                    if i < _u64(n):
                        matrix[r, i] = matrix[r + _u64(1), i]
            else:
                for i in range(_u64(team.lane), _u64(n), _u64(lanes)):
                    matrix[r, i] = matrix[r + _u64(1), i]


def _register_matrices(team_class: Any, waiting: Waiting, lanes: int) -> None:
    """Register products with matrices, and the update of a triangular one."""
    wait = waiting.wait

    @vectors.apply_matrix.register(team_class)
    def _apply_matrix(team, out, matrix, x):
        wait(team)
        for i in range(_u64(team.lane), _u64(out.shape[0]), _u64(lanes)):
            first = second = 0.0
            even = x.shape[0] - x.shape[0] % 2
            for j in range(_u64(0), _u64(even), _u64(2)):
                first += matrix[i, j] * x[j]
                second += matrix[i, j + _u64(1)] * x[j + _u64(1)]
            if even < x.shape[0]:
                first += matrix[i, _u64(even)] * x[_u64(even)]
            out[i] = first + second
        wait(team)

    @vectors.apply_factor.register(team_class)
    def _apply_factor(team, out, columns, x):
        wait(team)
        n = _u64(out.shape[0])
        for i in range(_u64(team.lane), n, _u64(lanes)):
            # columns[j, i] is 0 for i < j; all threads go as far, so that none waits for others.
            end = min(n, i - _u64(team.lane) + _u64(lanes))
            first = second = third = fourth = 0.0
            fours = end - end % _u64(4)
            for j in range(_u64(0), fours, _u64(4)):
                first += x[j] * columns[j, i]
                second += x[j + _u64(1)] * columns[j + _u64(1), i]
                third += x[j + _u64(2)] * columns[j + _u64(2), i]
                fourth += x[j + _u64(3)] * columns[j + _u64(3), i]
            for j in range(fours, end):
                first += x[j] * columns[j, i]
            out[i] = (first + third) + (second + fourth)
        wait(team)

    @vectors.update_factor.register(team_class)
    def _update_factor(team, columns, keep, gain, p, work):
        n = _u64(p.shape[0])
        root, weight = math.sqrt(keep), math.sqrt(gain)
        for i in range(_u64(team.lane), n, _u64(lanes)):
            work[i] = weight * p[i]
        wait(team)
        for j in range(_u64(0), n):
            folded, diagonal = work[j], root * columns[j, j]
            new = math.sqrt(diagonal * diagonal + folded * folded)
            cosine, sine = diagonal / new, folded / new
            kept, lost = cosine * root, sine * root
            first = j - j % _u64(lanes) + _u64(team.lane)
            for i in range(first, n, _u64(lanes)):
                if i > j:
                    old, rest = columns[j, i], work[i]
                    columns[j, i] = kept * old + sine * rest
                    work[i] = cosine * rest - lost * old
            wait(team)
            if j % _u64(lanes) == _u64(team.lane):
                # All threads have read the old one, and none reads the new one before the end.
                columns[j, j] = new
        wait(team)


def _summing(waiting: Waiting, entries: _Entries) -> Any:
    """Return what makes a function that sums a term over entries."""
    wait, total, lanes = waiting.wait, waiting.total, entries.lanes
    entry, rows, n, unrolled = entries.entry, entries.rows, entries.n, entries.unrolled
    # A sum over pairs of neighbours has one term less than a vector has entries.
    whole = (n - 1) // lanes

    def summing(term: Any) -> Any:
        alone = reads_own_entries_only(term.py_func)

        def sum_of_terms(team, count, *arrays):
            if not (alone and count == n):
                wait(team)
            first = second = 0.0
            if alone and unrolled and count == n:
                seen = seen_from(team.lane, arrays)
                for row in range(0, whole - 1, 2):
                    first += term(_u64(row * lanes), *seen)
                    second += term(_u64((row + 1) * lanes), *seen)
                if whole % 2 == 1:
                    first += term(_u64((whole - 1) * lanes), *seen)
                for row in range(whole, rows):
                    if entry(team, row) < _u64(n):
                        second += term(_u64(row * lanes), *seen)
            elif unrolled and (count == n or count == n - 1):
                for row in range(0, whole - 1, 2):
                    first += term(entry(team, row), *arrays)
                    second += term(entry(team, row + 1), *arrays)
                if whole % 2 == 1:
                    first += term(entry(team, whole - 1), *arrays)
                for row in range(whole, rows):
                    i = entry(team, row)
                    if i < _u64(count):
                        second += term(i, *arrays)
            else:
                for i in range(_u64(team.lane), _u64(count), _u64(lanes)):
                    first += term(i, *arrays)
            return total(team, first + second)

        return sum_of_terms

    return summing


def _repeating(waiting: Waiting, lanes: int) -> Any:
    """Return what makes a function that does a step for all entries."""
    wait = waiting.wait

    def repeating(step: Any) -> Any:
        def all_steps(team, count, *arguments):
            wait(team)
            for i in range(_u64(team.lane), _u64(count), _u64(lanes)):
                step(i, *arguments)
            wait(team)

        return all_steps

    return repeating


def _drawing(waiting: Waiting, shape: Shape) -> tuple[Any, Any]:
    """Return the functions that draw the normals of an iteration ahead, and put them where they are used."""
    wait, lanes, draws = waiting.wait, shape.lanes, shape.draws
    rows = -(-draws // lanes)
    calls = -(-rows // 4)
    whole = draws // lanes
    early = ahead_type(shape) == numba.float64
    divided_anew = draws >= 2 * shape.n

    @numba.njit(forceinline=True)
    def draw(team, key, nit, ahead):
        for call in range(calls):
            a, b, c, d = four_words(nit, team.lane + lanes * call, key)
            normals = *two_normals(a, b), *two_normals(c, d)
            for k in range(4):
                ahead[_u64(4 * call + k)] = widened(normals[k]) if early else normals[k]

    @numba.njit(forceinline=True)
    def put(team, ahead, normals):
        (seen,) = seen_from(team.lane, (normals,))
        for row in range(whole):
            seen[_u64(row * lanes)] = numba.float64(ahead[_u64(row)])
        for row in range(whole, rows):
            if _u64(team.lane) + _u64(row * lanes) < _u64(draws):
                seen[_u64(row * lanes)] = numba.float64(ahead[_u64(row)])
        if divided_anew:
            # Vectors among them begin anywhere, so that their entries belong to other threads.
            wait(team)

    return draw, put


def ahead_type(shape: Shape) -> Any:
    """Return the type of normals drawn ahead: double where there are registers for it, to save time later."""
    return numba.float64 if rows_ahead(shape) <= 4 else numba.float32


def rows_ahead(shape: Shape) -> int:
    """Return how many normals a thread draws ahead: a multiple of four."""
    return 4 * -(-shape.draws // (4 * shape.lanes))


def checked_lanes(lanes: int) -> int:
    """Return the width of a team, which has to be a power of two up to 512."""
    if lanes not in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512):
        raise ValueError(f"lanes must be a power of two from 1 to 512, but {lanes!r} was given.")
    return int(np.int64(lanes))
