"""The opening for few variables: a quadratic model through the last 2 n + 1 points, in a trust region.

    evaluate x0 and points to both sides of it, sigma0 away; the model goes through them
    repeat: s <- the minimum of the model within the trust radius and the bounds
            unless s is short beside their spacing:
                evaluate x + s; it replaces a point whose place it takes well
            if s was short or bad: replace a point that is far away; without any, let them come closer
            the model changes as little as possible, so that it goes through all points

This is Powell's idea (NEWUOA, 2006; BOBYQA, 2009): every value is a point of the model, and points are as far
apart as steps are long, so that noise matters only at the end. The least change, in the Frobenius norm of the
Hessian, takes a linear system of 3 n + 2 equations for each value: hence few variables.

Under noise the model need not go through the points: it misses each by so little that the squares of what it
misses, in units of the noise, and of the change, in units of the Hessian, have the least sum. Up to 4 n + 1
points that are near are kept then, since more of them average noise out.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pursuit.checks import Vector
from pursuit.methods.differences.matrix import Array, Dense
from pursuit.methods.differences.noise import repeat
from pursuit.methods.differences.state import TINY, Opening, State
from pursuit.methods.differences.sweep import choose_lengths
from pursuit.methods.programs import Asking, Finding
from pursuit.methods.regression import lowest_within

# The most variables, and without noise the most evaluations for each of them; sweeps of slopes are worth more
# then. Without noise and bounds they are worth more from a few variables on.
_MOST, _MOST_EXACT = 15, 6
_LONG_BOUNDED, _LONG = 10, 3
# Without noise the opening is left at once if curvatures differ by more than this factor: sigma0 is no
# measure of all variables then.
_ALIKE = 1e3
# The opening ends when points are this close together, in units of sigma0.
_CLOSEST = 1e-3
# A step is good or bad if f falls by this part of what the model predicts.
_GOOD, _BAD = 0.7, 0.1
# The smallest curvature that is handed over, as a part of the largest.
_SMALLEST = 1e-9
# How much closer points come at a time.
_CLOSER = 0.1
# Points are far away beyond this many trust radii.
_FAR = 2.0
# Under noise so many more points per variable are kept if they are not far away, and this is how much a miss
# by the noise weighs beside a change by the whole Hessian.
_MORE, _MISS, _MOST_MISSED = 2, 3.0, 1e6
# Noise masks the model if the values at its points vary by less than this many times the noise.
_MASKED = 3.0


def is_worth_it(state: State) -> bool:
    """Say whether there are few variables, and points are evaluated one after the other."""
    most = _MOST if state.noise_model.is_random else _MOST_EXACT
    return state.batch == 1 and state.x.size <= most


def begin_opening(state: State) -> Asking:
    """Evaluate points to both sides of each coordinate, or two on one side next to a bound."""
    n, unit = state.x.size, state.box.sigma0
    up = np.minimum((state.box.upper - state.x) / unit, 2.0)
    down = np.minimum((state.x - state.box.lower) / unit, 2.0)
    both = np.minimum(up, down) >= 0.5
    one = np.where(both, np.minimum(up, 1.0), np.where(up >= down, 0.5 * up, -0.5 * down))
    other = np.where(both, -np.minimum(down, 1.0), 2.0 * one)
    points = state.box.after(state.x, np.concatenate([np.diag(one), np.diag(other)]) * unit)
    values = yield points
    state.opening = Opening(
        points=np.concatenate([state.x[np.newaxis], points]),
        values=np.concatenate([[state.f], values]),
        gradient=np.zeros(n),
        hessian=np.zeros((n, n)),
        evaluations=2 * n + 1,
    )
    _fit(state, state.opening)
    curvatures = np.abs(state.opening.hessian.diagonal())
    if not state.noise_model.is_random and curvatures.max() > _ALIKE * curvatures.min():
        state.opening = None


def iterate_opening(state: State) -> Asking:
    """Take a step of the model; if it is short or bad, improve the model, or let its points come closer."""
    opening, unit = state.opening, state.box.sigma0
    assert opening is not None
    # Distances are in units of the trust radius.
    r, g, H = opening.radius, opening.gradient, opening.hessian
    low, high = (state.box.lower - state.x) / (r * unit), (state.box.upper - state.x) / (r * unit)
    s = lowest_within(r * g, r * r * H, low, high, 1.0)
    is_short = bool(r * np.linalg.norm(s) < 0.5 * opening.spacing)
    if not is_short and (yield from _try(state, opening, s)):
        return
    opening = state.opening
    assert opening is not None
    distances = np.linalg.norm((opening.points - state.x) / unit, axis=1)
    far = int(np.argmax(distances))
    if distances[far] > _FAR * opening.radius and (is_short or state.noise_model.is_random):
        yield from _improve(state, opening, far, distances[far])
    elif is_short or opening.radius <= opening.spacing:
        yield from _come_closer(state, opening)


def _try(state: State, opening: Opening, s: Vector) -> Finding[bool]:
    """Take a step, and say whether f falls as the model predicts."""
    unit, r, spacing = state.box.sigma0, opening.radius, opening.spacing
    x = state.box.after(state.x, s * r * unit)
    s = (x - state.x) / (r * unit)
    if not s.any():
        return False
    f, before = float((yield x[np.newaxis])[0]), state.f
    ratio = (f - before) / float(r * opening.gradient @ s + r * r * s @ opening.hessian @ s / 2.0)
    length = r * float(np.linalg.norm(s))
    is_bad = not ratio >= _BAD
    radius = max(r, 2.0 * length) if ratio >= _GOOD else 0.5 * length if is_bad else max(0.5 * r, length)
    # The Lagrange polynomials of the points tell how well x takes their places.
    U = (opening.points - state.x) / (r * unit)
    fit = np.abs(_lagrange(U)[: len(U)] @ np.concatenate([0.5 * (U @ s) ** 2, [1.0], s]))
    distances = np.linalg.norm(U - (s if f < before else 0.0), axis=1)
    fit *= np.maximum(1.0, distances / max(0.1, spacing / r)) ** 4
    if not f < before:
        fit[int(np.argmin(opening.values))] = -1.0
    opening = replace(opening, radius=spacing if radius <= 1.5 * spacing else radius)
    replaced = int(np.argmax(fit))
    _learn(state, opening, replaced if f < before or fit[replaced] > 1.0 else None, x, f)
    return not is_bad


def _improve(state: State, opening: Opening, far: int, distance: float) -> Asking:
    """Replace a point that is far away by one that tells the model most."""
    unit = max(min(0.1 * distance, 0.5 * opening.radius), opening.spacing) * state.box.sigma0
    U = (opening.points - state.x) / unit
    low, high = (state.box.lower - state.x) / unit, (state.box.upper - state.x) / unit
    x = state.box.after(state.x, unit * _poised(_lagrange(U)[:, far], U, low, high))
    if np.array_equal(x, state.x):
        yield from _come_closer(state, opening)
    else:
        _learn(state, opening, far, x, float((yield x[np.newaxis])[0]))


def _learn(state: State, opening: Opening, i: int | None, x: Vector, f: float) -> None:
    """Let a point replace another one, or none; under noise keep both if they are near each other."""
    points, values = opening.points, opening.values
    if i is not None:
        is_near = np.linalg.norm((points[i] - x) / state.box.sigma0) <= _FAR * opening.radius
        if is_near and state.noise_model.is_random and len(values) <= (2 + _MORE) * x.size:
            i = len(values)
        points = np.vstack([points[:i], x, points[i + 1 :]])
        values = np.concatenate([values[:i], [f], values[i + 1 :]])
    if f < state.f:
        state.last_step = x - state.x
    evaluations = opening.evaluations + 1
    _fit(state, replace(opening, points=points, values=values, evaluations=evaluations))


def _lagrange(U: Array) -> Array:
    lagrange: Array = np.asarray(np.linalg.pinv(_system(U), rcond=1e-14), dtype=np.float64)
    return lagrange


def is_over(state: State) -> bool:
    """Say whether sweeps are worth more now."""
    opening = state.opening
    assert opening is not None
    long = _LONG_BOUNDED if state.box.is_bounded else _LONG
    is_long = opening.evaluations > long * state.x.size and not state.noise_model.is_random
    is_flat = not np.ptp(opening.values) > 0.0
    return is_flat or is_long or opening.spacing < _CLOSEST


def end_opening(state: State) -> None:
    """Hand over what the model knows to the matrix; its Hessian is made positive definite."""
    opening, unit = state.opening, state.box.sigma0
    assert opening is not None
    state.opening = None
    if not opening.hessian.any():
        return
    values, V = np.linalg.eigh(opening.hessian)
    sizes = np.maximum(np.abs(values), _SMALLEST * np.abs(values).max() + TINY)
    units = np.multiply.outer(unit, unit)
    state.matrix = Dense((V * sizes) @ V.T / units, (V / sizes) @ V.T * units, fresh=False)
    state.gradient = opening.gradient / unit
    state.last_step, state.is_scaled = None, True
    choose_lengths(state)
    state.lengths = np.clip(state.lengths, 1e-4 * opening.radius * unit, opening.radius * unit)


def _come_closer(state: State, opening: Opening) -> Asking:
    """Let points come closer, unless noise masks the model; the best value may have been a lucky one."""
    spacing = _CLOSER * opening.spacing
    if state.noise_model.is_random:
        yield from repeat(state, 1)
        spread = float(np.std(opening.values))
        if spread <= _MASKED * state.noise:
            # Few values tell little about noise.
            yield from repeat(state)
            spacing = 0.0 if spread <= _MASKED * state.noise else spacing
        values = opening.values.copy()
        values[int(np.argmin(values))] = state.f
        opening = replace(opening, values=values)
    _fit(state, replace(opening, spacing=spacing, radius=max(0.5 * opening.spacing, spacing)))


def _fit(state: State, opening: Opening) -> None:
    """Go to the best point, and change the model as little as possible to go through all points."""
    unit, r = state.box.sigma0, opening.radius
    # A point without a value counts as the worst that has one.
    values = np.minimum(opening.values, opening.values[np.isfinite(opening.values)].max())
    best = int(np.argmin(values))
    gradient = opening.gradient + opening.hessian @ ((opening.points[best] - state.x) / unit)
    state.x, state.f = opening.points[best], float(values[best])
    S = (opening.points - state.x) / unit
    model = S @ gradient + 0.5 * np.einsum("ij,ij->i", S @ opening.hessian, S)
    missing = np.concatenate([values - state.f - model, np.zeros(S.shape[1] + 1)])
    size, hessian = r * r * float(np.linalg.norm(opening.hessian)), opening.hessian
    is_free = state.noise_model.is_random and size > 0.0
    miss = min(_MISS * (state.noise / size) ** 2, _MOST_MISSED) if is_free else 0.0
    change = np.linalg.pinv(_system(S / r, miss), rcond=1e-14) @ missing
    if np.isfinite(change).all():
        m = len(S)
        hessian = hessian + (S.T * (change[:m] / r**4)) @ S
        gradient, hessian = gradient + change[m + 1 :] / r, (hessian + hessian.T) / 2.0
    state.opening = replace(opening, values=values, gradient=gradient, hessian=hessian)


def _system(U: Array, miss: float = 0.0) -> Array:
    """Return the matrix of the equations of a model with the least change, given its points."""
    m, n = U.shape
    W = np.zeros((m + n + 1, m + n + 1))
    W[:m, :m] = 0.5 * (U @ U.T) ** 2 + miss * np.eye(m)
    W[:m, m] = W[m, :m] = 1.0
    W[:m, m + 1 :], W[m + 1 :, :m] = U, U.T
    return W


def _poised(polynomial: Vector, U: Array, low: Vector, high: Vector) -> Vector:
    """Return a step to where the Lagrange polynomial of a point is large, so that it can be replaced."""
    m = len(U)
    c, g, H = polynomial[m], polynomial[m + 1 :], (U.T * polynomial[:m]) @ U
    steps = [lowest_within(sign * g, sign * H, low, high, 1.0) for sign in (1.0, -1.0)]
    return max(steps, key=lambda s: abs(float(c + g @ s + s @ H @ s / 2.0)))
