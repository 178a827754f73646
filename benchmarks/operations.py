"""What a linear method must do in an iteration, counted in vector operations, and how long these take.

A *pass* reads two vectors and writes one, as out <- x + a u does; what reads or writes more counts in
proportion. A *product* is an inner product, in the lanes that make its bits the same on every machine. A
method must draw its normals, write and evaluate its points, and learn from them by passes and products;
whatever else it takes is overhead. Several sums or products that are made at once take less than one by one,
so that a method with many of them can be faster than what is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numba
import numpy as np

import pursuit
from benchmarks.measure import Repeat, drawing_compiled
from pursuit.compiling.vectors import SERIAL, dot, shift
from pursuit.methods import create_scheme
from pursuit.problems import value

# The share of trials that lead to a better point.
_SUCCESSES = 0.27
# Where the exact minimum of a quadratic on a line is wanted: a value, and two sums for slope and curvature.
_EXACT = 3
# So many numbers of each of the three vectors of a pass take turns; all of them stay in a CPU's cache.
_NUMBERS_OF_PASSES = 1000


class Work(NamedTuple):
    """What an iteration must do."""

    normals: float
    """In units of n of them."""
    values: float
    """Evaluations, and sums that take as long."""
    passes: float
    products: float = 0.0


def _of_slopes(passes: int) -> Callable[[Any, int], Work]:
    """Return the work of a method with one direction, two values and so many passes."""
    return lambda scheme, n: Work(1, 2, passes)


def _of_population(
    each: float, further: float, *, products: float = 0.0, drawn: float = 1.0
) -> Callable[[Any, int], Work]:
    """Return the work of a method with so many passes and products for each of its points, and some more."""

    def work(scheme: Any, n: int) -> Work:
        size = scheme.popsize
        return Work(drawn * size, size, each * size + further, products * size)

    return work


def _of_ep_cma(scheme: Any, n: int) -> Work:
    # u is mixed with m paths, and a point is written; after a success x and the path move.
    return Work(1, 1, scheme.m + 2 + 2 * _SUCCESSES)


def _of_lm_cma(scheme: Any, n: int) -> Work:
    # Pairs are mirrored: m products and m sums for each, two points, and two sums for the mean and the path.
    # Then the products of the path with m others, and as many sums.
    m, size = scheme.m, scheme.popsize
    return Work(0.5 * size, size, (0.5 * m + 2) * size + m + 3, 0.5 * m * size + m)


def _of_l_cma(scheme: Any, n: int) -> Work:
    # m products and m sums for each point, which is written and summed up, and as many for p_sigma. Then p_c
    # and the better half become orthogonal to the m vectors before and to each other, and m vectors become
    # sums of all of these. In between are the eigenvectors of a small matrix, which take 9/2 as many
    # multiplications and additions as its size to the third power (Golub and Van Loan); a pass has n of them.
    m, mu, size = scheme.m, scheme.rates.mu, scheme.popsize
    rows, orthogonal = m + mu + 1, (mu + 1) * (m + mu / 2)
    passes = (m + 1.5) * size + m + orthogonal + m * rows + 5 + 4.5 * rows**3 / n
    return Work(size, size, passes, m * size + m + orthogonal)


WORK: dict[str, Callable[[Any, int], Work]] = {
    # A point is written, and x moves after a success.
    "rp": lambda scheme, n: Work(1, 1, 1 + _SUCCESSES),
    "rp-exact": lambda scheme, n: Work(1, _EXACT, 2),
    # A point is written, and y and v move together.
    "sarp": lambda scheme, n: Work(1, 2, 1 + 5 / 3),
    "sarp-exact": lambda scheme, n: Work(1, _EXACT, 1 + 5 / 3),
    **dict.fromkeys(("ep-cma-1", "ep-cma-2", "ep-cma-4", "ep-cma-sqrt"), _of_ep_cma),
    # Two points are written, and y moves.
    "rg": _of_slopes(3),
    # v moves as well.
    "ars": _of_slopes(4),
    # Signs are made of normals.
    "spsa": _of_slopes(4),
    # One point is written, and y and v move.
    "arp": lambda scheme, n: Work(1, _EXACT, 3),
    # Here the direction is a coordinate, whose curvature need not be summed up.
    "acdm": lambda scheme, n: Work(0, _EXACT - 1, 3),
    # A point of m, D and z; the better half is summed up, and its squares; then the mean, two paths and D.
    "sep-cma": _of_population(4 / 3 + 5 / 6, 5),
    # Pairs are mirrored: two products for each, two points of m, D, z and v, the sum of z, and those of y and
    # y^2; then the mean, two paths, D and v.
    "cr-fm-nes": _of_population(5 / 3 + 1 / 2 + 1, 10, products=1, drawn=0.5),
    # A point of m, z and u; for the better half two products, w, and two sums; then the mean and u.
    "r1-nes": _of_population(4 / 3 + 1 / 2 + 5 / 6, 4, products=1),
    "lm-cma": _of_lm_cma,
    "l-cma": _of_l_cma,
}
"""By method. Iterations of `differences`, `evolution` and `adaptive-sarp` differ too much to be counted;
their time is judged where their targets are."""


def work_of(method: str, n: int) -> Work:
    """Return what an iteration of a method must do on a problem in n variables."""
    return WORK[method](create_scheme(method, n, {}, pursuit.problems.exp(n, 1e4)), n)


def seconds_needed(work: Work, units: Mapping[str, float]) -> float:
    """Return how long that takes, if normals, a value, a pass and a product take so long."""
    return sum(count * units[name] for name, count in zip(Work._fields, work, strict=True))


def operations(n: int) -> dict[str, Repeat]:
    """Return what does each kind of operation, on vectors of n numbers, so many times."""
    return {
        "normals": drawing_compiled(n),
        "values": _evaluating(n),
        "passes": _passing(n),
        "products": _multiplying(n),
    }


@numba.njit
def _values(problem: Any, x: Any, times: int) -> float:
    total = 0.0
    for _ in range(times):
        # Else the compiler would evaluate once.
        x[0] += 1.0
        total += value(SERIAL, problem, x)
    return total


def _evaluating(n: int) -> Repeat:
    problem = pursuit.problems.exp(n, 1e4)
    return lambda k: _values(problem, problem.x0, k)


@numba.njit
def _passes(vectors: Any, n: int, times: int) -> None:
    first = 0
    for _ in range(times):
        shift(SERIAL, vectors[first, :n], vectors[first + 1, :n], 1e-3, vectors[first + 2, :n])
        first = first + 3 if first + 3 < vectors.shape[0] else 0


def _passing(n: int) -> Repeat:
    # Where a short vector lies changes the time by half. So some of them take turns that lie in all ways in
    # which arrays do: 16 bytes farther each time, in units of 64.
    vectors = np.zeros((3 * max(1, _NUMBERS_OF_PASSES // n), n + (2 - n) % 8))
    return lambda k: _passes(vectors, n, k)


@numba.njit
def _products(x: Any, y: Any, times: int) -> float:
    total = 0.0
    for _ in range(times):
        x[0] += 1.0
        total += dot(SERIAL, x.shape[0], x, y)
    return total


def _multiplying(n: int) -> Repeat:
    x, y = np.zeros(n), np.ones(n)
    return lambda k: _products(x, y, k)
