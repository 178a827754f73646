"""Pseudo-random bits computed from a position: they can be drawn again, and need not be kept.

SplitMix64: Steele, Lea and Flood, Fast Splittable Pseudorandom Number Generators, 2014. It is integer
arithmetic, so its bits are the same on every processor.
"""

from __future__ import annotations

import numpy as np

from pursuit.compiling.inner import inner

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@inner
def hashed(word):
    """Return 64 bits that depend on every bit of a word."""
    word = (word ^ (word >> np.uint64(30))) * _FIRST
    word = (word ^ (word >> np.uint64(27))) * _SECOND
    return word ^ (word >> np.uint64(31))


@inner
def hashed_at(start, place):
    """Return the 64 bits at a position in the sequence that begins with the word `start`."""
    return hashed(start + np.uint64(place) * _STEP)
