"""The last look before a run ends: which point is returned, and what lies around it.

Values are taken on both sides of x, along every coordinate and along random directions, at lengths from far
below the first step sizes up to them. A saddle, a ridge or a step that slopes and ranks have missed shows
there. Under noise a lower value counts only if the same point is lower again.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pursuit.checks import Vector
from pursuit.methods.programs import Box, Finding, Found, Probes
from pursuit.methods.regression import Quadratic

# How many random directions there are, and how many numbers in those of one request.
_DIRECTIONS, _NUMBERS = 10, 100_000
# The shortest length, as a part of the longest; and under noise, which hides what is nearer.
_SHORTEST, _SHORTEST_IN_NOISE = 1e-4, 1e-2
# How much lower than x a point must be, in standard deviations of the noise, and how often it is evaluated
# again: the mean of these must be lower by this.
_CLEAR, _AGAIN, _CLEAR_AGAIN = 1.5, 4, 2.0
# How wrong a quadratic may be, and how lucky the lowest value, as parts of the noise.
_WRONG, _LUCK = 0.3, 3.0

Answer = tuple[Vector, float, float]
"""A point, an estimate of f there, and the standard error of that."""


class Evidence(NamedTuple):
    """What a run under noise knows of points that may be the best."""

    points: list[Vector]
    """The first is the best one by averages and a quadratic, the last has had the lowest value."""
    f: float
    """About the value at the first one, if there is no quadratic."""
    lowest: float
    noise: float
    spread: float
    """By how much values there differ."""
    quadratic: Quadratic | None

    def estimated(self) -> Answer:
        """Return the best point as far as is known."""
        x, quadratic = self.points[0], self.quadratic
        if quadratic is None:
            return x, self.f, max(self.noise, self.spread)
        value, error = quadratic.at(x)
        # Where it misses values by more than noise explains, it may do so at its minimum.
        misfit = math.sqrt(max(0.0, quadratic.noise**2 - self.noise**2))
        at_lowest = abs(quadratic.at(self.points[-1])[0] - self.lowest) - _LUCK * self.noise
        return x, value, math.hypot(error, _WRONG * self.noise, misfit, max(0.0, at_lowest))

    def settled(self) -> Finding[Answer]:
        """Evaluate the points again; return the best one by these values and the quadratic."""
        each = max(2, min(16, (2 * self.points[0].size + 20) // len(self.points)))
        values = (yield np.repeat(np.array(self.points), each, axis=0)).reshape(-1, each)
        found = []
        for x, of_x in zip(self.points, values, strict=True):
            f = float(np.mean(of_x))
            error = max(self.noise, float(np.std(of_x, ddof=1))) / math.sqrt(each)
            near = self.quadratic
            if near is not None and np.all(np.abs(x - near.center) < 3.0 * near.scales):
                # The mean of both, weighted by their precisions.
                other, deviation = near.at(x)
                one, two = error**-2, 1.0 / (deviation**2 + (_WRONG * self.noise) ** 2)
                f, error = (one * f + two * other) / (one + two), (one + two) ** -0.5
            found.append((x, f if math.isfinite(f) else math.inf, error))
        return min(found, key=lambda one: one[1] + 0.5 * one[2])


def find_better(
    x: Vector,
    f: float,
    box: Box,
    noise: float,
    rng: np.random.Generator,
    *,
    least: float = 0.0,
    reach: float = 1.0,
    suspect: Vector | None = None,
) -> Finding[Found]:
    """Return a point around x that is better by more than noise explains, and its value; None without one.

    It is to be better by at least `least`. It is looked for up to `reach` first step sizes away, or one if
    that is more. It takes 2 n + 20 values, 20 more along a direction that is suspected to lead down, and a
    few more if something better is found.
    """
    box, below = box.wider(reach), f - max(_CLEAR * noise, least)
    shortest = _SHORTEST_IN_NOISE if noise else _SHORTEST
    looks = [
        _along_coordinates(x, below, box, shortest, rng),
        _along_directions(x, below, box, shortest, rng),
    ]
    if suspect is not None and np.isfinite(suspect).all():
        size = float(np.sqrt(np.mean((suspect / box.sigma0) ** 2)))
        looks.append(_along_directions(x, below, box, shortest, rng, suspect / (size + 1e-300)))
    for look in looks:
        found = yield from look
        if found is not None and noise:
            value = float(np.mean((yield np.repeat(found[0][np.newaxis], _AGAIN, axis=0))))
            found = (found[0], value) if value < f - max(_CLEAR_AGAIN * noise, least) else None
        if found is not None:
            return found
    return None


def _along_coordinates(
    x: Vector, below: float, box: Box, shortest: float, rng: np.random.Generator
) -> Finding[Found]:
    """Look along the coordinates; of those that lead down, take all steps at once if that is better still."""
    n = x.size
    steps = box.sigma0 * shortest ** rng.random(n)
    ahead, behind = box.clip(x + steps) - x, box.clip(x - steps) - x
    # Two requests: with many variables one of both sides would double the memory of the run.
    above = yield Probes(x, np.arange(n), ahead)
    lowest = yield Probes(x, np.arange(n), behind)
    down = np.where(above <= lowest, ahead, behind)
    lowest = np.minimum(above, lowest)
    down[lowest >= below] = 0.0
    if not down.any():
        return None
    together = box.clip(x + down)
    value = float((yield together[np.newaxis])[0])
    i = int(np.argmin(lowest))
    if value < lowest[i]:
        return together, value
    best = x.copy()
    best[i] += down[i]
    return best, float(lowest[i])


def _along_directions(
    x: Vector,
    below: float,
    box: Box,
    shortest: float,
    rng: np.random.Generator,
    given: Vector | None = None,
) -> Finding[Found]:
    """Look along a given direction or random ones, several points at once if these take little memory."""
    lengths = shortest ** np.linspace(0.0, 1.0, _DIRECTIONS)[:, np.newaxis]
    for some in np.array_split(lengths, min(_DIRECTIONS, -(-x.size * _DIRECTIONS // _NUMBERS))):
        steps = some * (box.sigma0 * rng.standard_normal((len(some), x.size)) if given is None else given)
        points = box.clip(np.concatenate([x + steps, x - steps]))
        values = yield points
        i = int(np.argmin(values))
        if values[i] < below:
            return points[i], float(values[i])
    return None
