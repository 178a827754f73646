"""The last look before a run ends, at what lies around x.

Values on both sides of x, along every coordinate and along random directions, at lengths from far below the
first step sizes up to them. A saddle, a ridge or a step that slopes and ranks have missed shows there. Under
noise a lower value counts only if the same point is lower again.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pursuit.checks import Vector
from pursuit.methods.programs import Box, Finding, Probes

# How many random directions there are, and how many numbers in those of one request.
_DIRECTIONS, _NUMBERS = 10, 100_000
# The shortest length, as a part of the longest.
_SHORTEST = 1e-4
_LENGTHS = _SHORTEST ** (np.arange(_DIRECTIONS) / (_DIRECTIONS - 1))[:, np.newaxis]
# How much lower than x a point must be, in standard deviations of the noise, and how often it is evaluated
# again; the mean of these must be lower by this.
_CLEAR, _AGAIN, _CLEAR_AGAIN = 3.0, 4, 2.0

Found = tuple[Vector, float] | None
"""A point and its value, or nothing."""


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
    box, below = replace(box, sigma0=box.sigma0 * max(1.0, reach)), f - max(_CLEAR * noise, least)
    along = yield from _along_coordinates(x, below, box, rng)
    if along is None:
        along = yield from _along_directions(x, below, box, rng)
    if along is None and suspect is not None and np.isfinite(suspect).all():
        size = float(np.sqrt(np.mean((suspect / box.sigma0) ** 2)))
        along = yield from _along_directions(x, below, box, rng, suspect / (size + 1e-300))
    if along is None or noise == 0.0:
        return along
    again = yield np.repeat(along[0][np.newaxis], _AGAIN, axis=0)
    value = float(np.mean(again))
    return (along[0], value) if value < f - max(_CLEAR_AGAIN * noise, least) else None


def _along_coordinates(x: Vector, below: float, box: Box, rng: np.random.Generator) -> Finding[Found]:
    """Look along the coordinates; of those that lead down, take all steps at once if that is better still."""
    n = x.size
    steps = box.sigma0 * _SHORTEST ** rng.random(n)
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
    x: Vector, below: float, box: Box, rng: np.random.Generator, given: Vector | None = None
) -> Finding[Found]:
    """Look along a given direction or random ones, several points at once if these take little memory."""
    for some in np.array_split(_LENGTHS, min(_DIRECTIONS, -(-x.size * _DIRECTIONS // _NUMBERS))):
        steps = some * (box.sigma0 * rng.standard_normal((len(some), x.size)) if given is None else given)
        points = box.clip(np.concatenate([x + steps, x - steps]))
        values = yield points
        i = int(np.argmin(values))
        if values[i] < below:
            return points[i], float(values[i])
    return None
