"""When `values` ends by itself: nothing is left to win, or f is too rough, flat, or unbounded."""

from __future__ import annotations

import math

from pursuit.compiling.inner import inner
from pursuit.methods.values.state import is_noisy, noise_of_value

# Values that differ by less than so many times their noise are alike.
_ALIKE = 4.0
# A step that promises less than so many times the noise promises nothing.
_HIDDEN = 10.0
# After so many sweeps without a gain a run ends; those that promise nothing count twice.
_TOO_MANY = 12.0
# No minimum is so many first steps away from the start.
_FAR = 1e12
# A fall of f by less than this part of it is not one without end.
_STEADY = 1e-6
# So many times in a row make values too rough, and so many f flat.
_TOO_ROUGH, _TOO_FLAT = 12, 8


@inner
def note_gain(state):
    """Take note, before a sweep, of whether anything was won since the one before.

    Under noise no value says so, and the engine's patience decides.
    """
    now, noise = state.now[0], noise_of_value(state)
    if is_noisy(state) or now.f < now.level - _ALIKE * noise:
        now.level, now.idle = now.f, 0
    else:
        now.idle += 2 if promises_nothing(state) else 1


@inner
def promises_nothing(state):
    """Say whether what the latest step was to win is no more than noise."""
    return state.now[0].predicted <= _HIDDEN * noise_of_value(state)


@inner
def note_fall(now, n):
    """Take note, after a step, of whether f falls without end: steadily below 0, from far away."""
    is_steady = now.value < 0.0 and now.f - now.value > _STEADY * abs(now.value)
    now.is_unbounded = is_steady and now.travelled > _FAR * math.sqrt(n) * now.sigma0


@inner
def last_step(now):
    """Return the step size to tell the engine, which ends a run at one of 0 or of infinity."""
    if now.is_unbounded:
        return math.inf
    has_ended = now.idle >= _TOO_MANY or now.rough >= _TOO_ROUGH or now.flat >= _TOO_FLAT
    return 0.0 if has_ended else now.sigma
