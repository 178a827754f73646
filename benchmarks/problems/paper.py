"""The problems: the paper's, along the axes and rotated, and three whose values are noisy, rounded or kinked.

Every solver gets the same plain Python function around a compiled value. So a value costs the same for all of
them, and our loop is not compiled around it, as it would be around a problem of the library.
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
_ROTATION_SEED = 20140913
# The smallest difference of a rotation's angle from those that map axes to axes.
_LEAST_ANGLE = math.pi / 8.0


class FastRotated(NamedTuple):
    """The problem f(Qx), started at Q^T x0, with a Q whose product takes n log n operations.

    Q is made of stages. Each rotates the pairs (i, i + n/2) by angles of their own and writes them side by
    side, which mixes all variables with each other after log n stages, as in a fast Fourier transform.
    """

    problem: Any
    cosines: NDArray[np.float64]
    sines: NDArray[np.float64]
    order: NDArray[np.int64]
    """The permutation that comes first."""
    here: Vector
    """Room for the product, which alternates with `there` from stage to stage."""
    there: Vector

    @property
    def n(self) -> int:
        """The number of variables."""
        return int(self.problem.n)

    @property
    def x0(self) -> Vector:
        """A new copy of the start, Q^T x0."""
        return self.rotate_back(self.problem.x0)

    @property
    def minimizer(self) -> Vector:
        """A new copy of the minimiser, Q^T x*."""
        return self.rotate_back(self.problem.minimizer)

    def __call__(self, x: Any) -> float:
        """Return f(Qx)."""
        return evaluate(self, x)

    def rotate_back(self, y: Vector) -> Vector:
        """Return Q^T y."""
        for cosines, sines in zip(self.cosines[::-1], self.sines[::-1], strict=True):
            even, odd = y[0::2], y[1::2]
            y = np.concatenate([cosines * even + sines * odd, cosines * odd - sines * even])
        x = np.empty_like(y)
        x[self.order] = y
        return x


@value.register(FastRotated)
def _fast_rotated(team, rotated, x):
    here, there = rotated.here, rotated.there
    half = x.shape[0] // 2
    for i in range(x.shape[0]):
        here[i] = x[rotated.order[i]]
    for stage in range(rotated.cosines.shape[0]):
        cosines, sines = rotated.cosines[stage], rotated.sines[stage]
        for i in range(half):
            one, other = here[i], here[i + half]
            there[2 * i] = cosines[i] * one - sines[i] * other
            there[2 * i + 1] = sines[i] * one + cosines[i] * other
        here, there = there, here
    return value(team, rotated.problem, here)


def fast_rotated(problem: Any, seed: int = _ROTATION_SEED) -> FastRotated:
    """Return a problem of an even number of variables in randomly rotated coordinates."""
    n = problem.n
    if n % 2:
        raise ValueError(f"A problem to be rotated must have an even number of variables, but it has {n}.")
    rng = np.random.default_rng(seed)
    # Three stages more than necessary, so that every entry of Q is a sum of several products of angles.
    shape = (math.ceil(math.log2(n)) + 3, n // 2)
    angles = rng.uniform(_LEAST_ANGLE, math.pi / 2.0 - _LEAST_ANGLE, shape) * rng.choice([-1.0, 1.0], shape)
    return FastRotated(
        problem=problem,
        cosines=np.cos(angles),
        sines=np.sin(angles),
        order=rng.permutation(n),
        here=np.empty(n),
        there=np.empty(n),
    )


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
        """Its name in tables, without dimension and rotation."""
        return self.problem if self.L is None else f"{self.problem}, L = {power(self.L)}"


class Objective(NamedTuple):
    """What a solver gets, and what its runs are judged by."""

    fun: Callable[[Vector], float]
    x0: Vector
    target: float
    observed: Callable[[float], float] | None
    """What the solver gets instead of a value, None for the value itself."""


TARGET = 1e-9
SMOOTH = (
    ("exp", 1e4), ("exp", 1e6), ("lin", 1e4), ("lin", 1e6), ("two", 1e4), ("two", 1e6), ("rosenbrock", None),
)  # fmt: skip
NOISE = 1e-3
"""The standard deviation of what is added to every value of `noisy`."""
HARD = {"noisy": 10.0 * NOISE, "rounded": TARGET, "absolute": 1e-6}
"""The problems with noisy or rounded values or kinks, and their targets: `noisy`'s exceeds the noise."""
HARD_CONDITION = 100.0
DIGITS = 3
"""The digits of a value that `rounded` keeps."""


def make_objective(task: Task, seed: int) -> Objective:
    """Return the objective of a task; the seed decides the noise."""
    problem = _base(task)
    if task.rotated:
        problem = fast_rotated(problem)

    # Looked up once: calling the problem itself would look for its compiled value in every evaluation.
    at = compiled(_value_at, problem)

    def fun(x: Vector) -> float:
        return at(SERIAL, problem, np.ascontiguousarray(x, dtype=np.float64))  # type: ignore[no-any-return]

    target = HARD.get(task.problem, TARGET)
    return Objective(fun, problem.x0, target, _observed(task.problem, seed))


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
