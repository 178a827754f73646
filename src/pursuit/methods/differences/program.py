"""`differences`: a quasi-Newton method whose slopes, curvatures and noise come from differences of values.

    evaluate x0 again: is f noisy?
    few variables: a model through single values first (`interpolation.py`)
    many variables: steps along blocks of them first (`blocks.py`)
    repeat:
        measure the noise of a value, if it would explain what has happened (`noise.py`)
        probe along every coordinate: slopes g; in the second sweep on both sides: curvatures (`sweep.py`),
            which scale B if they differ and explain the last step
        B <- the BFGS update by the change of g along the last step (`matrix.py`)
        p <- the minimum of g'p + p'Bp/2 within the bounds
        x <- the best point that is found on the line x + t p (`line.py`)
        choose the lengths of the next probes from noise, curvatures and the last step

Where noise masks the slopes, steps are measured, not trusted (`masked.py`). One place decides how a run ends
(`ending.py`): kinks end it, and it has converged only if nothing around x is better.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pursuit.checks import Vector, checked_flag
from pursuit.methods.differences import interpolation
from pursuit.methods.differences.blocks import open_in_blocks
from pursuit.methods.differences.ending import judge, judge_masked
from pursuit.methods.differences.line import first_multiple, search
from pursuit.methods.differences.masked import BLURRED, begin_masked, masked_step, masked_sweep
from pursuit.methods.differences.matrix import first_matrix, norm
from pursuit.methods.differences.noise import is_loud, look_for_noise, measure_noise, repeat
from pursuit.methods.differences.state import EPS, TINY, Noise, State, check_state
from pursuit.methods.differences.sweep import MANY, choose_lengths, measuring_sweep, sizes_of, sweep
from pursuit.methods.programs import LOUD, STUCK, Asking, Box, Ending, Probes, Start

# The first probes, in units of sigma0: short without noise, so that slopes are exact; long with it.
_FIRST_PROBE, _NOISY_PROBE = 1e-6, 0.3
# Probes that measure curvatures for the first time are this part of the first step, per variable.
_LONG_PROBE = 3e-2
# After a failure probes become longer, up to this part of the longest step.
_FAILING_PROBE = 1e-2
# How much farther than the best multiple a search may go: first steps know nothing of lengths.
_FARTHEST_FIRST, _FARTHEST = 10.0, 4.0
# The weight of the latest step in the average of what steps gain, as a part of what the model predicts.
_LATEST = 0.2
# Curvatures are measured again when it is below this.
_WRONG = 0.3
# The curvature at x may differ from its mean along the last step by these factors.
_CHANGE_OF_CURVATURE = 0.3, 3.0
# A step is at most this many times as long as the longest so far, or as the first step sizes.
_REACH = 100.0


class Differences(NamedTuple):
    """Slopes, curvatures and noise from differences of values."""

    quiet: bool = False
    """Whether to end at once where noise is loud, so that another method can take over."""

    @classmethod
    def create(cls, n: int, *, quiet: bool = False) -> Differences:
        """Return the program."""
        return cls(checked_flag("quiet", quiet))

    def begin(self, start: Start) -> State:
        """Return the first state."""
        n, box = start.x.size, Box.of(start)
        lengths = _first_lengths(start.x, box.sigma0)
        return State(
            x=start.x,
            f=start.value,
            box=box,
            xtol=start.xtol,
            ftol=start.ftol,
            batch=start.batch,
            gradient=np.zeros(n),
            curvature=np.zeros(n),
            doubt=np.ones(n),
            matrix=first_matrix(n, np.maximum((np.min(box.sigma0) / box.sigma0) ** 2, EPS**2)),
            lengths=lengths,
            probes=lengths,
            start=start.value,
        )

    def iterate(self, state: State, rng: np.random.Generator) -> Asking:
        """Make one iteration; end the run if values are so extreme that numbers overflow."""
        iteration, values = _iteration(state, rng, self.quiet), None
        try:
            while True:
                request = iteration.send(values)  # type: ignore[arg-type]
                described = request.steps if isinstance(request, Probes) else np.asarray(request)
                if not np.isfinite(described).all():
                    raise FloatingPointError
                values = yield request
        except StopIteration:
            pass
        except (ArithmeticError, np.linalg.LinAlgError):
            state.ending = Ending(STUCK, "The values of f are too extreme to compute with.")

    def best(self, state: State) -> tuple[Vector, float, float]:
        """Return the current iterate, or the mean of the latest ones once f has stopped falling."""
        return state.answer()

    def check(self, state: State, n: int) -> None:
        """Reject a state that is not one for n variables."""
        check_state(state, n)


def _first_lengths(x: Vector, sigma0: Vector | float) -> Vector:
    return np.maximum(_FIRST_PROBE * sigma0, 1e-8 * np.abs(x))


def _iteration(state: State, rng: np.random.Generator, quiet: bool) -> Asking:
    """Make an iteration of the present phase."""
    if not state.is_open:
        yield from _open(state, rng, quiet)
    elif state.opening is not None:
        yield from interpolation.iterate_opening(state)
        if interpolation.is_over(state):
            interpolation.end_opening(state)
    else:
        yield from (_sweep(state, rng) if state.masked is None else masked_sweep(state, rng))
        if state.masked is not None:
            yield from masked_step(state)
            yield from judge_masked(state, rng)
        elif state.ending is None:
            yield from judge(state, rng)
            if state.ending is None:
                yield from _step(state)


def _open(state: State, rng: np.random.Generator, quiet: bool) -> Asking:
    """Look for noise, and begin with a model through single values or in blocks, if that is worth it."""
    state.is_open = True
    yield from look_for_noise(state)
    is_random = state.noise_model.is_random
    if interpolation.is_worth_it(state):
        yield from interpolation.begin_opening(state)
    elif is_random:
        state.noise_model = Noise(is_random=True)
        yield from repeat(state)
        state.lengths = np.maximum(state.lengths, _NOISY_PROBE * state.box.sigma0)
    elif state.x.size >= MANY:
        yield from open_in_blocks(state, rng)
    if quiet and is_random and (yield from is_loud(state, rng)):
        state.ending = Ending(LOUD, "Noise is a large part of what values differ by at a distance of sigma0.")


def _sweep(state: State, rng: np.random.Generator) -> Asking:
    """Make a sweep, and measure noise before it if that may be worth it."""
    noise, before = state.noise_model, state.noise
    is_due = state.sweeps >= state.measured + (10 if state.failures < 2 else 1)
    # Noise is measured if it would explain what has happened, or if it may have changed.
    if (state.is_suspicious and is_due) or (noise.is_known and abs(state.f) < 0.1 * noise.at):
        state.measured = state.sweeps
        yield from measure_noise(state, rng)
        if state.noise_model.is_known and state.noise > 10.0 * before:
            # What was measured so far was noise.
            state.lengths = np.maximum(state.lengths, _NOISY_PROBE * state.box.sigma0)
            state.curvature, state.matrix = np.zeros(state.x.size), first_matrix(state.x.size, 1.0)
            state.last_gradient, state.is_scaled = None, False
    is_noisy, state.is_suspicious = state.noise_model.is_known, False
    if not state.is_scaled and (state.sweeps > 0 or is_noisy):
        yield from measuring_sweep(state, rng)
    else:
        yield from sweep(state, rng, back=state.idle > 0)
    _learn(state)
    if is_noisy and (state.failures > 2 or state.slope_noise() > BLURRED):
        begin_masked(state)


def _learn(state: State) -> None:
    """Tell the matrix how the gradient changed along the last step, and how far f contradicts that."""
    step, g = state.last_step, state.last_gradient
    if step is None or g is None:
        return
    before, after = float(step @ g), float(step @ state.gradient)
    # A twelfth of the change of the curvature along the step, if that change is linear.
    off = state.last_decrease + (before + after) / 2.0
    if after - before > 2.0 * state.noise * norm(step / state.probes):
        # The curvature at x, where that from slopes alone would be its mean along the step.
        low, high = _CHANGE_OF_CURVATURE
        now = min(max(1.0 + 6.0 * off / (after - before), low), high)
        state.matrix = state.matrix.updated(step, now * (state.gradient - g))
    state.last_gradient = None
    state.doubt = np.minimum(1.0, state.doubt + 12.0 * abs(off) / max(abs(after - before), TINY))


def _step(state: State) -> Asking:
    """Search along the quasi-Newton step, go to the best point, and choose the lengths of the next probes."""
    p, slope = _direction(state)
    if not slope < 0.0:
        state.failures, state.idle, lengths = state.failures + 1, state.idle + 1, state.lengths
        if state.gradient.any():
            # All variables are pressed against bounds. Long probes on one side might have got that wrong.
            state.lengths = np.minimum(lengths, _first_lengths(state.x, state.box.sigma0))
        else:
            # Longer probes may see what these do not; or these are so long that nothing of f(x) is left.
            longer = np.maximum(lengths, np.minimum(1e3 * lengths, 10.0 * state.box.sigma0))
            D = sizes_of(state)
            is_lost = (state.f != 0.0) & (EPS * D * lengths**2 > abs(state.f))
            state.lengths = np.where(is_lost, 10.0 * np.sqrt(state.noise / D), longer)
        return
    is_first = state.sweeps == 1 and state.matrix.fresh and not state.noise_model.is_known
    t = first_multiple(state, p, slope) if is_first else 1.0
    t, f = yield from search(state, p, slope, t, _FARTHEST_FIRST if state.matrix.fresh else _FARTHEST)
    state.is_suspicious |= not state.f - f > 0.05 * t * -slope
    state.kept += _LATEST * (min(1.0, 2.0 * (state.f - f) / -slope) - state.kept)
    if state.kept < _WRONG and not state.noise_model.is_known:
        # The matrix is wrong here: begin it again.
        state.is_scaled, state.kept = False, 1.0
    _move(state, state.box.after(state.x, t * p), f)
    choose_lengths(state)
    if state.failures:
        # Longer probes tell whether there was a slope at all.
        longest = _FAILING_PROBE * max(state.longest, state.box.largest)
        state.lengths = np.maximum(state.lengths, np.minimum(10.0**state.failures * state.lengths, longest))
    if not state.is_scaled and state.last_step is not None:
        # The next sweep is to tell curvatures.
        state.lengths = np.maximum(state.lengths, _LONG_PROBE * state.sigma)


def _direction(state: State) -> tuple[Vector, float]:
    """Return the quasi-Newton step of the variables that may move, and the slope along it."""
    g, free = state.gradient, state.free()
    low, high = state.box.lower - state.x, state.box.upper - state.x
    p = state.matrix.step(g, free, low, high)
    if not -math.inf < g @ p < 0.0:
        p = np.clip(np.where(free, -g / state.matrix.diagonal, 0.0), low, high)
    if not np.isfinite(p).all():
        return np.zeros_like(g), 0.0
    farthest = _REACH * max(state.longest, state.box.largest * math.sqrt(g.size))
    if state.is_scaled:
        p = p * min(1.0, farthest / max(norm(p), TINY))
    return p, float(g @ p)


def _move(state: State, x: Vector, f: float) -> None:
    """Go to the best point of a search; if there was none, forget the matrix."""
    if not f < state.f:
        state.failures, state.idle = state.failures + 1, state.idle + 1
        state.matrix = first_matrix(x.size, sizes_of(state, float(np.median(state.matrix.diagonal))))
        state.last_step = state.last_gradient = None
        return
    gain = state.last_decrease = state.f - f
    step = state.move(x, f, is_clear=gain > 3.0 * state.noise or not state.noise_model.is_known)
    is_still = gain <= state.ftol * abs(f) or norm(step) <= state.xtol * state.longest
    state.idle = state.idle + 1 if is_still else 0
    state.last_step, state.last_gradient, state.failures = step, state.gradient, 0
