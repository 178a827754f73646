"""Whether momentum leads away from where the steps point.

    span <- max(n, 0.3 t);  a <- m/span
    e <- (1 - a) e + a sqrt(n) cos(s/D, (v - y)/D), s without its part along a flat direction
    if e < -2 sqrt(a/(2 - a)), and momentum has had the time to build up since it began: v <- y, halve t

If s had nothing to do with v - y, e would have mean 0 and the standard deviation sqrt(a/(2 - a)). Where it is
that far below, steps lead back from where momentum leads: it has gone past a minimum. This shows earlier than
in f(y) (`acceleration.py`). The span grows with the age t, since momentum that is older goes past stiff
directions again and again on its way along flat ones.

Steps along a flat direction do not count: they go back and forth once f is as low along it as it gets.

After momentum has begun anew at y, v - y comes from a few steps alone, and those that follow oppose it along
stiff directions. So the test waits, for a span, and for t - 5n where no scales are being learnt. Where they
are, f becomes less and less stiff, and momentum is too old already.
"""

from __future__ import annotations

import math

from pursuit.compiling.inner import inner

# Over how many pairs e is averaged: divided by n at least, and as a part of the age.
_SPAN, _SPAN_OF_AGE = 1.0, 0.3
# How many standard deviations e has to be below 0.
_LEVEL = 2.0
# The shortest v - y that counts, as a multiple of sigma: a shorter one may be rounding.
_SHORTEST = 1e-6
# By how much the wait may fall short of the age, divided by n, and below which trust it follows the age.
_YOUNGER, _LEARNING = 5.0, 0.1


@inner
def opposes(now, state, m, age):
    """Take note of the step s after m pairs, and say whether steps oppose momentum."""
    n = state.y.shape[0]
    span = max(_SPAN * n, _SPAN_OF_AGE * age)
    share = min(1.0, m / span)
    product = steps = way = 0.0
    for j in range(n):
        scale = state.diagonal.scales[j]
        a = (state.s[j] - now.flat_step * state.flat.p[j]) / scale
        b = (state.v[j] - state.y[j]) / scale
        product, steps, way = product + a * b, steps + a * a, way + b * b
    if steps > 0.0 and way > n * (_SHORTEST * now.sigma) ** 2:
        cosine = product / (math.sqrt(steps) * math.sqrt(way))
        now.drift += share * (math.sqrt(n) * cosine - now.drift)
    wait = span if now.trust >= _LEARNING else max(span, age - _YOUNGER * n)
    is_due = now.since > wait and now.drift < -_LEVEL * math.sqrt(share / (2.0 - share))
    now.since += m
    return is_due
