"""The opening for few variables: a quadratic model through the last 2 n + 1 points, in a trust region.

    evaluate x0 and points to both sides of it, sigma0 away; the model goes through them
    repeat: s <- the minimum of the model within the trust radius and the bounds
            if s is short beside their spacing: replace a point that is far away, or let them come closer
            evaluate x + s; it replaces a point whose place it takes well
            the model changes as little as possible, so that it goes through all points

This is Powell's idea (NEWUOA, 2006; BOBYQA, 2009): every value is a point of the model, and points are as far
apart as steps are long, so that noise matters only at the end. The least change, in the Frobenius norm of the
Hessian, takes a linear system of 3 n + 2 equations for each value: hence few variables.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pursuit.checks import Vector
from pursuit.methods.differences.matrix import Array, Dense
from pursuit.methods.differences.noise import look_for_noise, repeat
from pursuit.methods.differences.state import TINY, Opening, State
from pursuit.methods.differences.sweep import choose_lengths
from pursuit.methods.programs import Asking

# The most variables, and the most evaluations for each of them; sweeps of slopes are worth more then. Without
# noise and bounds sweeps are worth more from a few variables on.
MOST, MOST_BOUNDED, MOST_EXACT = 15, 6, 2
_LONG, _LONG_EXACT = 10, 6
# The opening ends when points are this close together, in units of sigma0.
_CLOSEST = 1e-3
# Bounds are too close together for it if there is less room than this, in units of sigma0.
_NARROW = 1e-2
# Values are cut where they exceed the lower half of all by this many times what these differ by.
_HUGE = 1e3
# A step is good or bad if f falls by this part of what the model predicts.
_GOOD, _BAD = 0.7, 0.1
# How much closer points come at a time.
_CLOSER = 0.1
# Noise masks the model if the values at its points vary by less than this many times the noise.
_MASKED = 3.0


def has_room(state: State) -> bool:
    """Say whether the first points fit between the bounds."""
    width = np.asarray(state.box.upper) - np.asarray(state.box.lower)
    return bool((width >= _NARROW * np.asarray(state.box.sigma0)).all())


def begin_opening(state: State) -> Asking:
    """Evaluate the first points, and take a model through them: a parabola along each coordinate."""
    n, unit = state.x.size, _unit(state)
    one, other = _first_steps(state)
    steps = np.concatenate([np.zeros((1, n)), np.diag(one), np.diag(other)])
    points = state.box.after(state.x, steps * unit)
    values = np.concatenate([[state.f], (yield points[1:])])
    values = np.minimum(values, _ceiling(values))
    ahead, behind = values[1 : n + 1] - state.f, values[n + 1 :] - state.f
    bend = 2.0 * (ahead / one - behind / other) / (one - other)
    slope = ahead / one - bend * one / 2.0
    best = int(np.argmin(values))
    state.opening = Opening(
        points=points,
        values=values,
        best=best,
        gradient=slope + bend * steps[best],
        hessian=np.diag(bend),
        radius=1.0,
        spacing=1.0,
        evaluations=2 * n + 1,
    )
    state.x, state.f = points[best], float(values[best])


def iterate_opening(state: State) -> Asking:
    """Take one value more: a step of the model, or a point that improves it."""
    opening = state.opening
    assert opening is not None
    low, high = (state.box.lower - state.x) / _unit(state), (state.box.upper - state.x) / _unit(state)
    S = (opening.points - state.x) / _unit(state)
    step = trust_step(opening.gradient, opening.hessian, opening.radius, low, high)
    replaced = -1
    if np.linalg.norm(step) < 0.5 * opening.spacing:
        distances = np.linalg.norm(S, axis=1)
        if distances.max() <= 2.0 * opening.radius:
            yield from _come_closer(state, opening)
            return
        replaced = int(np.argmax(distances))
        step = _poised_step(opening, S, replaced, low, high)
    step = step if np.isfinite(step).all() else np.zeros_like(step)
    x = state.box.after(state.x, step * _unit(state))
    step = (x - state.x) / _unit(state)
    if not step.any():
        yield from _come_closer(state, opening)
        return
    f = float((yield x[np.newaxis])[0])
    f = min(f, _ceiling(opening.values))
    predicted = -float(opening.gradient @ step + step @ opening.hessian @ step / 2.0)
    ratio = (state.f - f) / predicted if predicted > 0.0 else -1.0
    radius = opening.radius
    if replaced < 0:
        length = float(np.linalg.norm(step))
        if ratio >= _GOOD:
            radius = max(radius, 2.0 * length)
        else:
            radius = max(0.5 * radius, length) if ratio >= _BAD else 0.5 * length
        radius = opening.spacing if radius <= 1.5 * opening.spacing else radius
    opening = replace(opening, evaluations=opening.evaluations + 1)
    changed = _with_point(opening, S, step, x, f, replaced)
    state.opening = replace(changed, radius=radius)
    if f < state.f:
        state.last_step = x - state.x
        state.x, state.f = x, f
    elif replaced < 0 and ratio < _BAD and opening.radius <= opening.spacing:
        distances = np.linalg.norm((changed.points - state.x) / _unit(state), axis=1)
        # Points far away may make the model wrong; if there are none, nothing is to gain at this distance.
        near = float(distances.max()) <= 2.0 * radius
        yield from _come_closer(state, changed) if near else ()


def is_over(state: State) -> bool:
    """Say whether sweeps are worth more now."""
    opening = state.opening
    assert opening is not None
    long = _LONG if state.noise_model.is_random or state.box.is_bounded else _LONG_EXACT
    is_flat = not np.ptp(opening.values) > 0.0
    return is_flat or opening.evaluations > long * state.x.size or opening.spacing < _CLOSEST


def end_opening(state: State) -> None:
    """Hand over what the model knows to the matrix; its Hessian is made positive definite."""
    opening, unit = state.opening, _unit(state)
    assert opening is not None
    state.opening = None
    if not opening.hessian.any():
        return
    values, V = np.linalg.eigh(opening.hessian)
    sizes = np.maximum(np.abs(values), 1e-3 * np.abs(values).max() + TINY)
    units = np.multiply.outer(unit, unit)
    state.matrix = Dense((V * sizes) @ V.T / units, (V / sizes) @ V.T * units, fresh=False)
    state.gradient = opening.gradient / unit
    state.last_step = unit * opening.radius / math.sqrt(unit.size)
    choose_lengths(state)
    state.lengths = np.clip(state.lengths, 1e-4 * opening.radius * unit, opening.radius * unit)
    state.last_step, state.is_scaled = None, True


def _unit(state: State) -> Vector:
    return np.broadcast_to(np.asarray(state.box.sigma0, dtype=np.float64), state.x.shape)


def _ceiling(values: Vector) -> float:
    """Return what values are cut at, so that a few that are huge or infinite do not spoil the model."""
    lower = np.sort(values)[: values.size // 2 + 1]
    lowest, middle = float(lower[0]), float(lower[np.isfinite(lower)][-1])
    return middle + _HUGE * (middle - lowest + abs(middle)) + TINY


def _first_steps(state: State) -> tuple[Vector, Vector]:
    """Return the two steps along each coordinate: to both sides, or to one side next to a bound."""
    up = np.minimum((state.box.upper - state.x) / _unit(state), 2.0)
    down = np.minimum((state.x - state.box.lower) / _unit(state), 2.0)
    both = (up >= 0.5) & (down >= 0.5)
    wide = np.maximum(up, down)
    one = np.where(both, np.minimum(up, 1.0), np.where(up >= down, 0.5 * wide, -0.5 * wide))
    return one, np.where(both, -np.minimum(down, 1.0), 2.0 * one)


def _come_closer(state: State, opening: Opening) -> Asking:
    """Let points come closer; under noise evaluate the best one again first, for it may have been lucky."""
    spacing = _CLOSER * opening.spacing
    if state.noise_model.is_random:
        yield from repeat(state)
    elif not state.evaluated_again:
        yield from look_for_noise(state)
    if state.noise_model.is_random:
        values = opening.values.copy()
        values[opening.best] = state.f
        best = int(np.argmin(values))
        shift = (opening.points[best] - state.x) / _unit(state)
        state.x, state.f = opening.points[best], float(values[best])
        gradient = opening.gradient + opening.hessian @ shift
        opening = replace(opening, values=values, best=best, gradient=gradient)
        spread = float(np.std(values))
        masked = spread <= _MASKED * state.noise
        spacing = 0.0 if masked else max(spacing, opening.spacing * math.sqrt(state.noise / spread))
    state.opening = replace(opening, spacing=spacing, radius=max(0.5 * opening.spacing, spacing))


def _with_point(opening: Opening, S: Array, step: Vector, x: Vector, f: float, replaced: int) -> Opening:
    """Return the opening with x in place of a point, and with the model that changes least.

    S are the points around the best one and `step` leads from there to x, in units of sigma0.
    """
    r, m = opening.radius, len(S)
    is_better = f < opening.values[opening.best]
    if replaced < 0:
        # The Lagrange polynomials of the points tell how well x takes their places.
        u = step / r
        right = np.concatenate([0.5 * ((S / r) @ u) ** 2, [1.0], u])
        fit = np.abs(_solve(_system(S / r), right)[:m])
        distances = np.linalg.norm(S - (step if is_better else 0.0), axis=1)
        weight = fit * np.maximum(1.0, distances / max(0.1 * r, opening.spacing)) ** 4
        if not is_better:
            weight[opening.best] = -1.0
        replaced = int(np.argmax(weight))
        if not is_better and weight[replaced] <= 1.0:
            return opening
    points, values, S = opening.points.copy(), opening.values.copy(), S.copy()
    points[replaced], values[replaced], S[replaced] = x, f, step
    gradient, best = opening.gradient, opening.best
    if is_better:
        best, gradient = replaced, gradient + opening.hessian @ step
        S -= step
    model = S @ gradient + 0.5 * np.einsum("ij,ij->i", S @ opening.hessian, S)
    U = S / r
    right = np.concatenate([values - values[best] - model, np.zeros(U.shape[1] + 1)])
    solution = _solve(_system(U), right)
    hessian = opening.hessian
    if np.isfinite(solution).all():
        change = (U.T * (solution[:m] / r**2)) @ U
        gradient, hessian = gradient + solution[m + 1 :] / r, hessian + (change + change.T) / 2.0
    return replace(opening, points=points, values=values, best=best, gradient=gradient, hessian=hessian)


def _system(U: Array) -> Array:
    """Return the matrix of the equations of a model with the least change, given its points."""
    m, n = U.shape
    W = np.zeros((m + n + 1, m + n + 1))
    W[:m, :m] = 0.5 * (U @ U.T) ** 2
    W[:m, m] = W[m, :m] = 1.0
    W[:m, m + 1 :], W[m + 1 :, :m] = U, U.T
    return W


def _solve(W: Array, right: Vector) -> Vector:
    try:
        return np.asarray(np.linalg.solve(W, right), dtype=np.float64)
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(W, right, rcond=1e-14)[0], dtype=np.float64)


def _poised_step(opening: Opening, S: Array, replaced: int, low: Vector, high: Vector) -> Vector:
    """Return a step to where the Lagrange polynomial of a point is large, so that it can be replaced."""
    r, m = opening.radius, len(S)
    U, right = S / r, np.zeros(len(S) + S.shape[1] + 1)
    right[replaced] = 1.0
    solution = _solve(_system(U), right)
    if not np.isfinite(solution).all():
        return np.zeros(S.shape[1])
    g, H = solution[m + 1 :], (U.T * solution[:m]) @ U
    steps = [trust_step(sign * g, sign * H, 1.0, low / r, high / r) for sign in (1.0, -1.0)]
    return r * max(steps, key=lambda s: abs(float(g @ s + s @ H @ s / 2.0 + solution[m])))


def trust_step(g: Vector, H: Array, radius: float, low: Vector, high: Vector) -> Vector:
    """Return the minimum of g's + s'Hs/2 with |s| <= radius; variables stop on bounds they would cross."""
    s = np.zeros(g.size)
    free: NDArray[np.bool_] = ~(((low >= 0.0) & (g >= 0.0)) | ((high <= 0.0) & (g <= 0.0)))
    while free.any():
        room = radius**2 - float(np.sum(s[~free] ** 2))
        if not room > 0.0:
            break
        s = np.where(free, 0.0, s)
        s[free] = _in_ball((g + H @ s)[free], H[np.ix_(free, free)], math.sqrt(room))
        crossing = free & ((s < low) | (s > high))
        s = np.clip(s, low, high)
        if not crossing.any():
            break
        free = free & ~crossing
    return s


def _in_ball(g: Vector, H: Array, radius: float) -> Vector:
    """Return the minimum of g's + s'Hs/2 with |s| <= radius, by the eigenvalues of H."""
    values, V = np.linalg.eigh(H)
    c = V.T @ g
    size = float(np.linalg.norm(c))
    if size == 0.0:
        return np.zeros_like(g)
    shift = max(0.0, -float(values[0]) + 1e-10 * (abs(float(values[0])) + size / radius))
    s = c
    for _ in range(30):
        curvatures = np.maximum(values + shift, TINY)
        s = c / curvatures
        length = float(np.linalg.norm(s))
        if length <= 1.01 * radius:
            break
        # Newton's method for 1/|s| = 1/radius, which is nearly linear in the shift.
        shift += (length - radius) / radius * length**2 / max(float(np.sum(s * s / curvatures)), TINY)
    return -(V @ s)
