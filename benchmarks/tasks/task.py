"""What a task is: a function of x and a random generator, and the true gap that judges the returned point."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from pursuit.checks import Vector

Simulator = Callable[[Vector, np.random.Generator], float]


class Case(NamedTuple):
    """A task with one seed, on which the start depends, and the data in some tasks."""

    fun: Simulator
    """What is minimised; a simulator without chance leaves the generator alone."""
    gap: Callable[[Vector], float]
    """How far the expected value of `fun` at x is above the minimum."""
    x0: Vector
    sigma0: Vector
    """The first step size of each variable."""
    lower: Vector
    upper: Vector
    constraint: Callable[[Vector], float] | None = None
    """A number that must not be positive."""


class Task(NamedTuple):
    """A task and the tools that people use for it."""

    name: str
    """A slash precedes what tells two starts of a task apart."""
    title: str
    make: str
    """The module here and the function that makes the case of a seed."""
    budgets: Sequence[int]
    """Of evaluations; each makes runs of its own."""
    peers: Sequence[str]
    """The names of other tools."""
    enough: float
    """Smaller gaps are as good as none."""

    def case(self, seed: int) -> Case:
        """Return the case of a seed."""
        module, _, function = self.make.partition(":")
        found: Case = getattr(importlib.import_module(f"benchmarks.tasks.{module}"), function)(seed)
        return found


def case(
    fun: Simulator,
    gap: Callable[[Vector], float],
    x0: Vector,
    sigma0: float | Vector,
    bounds: tuple[float | Vector, float | Vector] = (-np.inf, np.inf),
    constraint: Callable[[Vector], float] | None = None,
) -> Case:
    """Return a case; step sizes and bounds that are the same for all variables are numbers."""
    step, lower, upper = (np.broadcast_to(value, x0.shape).astype(float) for value in (sigma0, *bounds))
    return Case(fun, gap, np.clip(x0, lower, upper), step, lower, upper, constraint)
