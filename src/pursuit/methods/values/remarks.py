"""What `values` says about a function for which it is not the right method."""

from __future__ import annotations

from typing import Any

from pursuit.compiling.inner import inner

# So many times in a row make kinks or jumps of it, and so many a plateau; and after so many the run ends.
_ROUGH, _FLAT = 4, 3
_TOO_ROUGH, _TOO_FLAT = 12, 8
_KINKS = (
    "The values do not follow slopes and curvatures: f seems to have kinks or jumps. A method that compares "
    "values, such as 'momentum', may serve better."
)
_PLATEAU = "The values did not change along any variable: f seems to be flat there."
_NOISE = "Noise hides what single values say, so fun is an estimate."


@inner
def is_lost(now):
    """Say whether f is too rough, or flat as far as can be seen."""
    return now.rough >= _TOO_ROUGH or now.flat >= _TOO_FLAT


def remark_on(now: Any) -> str:
    """Return a sentence on what the latest values were like, empty where there is nothing to say."""
    if now["rough"] >= _ROUGH or now["is_rough"]:
        return _KINKS
    if now["flat"] >= _FLAT:
        return _PLATEAU
    return _NOISE if now["is_estimate"] else ""
