"""Rounds of points drawn from one normal distribution, and what methods with such a population share.

A round has lambda points around a mean m,

    x_j = m + sigma D (z_k + b_k v),  z_k ~ N(0, I_n),

with a diagonal D and a direction v where a method has them. Either every point has a z of its own, or two
points are mirror images of each other: z_k and b_k stand for both, and the second one has the opposite sign.

The z_k are the normals of the iteration, which a run holds anyway. So points are written one by one, and
besides them a method needs only a few vectors and lambda numbers. A method whose matrix A is not D writes
A z_k in place of z_k.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from pursuit.checks import Vector, checked_count, checked_memory
from pursuit.compiling.jit import compilable
from pursuit.compiling.vectors import dot
from pursuit.methods.contract import Needs, Patience, count_points, spread, write_point


def needs_of_population(popsize: int, n: int, normals: int) -> Needs:
    """Return what a scheme needs that draws this many points for n variables from so many normals.

    Populations take long to compile, so they are compiled once for all problems.
    """
    rounds, window = max(100, (10_000 + 1_000 * n) // popsize), max(20, (500 + 10 * n) // popsize)
    patience = Patience(rounds, share=1.0, window=window)
    return Needs(normals=normals, points=popsize, patience=patience, is_compiled_apart=True)


class RoundNumbers(NamedTuple):
    """The numbers of a scheme that counts its rounds; f is the best value of the latest one."""

    fx: float
    f: float
    sigma: float
    k: int


class Samples(NamedTuple):
    """A query of points drawn from a normal distribution; the answer is the array of their values."""

    mean: Vector
    scales: Vector
    """D; empty for the identity."""
    direction: Vector
    """v; empty where there is none."""
    along: Vector
    """The b_k; empty where there is no direction."""
    z: Vector
    """The z_k, one after the other."""
    sigma: float
    size: int
    """How many points there are."""
    sides: int
    """How many points share a z: 1, or 2 that are mirror images of each other."""


@count_points.register(Samples)
def _size(query):
    return query.size


@write_point.register(Samples)
def _write(team, query, position, out):
    write_sample(query, int(position), out)


@compilable
def write_sample(query: Any, j: Any, out: Any) -> Any:
    """Write the j-th point of a round into `out`."""
    n, k = out.shape[0], j // query.sides
    z = query.z[k * n : (k + 1) * n]
    length = query.sigma if j % query.sides == 0 else -query.sigma
    for i in range(n):
        step = z[i]
        if query.direction.shape[0] > 0:
            step += query.along[k] * query.direction[i]
        if query.scales.shape[0] > 0:
            step *= query.scales[i]
        out[i] = query.mean[i] + length * step


@spread.register(Samples)
def _spread(team, query, sigma):
    return length_of_samples(team, query)


@compilable
def length_of_samples(team: Any, query: Any) -> Any:
    """Return how far points are from the mean on average, divided by sqrt(n)."""
    n, square = query.mean.shape[0], 0.0
    if query.direction.shape[0] + query.scales.shape[0] == 0:
        count = (query.size + query.sides - 1) // query.sides * n
        return query.sigma * math.sqrt(dot(team, count, query.z, query.z) / count)
    for i in range(n):
        variance = 1.0
        if query.direction.shape[0] > 0:
            variance += query.direction[i] * query.direction[i]
        if query.scales.shape[0] > 0:
            variance *= query.scales[i] * query.scales[i]
        square += variance
    return query.sigma * math.sqrt(square / n)


@compilable
def order_of(values: Any) -> Any:
    """Return the indices of values, the lowest first; equal ones keep their order.

    There are usually only a few more points than log n, so insertion sort is as good as any.
    """
    order = np.empty(values.shape[0], dtype=np.int64)
    for j in range(values.shape[0]):
        k = j
        while k > 0 and values[order[k - 1]] > values[j]:
            order[k] = order[k - 1]
            k -= 1
        order[k] = j
    return order


def checked_population(method: str, n: int, popsize: Any, default: int, fewest: int = 2) -> int:
    """Return the size of a population: `default` for None."""
    size = default if popsize is None else checked_count("popsize", popsize, at_least=fewest)
    checked_memory(f"A round of {method} with popsize={size} points of n={n} variables", size * n)
    return size


def usual_population(n: int) -> int:
    """Return Hansen's size of a population, 4 + 3 ln n."""
    return 4 + math.floor(3.0 * math.log(n))


def utilities(popsize: int) -> Vector:
    """Return max(0, ln(popsize/2 + 1) - ln rank); one at a time: NumPy's depend on the processor."""
    half = math.log(0.5 * popsize + 1.0)
    return np.array([max(0.0, half - math.log(rank)) for rank in range(1, popsize + 1)])


def expected_length(n: int) -> float:
    """Return approximately the mean length of a vector of n standard normals."""
    return math.sqrt(n) * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n * n))
