"""Random problems from a number: a function of some family, its variables, noise, bounds and start.

`true` is the value without noise, and `noise` the standard deviation of what a value adds to it, or for heavy
tails what would be that of a normal distribution with the same quartiles.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from attack.families import GROUPS, Formula, Function
from pursuit.checks import Vector

# The noises, the last of which is that of a task of control: an episode has one of a few beginnings, and its
# score is a whole number with a limit.
NOISES = ("normal", "relative", "heavy tails", "rounded", "rare", "episodes")
_EPISODES = 64
# The quartiles of Student's t with two degrees of freedom, in those of the normal distribution.
_TAILS = 0.8165 / 0.6745
# The share of functions without noise whose last digits differ from time to time.
_SHAKY = 0.04
# How often noise is not zero, where it is rare.
_RARE = 0.3


@dataclass
class Problem:
    """A function, possibly noisy, with a start. It remembers the best point that it was asked for."""

    seed: int
    family: str
    about: str
    true: Formula
    value: Formula
    noise: Formula
    x0: Vector
    sigma0: float | Vector
    bounds: tuple[Vector, Vector] | None
    is_noisy: bool
    grain: float
    visited: float = field(default=np.inf)
    """The lowest true value of the points asked for."""

    def __call__(self, x: Vector) -> float:
        """Return a value, possibly noisy."""
        true = self.true(x)
        self.visited = min(self.visited, true)
        # Most problems have no noise, and their values take most of the time.
        return true if self.value is self.true else self.value(x)

    @property
    def most(self) -> int:
        """The evaluations that a run may take."""
        return 3000 * self.x0.size + 2000

    @property
    def box(self) -> tuple[Vector, Vector]:
        """The bounds, infinite where there are none."""
        far = np.full(self.x0.size, np.inf)
        return self.bounds if self.bounds is not None else (-far, far)


def random_problem(seed: int) -> Problem:
    """Return the problem of a number."""
    rng = np.random.default_rng([34, seed])
    n = _size(rng)
    is_noisy = rng.random() < 0.35
    group = str(rng.choice(list(GROUPS), p=[0.4, 0.4, 0.2]))
    family = str(rng.choice(list(GROUPS[group])))
    function = GROUPS[group][family](n, rng)
    z0, place = _start(function, n, rng)
    centre, scales = _coordinates(n, rng)
    lower, upper, bounded = _bounds(z0, n, rng)
    z0 = np.clip(z0, lower, upper)
    if bounded and rng.random() < 0.3:
        z0, place = _at_bounds(z0, lower, upper, rng), "bounds"
    unit = 10.0 ** rng.uniform(-8.0, 8.0)
    shift = unit * float(rng.choice([0.0, 1.0, -1.0], p=[0.6, 0.2, 0.2])) * 10.0 ** rng.uniform(-1.0, 8.0)
    formula = _scaled(function.formula, centre, scales, unit, shift)
    x0 = centre + scales * z0
    value: Formula = formula
    level: Formula = _no_noise
    noise_name = "exact"
    if not is_noisy and rng.random() < _SHAKY:
        noise_name, value = "last digits", _shaken(formula, rng)
    elif is_noisy:
        noise_name = str(rng.choice(NOISES))
        height = unit * _height(function.formula, z0, rng)
        formula, value, level = _noisy(noise_name, formula, height * 10.0 ** rng.uniform(-4.0, 0.0), x0, rng)
    wrong = float(rng.choice([1.0, 0.01, 100.0], p=[0.7, 0.15, 0.15]))
    step = 0.5 * wrong * scales
    about = (
        f"{group}: {family}, n = {n}, {noise_name}, {bounded or 'no bounds'}, start: {place}, "
        f"sigma0 * {wrong:g}, {'scaled' if np.ptp(scales) else 'unscaled'}, f * {unit:.2g} + {shift:.2g}"
    )
    return Problem(
        seed=seed,
        family=f"{family}, noisy" if is_noisy else family,
        about=about,
        true=formula,
        value=value,
        noise=level,
        x0=x0,
        sigma0=step if np.ptp(step) > 0.0 else float(step[0]),
        bounds=(centre + scales * lower, centre + scales * upper) if bounded else None,
        is_noisy=is_noisy,
        grain=unit * function.grain,
    )


def _shaken(true: Formula, rng: np.random.Generator) -> Formula:
    """Return a function whose last digits differ from time to time, as those of sums by several threads."""
    return lambda x: true(x) * (1.0 + 1.1e-16 * float(rng.integers(-1, 2)))


def _size(rng: np.random.Generator) -> int:
    kind = rng.random()
    if kind < 0.05:
        return 1
    return int(rng.integers(2, 13)) if kind < 0.9 else int(rng.integers(13, 41))


def _no_noise(x: Vector) -> float:
    return 0.0


def _start(function: Function, n: int, rng: np.random.Generator) -> tuple[Vector, str]:
    """Return a start, mostly some way from 0, and where that is in words."""
    if function.special is not None and rng.random() < 0.15:
        return function.special.copy(), "special"
    if rng.random() < 0.1:
        return np.zeros(n), "zeros"
    direction = rng.standard_normal(n)
    length = function.distance * 10.0 ** rng.uniform(-1.0, 0.3) / np.linalg.norm(direction)
    return direction * length * np.sqrt(n), "somewhere"


def _coordinates(n: int, rng: np.random.Generator) -> tuple[Vector, Vector]:
    """Return where 0 lies for users, and the length of each variable."""
    scales = np.full(n, 10.0 ** rng.uniform(-3.0, 3.0))
    if rng.random() < 0.2:
        scales = 10.0 ** rng.uniform(-3.0, 3.0, n)
    centre = (
        np.zeros(n) if rng.random() < 0.4 else scales * rng.standard_normal(n) * 10.0 ** rng.uniform(0, 2)
    )
    return centre, scales


def _bounds(z0: Vector, n: int, rng: np.random.Generator) -> tuple[Vector, Vector, str]:
    """Return bounds around z0, and what they are in words."""
    kind = str(rng.choice(["", "wide bounds", "active bounds", "one-sided bounds"], p=[0.5, 0.15, 0.25, 0.1]))
    lower, upper = np.full(n, -np.inf), np.full(n, np.inf)
    if kind == "wide bounds":
        lower, upper = np.minimum(z0, -2.0) - 0.3, np.maximum(z0, 2.0) + 0.3
    elif kind:
        # Many are between the start and 0, where most functions are lowest.
        inner = rng.uniform(0.0, 1.0, n) * z0
        outer = z0 + np.where(z0 < 0.0, -1.0, 1.0) * rng.uniform(0.0, 2.0, n)
        lower, upper = np.minimum(inner, outer) - 0.1, np.maximum(inner, outer) + 0.1
        if kind == "one-sided bounds":
            is_low = rng.random(n) < 0.5
            lower, upper = np.where(is_low, lower, -np.inf), np.where(is_low, np.inf, upper)
    return lower, upper, kind


def _at_bounds(z0: Vector, lower: Vector, upper: Vector, rng: np.random.Generator) -> Vector:
    """Return a start at a corner, or at some bounds."""
    part = 1.0 if rng.random() < 0.4 else 0.4
    bound = np.where(rng.random(z0.size) < 0.5, lower, upper)
    return np.where((rng.random(z0.size) < part) & np.isfinite(bound), bound, z0)


def _scaled(formula: Formula, centre: Vector, scales: Vector, unit: float, shift: float) -> Formula:
    """Return the function in the users' variables and units."""

    def scaled(x: Vector) -> float:
        return unit * formula((np.asarray(x) - centre) / scales) + shift

    return scaled


