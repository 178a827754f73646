"""How a run ends: every iteration is judged here, and nothing is called an end before it was looked at.

    unbounded: f is negative, and still falls very far from the start
    at a standstill:
        flat: all values are equal, however far the probes
        kinks: second differences along random lines do not grow like the square of the distance
        if nothing is left to gain, by slopes and curvatures:
            if a point around x is better: continue from there
            converged
        kinks: steps fail again and again although slopes promise a gain

A run is at a standstill once a sweep has gained next to nothing, or while steps gain a small part of what the
model predicts. Where noise masks the slopes, it ends when the mean value has not fallen for many sweeps.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from pursuit.checks import Vector
from pursuit.methods.check import find_better
from pursuit.methods.differences.masked import REPEATING
from pursuit.methods.differences.matrix import Mask, first_matrix
from pursuit.methods.differences.noise import look_for_noise, repeat
from pursuit.methods.differences.state import EPS, TINY, State
from pursuit.methods.differences.sweep import begin_probing, probe
from pursuit.methods.programs import CONVERGED, FLAT, KINKS, NOISE, STUCK, UNBOUNDED, Asking, Ending, Finding

# f is taken to be unbounded if it is negative and still falling this many first steps away.
_FAR = 1e12
# The run ends after so many sweeps in a row that gain next to nothing.
_MOST = 5
# Steps that gain less than this part of what the model predicts are a standstill.
_KEPT = 0.4
# Probes that rounding hides become longer by this factor.
_LONGER = 100.0
# If rounding hides more than this part of what f has fallen by, f is to bend by so many times
# the rounding of a value between probes on both sides: slopes are exact then.
_COARSE, _CENTRAL = 1e-10, 1e2
# Kinks are not looked for more often than after so many sweeps,
_PAUSE = 8
# on so many lines, at this part of the longest step and at a multiple of it, where second differences of a
# smooth f are 256 times as large. On most lines they are to be this many times as large.
_LINES, _NEAR, _MULTIPLE, _SMOOTH = 4, 1e-4, 16.0, 150.0
# How often that is tried, each time closer by the multiple.
_CLOSER = 4
# Second differences count if they are so many times the noise. If those nearby are not, those far away must
# not be so large that a smooth f would have shown nearby as well.
_CLEAR, _CLEAR_FAR = 20.0, 1e7
# A run under noise ends when the mean value has not fallen for so many sweeps; those in which slopes did not
# stand out from noise count twice.
_PATIENCE = 28
# Fewer are enough if noise is not random, so that means tell no more than values, or if nothing was gained:
# the fewer the less of a sweep is its n probes, beside this many other values.
_IN_VAIN, _OTHERS = 7.0, 8
# It is lost when the mean value has risen by so many times the noise at the lowest, which is then evaluated
# again so often.
_LOST, _REPEATS = 6.0, 8
# How far apart, in lengths of probes, two gradients are that tell what the matrix has not learnt.
_APART = 100.0
_UNBOUNDED = "f seems to be unbounded below: it is negative, and still falls very far from the start."
_FLAT = "All values around x are equal: nothing shows where f might be lower."
_KINKS = "f has kinks: its second differences do not behave like those of a smooth f."
_FAILING = "f does not follow its slopes and curvatures: it may have kinks or jumps."
_STEPS = "Converged: steps no longer change f or x by more than ftol or xtol."
_ROUNDING = "Converged: rounding hides whatever is left to gain."


def judge(state: State, rng: np.random.Generator) -> Asking:
    """End the run if nothing is left to gain, given the slopes at x."""
    noise = state.noise_model
    if state.f < min(0.0, state.start - 100.0 * state.noise) and state.longest > _FAR * state.box.largest:
        state.ending = Ending(UNBOUNDED, _UNBOUNDED)
    elif state.flat:
        state.ending = Ending(FLAT, _FLAT) if state.flat >= _MOST else None
    elif (state.idle or state.kept < _KEPT) and not noise.is_random:
        yield from _judge_standstill(state, rng)


def _judge_standstill(state: State, rng: np.random.Generator) -> Asking:
    noise = state.noise_model
    # Where f falls to 0, what matters is what it has fallen by: steps of xtol change it by that squared.
    fallen = abs(state.start - state.f)
    hidden = 10.0 * state.noise + EPS**1.5 * fallen
    if state.f == 0.0:
        # Nothing is known of its rounding but that of the values around it.
        hidden += 10.0 * EPS**2 * float(np.abs(state.curvature) @ state.probes**2)
    small = max(hidden, 10.0 * state.ftol * abs(state.f), 10.0 * state.xtol**2 * fallen)
    left = left_to_gain(state) if state.idle else math.inf
    is_over = left <= (small if state.idle > 1 else hidden) and not noise.is_known
    if is_over or state.sweeps >= state.looked + _PAUSE:
        state.looked, f = state.sweeps, state.f
        if (yield from has_kinks(state, rng, small if is_over else math.inf)):
            # Noise that has come up late looks like kinks, and so does rounding.
            yield from look_for_noise(state)
            if _is_rounded(state, state.f) and not noise.is_known:
                state.is_suspicious, state.measured = True, -10
            elif not state.noise_model.is_random:
                state.ending = Ending(KINKS, _KINKS)
            return
        if state.f < f:
            return
    clear = _CENTRAL if hidden > _COARSE * fallen else 1.0
    if is_over and (unseen := _unseen(state, clear)).any():
        state.lengths = np.where(unseen, _LONGER * np.abs(state.probes), state.lengths)
    elif is_over:
        ending = Ending(CONVERGED, _ROUNDING if left <= hidden else _STEPS)
        suspect = (yield from _unexplained(state, rng)) if state.x.size > 1 else None
        yield from end_unless_better(state, rng, ending, small, suspect)
    elif not noise.is_known and state.idle >= _MOST:
        state.ending = Ending(KINKS, _FAILING)


def judge_masked(state: State, rng: np.random.Generator) -> Asking:
    """End the run if noise masks the slopes, and the mean value has not fallen for long, or has risen."""
    masked = state.masked
    assert masked is not None
    if masked.value > masked.lowest + _LOST * masked.lowest_noise:
        # Where noise grows with f, steps that seem no worse lead uphill. The lowest mean was a lucky one, so
        # it is measured again.
        values = yield np.repeat(masked.lowest_x[np.newaxis], _REPEATS, axis=0)
        f = float(np.mean(values)) if np.isfinite(values).all() else masked.lowest
        state.x, state.f = masked.lowest_x, f
        state.masked = replace(masked, mean=state.x, value=f)
        differs = Ending(STUCK, "Noise differs too much from place to place.")
        state.ending = differs if state.noise_model.is_random else Ending(KINKS, _FAILING)
        return
    in_vain = masked.value > state.start - 2.0 * state.noise and state.noise_model.is_random
    few = _IN_VAIN * state.x.size / (state.x.size + _OTHERS)
    if state.idle >= (few if in_vain else _PATIENCE if state.noise_model.is_random else REPEATING):
        yield from end_in_noise(state, rng)


def end_unless_better(
    state: State, rng: np.random.Generator, ending: Ending, small: float, suspect: Vector | None = None
) -> Asking:
    """End the run, unless a point around x is better: then continue from there."""
    x, f, _ = state.answer()
    # What hides gains without noise is part of `small`.
    noise = state.noise if state.noise_model.is_known else 0.0
    better = yield from find_better(
        x, f, state.box, noise, rng, reach=_way(state), suspect=suspect, least=small
    )
    if better is None:
        state.ending = ending
    else:
        _go_on_from(state, *better)


def _go_on_from(state: State, x: Vector, f: float) -> None:
    """Continue from a better point, with a matrix that has learnt nothing but curvatures."""
    state.x, state.f = x, f
    state.masked = state.last_step = state.last_gradient = None
    state.failures = state.idle = 0
    state.matrix, state.is_scaled = first_matrix(x.size, np.maximum(state.matrix.diagonal, TINY)), False


def _way(state: State) -> float:
    """Return how long the longest step was, in first steps."""
    return state.longest / float(np.linalg.norm(np.broadcast_to(state.box.sigma0, state.x.shape)))


def _unseen(state: State, clear: float) -> Mask:
    """Return along which variables f bends by less than so many times its rounding, and longer probes fit.

    What a slope presses against a bound need not bend.
    """
    h, room = np.abs(state.probes), np.maximum(state.box.upper - state.x, state.x - state.box.lower)
    farthest = np.minimum(room, max(1.0, _way(state)) * state.box.sigma0)
    unseen: Mask = (np.abs(state.curvature) * h**2 < clear * state.noise) & (_LONGER * h < farthest)
    return unseen & ~state.pressed(state.gradient)


def _unexplained(state: State, rng: np.random.Generator) -> Finding[Vector]:
    """Return a direction along which f may curve less than the matrix says.

    Steps that have never led along a direction of negative curvature say nothing of it. Where B is the
    matrix, H the second derivatives, and v any vector, B^-1 (B - H) v is made of what B has not learnt.
    """
    x, f, g = state.x, state.f, state.gradient
    state.x = state.box.clip(x + _APART * state.lengths * rng.standard_normal(x.size))
    state.f = float((yield state.x[np.newaxis])[0])
    begin_probing(state, state.lengths, rng)
    yield from probe(state, np.arange(x.size), state.curvature)
    change, apart = state.gradient - g, state.x - x
    state.x, state.f, state.gradient = x, f, g
    return apart + state.matrix.step(change, np.ones(x.size, dtype=bool), -math.inf, math.inf)


def has_kinks(state: State, rng: np.random.Generator, small: float) -> Finding[bool]:
    """Compare second differences at two distances along random lines; if they look wrong, closer and closer.

    What is smooth looks so at some distance. Next to a kink nothing is seen at last. If f is lower somewhere
    on these lines, and not by a small difference, the run goes on from there.
    """
    box, noise, lowest, lowest_x = state.box, state.noise, state.f - small, state.x
    near = _NEAR * min(max(_way(state), 1e-3), 1e3) * box.sigma0
    for closer in range(_CLOSER):
        smooth = 0
        for _ in range(_LINES):  # one after the other: points of many variables take much memory
            u = near * rng.standard_normal(state.x.size)
            if box.is_bounded:
                room = np.minimum(box.upper - state.x, state.x - box.lower)
                u = np.where(np.abs(u) * _MULTIPLE < room, u, 0.0)
            points = np.multiply.outer([1.0, -1.0, _MULTIPLE, -_MULTIPLE], u)
            points += state.x
            v = yield points
            if v.min() < lowest:
                lowest, lowest_x = float(v.min()), points[int(np.argmin(v))]
            close, far = abs(v[0] + v[1] - 2.0 * state.f), abs(v[2] + v[3] - 2.0 * state.f)
            is_seen = close > _CLEAR * noise
            is_smooth = far >= _SMOOTH * close if is_seen else far <= _CLEAR_FAR * noise and closer == 0
            smooth += math.isfinite(far) and is_smooth
        if 2 * smooth > _LINES:
            if lowest_x is not state.x:
                _go_on_from(state, lowest_x, lowest)
            return False
        near = near / _MULTIPLE
    return True


def left_to_gain(state: State) -> float:
    """Return by how much f can fall along single coordinates, by their slopes and curvatures."""
    g, free = np.abs(state.gradient), ~state.pressed(state.gradient)
    known = state.curvature != 0.0
    D = np.where(known, state.curvature, state.typical_curvature() if known.any() else state.matrix.diagonal)
    # What drowns in rounding is no negative curvature.
    D = np.where((D < 0.0) & (state.doubt > 0.5), 0.0, D)
    room = np.where(state.gradient < 0.0, state.box.upper - state.x, state.x - state.box.lower)
    # Rounding of the values at the probes, which may be far larger than f, hides slopes of that size.
    g = g + 2.0 * EPS * np.abs(D * state.probes)
    reach = np.where(D < 0.0, state.longest, 10.0 * (state.longest + state.box.largest))
    t = np.minimum(np.minimum(np.where(D > 0.0, g / (D + TINY), math.inf), room), reach)
    return float(np.sum(np.where(free | (D < 0.0), t * (g - D * t / 2.0), 0.0)))


def end_in_noise(state: State, rng: np.random.Generator) -> Asking:
    """End the run where noise hides what is left; values that repeat are only noisy if they are rounded."""
    value = float((yield state.x[np.newaxis])[0])
    if state.noise_model.is_random or _is_rounded(state, value):
        if state.noise_model.is_random:
            # Noise that was taken for too small would make lucky values look better than it explains.
            level = state.noise_model.level
            yield from repeat(state)
            level = max(level, state.noise_model.level)
            state.noise_model = replace(state.noise_model, level=level)
        yield from end_unless_better(state, rng, Ending(NOISE, "Noise hides whatever is left to gain."), 0.0)
    else:
        state.ending = Ending(KINKS, "Values repeat, but do not follow slopes: f may have kinks or jumps.")


def _is_rounded(state: State, value: float) -> bool:
    # 0 has few digits, whatever other values have.
    has_few_digits = value != 0.0 and value in (float(np.float32(value)), float(f"{value:.9g}"))
    return state.noise_model.grain > 0.0 or has_few_digits
