"""The set of Moré and Wild: 22 functions, 53 problems, each a sum of squares, or of absolute values.

The functions are those of J. J. Moré, B. S. Garbow and K. E. Hillstrom (ACM TOMS 7, 1981) and four of CUTE;
the sizes and starts are those of J. J. Moré and S. M. Wild (SIAM J. Optim. 20, 2009).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.problems.cutest import Listed, Problem
from benchmarks.problems.problem import counted
from pursuit.checks import Vector

SMOOTH, PIECEWISE = "smooth", "piecewise smooth"
GROUPS = (SMOOTH, PIECEWISE)
_FAR = 10.0
_MS = 0.02

Residuals = Callable[[Any], Any]


# --- the functions, in the order of Moré and Wild --------------------------------------------------


def _full_rank(x: Any) -> Any:
    return np.append(x, np.zeros(45 - x.size)) - 2.0 * x.sum() / 45.0 - 1.0


def _rank_one(x: Any) -> Any:
    return counted(35) * (counted(x.size) @ x) - 1.0


def _rank_one_with_zeros(x: Any) -> Any:
    rows = np.append(np.arange(34.0), 0.0)
    return rows * (counted(x.size)[1:-1] @ x[1:-1]) - 1.0


def _rosenbrock(x: Any) -> Any:
    return np.array([10.0 * (x[1] - x[0] ** 2), 1.0 - x[0]])


def _helical_valley(x: Any) -> Any:
    angle = np.mod(np.arctan2(x[1], x[0]) / (2.0 * np.pi) + 0.25, 1.0) - 0.25
    return np.array([10.0 * (x[2] - 10.0 * angle), 10.0 * (np.hypot(x[0], x[1]) - 1.0), x[2]])


def _powell_singular(x: Any) -> Any:
    a, b, c, d = x
    return np.array([a + 10.0 * b, np.sqrt(5.0) * (c - d), (b - 2.0 * c) ** 2, np.sqrt(10.0) * (a - d) ** 2])


def _freudenstein_roth(x: Any) -> Any:
    a, b = x
    return np.array([a - 13.0 + ((5.0 - b) * b - 2.0) * b, a - 29.0 + ((1.0 + b) * b - 14.0) * b])


def _bard(x: Any) -> Any:
    u = counted(15)
    return _BARD - (x[0] + u / ((16.0 - u) * x[1] + np.minimum(u, 16.0 - u) * x[2]))


def _kowalik_osborne(x: Any) -> Any:
    u = _KOWALIK_AT
    return _KOWALIK - x[0] * (u * u + u * x[1]) / (u * u + u * x[2] + x[3])


def _meyer(x: Any) -> Any:
    return x[0] * np.exp(x[1] / (45.0 + 5.0 * counted(16) + x[2])) - _MEYER


def _watson(x: Any) -> Any:
    powers = np.vander(counted(29) / 29.0, x.size, increasing=True)
    slopes = powers[:, :-1] @ (np.arange(1.0, x.size) * x[1:])
    return np.append(slopes - (powers @ x) ** 2 - 1.0, [x[0], x[1] - x[0] ** 2 - 1.0])


def _box(x: Any) -> Any:
    t = counted(10) / 10.0
    return np.exp(-t * x[0]) - np.exp(-t * x[1]) - x[2] * (np.exp(-t) - np.exp(-10.0 * t))


def _jennrich_sampson(x: Any) -> Any:
    i = counted(10)
    return 2.0 + 2.0 * i - np.exp(i * x[0]) - np.exp(i * x[1])


def _brown_dennis(x: Any) -> Any:
    t = counted(20) / 5.0
    return (x[0] + t * x[1] - np.exp(t)) ** 2 + (x[2] + np.sin(t) * x[3] - np.cos(t)) ** 2


def _chebyquad(x: Any) -> Any:
    i = np.arange(1, x.size + 1)
    even = i % 2 == 0
    means = np.polynomial.chebyshev.chebvander(2.0 * x - 1.0, x.size)[:, 1:].mean(axis=0)
    return means + even / np.where(even, i * i - 1.0, 1.0)


def _brown_almost_linear(x: Any) -> Any:
    return np.append(x[:-1] + x.sum() - (x.size + 1.0), np.prod(x) - 1.0)


def _osborne_1(x: Any) -> Any:
    t = 10.0 * np.arange(33)
    return _OSBORNE_1 - (x[0] + x[1] * np.exp(-t * x[3]) + x[2] * np.exp(-t * x[4]))


def _osborne_2(x: Any) -> Any:
    t = 0.1 * np.arange(65)
    peaks = x[1:4] * np.exp(-x[5:8] * (t[:, np.newaxis] - x[8:]) ** 2)
    return _OSBORNE_2 - x[0] * np.exp(-t * x[4]) - peaks.sum(axis=1)


def _bdqrtic(x: Any) -> Any:
    y = x * x
    quartics = y[:-4] + 2.0 * y[1:-3] + 3.0 * y[2:-2] + 4.0 * y[3:-1] + 5.0 * y[-1]
    return np.append(3.0 - 4.0 * x[:-4], quartics)


def _cube(x: Any) -> Any:
    return np.append(x[0] - 1.0, 10.0 * (x[1:] - x[:-1] ** 3))


def _mancino(x: Any) -> Any:
    i = counted(x.size)
    v = np.sqrt(x[:, np.newaxis] ** 2 + i[:, np.newaxis] / i)
    sums = np.sum(v * (np.sin(np.log(v)) ** 5 + np.cos(np.log(v)) ** 5), axis=1)
    return 1400.0 * x + (i - 50.0) ** 3 + sums


def _heart(x: Any) -> Any:
    """Return eight equations for a dipole, as four between complex numbers."""
    moments, places = x[0:2] + 1j * x[2:4], x[4:6] + 1j * x[6:8]
    found = np.array([moments @ places**k for k in range(4)]) - _HEART
    return np.concatenate([found.real, found.imag])


# --- data ------------------------------------------------------------------------------------------

_BARD = np.array([0.14, 0.18, 0.22, 0.25, 0.29, 0.32, 0.35, 0.39, 0.37, 0.58, 0.73, 0.96, 1.34, 2.10, 4.39])
_KOWALIK_AT = np.array([4.0, 2.0, 1.0, 0.5, 0.25, 0.167, 0.125, 0.1, 0.0833, 0.0714, 0.0625])
_KOWALIK = np.array([0.1957, 0.1947, 0.1735, 0.1600, 0.0844, 0.0627, 0.0456, 0.0342, 0.0323, 0.0235, 0.0246])
_MEYER = np.array(
    [
        34780, 28610, 23650, 19630, 16370, 13720, 11540, 9744, 8261, 7030, 6005, 5147, 4427, 3820, 3307, 2872,
    ],
    dtype=float,
)  # fmt: skip
_OSBORNE_1 = np.array(
    [
        0.844, 0.908, 0.932, 0.936, 0.925, 0.908, 0.881, 0.850, 0.818, 0.784, 0.751, 0.718, 0.685, 0.658,
        0.628, 0.603, 0.580, 0.558, 0.538, 0.522, 0.506, 0.490, 0.478, 0.467, 0.457, 0.448, 0.438, 0.431,
        0.424, 0.420, 0.414, 0.411, 0.406,
    ]
)  # fmt: skip
_OSBORNE_2 = np.array(
    [
        1.366, 1.191, 1.112, 1.013, 0.991, 0.885, 0.831, 0.847, 0.786, 0.725, 0.746, 0.679, 0.608, 0.655,
        0.616, 0.606, 0.602, 0.626, 0.651, 0.724, 0.649, 0.649, 0.694, 0.644, 0.624, 0.661, 0.612, 0.558,
        0.533, 0.495, 0.500, 0.423, 0.395, 0.375, 0.372, 0.391, 0.396, 0.405, 0.428, 0.429, 0.523, 0.562,
        0.607, 0.653, 0.672, 0.708, 0.633, 0.668, 0.645, 0.632, 0.591, 0.559, 0.597, 0.625, 0.739, 0.710,
        0.729, 0.720, 0.636, 0.581, 0.428, 0.292, 0.162, 0.098, 0.054,
    ]
)  # fmt: skip
_HEART = np.array([-0.69 - 0.044j, -1.57 - 1.31j, -2.65 + 2.0j, -12.6 + 9.48j])


# --- the problems ----------------------------------------------------------------------------------


def _ones(n: int) -> Vector:
    return np.ones(n)


def _halves(n: int) -> Vector:
    return np.full(n, 0.5)


def _even(n: int) -> Vector:
    return counted(n) / (n + 1.0)


def _at(*x: float) -> Callable[[int], Vector]:
    return lambda n: np.array(x)


# The residuals, the standard start, the sizes, and those with another start ten times as far away.
FUNCTIONS: dict[str, tuple[Residuals, Callable[[int], Vector], tuple[int, ...], tuple[int, ...]]] = {
    "linear full rank": (_full_rank, _ones, (9,), (9,)),
    "linear rank 1": (_rank_one, _ones, (7,), (7,)),
    "linear rank 1 zeros": (_rank_one_with_zeros, _ones, (7,), (7,)),
    "Rosenbrock": (_rosenbrock, _at(-1.2, 1.0), (2,), (2,)),
    "helical valley": (_helical_valley, _at(-1.0, 0.0, 0.0), (3,), (3,)),
    "Powell singular": (_powell_singular, _at(3.0, -1.0, 0.0, 1.0), (4,), (4,)),
    "Freudenstein and Roth": (_freudenstein_roth, _at(0.5, -2.0), (2,), (2,)),
    "Bard": (_bard, _ones, (3,), (3,)),
    "Kowalik and Osborne": (_kowalik_osborne, _at(0.25, 0.39, 0.415, 0.39), (4,), ()),
    "Meyer": (_meyer, _at(0.02, 4000.0, 250.0), (3,), ()),
    "Watson": (_watson, _halves, (6, 9, 12), (6, 9, 12)),
    "Box": (_box, _at(0.0, 10.0, 20.0), (3,), ()),
    "Jennrich and Sampson": (_jennrich_sampson, _at(0.3, 0.4), (2,), ()),
    "Brown and Dennis": (_brown_dennis, _at(25.0, 5.0, -5.0, -1.0), (4,), (4,)),
    "Chebyquad": (_chebyquad, _even, (6, 7, 8, 9, 10, 11), ()),
    "Brown almost linear": (_brown_almost_linear, _halves, (10,), ()),
    "Osborne 1": (_osborne_1, _at(0.5, 1.5, 1.0, 0.01, 0.02), (5,), ()),
    "Osborne 2": (_osborne_2, _at(1.3, 0.65, 0.65, 0.7, 0.6, 3.0, 5.0, 7.0, 2.0, 4.5, 5.5), (11,), (11,)),
    "BDQRTIC": (_bdqrtic, _ones, (8, 10, 11, 12), ()),
    "Cube": (_cube, _halves, (5, 6, 8), ()),
    "Mancino": (_mancino, lambda n: -8.710996e-4 * _mancino(np.zeros(n)), (5, 8, 10, 12), (5, 12)),
    "Heart": (_heart, _at(-0.3, -0.39, 0.3, -0.344, -1.2, 2.69, 1.59, -1.5), (8,), (8,)),
}
# Their residuals are of positive variables where the sum is of absolute values.
_POSITIVE = (
    "Bard", "Kowalik and Osborne", "Jennrich and Sampson", "Brown almost linear", "Osborne 1", "Osborne 2",
)  # fmt: skip


@functools.cache
def _problems() -> dict[str, Problem]:
    found = {}
    for name, (residuals, start, sizes, far) in FUNCTIONS.items():
        for n, factor in [*((n, 1.0) for n in sizes), *((n, _FAR) for n in far)]:
            title = f"{name} {n}" + (" far" if factor == _FAR else "")
            x0 = factor * start(n)
            found[title] = Problem(title, _sum_of(residuals, np.square), x0, None)
            found[f"|{title}|"] = Problem(
                f"|{title}|", _sum_of(residuals, np.abs, is_positive=name in _POSITIVE), x0, None
            )
    return found


def _sum_of(residuals: Residuals, form: Any, *, is_positive: bool = False) -> Callable[[Vector], float]:
    def fun(x: Vector) -> float:
        with np.errstate(all="ignore"):
            return float(np.sum(form(residuals(np.maximum(x, 0.0) if is_positive else x))))

    return fun


def listed(group: str, every: int = 1) -> list[Listed]:
    """Return the problems of a group; of each `every` the first."""
    of = [one for one in _problems().values() if (one.name[0] == "|") == (group == PIECEWISE)]
    return [Listed(one.name, one.n, group, _MS) for one in of][::every]


def load(name: str) -> Problem:
    """Return the problem of that name."""
    return _problems()[name]