def _height(formula: Formula, z0: Vector, rng: np.random.Generator) -> float:
    """Return by how much values differ around a start."""
    values = [formula(z0 + 0.5 * rng.standard_normal(z0.size)) for _ in range(20)]
    return float(np.median(np.abs(np.array(values) - formula(z0)))) + 1e-12


def _noisy(
    name: str, true: Formula, level: float, x0: Vector, rng: np.random.Generator
) -> tuple[Formula, Formula, Formula]:
    """Return the expected value, a noisy value and the size of the noise."""
    if name == "episodes":
        return _episodes(true, x0, level, rng)
    add: Callable[[], float] = rng.standard_normal
    size = level
    if name == "relative":
        part = min(level / (abs(true(x0)) + 1e-300), 0.3)
        return true, lambda x: true(x) * (1.0 + part * add()), lambda x: part * abs(true(x))
    if name == "heavy tails":
        size = _TAILS * level
        return true, lambda x: true(x) + level * rng.standard_t(2), lambda x: size
    if name == "rounded":
        # To the noise's size: many values are equal.
        size = level * np.sqrt(1.0 + 1.0 / 12.0)
        return true, lambda x: level * float(np.round(true(x) / level + add())), lambda x: size
    if name == "rare":
        size = level * np.sqrt(_RARE)
        return true, lambda x: true(x) + (level * add() if rng.random() < _RARE else 0.0), lambda x: size
    return true, lambda x: true(x) + level * add(), lambda x: level


def _episodes(
    true: Formula, x0: Vector, level: float, rng: np.random.Generator
) -> tuple[Formula, Formula, Formula]:
    """Return the mean, one and the spread of scores of episodes: whole numbers with a limit."""
    beginnings = level * rng.standard_normal(_EPISODES) * 3.0
    start, above = true(x0), rng.random() < 0.5
    limit = start + 30.0 * level if above else start - 10.0 * level
    limited = np.minimum if above else np.maximum

    def scores(x: Vector) -> Vector:
        found: Vector = level * np.round(limited(true(x) + beginnings, limit) / level)
        return found

    def one(x: Vector) -> float:
        return float(scores(x)[rng.integers(_EPISODES)])

    return lambda x: float(scores(x).mean()), one, lambda x: max(level, float(scores(x).std()))
