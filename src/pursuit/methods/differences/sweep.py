"""Sweeps: probes along every coordinate, from which slopes and curvatures follow.

g_i = (f(x + h_i e_i) - f(x))/h_i - h_i D_i/2      one value, exact for a quadratic whose D_i is known
g_i = (f(x + h_i e_i) - f(x - h_i e_i))/(2 h_i)    two values,
D_i = (f(x + h_i e_i) + f(x - h_i e_i) - 2 f(x))/h_i^2      which also measure the curvature
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pursuit.checks import Vector
from pursuit.methods.differences.matrix import Mask, first_matrix, norm
from pursuit.methods.differences.state import TINY, State
from pursuit.methods.programs import Asking, Finding, Probes

Indices = NDArray[np.int64]

# From this many variables on, a sample tells whether curvatures differ: so many times the root of the number.
MANY, _SAMPLE = 500, 3
# All coordinates are probed on both sides if wrong curvatures make up this part of the gradient.
_DOUBT = 0.2
# Curvatures scale the matrix one by one if most of them differ by more than this factor, or some by more than
# that: to scale by differences that are due to a rotation costs more than it brings.
_DIFFER, _OUTLIER = 4.0, 100.0
# They do so only if the cosine of the angle between D s and the change of the gradient along the step s is at
# least this part of that for s itself.
_EXPLAINED = 0.8
# They scale it only if no more than this part of them is negative.
_NEGATIVE = 0.1
# The smallest curvature that is believed, as a part of the largest.
_SMALLEST = 1e-18
# Without noise, probes change f by this many rounding errors at least,
_ROUNDINGS = 4.0
# and are no longer than this part of the last step.
_PART_OF_STEP = 0.1
# The noise of a second difference, in units of that of a value.
_NOISE_OF_D = 2.45
# The shortest probes.
_RELATIVE, _ABSOLUTE = 1e-9, 1e-15
# No probe is longer than this many first or longest steps.
_LONGEST = 10.0


def inward(state: State, lengths: Vector | float, rng: np.random.Generator) -> Vector:
    """Return steps of these lengths with random signs, away from bounds that are near, and within them."""
    sides = rng.random(state.x.size)
    sides -= 0.5
    if not state.box.is_bounded:
        return np.copysign(lengths, sides, out=sides)
    up, down = state.box.upper - state.x, state.x - state.box.lower
    ahead = sides > 0.0
    ahead = np.where((np.where(ahead, up, down) < lengths) & (up != down), up > down, ahead)
    return np.where(ahead, np.minimum(lengths, up), -np.minimum(lengths, down))


def begin_probing(state: State, lengths: Vector | float, rng: np.random.Generator) -> None:
    """Choose probes of these lengths, so that x and x + h differ by exactly h, and none is 0.

    What they tell is written into arrays of their own.
    """
    longest = _LONGEST * max(state.box.largest, state.longest)
    probes = inward(state, np.minimum(lengths, longest), rng)
    probes += state.x
    probes -= state.x
    probes[probes == 0.0] = TINY
    state.probes, state.gradient = probes, state.gradient.copy()
    state.curvature, state.doubt = state.curvature.copy(), state.doubt.copy()


def sweep(state: State, rng: np.random.Generator, back: Mask | bool) -> Finding[Vector]:
    """Probe along every coordinate; to the other side as well where asked to, or f has no value.

    Without noise to all other sides, where unknown curvatures would matter. The values ahead are returned.
    """
    begin_probing(state, state.lengths, rng)
    D = _curvature(state)
    ahead = yield from probe(state, np.arange(D.size), D)
    if state.masked is None and norm(state.probes * D * state.doubt) > _DOUBT * norm(state.gradient):
        back = True
    i = np.flatnonzero(back | ~np.isfinite(ahead))
    if i.size:
        yield from probe_back(state, i, ahead[i])
    state.sweeps += 1
    return ahead


def measuring_sweep(state: State, rng: np.random.Generator) -> Asking:
    """Probe along every coordinate on both sides, and begin the matrix with the curvatures.

    Of many variables a sample is probed on both sides first; if its curvatures are alike, their mean stands
    for all.
    """
    n, before = state.x.size, state.probes
    is_sampled = n >= MANY and not state.noise_model.is_known
    sample = rng.permutation(n) < _SAMPLE * math.isqrt(n) if is_sampled else np.ones(n, dtype=bool)
    state.curvature = np.zeros(n)
    ahead = yield from sweep(state, rng, back=sample)
    known, rest = state.known_curvatures, np.flatnonzero(~sample)
    if rest.size and differ(known):
        yield from probe_back(state, rest, ahead[rest])
        known = state.known_curvatures
    elif rest.size and known.size:
        c = float(np.abs(known).mean())
        state.gradient[rest] -= state.probes[rest] * c / 2.0
        state.curvature[rest], state.doubt[rest] = c, min(1.0, float(known.std()) / c)
    if state.last_gradient is not None and state.sweeps == 2:
        # The slopes before the last step were taken for those of a function without curvature.
        state.last_gradient = state.last_gradient - before * state.curvature / 2.0
    if known.size and np.mean(known < 0.0) <= _NEGATIVE:
        sizes = sizes_of(state)
        state.matrix = first_matrix(n, sizes if differ(known) and _explain(state) else float(sizes.mean()))
    state.is_scaled = True


def differ(curvatures: Vector, share: float = 0.1) -> bool:
    """Say whether known curvatures, but for a share at both ends, differ by much, or some by very much."""
    if not curvatures.size:
        return False
    sizes = np.maximum(np.abs(curvatures), _SMALLEST * np.abs(curvatures).max())
    low, high = np.quantile(sizes, [share, 1.0 - share])
    return bool(high > _DIFFER * low or sizes.max() > _OUTLIER * sizes.min())


def _explain(state: State) -> bool:
    """Say whether the curvatures explain how the gradient changed along the last step.

    They do not where they change along it, as next to kinks that are a little round.
    """
    s, g = state.last_step, state.last_gradient
    if s is None or g is None:
        return True
    change, Ds = state.gradient - g, state.curvature * s
    return float(Ds @ change) * norm(s) >= _EXPLAINED * float(s @ change) * norm(Ds)


def _curvature(state: State) -> Vector:
    """Return the measured curvatures, and those of the matrix where there are none."""
    otherwise = 0.0 if state.matrix.fresh else state.matrix.diagonal
    return np.where(state.curvature != 0.0, state.curvature, otherwise)


def probe(state: State, i: Indices, D: Vector) -> Finding[Vector]:
    """Probe along some coordinates, which gives slopes, given curvatures; return the values."""
    h = state.probes[i]
    F = yield Probes(state.x, i, h)
    if np.equal(F, state.f).all():
        state.flat += 1
    elif state.flat:
        # Values that differ only at a distance are rounded.
        state.flat, state.is_suspicious, state.measured = 0, True, -10
    _set_slopes(state, i, np.where(np.abs(h) > TINY, (F - state.f) / h - h * D / 2.0, 0.0))
    return F


def probe_back(state: State, i: Indices, F: Vector) -> Asking:
    """Probe to the other side as well, or next to a bound half as far on the same side: slopes, curvatures.

    F are the values ahead.
    """
    f, h = state.f, state.probes[i]
    is_inside = (state.box.clip(state.x - state.probes) == state.x - state.probes)[i]
    B = yield Probes(state.x, i, np.where(is_inside, -h, h / 2.0))
    D = np.where(is_inside, F + B - 2.0 * f, 4.0 * (F - 2.0 * B + f)) / h**2
    noise = np.where(is_inside, _NOISE_OF_D, 4.0 * _NOISE_OF_D) * state.noise / h**2
    two = np.isfinite(D)
    state.curvature[i] = np.where(two & (D != 0.0), D, state.curvature[i])
    state.doubt[i] = np.where(two, np.minimum(1.0, noise / (np.abs(D) + TINY)), 1.0)
    slopes = np.where(is_inside, (F - B) / (2.0 * h), (F - f) / h - h * state.curvature[i] / 2.0)
    one = np.where(np.isfinite(B) & is_inside, (f - B) / h, state.gradient[i])
    _set_slopes(state, i, np.where(two, slopes, one))


def _set_slopes(state: State, i: Indices, slopes: Vector) -> None:
    # Slopes along which f has no values count as none.
    state.gradient[i] = np.where(np.isfinite(slopes), slopes, 0.0)


def sizes_of(state: State, otherwise: Vector | float | None = None) -> Vector:
    """Return the sizes of the curvatures, `otherwise` or the median where there are none."""
    otherwise = state.typical_curvature() if otherwise is None else otherwise
    sizes = np.where(state.curvature != 0.0, np.abs(state.curvature), otherwise)
    positive: Vector = np.maximum(sizes, _SMALLEST * sizes.max()) + TINY
    return positive


def choose_lengths(state: State) -> None:
    """Choose the lengths of the next probes: noise is to disturb slopes as much as wrong curvatures do."""
    D = sizes_of(state, state.matrix.diagonal)
    factor = state.probe_factor if state.noise_model.is_known else _ROUNDINGS
    h = np.sqrt(factor * state.noise / D)
    if state.last_step is not None:
        # The better a curvature is known, the longer a probe may be, in relation to the last step.
        longest = _PART_OF_STEP * np.sqrt(np.mean(D * state.last_step**2) / D)
        h = np.maximum(h, np.minimum(h / np.sqrt(np.maximum(state.doubt, 1e-9)), longest))
    # x must change, in relation to itself and to sigma0.
    state.lengths = np.maximum(h, _RELATIVE * np.abs(state.x) + _ABSOLUTE * state.box.sigma0)
