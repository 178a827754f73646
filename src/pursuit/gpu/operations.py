"""The vector operations of a team: how its threads share what is written entry by entry."""

from __future__ import annotations

import math
from typing import Any

from pursuit.compiling import rows as on_rows
from pursuit.compiling import vectors
from pursuit.compiling.vectors import reads_own_entries_only
from pursuit.gpu.access import seen_from
from pursuit.gpu.threads import Shape, Waiting, entry, inline, u64


def register_vectors(team_class: Any, waiting: Waiting, shape: Shape) -> None:
    """Register the operations on vectors."""
    wait, lanes = waiting.wait, shape.lanes
    setting, repeating = _setting_with(waiting, shape), _repeating_with(waiting, shape)
    vectors.join(team_class, vectors.Executor(setting, _summing_with(waiting, shape), repeating))
    if shape.points == 1:
        # Positions are 0 by chance alone, and directions are finite: no need to look.
        vectors.walk.register(team_class)(setting(lambda i, out, x, a, u: x[i] + a * u[i]))

    @vectors.exchange.register(team_class)
    def _exchange(team, x, i, value):
        wait(team)
        before = x[u64(i)]
        wait(team)
        if team.lane == i % lanes:
            x[u64(i)] = value
        return before


def looping(shape: Shape, *, shifted: bool) -> Any:
    """Return what makes of `step(i, *arguments)` the same for all entries of a thread in vectors of n.

    A step that reads and writes entry i of vectors alone may see them `shifted`, from the thread's first
    entry on.
    """
    lanes, n, whole, rows, is_unrolled = shape.lanes, shape.n, shape.whole, shape.rows, shape.is_unrolled

    def looped(step: Any) -> Any:
        @inline
        def all_steps(team, *arguments):
            if is_unrolled:
                seen = seen_from(team.lane, arguments) if shifted else arguments
                first = u64(0) if shifted else u64(team.lane)
                for row in range(whole):
                    step(first + u64(row * lanes), *seen)
                for row in range(whole, rows):
                    if entry(team, row, lanes) < u64(n):
                        step(first + u64(row * lanes), *seen)
            else:
                for i in range(u64(team.lane), u64(n), u64(lanes)):
                    step(i, *arguments)

        return all_steps

    return looped


def _setting_with(waiting: Waiting, shape: Shape) -> Any:
    """Return what makes of a function that computes one entry an operation that sets all."""
    lanes, n, is_unrolled = shape.lanes, shape.n, shape.is_unrolled
    repeating = _repeating_with(waiting, shape)

    def setting(function: Any) -> Any:
        computed = inline(function)

        @inline
        def set_one(i, x, *arguments):
            x[i] = computed(i, x, *arguments)

        set_each = inline(repeating(set_one, alone=True))

        def set_all(team, x, *arguments):
            if x.shape[0] == n and not is_unrolled:
                # Four at once, all read before any is written, so that memory is never waited for alone.
                end, step = u64(n), u64(lanes)
                i = u64(team.lane)
                while i + u64(3) * step < end:
                    j, k, m = i + step, i + u64(2) * step, i + u64(3) * step
                    first, second = computed(i, x, *arguments), computed(j, x, *arguments)
                    third, fourth = computed(k, x, *arguments), computed(m, x, *arguments)
                    x[i], x[j], x[k], x[m] = first, second, third, fourth
                    i = m + step
                while i < end:
                    x[i] = computed(i, x, *arguments)
                    i += step
            else:
                set_each(team, x.shape[0], x, *arguments)

        return set_all

    return setting


def _repeating_with(waiting: Waiting, shape: Shape) -> Any:
    """Return what makes a function that does a step for all entries."""
    wait, lanes, n, own_entries = waiting.wait, shape.lanes, shape.n, looping(shape, shifted=True)

    def repeating(step: Any, alone: bool | None = None) -> Any:
        alone = reads_own_entries_only(step) if alone is None else alone
        own_steps = own_entries(step)

        def all_steps(team, count, *arguments):
            if alone and count == n:
                own_steps(team, *arguments)
            else:
                # They may be part of a vector that threads have divided otherwise.
                wait(team)
                if count <= lanes:
                    if u64(team.lane) < u64(count):
                        step(u64(team.lane), *arguments)
                else:
                    for i in range(u64(team.lane), u64(count), u64(lanes)):
                        step(i, *arguments)
                wait(team)

        return all_steps

    return repeating


