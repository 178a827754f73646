"""Classical problems with constraints: g01 to g11, and three more.

g02 and g08 are left out: they have many valleys, and all methods that are compared are local.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import NonlinearConstraint

from pursuit.checks import Vector


class Problem(NamedTuple):
    """A function, inequalities g(x) <= 0, equations h(x) = 0, bounds, and the smallest value."""

    f: Callable[[Vector], float]
    g: Callable[[Vector], list[float]] | None
    h: Callable[[Vector], list[float]] | None
    lower: list[float]
    upper: list[float]
    minimum: float

    def constraints(self) -> list[NonlinearConstraint]:
        """Return the constraints in SciPy's form."""
        below = [] if self.g is None else [NonlinearConstraint(self.g, -np.inf, 0.0)]
        return below + ([] if self.h is None else [NonlinearConstraint(self.h, 0.0, 0.0)])

    def violation(self, x: Vector) -> float:
        """Return by how much constraints are violated."""
        entries = [0.0]
        entries += [] if self.g is None else list(self.g(x))
        entries += [] if self.h is None else [abs(entry) for entry in self.h(x)]
        return max(entries)


def _g04(x: Vector) -> list[float]:
    u = 85.334407 + 0.0056858 * x[1] * x[4] + 0.0006262 * x[0] * x[3] - 0.0022053 * x[2] * x[4]
    v = 80.51249 + 0.0071317 * x[1] * x[4] + 0.0029955 * x[0] * x[1] + 0.0021813 * x[2] ** 2
    w = 9.300961 + 0.0047026 * x[2] * x[4] + 0.0012547 * x[0] * x[2] + 0.0019085 * x[2] * x[3]
    return [u - 92.0, -u, v - 110.0, 90.0 - v, w - 25.0, 20.0 - w]


def _f07(x: Vector) -> float:
    return float(
        x[0] ** 2 + x[1] ** 2 + x[0] * x[1] - 14 * x[0] - 16 * x[1] + (x[2] - 10) ** 2 + 4 * (x[3] - 5) ** 2
        + (x[4] - 3) ** 2 + 2 * (x[5] - 1) ** 2 + 5 * x[6] ** 2 + 7 * (x[7] - 11) ** 2 + 2 * (x[8] - 10) ** 2
        + (x[9] - 7) ** 2 + 45
    )  # fmt: skip


def _g07(x: Vector) -> list[float]:
    return [
        -105 + 4 * x[0] + 5 * x[1] - 3 * x[6] + 9 * x[7],
        10 * x[0] - 8 * x[1] - 17 * x[6] + 2 * x[7],
        -8 * x[0] + 2 * x[1] + 5 * x[8] - 2 * x[9] - 12,
        3 * (x[0] - 2) ** 2 + 4 * (x[1] - 3) ** 2 + 2 * x[2] ** 2 - 7 * x[3] - 120,
        5 * x[0] ** 2 + 8 * x[1] + (x[2] - 6) ** 2 - 2 * x[3] - 40,
        x[0] ** 2 + 2 * (x[1] - 2) ** 2 - 2 * x[0] * x[1] + 14 * x[4] - 6 * x[5],
        0.5 * (x[0] - 8) ** 2 + 2 * (x[1] - 4) ** 2 + 3 * x[4] ** 2 - x[5] - 30,
        -3 * x[0] + 6 * x[1] + 12 * (x[8] - 8) ** 2 - 7 * x[9],
    ]


