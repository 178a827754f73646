"""What is done to problems before solvers see them, in the words of OptiProfiler.

A feature takes a problem and a random generator, and returns the problem whose true values are recorded, and
what a solver sees of a value at a point.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from benchmarks.problems.cutest import Problem
from pursuit.checks import Vector

PLAIN, NOISY = "plain", "noisy"
_NOISE, _DIGITS, _NANS, _MOVED = 1e-3, 6, 0.05, 1e-3

Seen = Callable[[Vector, float], float]
Featured = tuple[Problem, Seen | None]


def _plain(problem: Problem, rng: Any) -> Featured:
    return problem, None


def _noisy(problem: Problem, rng: Any) -> Featured:
    return problem, lambda x, value: value * (1.0 + _NOISE * float(rng.standard_normal()))


def _truncated(problem: Problem, rng: Any) -> Featured:
    return problem, lambda x, value: float(f"{value:.{_DIGITS - 1}e}")


def _random_nan(problem: Problem, rng: Any) -> Featured:
    return problem, lambda x, value: math.nan if rng.random() < _NANS else value


def _rotated(problem: Problem, rng: Any) -> Featured:
    Q = np.linalg.qr(rng.standard_normal((problem.n, problem.n)))[0]
    return problem._replace(fun=lambda x: problem.fun(Q @ x), x0=Q.T @ problem.x0), None


def _perturbed(problem: Problem, rng: Any) -> Featured:
    direction = rng.standard_normal(problem.n)
    length = _MOVED * max(1.0, float(np.linalg.norm(problem.x0)))
    x0 = problem.x0 + length * direction / np.linalg.norm(direction)
    return problem._replace(x0=x0 if problem.bounds is None else np.clip(x0, *problem.bounds)), None


def _deterministic(problem: Problem, rng: Any) -> Featured:
    """Return values with the oscillations of Moré and Wild, which repeat."""

    def seen(x: Vector, value: float) -> float:
        size, largest = np.abs(x).sum(), np.abs(x).max()
        wave = 0.9 * np.sin(100.0 * size) * np.cos(100.0 * largest) + 0.1 * np.cos(np.linalg.norm(x))
        return value * (1.0 + _NOISE * float(wave * (4.0 * wave**2 - 3.0)))

    return problem, seen


class Feature(NamedTuple):
    """A feature, and how it is used."""

    apply: Callable[[Problem, Any], Featured]
    about: str
    every: int = 1
    """Each so-manieth problem of CUTEst is run."""
    is_random: bool = True
    """Whether it draws random numbers."""
    is_inexact: bool = False
    """Whether values are not the true ones, so that the hardest precision is out of reach."""
    keeps_bounds: bool = True
    """Whether it is for problems with bounds, too."""


FEATURES = {
    PLAIN: Feature(_plain, "values as they are", is_random=False),
    NOISY: Feature(_noisy, f"noise of {_NOISE:g} f(x)", every=3, is_inexact=True),
    "deterministic noise": Feature(
        _deterministic, f"oscillations of {_NOISE:g} f(x) that repeat", is_random=False, is_inexact=True
    ),
    "truncated": Feature(_truncated, f"{_DIGITS} digits", every=6, is_random=False, is_inexact=True),
    "rotated": Feature(_rotated, "variables rotated at random", every=6, keeps_bounds=False),
    "random NaN": Feature(_random_nan, f"{100 * _NANS:g} % of the values are NaN", every=6),
    "perturbed start": Feature(_perturbed, f"a start moved by {_MOVED:g} max(1, |x0|)", every=6),
}


def featured(problem: Problem, feature: str, seed: int) -> Featured:
    """Return what a feature makes of a problem; random numbers depend on the seed and the name."""
    rng = np.random.default_rng([seed, zlib.crc32(problem.name.encode())])
    return FEATURES[feature].apply(problem, rng)
