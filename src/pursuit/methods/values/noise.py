"""The noise of a function's values, from a few of them on a line.

If f is smooth, its differences of high order along a line of equidistant points vanish, and those of the
noise do not: the k-th differences of independent errors of variance s^2 have the variance s^2 (2k)!/(k!)^2.
"""

from __future__ import annotations

import math

import numpy as np

from pursuit.compiling.inner import inner

VALUES = 8
"""How many values the noise is measured from."""
# (k!)^2/(2k)! for the differences that are used.
_WEIGHTS = {k: math.factorial(k) ** 2 / math.factorial(2 * k) for k in (4, 5, 6)}
_FOURTH, _FIFTH, _SIXTH = _WEIGHTS[4], _WEIGHTS[5], _WEIGHTS[6]


@inner
def noise_level(values):
    """Return the standard deviation of the noise of 8 values at equidistant points of a line.

    The mean of two neighbouring orders, 4 and 5 or 5 and 6, whichever is less: where f is not smooth enough,
    lower orders see more of f itself.
    """
    differences = values.copy()
    squares = np.zeros(VALUES)
    for k in range(1, 7):
        left = VALUES - k
        total = 0.0
        for j in range(left):
            differences[j] = differences[j + 1] - differences[j]
            total += differences[j] * differences[j]
        squares[k] = total / left
    fourth, fifth, sixth = _FOURTH * squares[4], _FIFTH * squares[5], _SIXTH * squares[6]
    return math.sqrt(0.5 * (fifth + min(fourth, sixth)))


@inner
def are_told_apart(values):
    """Say whether the differences of these values mean anything: 4 of them differ, or they vary a lot."""
    lowest, highest, different = math.inf, -math.inf, 0
    for j in range(VALUES):
        lowest, highest = min(lowest, values[j]), max(highest, values[j])
        is_new = True
        for i in range(j):
            if values[i] == values[j]:
                is_new = False
        if is_new:
            different += 1
    return different >= 4 or highest - lowest > 0.3 * abs(values[VALUES // 2])
