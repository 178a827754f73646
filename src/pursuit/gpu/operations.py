"""The vector operations of a team in which every entry depends on the same entry of others, and sums."""

from __future__ import annotations

from typing import Any

import numba

from pursuit.checks import Vector
from pursuit.compiling import vectors
from pursuit.compiling.dispatch import generic
from pursuit.compiling.terms import reads_own_entries_only
from pursuit.gpu.access import seen_from
from pursuit.gpu.threads import Entries, Waiting, u64


@generic(on="team")
def walk_along(team: Any, out: Vector, x: Vector, a: float, u: Vector) -> None:
    """Set out to x + a u; to x where a is 0.

    On a CPU this is a branch between `copy` and `shift`. On a GPU everything after a branch waits for it.
    """


def register_elementwise(team_class: Any, waiting: Waiting, entries: Entries) -> None:
    """Register operations in which every entry depends on the same entry of others."""
    wait, total_lanes = waiting.wait, entries.lanes
    elementwise = _elementwise_with(waiting, entries)
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
    walk_along.register(team_class)(lambda team, out, x, a, u: walk(team, out, x, a, u))
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
        before = x[u64(i)]
        wait(team)
        if team.lane == i % total_lanes:
            x[u64(i)] = value
        return before


def _elementwise_with(waiting: Waiting, entries: Entries) -> Any:
    """Return what makes an operation of a function that computes one entry."""
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
                    i = u64(row * total_lanes)
                    seen[0][i] = compiled(i, *seen)
                for row in range(whole, rows):
                    i = u64(row * total_lanes)
                    if entry(team, row) < u64(n):
                        seen[0][i] = compiled(i, *seen)
            elif x.shape[0] == n:
                # Four at once, all read before any is written, so that memory is never waited for alone.
                end, step = u64(n), u64(total_lanes)
                i = u64(team.lane)
                while i + u64(3) * step < end:
                    j, k, m = i + step, i + u64(2) * step, i + u64(3) * step
                    first, second = compiled(i, x, *arguments), compiled(j, x, *arguments)
                    third, fourth = compiled(k, x, *arguments), compiled(m, x, *arguments)
                    x[i], x[j], x[k], x[m] = first, second, third, fourth
                    i = m + step
                while i < end:
                    x[i] = compiled(i, x, *arguments)
                    i += step
            else:
                # It may be part of a vector that threads have divided otherwise.
                wait(team)
                if x.shape[0] <= total_lanes:
                    i = u64(team.lane)
                    if i < u64(x.shape[0]):
                        x[i] = compiled(i, x, *arguments)
                else:
                    for i in range(u64(team.lane), u64(x.shape[0]), u64(total_lanes)):
                        x[i] = compiled(i, x, *arguments)
                wait(team)

        return operation

    return elementwise


def _advancing(entries: Entries) -> tuple[Any, Any]:
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
                    i = u64(row * lanes)
                    seen[0][i], seen[1][i] = compiled(i, *seen)
                for row in range(whole, rows):
                    i = u64(row * lanes)
                    if entry(team, row) < u64(n):
                        seen[0][i], seen[1][i] = compiled(i, *seen)
            else:
                for i in range(u64(team.lane), u64(n), u64(lanes)):
                    y[i], v[i] = compiled(i, y, v, *arguments)

        return operation

    def advance(i, y, v, keep, part, rest, theta):
        new = keep * y[i] + part * v[i]
        return new, rest * v[i] + theta * new

    def advance_by(i, y, v, keep, part, rest, theta, a, b, u):
        new = keep * (y[i] + a * u[i]) + part * v[i]
        return new, rest * v[i] + theta * new + b * u[i]

    return in_one_pass(advance), in_one_pass(advance_by)


def summing_with(waiting: Waiting, entries: Entries) -> Any:
    """Return what makes a function that sums a term over entries."""
    wait, total, lanes = waiting.wait, waiting.total, entries.lanes
    entry, rows, n, unrolled = entries.entry, entries.rows, entries.n, entries.unrolled
    # A sum over pairs of neighbours has one term less than a vector has entries.
    whole = (n - 1) // lanes

    def summing(term: Any) -> Any:
        alone = reads_own_entries_only(term)

        def sum_of_terms(team, count, *arrays):
            if not (alone and count == n):
                wait(team)
            first = second = 0.0
            if alone and unrolled and count == n:
                seen = seen_from(team.lane, arrays)
                for row in range(0, whole - 1, 2):
                    first += term(u64(row * lanes), *seen)
                    second += term(u64((row + 1) * lanes), *seen)
                if whole % 2 == 1:
                    first += term(u64((whole - 1) * lanes), *seen)
                for row in range(whole, rows):
                    if entry(team, row) < u64(n):
                        second += term(u64(row * lanes), *seen)
            elif unrolled and (count == n or count == n - 1):
                for row in range(0, whole - 1, 2):
                    first += term(entry(team, row), *arrays)
                    second += term(entry(team, row + 1), *arrays)
                if whole % 2 == 1:
                    first += term(entry(team, whole - 1), *arrays)
                for row in range(whole, rows):
                    i = entry(team, row)
                    if i < u64(count):
                        second += term(i, *arrays)
            else:
                end, step = u64(count), u64(lanes)
                i = u64(team.lane)
                while i + u64(3) * step < end:
                    j, k, m = i + step, i + u64(2) * step, i + u64(3) * step
                    first += term(i, *arrays) + term(k, *arrays)
                    second += term(j, *arrays) + term(m, *arrays)
                    i = m + step
                while i < end:
                    first += term(i, *arrays)
                    i += step
            return total(team, first + second)

        return sum_of_terms

    return summing


def repeating_with(waiting: Waiting, lanes: int) -> Any:
    """Return what makes a function that does a step for all entries."""
    wait = waiting.wait

    def repeating(step: Any) -> Any:
        def all_steps(team, count, *arguments):
            wait(team)
            for i in range(u64(team.lane), u64(count), u64(lanes)):
                step(i, *arguments)
            wait(team)

        return all_steps

    return repeating