def _summing_with(waiting: Waiting, shape: Shape) -> Any:
    """Return what makes a function that sums a term over entries."""
    wait, total, lanes = waiting.wait, waiting.total, shape.lanes
    n, rows, is_unrolled = shape.n, shape.rows, shape.is_unrolled
    # A sum over pairs of neighbours has one term less than a vector has entries.
    whole = (n - 1) // lanes

    def summing(term: Any) -> Any:
        alone = reads_own_entries_only(term)

        def sum_of_terms(team, count, *arrays):
            if not (alone and count == n):
                wait(team)
            first = second = 0.0
            if is_unrolled and (count == n or count == n - 1):
                seen = seen_from(team.lane, arrays) if alone else arrays
                begin = u64(0) if alone else u64(team.lane)
                for row in range(0, whole - 1, 2):
                    first += term(begin + u64(row * lanes), *seen)
                    second += term(begin + u64((row + 1) * lanes), *seen)
                if whole % 2 == 1:
                    first += term(begin + u64((whole - 1) * lanes), *seen)
                for row in range(whole, rows):
                    if entry(team, row, lanes) < u64(count):
                        second += term(begin + u64(row * lanes), *seen)
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


def register_rows(team_class: Any, waiting: Waiting, shape: Shape) -> None:
    """Register operations on the rows of a matrix of n columns."""
    wait, n, for_all = waiting.wait, shape.n, looping(shape, shifted=False)

    @inline
    def mix(i, x, a, weights, matrix):
        first, second, third, fourth = a * x[i], 0.0, 0.0, 0.0
        fours = matrix.shape[0] - matrix.shape[0] % 4
        for r in range(u64(0), u64(fours), u64(4)):
            first += weights[r] * matrix[r, i]
            second += weights[r + u64(1)] * matrix[r + u64(1), i]
            third += weights[r + u64(2)] * matrix[r + u64(2), i]
            fourth += weights[r + u64(3)] * matrix[r + u64(3), i]
        for r in range(u64(fours), u64(matrix.shape[0])):
            first += weights[r] * matrix[r, i]
        x[i] = (first + third) + (second + fourth)

    @inline
    def move(i, matrix, r):
        matrix[r, i] = matrix[r + u64(1), i]

    mix_all, move_all = for_all(mix), for_all(move)

    @on_rows.mix_rows.register(team_class)
    def _mix_rows(team, x, a, weights, matrix):
        if weights.shape[0] == n:
            wait(team)
        mix_all(team, x, a, weights, matrix)

    @on_rows.push.register(team_class)
    def _push(team, matrix):
        for r in range(u64(0), u64(matrix.shape[0] - 1)):
            move_all(team, matrix, r)


def register_matrices(team_class: Any, waiting: Waiting, shape: Shape) -> None:
    """Register products with matrices, and the update of a triangular one."""
    wait, lanes = waiting.wait, shape.lanes

    @on_rows.apply_matrix.register(team_class)
    def _apply_matrix(team, out, matrix, x):
        wait(team)
        for i in range(u64(team.lane), u64(out.shape[0]), u64(lanes)):
            first = second = 0.0
            even = x.shape[0] - x.shape[0] % 2
            for j in range(u64(0), u64(even), u64(2)):
                first += matrix[i, j] * x[j]
                second += matrix[i, j + u64(1)] * x[j + u64(1)]
            if even < x.shape[0]:
                first += matrix[i, u64(even)] * x[u64(even)]
            out[i] = first + second
        wait(team)

    @on_rows.apply_factor.register(team_class)
    def _apply_factor(team, out, columns, x):
        wait(team)
        n = u64(out.shape[0])
        for i in range(u64(team.lane), n, u64(lanes)):
            # columns[j, i] is 0 for i < j; all threads go as far, so that none waits for others.
            end = min(n, i - u64(team.lane) + u64(lanes))
            first = second = third = fourth = 0.0
            fours = end - end % u64(4)
            for j in range(u64(0), fours, u64(4)):
                first += x[j] * columns[j, i]
                second += x[j + u64(1)] * columns[j + u64(1), i]
                third += x[j + u64(2)] * columns[j + u64(2), i]
                fourth += x[j + u64(3)] * columns[j + u64(3), i]
            for j in range(fours, end):
                first += x[j] * columns[j, i]
            out[i] = (first + third) + (second + fourth)
        wait(team)

    @on_rows.update_factor.register(team_class)
    def _update_factor(team, columns, keep, gain, p, work):
        n = u64(p.shape[0])
        root, weight = math.sqrt(keep), math.sqrt(gain)
        for i in range(u64(team.lane), n, u64(lanes)):
            work[i] = weight * p[i]
        wait(team)
        for j in range(u64(0), n):
            folded, diagonal = work[j], root * columns[j, j]
            new = math.sqrt(diagonal * diagonal + folded * folded)
            cosine, sine = diagonal / new, folded / new
            kept, lost = cosine * root, sine * root
            first = j - j % u64(lanes) + u64(team.lane)
            for i in range(first, n, u64(lanes)):
                if i > j:
                    old, rest = columns[j, i], work[i]
                    columns[j, i] = kept * old + sine * rest
                    work[i] = cosine * rest - lost * old
            wait(team)
            if j % u64(lanes) == u64(team.lane):
                # All threads have read the old one, and none reads the new one before the end.
                columns[j, j] = new
        wait(team)
