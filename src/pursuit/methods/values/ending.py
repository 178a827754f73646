"""When `values` ends by itself: nothing is left to win, or f is too rough, flat, or unbounded."""

from __future__ import annotations

import math

from pursuit.compiling.inner import inner
from pursuit.methods.values.state import is_noisy, noise_of_value

# Values that differ by less than so many times their noise are alike.
_ALIKE = 4.0
# What is won first must be more, where values are noisy: so far little is known of their noise.
_CLEAR = 10.0
# A step that promises less than so many times the noise promises nothing.
_HIDDEN = 10.0
# Slopes are seen that are so many times as large as noise makes them.
_SEEN = 2.0
# After so many sweeps without a gain a run ends; those that promise nothing count twice.
_TOO_MANY = 14.0
# No minimum is so many first steps away from the start.
_FAR = 1e12
# A fall of f by less than this part of it is not one without end.
_STEADY = 1e-6
# So many times in a row make values too rough, and so many f flat.
_TOO_ROUGH, _TOO_FLAT = 12, 8


@inner
def note_gain(state):
    """Take note, before a sweep, of whether anything was won since the one before.

    Under noise no value says so. Then there is something left to win as long as slopes are seen; but not if
    nothing was ever won, since even pure noise has slopes of its own now and then.
    """
    now, noise = state.now[0], noise_of_value(state)
    is_gain = now.f < now.level - (_ALIKE if now.has_won or not is_noisy(state) else _CLEAR) * noise
    sees_slopes = now.slope * math.sqrt(state.vectors.shape[1]) > _SEEN * now.blur
    now.has_won = now.has_won or is_gain
    if is_gain or (is_noisy(state) and now.has_won and sees_slopes):
        now.level, now.idle = now.f, 0
    elif is_noisy(state):
        now.idle += 1
    else:
        now.idle += 2 if now.is_rough or now.predicted <= _HIDDEN * noise else 1


@inner
def note_fall(now, n):
    """Take note, after a step, of whether f falls without end: steadily below 0, from far away."""
    is_steady = now.value < 0.0 and now.f - now.value > _STEADY * abs(now.value)
    now.is_unbounded = is_steady and now.travelled > _FAR * math.sqrt(n) * now.sigma0


@inner
def last_step(scheme, now):
    """Return the step size to tell the engine, which ends a run at one of 0 or of infinity."""
    if now.is_unbounded:
        return math.inf
    is_rough = now.rough >= _TOO_ROUGH or now.kinks >= scheme.kinks > 0
    has_ended = now.idle >= _TOO_MANY or is_rough or now.flat >= _TOO_FLAT
    return 0.0 if has_ended else now.sigma
