"""An independent judge of success, which looks for a better point near the one that was returned.

Success is a local claim: another valley far away does not make it wrong. A point y does if

- true(y) < true(x) - gap. The gap is 1e-6 of the decrease of f since the start, plus 1e-12 of |f|, plus the
  change of f over 1e-7 of the distance below, since x is no more precise than that, plus three times the
  noise, to which the height of the steps of f counts;
- it lies within the bounds, and no farther from x in any variable than sigma0 or than the longest way that
  any variable has gone from the start, in units of sigma0: lengths that the run has used;
- it lies in the same valley: a path of straight pieces leads there from x, and f is nowhere on it above
  true(x) by more than the gap. Every piece is checked in 24 places.

The judge uses values without noise. It tries directions at all lengths, SciPy's L-BFGS-B with three-point
differences, SciPy's Nelder-Mead and a textbook CMA-ES. It shares no code with our methods.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from attack.families import Formula
from pursuit.checks import Vector

_OF_DESCENT, _OF_VALUE, _OF_DISTANCE, _NOISES = 1e-6, 1e-12, 1e-7, 3.0
# Directions are tried at these lengths, in units of the farthest, and on both sides.
_LENGTHS = 10.0 ** -np.arange(0.0, 7.5, 0.5)
_RANDOM_DIRECTIONS = 12
# Each piece of a path is looked at in so many places.
_PLACES = 24
_STEPS = (1e-1, 1e-3, 1e-5)
_MOST_SIMPLEX_VARIABLES = 12
_Path = list[tuple[Vector, float]]


class Claim(NamedTuple):
    """What a run says: that x is a minimum."""

    true: Formula
    x: Vector
    x0: Vector
    sigma0: float | Vector
    lower: Vector
    upper: Vector
    noise: float = 0.0
    """The noise and the height of steps at x."""

    @property
    def gap(self) -> float:
        """How much better a point must be to show that x is not a minimum."""
        value, rng = self.true(self.x), np.random.default_rng(1)
        steps = _OF_DISTANCE * self.reach * rng.standard_normal((9, self.x.size))
        near = [self.true(np.clip(self.x + step, self.lower, self.upper)) for step in steps]
        change = float(np.median(np.abs(np.array(near) - value)))
        change = change if math.isfinite(change) else 0.0
        exact = _OF_DESCENT * abs(self.true(self.x0) - value) + _OF_VALUE * abs(value) + change
        return exact + _NOISES * self.noise

    @property
    def reach(self) -> Vector:
        """How far in each variable better points count."""
        gone = float(np.max(np.abs(self.x - self.x0) / self.sigma0))
        return np.broadcast_to(np.asarray(self.sigma0) * max(1.0, gone), self.x.shape)


class Better(NamedTuple):
    """A point that shows that x is not a minimum."""

    x: Vector
    value: float
    by: str
    """The search that found it."""


def better_point(claim: Claim, seed: int = 0) -> Better | None:
    """Return a point that shows that x is not a minimum; None if none was found."""
    gap, value = claim.gap, claim.true(claim.x)
    for search in (_directions, _slopes, _populations, _simplices):
        for path in search(_Searched(claim), np.random.default_rng([seed, 1])):
            point, found = path[-1]
            if found < value - gap and _is_in_one_valley(claim.true, path, value + gap):
                return Better(point, found, search.__name__.strip("_"))
    return None


class _Searched:
    """f around x in variables v, so that -1 and 1 are as far as points count; it remembers the way down."""

    def __init__(self, claim: Claim) -> None:
        self.claim, self.unit = claim, claim.reach
        self.lower = np.maximum(-1.0, (claim.lower - claim.x) / self.unit)
        self.upper = np.minimum(1.0, (claim.upper - claim.x) / self.unit)
        self.value = claim.true(claim.x)
        self.height = claim.gap + 1e-300
        self.path: _Path = []
        self.restart()

    def restart(self) -> None:
        """Forget the way so far."""
        self.path = [(self.claim.x, self.value)]

    def __call__(self, v: Vector) -> float:
        """Return f, so that f(x) = 0, in units of the gap."""
        v = np.clip(v, self.lower, self.upper)
        x = np.clip(self.claim.x + self.unit * v, self.claim.lower, self.claim.upper)
        value = self.claim.true(x)
        if value < self.path[-1][1]:
            self.path.append((x, value))
        return (value - self.value) / self.height if math.isfinite(value) else 1e300


def _is_in_one_valley(true: Formula, path: _Path, highest: float) -> bool:
    """Say whether f exceeds a value nowhere on a path."""
    parts = np.linspace(0.0, 1.0, _PLACES + 2)[1:-1]
    for (start, _), (end, _) in pairwise(path):
        if any(true(start + t * (end - start)) > highest for t in parts):
            return False
    return True


def _directions(f: _Searched, rng: np.random.Generator) -> Iterator[_Path]:
    """Go along coordinates and random directions, each from x."""
    n = f.claim.x.size
    random = rng.standard_normal((_RANDOM_DIRECTIONS + n, n))
    for direction in [*np.eye(n), *(random / np.max(np.abs(random), axis=1, keepdims=True))]:
        for side in (-1.0, 1.0):
            f.restart()
            for length in _LENGTHS[::-1]:
                f(side * length * direction)
            yield f.path


def _slopes(f: _Searched, rng: np.random.Generator) -> Iterator[_Path]:
    """Follow slopes by differences."""
    n = f.claim.x.size
    for unit in (1.0, 1e-3):
        f.restart()
        box = list(zip(f.lower / unit, f.upper / unit, strict=True))
        with np.errstate(all="ignore"):
            minimize(
                lambda v, unit=unit: f(unit * v), np.zeros(n), jac="3-point", bounds=box, method="L-BFGS-B",
                options={"maxfun": 40 * (2 * n + 1), "ftol": 0.0, "gtol": 0.0},
            )  # fmt: skip
        yield f.path


def _simplices(f: _Searched, rng: np.random.Generator) -> Iterator[_Path]:
    """Turn simplices over."""
    n = f.claim.x.size
    for step in _STEPS if n <= _MOST_SIMPLEX_VARIABLES else ():
        f.restart()
        corners = np.concatenate([np.zeros((1, n)), step * np.where(f.upper >= step, 1.0, -1.0) * np.eye(n)])
        options = {"initial_simplex": corners, "maxfev": 60 * n, "xatol": 0.0, "fatol": 0.0, "adaptive": True}
        minimize(f, np.zeros(n), method="Nelder-Mead", options=options)
        yield f.path


def _populations(f: _Searched, rng: np.random.Generator) -> Iterator[_Path]:
    """Evolve populations: (mu/mu_w, lambda)-CMA-ES, after Hansen's tutorial."""
    n = f.claim.x.size
    for step in _STEPS:
        f.restart()
        _evolve(f, step, 100 + 40 * n, rng)
        yield f.path


