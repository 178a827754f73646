"""The operations of a team on rows and on matrices."""

from __future__ import annotations

import math
from typing import Any

from pursuit.compiling import rows as on_rows
from pursuit.gpu.operations import looping
from pursuit.gpu.threads import Shape, Waiting, inline, u64


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
