"""The problems: the paper's, along the axes and turned, and three on which values cannot be trusted.

Every solver gets the same plain Python function around a compiled value. So a value costs all of them the
same, and our loop is not compiled around it, as it would be around a problem of the library.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import pursuit
from pursuit.checks import Vector
from pursuit.compiling.cache import compiled
from pursuit.compiling.vectors import SERIAL
from pursuit.experiments.common.formatting import power
from pursuit.problems import evaluate, value

# Q is the same in all runs, so that a seed changes nothing but the solver.
_TURN_SEED = 20140913
# How far the angles of the rotations stay away from those that would leave the axes where they are.
_LEAST_ANGLE = math.pi / 8.0


class Turned(NamedTuple):
    """The problem f(Qx), started at Q^T x0, with a Q whose product takes n log n operations.

    Q is made of stages. Each turns the pairs (i, i + n/2) by angles of their own and writes them side by
    side, which mixes all variables with each other after log n stages, as in a fast Fourier transform.
    """

    problem: Any
    cosines: NDArray[np.float64]
    sines: NDArray[np.float64]
    order: NDArray[np.int64]
    """The permutation that comes first."""
    here: Vector
    there: Vector

    @property
    def n(self) -> int:
        """The number of variables."""
        return int(self.problem.n)

    @property
    def x0(self) -> Vector:
        """A new copy of the start, Q^T x0."""
        return self.turned_back(self.problem.x0)

    @property
    def minimizer(self) -> Vector:
        """A new copy of the minimiser, Q^T x*."""
        return self.turned_back(self.problem.minimizer)

    @property
    def m(self) -> float:
        """The smallest eigenvalue, which a rotation does not change."""
        return float(self.problem.m)

    @property
    def L(self) -> float:
        """The largest eigenvalue, which a rotation does not change."""
        return float(self.problem.L)

    def __call__(self, x: Any) -> float:
        """Return f(Qx)."""
        return evaluate(self, x)

    def turned_back(self, y: Vector) -> Vector:
        """Return Q^T y."""
        for cosines, sines in zip(self.cosines[::-1], self.sines[::-1], strict=True):
            even, odd = y[0::2], y[1::2]
            y = np.concatenate([cosines * even + sines * odd, cosines * odd - sines * even])
        x = np.empty_like(y)
        x[self.order] = y
        return x


@value.register(Turned)
def _turned(team, turned, x):
    here, there = turned.here, turned.there
    half = x.shape[0] // 2
    for i in range(x.shape[0]):
        here[i] = x[turned.order[i]]
    for stage in range(turned.cosines.shape[0]):
        cosines, sines = turned.cosines[stage], turned.sines[stage]
        for i in range(half):
            one, other = here[i], here[i + half]
            there[2 * i] = cosines[i] * one - sines[i] * other
            there[2 * i + 1] = sines[i] * one + cosines[i] * other
        here, there = there, here
    return value(team, turned.problem, here)


def turned(problem: Any, seed: int = _TURN_SEED) -> Turned:
    """Return a problem of an even number of variables after a random orthogonal change of them."""
    n = problem.n
    if n % 2:
        raise ValueError(f"A problem to be turned must have an even number of variables, but it has {n}.")
    rng = np.random.default_rng(seed)
    # Three more than the least, so that no entry of Q is the product of only one choice of angles.
    shape = (math.ceil(math.log2(n)) + 3, n // 2)
    angles = rng.uniform(_LEAST_ANGLE, math.pi / 2.0 - _LEAST_ANGLE, shape) * rng.choice([-1.0, 1.0], shape)
    return Turned(problem, np.cos(angles), np.sin(angles), rng.permutation(n), np.empty(n), np.empty(n))


class Absolute(NamedTuple):
    """f(x) = sum_i sqrt(a_i) |x_i|: wherever a variable is 0, f has a kink."""

    scales: Vector

    @property
    def n(self) -> int:
        """The number of variables."""
        return self.scales.size

    @property
    def x0(self) -> Vector:
        """A new copy of the start, (1, ..., 1)."""
        return np.ones(self.n)

    @property
    def minimizer(self) -> Vector:
        """A new copy of the minimiser, 0."""
        return np.zeros(self.n)

    def __call__(self, x: Any) -> float:
        """Return f(x)."""
        return evaluate(self, x)


@value.register(Absolute)
def _absolute(team, problem, x):
    total = 0.0
    for i in range(x.shape[0]):
        total += problem.scales[i] * abs(x[i])
    return total


class Task(NamedTuple):
    """What a solver is to minimise."""

    problem: str
    L: float | None
    rotated: bool
    n: int

    @property
    def label(self) -> str:
        """What tables call it, the dimension and the rotation left aside."""
        return self.problem if self.L is None else f"{self.problem}, L = {power(self.L)}"


class Work(NamedTuple):
    """A task, made."""

    fun: Callable[[Vector], float]
    x0: Vector
    target: float
    observed: Callable[[float], float] | None
    """What is seen of a value, if not the value itself."""


TARGET = 1e-9
SMOOTH = (
    ("exp", 1e4), ("exp", 1e6), ("lin", 1e4), ("lin", 1e6), ("two", 1e4), ("two", 1e6), ("rosenbrock", None),
)  # fmt: skip
NOISE = 1e-3
"""The deviation of what is added to every value of `noisy`."""
HARD = {"noisy": 10.0 * NOISE, "rounded": TARGET, "absolute": 1e-6}
"""The problems whose values cannot be trusted, and their targets: that of `noisy` stands out of the noise."""
HARD_CONDITION = 100.0
DIGITS = 3
"""How many digits of a value `rounded` shows."""


def make(task: Task, seed: int) -> Work:
    """Return what a solver gets and what it is judged by; the noise follows the seed."""
    problem = _base(task)
    if task.rotated:
        problem = turned(problem)

    # Looked up once: calling the problem itself would look for its compiled value in every evaluation.
    at = compiled(_value_at, problem)

    def fun(x: Vector) -> float:
        return at(SERIAL, problem, np.ascontiguousarray(x, dtype=np.float64))  # type: ignore[no-any-return]

    return Work(fun, problem.x0, HARD.get(task.problem, TARGET), _observed(task.problem, seed))


def _value_at(team, problem, x):
    return value(team, problem, x)


def _base(task: Task) -> Any:
    if task.problem == "rosenbrock":
        return pursuit.problems.rosenbrock(task.n)
    assert task.L is not None
    if task.problem == "absolute":
        return Absolute(np.sqrt(pursuit.problems.exp(task.n, task.L).spectrum))
    if task.problem in HARD:
        return pursuit.problems.exp(task.n, task.L)
    return getattr(pursuit.problems, task.problem)(task.n, task.L)


def _observed(name: str, seed: int) -> Callable[[float], float] | None:
    if name == "noisy":
        rng = np.random.default_rng([seed, 1])
        return lambda true: true + NOISE * rng.standard_normal()
    if name == "rounded":
        return lambda true: float(f"{true:.{DIGITS - 1}e}")
    return None
