"""Random functions of many kinds, each with a point to start from that suits it.

A function is written in variables z whose natural length is 1: `generator` moves, scales and turns them, and
adds noise and bounds. A family is called with the number of variables and a random generator, and returns a
`Function`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pursuit.checks import Vector

Generator = np.random.Generator
Formula = Callable[[Vector], float]


class Function(NamedTuple):
    """A function of z."""

    formula: Formula
    special: Vector | None = None
    """A minimum, a saddle or another point where slopes vanish, if one is known."""
    grain: float = 0.0
    """The height of its steps, for functions whose values jump."""
    distance: float = 2.0
    """How far from 0 to start."""


Family = Callable[[int, Generator], Function]


def _turn(n: int, rng: Generator) -> NDArray[np.float64]:
    """Return a rotation, or the identity in half of the cases."""
    return np.linalg.qr(rng.standard_normal((n, n)))[0] if rng.random() < 0.5 else np.eye(n)


def _curvatures(n: int, rng: Generator, most: float = 8.0) -> Vector:
    return rng.permutation(np.geomspace(1.0, 10.0 ** rng.uniform(0.0, most), n))


def quadratic(n: int, rng: Generator) -> Function:
    """Return a convex quadratic of a condition number up to 1e8."""
    Q, d = _turn(n, rng), _curvatures(n, rng)
    return Function(lambda z: 0.5 * float(np.sum(d * (Q @ z) ** 2)), np.zeros(n))


def quartic(n: int, rng: Generator) -> Function:
    """Return sum d z^4, whose curvatures vanish at the minimum."""
    Q, d = _turn(n, rng), _curvatures(n, rng, 3.0)
    return Function(lambda z: float(np.sum(d * (Q @ z) ** 4)), np.zeros(n))


def rosenbrock(n: int, rng: Generator) -> Function:
    """Return a chain of Rosenbrock's functions."""
    Q, c = _turn(n, rng), 10.0 ** rng.uniform(0.0, 2.0)

    def formula(z: Vector) -> float:
        y = Q @ z
        return float(np.sum(c * (y[1:] - y[:-1] ** 2) ** 2 + (1.0 - y[:-1]) ** 2) + (1.0 - y[0]) ** 2)

    return Function(formula, Q.T @ np.ones(n))


def wells(n: int, rng: Generator) -> Function:
    """Return sum d (z^4 - z^2), with a maximum in the middle and saddles around it."""
    Q, d = _turn(n, rng), _curvatures(n, rng, 2.0)

    def formula(z: Vector) -> float:
        y = Q @ z
        return float(np.sum(d * (y**4 - y**2)))

    half = rng.integers(0, 2, n) * np.sqrt(0.5)
    half[0] = 0.0
    return Function(formula, Q.T @ half, distance=1.0)


def saddle(n: int, rng: Generator) -> Function:
    """Return a bowl but for a direction along which it is a degenerate or an ordinary saddle."""
    Q, d, odd = _turn(n, rng), _curvatures(n, rng, 3.0), rng.random() < 0.3

    def formula(z: Vector) -> float:
        y = Q @ z
        along = y[0] ** 3 if odd else -(y[0] ** 2)
        return float(np.sum(d[1:] * y[1:] ** 2) + along + y[0] ** 4)

    return Function(formula, np.zeros(n))


def exponentials(n: int, rng: Generator) -> Function:
    """Return a convex sum of exponentials."""
    A = rng.standard_normal((3 * n, n)) / np.sqrt(n) * 10.0 ** rng.uniform(-0.5, 0.7)
    b = rng.standard_normal(3 * n)
    return Function(lambda z: float(np.sum(np.exp(np.minimum(A @ z + b, 600.0))) + 0.01 * (z @ z)))


