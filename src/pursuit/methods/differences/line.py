"""A search along a direction by values alone."""

from __future__ import annotations

import math

import numpy as np

from pursuit.checks import Vector
from pursuit.methods.differences.matrix import norm
from pursuit.methods.differences.state import State
from pursuit.methods.programs import Finding

# The most values on a line, and the most without a better one among them.
_MOST, _MOST_FAILURES = 30, 12
# A further value must promise as much as an average one of the iteration has gained.
_THRIFT = 1.0
# If nothing better was found, the next value is at this part of the shortest multiple at least, and at most.
_SHORTEST, _SHORTER = 0.1, 0.5
# The multiples of a first step that are tried at once, if several points are evaluated at a time and their
# number is small beside that of a sweep.
_AT_ONCE = (1.0, 0.4, 2.5, 0.1)
_SHARE = 8

Seen = list[tuple[float, float]]


def search(state: State, p: Vector, slope: float, t: float, farthest: float) -> Finding[tuple[float, float]]:
    """Return the best multiple of p that was tried, and its value.

    The first is t, and each further one at most `farthest` times as far as the best.
    """
    f, n = state.f, state.x.size
    best, f_best = 0.0, f
    seen: Seen = []
    multiples = [t * factor for factor in _AT_ONCE[: min(state.batch, 1 + n // _SHARE)]]
    while True:
        values = yield np.array([state.box.after(state.x, t * p) for t in multiples])
        seen.extend(zip(multiples, values.tolist(), strict=True))
        f_best, best = min([(value, t) for t, value in seen] + [(f, 0.0)])
        c, d = _cubic(f, slope, seen)
        following = _next_multiple(slope, c, d, seen, best, farthest)
        if following is None or len(seen) >= _MOST:
            return best, f_best
        if best > 0.0:
            promise = f_best - (f + slope * following + c * following**2 / 2.0 + d * following**3 / 2.0)
            if promise < _THRIFT * (f - f_best) / (2 + n):
                return best, f_best
        else:
            least = state.noise * (2.0 if state.noise_model.is_known else 0.1)
            if len(seen) >= _MOST_FAILURES or abs(following * slope) < least:
                return best, f_best
        multiples = [following]


def first_multiple(state: State, p: Vector, slope: float) -> float:
    """Return the first multiple: sigma0, or to where a parabola that falls from f to 0 has its minimum."""
    length = 1.0 / norm(p / state.box.sigma0)
    return min(length, 2.0 * state.f / -slope) if state.f > 0.0 else length


def _cubic(f: float, slope: float, seen: Seen) -> tuple[float, float]:
    """Return c and d of f + slope t + c t^2/2 + d t^3/2 through the two lowest values; NaN without any."""
    lowest = sorted((value, 2.0 * ((value - f) / t - slope) / t, t) for t, value in seen if value < math.inf)
    if not lowest:
        return math.nan, math.nan
    _, c, t = lowest[0]
    if len(lowest) == 1:
        return c, 0.0
    _, other, u = lowest[1]
    d = (other - c) / (u - t)
    return c - d * t, d


def _next_multiple(
    slope: float, c: float, d: float, seen: Seen, best: float, farthest: float
) -> float | None:
    """Return where the cubic has its minimum, within reason; None if that is hardly elsewhere."""
    tried = [t for t, _ in seen]
    if math.isnan(c):
        return _SHORTEST * min(tried)
    if d == 0.0 or abs(1.5 * d * slope) < 1e-8 * c * c:
        t = -slope / c if c > 0.0 else math.inf
    else:
        q = c * c - 6.0 * d * slope
        t = (math.sqrt(q) - c) / (3.0 * d) if q >= 0.0 else math.inf
        t = t if t > 0.0 else math.inf
    if best == 0.0:
        return min(max(t, _SHORTEST * min(tried)), _SHORTER * min(tried))
    if best == max(tried):
        t = min(t, farthest * best)
    else:
        above = min(u for u in tried if u > best)
        below = max([0.0, *(u for u in tried if u < best)])
        t = max(min(t, best + 0.7 * (above - best)), below + 0.2 * (best - below))
    is_known = abs(t - best) < 0.02 * best or any(abs(t - u) < 1e-3 * u for u in tried)
    return None if is_known else t