def _evolve(f: _Searched, sigma: float, most: int, rng: np.random.Generator) -> None:
    n = f.claim.x.size
    size = 4 + int(3.0 * math.log(n))
    w = math.log((size + 1) / 2.0) - np.log(np.arange(1, size // 2 + 1))
    w = w / w.sum()
    mass = 1.0 / float(np.sum(w**2))
    cs, cc = (mass + 2.0) / (n + mass + 5.0), (4.0 + mass / n) / (n + 4.0 + 2.0 * mass / n)
    c1 = 2.0 / ((n + 1.3) ** 2 + mass)
    cm = min(1.0 - c1, 2.0 * (mass - 2.0 + 1.0 / mass) / ((n + 2.0) ** 2 + mass))
    damping = 1.0 + cs + 2.0 * max(0.0, math.sqrt((mass - 1.0) / (n + 1.0)) - 1.0)
    expected = math.sqrt(n) * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n * n))
    mean, C, ps, pc = np.zeros(n), np.eye(n), np.zeros(n), np.zeros(n)
    for _ in range(most // size):
        lengths, B = np.linalg.eigh(C)
        root = B * np.sqrt(np.maximum(lengths, 1e-30))
        Z = rng.standard_normal((size, n))
        Y = Z @ root.T
        best = np.argsort([f(mean + sigma * y) for y in Y], kind="stable")[: w.size]
        y = w @ Y[best]
        mean = np.clip(mean + sigma * y, f.lower, f.upper)
        ps = (1.0 - cs) * ps + math.sqrt(cs * (2.0 - cs) * mass) * (B @ (w @ Z[best]))
        pc = (1.0 - cc) * pc + math.sqrt(cc * (2.0 - cc) * mass) * y
        C = (1.0 - c1 - cm) * C + c1 * np.outer(pc, pc) + cm * (Y[best].T * w) @ Y[best]
        sigma = min(
            1.0, sigma * math.exp(min(1.0, cs / damping * (float(np.linalg.norm(ps)) / expected - 1.0)))
        )