def decays(n: int, rng: Generator) -> Function:
    """Return the squared misfit of a sum of decaying exponentials: rates and amplitudes."""
    times = np.linspace(0.0, 4.0, 25)
    data = np.exp(-times) + 0.5 * np.exp(-3.0 * times) + 0.01 * rng.standard_normal(25)

    def formula(z: Vector) -> float:
        amplitudes, rates = z[::2], np.resize(z[1::2], (n + 1) // 2) if n > 1 else np.ones(1)
        model = np.exp(-np.outer(times, np.exp(np.minimum(rates, 5.0)))) @ amplitudes
        return float(np.sum((model - data) ** 2) + 1e-4 * (z @ z))

    return Function(formula)


def absolutes(n: int, rng: Generator) -> Function:
    """Return sum w |z|."""
    Q, w = _turn(n, rng), _curvatures(n, rng, 3.0)
    return Function(lambda z: float(np.sum(w * np.abs(Q @ z))), np.zeros(n))


def linear_pieces(n: int, rng: Generator) -> Function:
    """Return the maximum of linear functions."""
    A = rng.standard_normal((3 * n, n))
    A, b = np.concatenate([A, -A[:n]]), 0.3 * rng.standard_normal(4 * n)
    return Function(lambda z: float(np.max(A @ z + b)))


def penalty(n: int, rng: Generator) -> Function:
    """Return z'z and the absolute values of a few linear functions, as of constraints."""
    count = int(rng.integers(1, max(2, n // 2 + 1)))
    A, c = rng.standard_normal((count, n)), 10.0 ** rng.uniform(0.0, 3.0)
    if rng.random() < 0.3:
        A = np.ones((1, n))
    b = rng.standard_normal(len(A))
    return Function(lambda z: float(z @ z + c * np.sum(np.abs(A @ z - b))))


def differences(n: int, rng: Generator) -> Function:
    """Return sum |z - 1| + c sum |z_i - z_{i+1}|."""
    c = 10.0 ** rng.uniform(0.0, 2.0)
    target = np.ones(n) if rng.random() < 0.5 else rng.standard_normal(n)
    return Function(lambda z: float(np.sum(np.abs(z - target)) + c * np.sum(np.abs(np.diff(z)))), np.zeros(n))


def crescents(n: int, rng: Generator) -> Function:
    """Return a sum of curved ridges, max(y^2 + (z - 1)^2 + z - 1, -y^2 - (z - 1)^2 + z + 1)."""
    Q = _turn(n, rng)

    def formula(z: Vector) -> float:
        y = Q @ z
        a, b = np.append(y[:-1], y[-1] if n == 1 else []), y[1:] if n > 1 else y
        square = a * a + (b - 1.0) ** 2
        return float(np.sum(np.maximum(square + b - 1.0, -square + b + 1.0)) + 0.1 * (y @ y))

    return Function(formula, Q.T @ np.zeros(n))


def cone(n: int, rng: Generator) -> Function:
    """Return a norm, or its root, whose only kink is at the minimum."""
    Q, d, power = _turn(n, rng), _curvatures(n, rng, 4.0), float(rng.choice([0.25, 0.5, 0.75]))
    return Function(lambda z: math.pow(float(np.sum(d * (Q @ z) ** 2)), power), np.zeros(n))


def largest(n: int, rng: Generator) -> Function:
    """Return the largest of several bowls, like the largest stress of a structure."""
    centres = rng.standard_normal((4, n))
    weights = 10.0 ** rng.uniform(-1.0, 1.0, (4, n))
    return Function(lambda z: float(np.max(np.sum(weights * (z - centres) ** 2, axis=1))))


def valley(n: int, rng: Generator) -> Function:
    """Return a pit in a plateau that is nearly flat far away."""
    w, steep = 10.0 ** rng.uniform(-0.5, 0.5, n), rng.uniform(0.2, 1.0)
    return Function(lambda z: 2.3 * float(np.tanh(steep * np.linalg.norm(z / w))), np.zeros(n))


def pit(n: int, rng: Generator) -> Function:
    """Return a Gaussian pit: flat where it is far away."""
    Q, d = _turn(n, rng), _curvatures(n, rng, 2.0)
    return Function(lambda z: 1.0 - float(np.exp(-0.2 * np.sum(d * (Q @ z) ** 2) / d.max())), np.zeros(n))


def flat_bottom(n: int, rng: Generator) -> Function:
    """Return a bowl whose bottom is flat."""
    Q, power = _turn(n, rng), float(rng.choice([1.0, 2.0]))
    return Function(lambda z: float(np.sum(np.maximum(np.abs(Q @ z) - 0.5, 0.0) ** power)), np.zeros(n))


def stairs(n: int, rng: Generator) -> Function:
    """Return a bowl or a sum of absolute values whose values are rounded."""
    Q, d, bend = _turn(n, rng), _curvatures(n, rng, 2.0), float(rng.choice([1.0, 2.0]))
    scale = float(np.sum(d))
    grain = scale * 10.0 ** rng.uniform(-6.0, -1.5)

    def formula(z: Vector) -> float:
        return float(grain * np.round(np.sum(d * np.abs(Q @ z) ** bend) / grain))

    return Function(formula, np.zeros(n), grain)


def terraces(n: int, rng: Generator) -> Function:
    """Return a bowl of every coordinate, rounded down to steps."""
    k = 10.0 ** rng.uniform(0.5, 2.0)
    return Function(lambda z: float(np.sum(np.floor(k * np.abs(z)))) / k, np.zeros(n), 1.0 / k)


def cliff(n: int, rng: Generator) -> Function:
    """Return a bowl with a jump, or a wall where it has no values that are useful."""
    Q, d, height = _turn(n, rng), _curvatures(n, rng, 2.0), 10.0 ** rng.uniform(-1.0, 2.0)
    edge = rng.uniform(-1.0, 1.0)

    def formula(z: Vector) -> float:
        y = Q @ z
        return float(np.sum(d * y * y)) + (height if y[0] < edge else 0.0)

    return Function(formula)


SMOOTH: dict[str, Family] = {
    "quadratic": quadratic,
    "quartic": quartic,
    "rosenbrock": rosenbrock,
    "wells": wells,
    "saddle": saddle,
    "exponentials": exponentials,
    "decays": decays,
}
KINKED: dict[str, Family] = {
    "absolutes": absolutes,
    "linear pieces": linear_pieces,
    "penalty": penalty,
    "differences": differences,
    "crescents": crescents,
    "cone": cone,
    "largest": largest,
}
FLAT: dict[str, Family] = {
    "valley": valley,
    "pit": pit,
    "flat bottom": flat_bottom,
    "stairs": stairs,
    "terraces": terraces,
    "cliff": cliff,
}
GROUPS = {"smooth": SMOOTH, "kinked": KINKED, "flat": FLAT}
