"""What a linear method must do in an iteration, counted in vector operations, and how long these take.

A *pass* reads two vectors and writes one, as out <- x + a u does. A method must draw its normals, write and
evaluate its points, and pass over the vectors that it learns from; whatever else it takes is overhead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numba
import numpy as np

import pursuit
from benchmarks.timing import Repeat, drawing_compiled
from pursuit.compiling.vectors import SERIAL, shift
from pursuit.methods import create_scheme
from pursuit.problems import value


class Work(NamedTuple):
    """What an iteration must do."""

    normals: float
    """In units of n of them."""
    values: float
    """Evaluations; the exact minimum on a line takes as long as one."""
    passes: float


def _of_slopes(passes: int) -> Callable[[Any], Work]:
    """Return the work of a method with one direction, two values and so many passes."""
    return lambda scheme: Work(1, 2, passes)


def _of_population(each: float, further: float, drawn: float = 1.0) -> Callable[[Any], Work]:
    """Return the work of a method with so many passes for each of its points, and some further ones."""
    return lambda scheme: Work(drawn * scheme.popsize, scheme.popsize, each * scheme.popsize + further)


def _of_lm_cma(scheme: Any) -> Work:
    # Pairs are mirrored: m products and m sums for each, and two points. Then the mean, the path, and m
    # vectors made of it.
    passes = (scheme.m + 1.5) * scheme.popsize + 2 * scheme.m + 3
    return Work(0.5 * scheme.popsize, scheme.popsize, passes)


def _of_l_cma(scheme: Any) -> Work:
    # m products and m sums for each point, which is written and summed up. Then the products of m vectors.
    passes = (2 * scheme.m + 1.5) * scheme.popsize + 2 * scheme.m**2 + 5
    return Work(scheme.popsize, scheme.popsize, passes)


WORK: dict[str, Callable[[Any], Work]] = {
    # Two points are written, and y moves.
    "rg": _of_slopes(3),
    # v moves as well.
    "ars": _of_slopes(4),
    # Signs are made of normals.
    "spsa": _of_slopes(4),
    # One point is written, and y and v move.
    "arp": _of_slopes(3),
    "acdm": lambda scheme: Work(0, 2, 3),
    # A point is written, and the better half is summed up; then the mean, two paths and variances.
    "sep-cma": _of_population(1.5, 5),
    # Pairs are mirrored: an inner product for each, two points, and two sums; then mean, two paths, D and v.
    "cr-fm-nes": _of_population(2.5, 10, drawn=0.5),
    # A point is written, its products are taken, and the better half is summed up; then the mean and u.
    "r1-nes": _of_population(2.5, 4),
    "lm-cma": _of_lm_cma,
    "l-cma": _of_l_cma,
}


def work_of(method: str, n: int) -> Work:
    """Return what an iteration of a method must do on a problem in n variables."""
    return WORK[method](create_scheme(method, n, {}, pursuit.problems.exp(n, 1e4)))


def seconds_needed(work: Work, units: Mapping[str, float]) -> float:
    """Return how long that takes, if normals, a value and a pass take so long."""
    return work.normals * units["normals"] + work.values * units["value"] + work.passes * units["pass"]


def operations(n: int) -> dict[str, Repeat]:
    """Return what draws n normals, what evaluates `exp`, and what passes over vectors, so many times."""
    return {"normals": drawing_compiled(n), "value": _evaluating(n), "pass": _passing(n)}


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
def _passes(x: Any, y: Any, u: Any, times: int) -> None:
    for _ in range(times):
        shift(SERIAL, y, x, 1e-3, u)
        x, y = y, x


def _passing(n: int) -> Repeat:
    x, y, u = np.zeros(n), np.zeros(n), np.ones(n)
    return lambda k: _passes(x, y, u, k)