PROBLEMS = {
    "g01": Problem(
        lambda x: float(5 * np.sum(x[:4]) - 5 * np.sum(x[:4] ** 2) - np.sum(x[4:])),
        lambda x: [
            2 * x[0] + 2 * x[1] + x[9] + x[10] - 10, 2 * x[0] + 2 * x[2] + x[9] + x[11] - 10,
            2 * x[1] + 2 * x[2] + x[10] + x[11] - 10, -8 * x[0] + x[9], -8 * x[1] + x[10], -8 * x[2] + x[11],
            -2 * x[3] - x[4] + x[9], -2 * x[5] - x[6] + x[10], -2 * x[7] - x[8] + x[11],
        ],
        None, [0.0] * 13, [1.0] * 9 + [100.0] * 3 + [1.0], -15.0,
    ),
    "g03": Problem(
        lambda x: -(10.0**5) * float(np.prod(x)), None, lambda x: [float(x @ x) - 1.0], [0.0] * 10,
        [1.0] * 10, -1.0,
    ),
    "g04": Problem(
        lambda x: float(5.3578547 * x[2] ** 2 + 0.8356891 * x[0] * x[4] + 37.293239 * x[0] - 40792.141),
        _g04, None, [78.0, 33.0, 27.0, 27.0, 27.0], [102.0, 45.0, 45.0, 45.0, 45.0], -30665.53867,
    ),
    "g05": Problem(
        lambda x: float(3 * x[0] + 1e-6 * x[0] ** 3 + 2 * x[1] + (2e-6 / 3) * x[1] ** 3),
        lambda x: [-x[3] + x[2] - 0.55, -x[2] + x[3] - 0.55],
        lambda x: [
            1000 * np.sin(-x[2] - 0.25) + 1000 * np.sin(-x[3] - 0.25) + 894.8 - x[0],
            1000 * np.sin(x[2] - 0.25) + 1000 * np.sin(x[2] - x[3] - 0.25) + 894.8 - x[1],
            1000 * np.sin(x[3] - 0.25) + 1000 * np.sin(x[3] - x[2] - 0.25) + 1294.8,
        ],
        [0.0, 0.0, -0.55, -0.55], [1200.0, 1200.0, 0.55, 0.55], 5126.4981,
    ),
    "g06": Problem(
        lambda x: float((x[0] - 10) ** 3 + (x[1] - 20) ** 3),
        lambda x: [
            -((x[0] - 5) ** 2) - (x[1] - 5) ** 2 + 100, (x[0] - 6) ** 2 + (x[1] - 5) ** 2 - 82.81,
        ],
        None, [13.0, 0.0], [100.0, 100.0], -6961.81388,
    ),
    "g07": Problem(_f07, _g07, None, [-10.0] * 10, [10.0] * 10, 24.3062091),
    "g09": Problem(
        lambda x: float(
            (x[0] - 10) ** 2 + 5 * (x[1] - 12) ** 2 + x[2] ** 4 + 3 * (x[3] - 11) ** 2 + 10 * x[4] ** 6
            + 7 * x[5] ** 2 + x[6] ** 4 - 4 * x[5] * x[6] - 10 * x[5] - 8 * x[6]
        ),
        lambda x: [
            -127 + 2 * x[0] ** 2 + 3 * x[1] ** 4 + x[2] + 4 * x[3] ** 2 + 5 * x[4],
            -282 + 7 * x[0] + 3 * x[1] + 10 * x[2] ** 2 + x[3] - x[4],
            -196 + 23 * x[0] + x[1] ** 2 + 6 * x[5] ** 2 - 8 * x[6],
            4 * x[0] ** 2 + x[1] ** 2 - 3 * x[0] * x[1] + 2 * x[2] ** 2 + 5 * x[5] - 11 * x[6],
        ],
        None, [-10.0] * 7, [10.0] * 7, 680.6300573,
    ),
    "g10": Problem(
        lambda x: float(x[0] + x[1] + x[2]),
        lambda x: [
            -1 + 0.0025 * (x[3] + x[5]), -1 + 0.0025 * (x[4] + x[6] - x[3]), -1 + 0.01 * (x[7] - x[4]),
            -x[0] * x[5] + 833.33252 * x[3] + 100 * x[0] - 83333.333,
            -x[1] * x[6] + 1250 * x[4] + x[1] * x[3] - 1250 * x[3],
            -x[2] * x[7] + 1250000 + x[2] * x[4] - 2500 * x[4],
        ],
        None, [100.0, 1000.0, 1000.0] + [10.0] * 5, [10000.0] * 3 + [1000.0] * 5, 7049.24802,
    ),
    "g11": Problem(
        lambda x: float(x[0] ** 2 + (x[1] - 1) ** 2), None, lambda x: [x[1] - x[0] ** 2], [-1.0, -1.0],
        [1.0, 1.0], 0.75,
    ),
    "g15": Problem(
        lambda x: float(
            1000 - x[0] ** 2 - 2 * x[1] ** 2 - x[2] ** 2 - x[0] * x[1] - x[0] * x[2]
        ),
        None, lambda x: [float(x @ x) - 25.0, 8 * x[0] + 14 * x[1] + 7 * x[2] - 56], [0.0] * 3, [10.0] * 3,
        961.715022,
    ),
    "hs43": Problem(
        lambda x: float(
            x[0] ** 2 + x[1] ** 2 + 2 * x[2] ** 2 + x[3] ** 2 - 5 * x[0] - 5 * x[1] - 21 * x[2] + 7 * x[3]
        ),
        lambda x: [
            float(x @ x) + x[0] - x[1] + x[2] - x[3] - 8,
            x[0] ** 2 + 2 * x[1] ** 2 + x[2] ** 2 + 2 * x[3] ** 2 - x[0] - x[3] - 10,
            2 * x[0] ** 2 + x[1] ** 2 + x[2] ** 2 + 2 * x[0] - x[1] - x[3] - 5,
        ],
        None, [-10.0] * 4, [10.0] * 4, -44.0,
    ),
    "hs71": Problem(
        lambda x: float(x[0] * x[3] * (x[0] + x[1] + x[2]) + x[2]), lambda x: [25 - float(np.prod(x))],
        lambda x: [float(x @ x) - 40], [1.0] * 4, [5.0] * 4, 17.0140173,
    ),
}  # fmt: skip
HELD_OUT = ("g15", "hs43", "hs71")
"""Those that were added after scales and penalties had been chosen."""
