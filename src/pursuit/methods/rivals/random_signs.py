"""Random signs computed from a single normal: they can be drawn again, and need not be kept.

The bits are those of SplitMix64: Steele, Lea and Flood, Fast Splittable Pseudorandom Number Generators, 2014.
It is integer arithmetic, so they are the same on every processor.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pursuit.compiling.jit import compilable, loop_for

# What does not fit is cut off: compiled code does that by itself.
_ALL = 2**64 - 1
_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
# A standard normal times this is a whole number.
_WHOLE = 2.0**50


@compilable
def hashed(start: Any, place: Any) -> Any:
    """Return the 64 bits at a position in the sequence that begins with the word `start`."""
    word = int(start) + place * int(_STEP) & _ALL
    for places, factor in (30, _FIRST), (27, _SECOND):
        word = (word ^ (word >> places)) * int(factor) & _ALL
    return np.uint64(word ^ (word >> 31))


@loop_for(hashed)
def _loop_hashed(start, place):
    word = start + np.uint64(place) * _STEP
    word = (word ^ (word >> np.uint64(30))) * _FIRST
    word = (word ^ (word >> np.uint64(27))) * _SECOND
    return word ^ (word >> np.uint64(31))


@compilable
def write_signs(normal: Any, out: Any) -> Any:
    """Write random signs, 1 or -1, that depend on a standard normal: 64 by each hash, lowest bit first."""
    start, n = hashed(np.uint64(abs(normal) * _WHOLE), 0), out.shape[0]
    for first in range(0, n, 64):
        word, part = hashed(start, first // 64), out[first : min(first + 64, n)]
        for i in range(part.shape[0]):
            part[i] = 1.0 - 2.0 * np.float64((word >> np.uint64(i)) & np.uint64(1))
