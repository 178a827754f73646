"""What `values` says about a function for which it is not the right method."""

from __future__ import annotations

from typing import Any

# So many times in a row make kinks or jumps of it, and so many a plateau.
_ROUGH, _FLAT = 4, 3
# Where f has fallen to this part of what it was, there are no digits left to see kinks in.
_NOTHING = 1e-24
# One kink may be that of the minimum.
_SEEN_AGAIN = 2
_KINKS = (
    "The values do not follow slopes and curvatures: f seems to have kinks or jumps. A method that compares "
    "values, such as 'momentum', may serve better."
)
_PLATEAU = "The values did not change along any variable: f seems to be flat there."
_NOISE = "Noise hides what single values say, so fun is an estimate."
_PURE_NOISE = "Noise hides all that values say: nothing was won, and fun is an estimate."


def remark_on(now: Any) -> str:
    """Return a sentence on what the latest values were like, empty where there is nothing to say."""
    has_kinks = now["rough"] >= _ROUGH or now["kinks"] >= _SEEN_AGAIN
    is_at_rest = abs(now["f"]) <= _NOTHING * now["first_at"]
    if (has_kinks or now["is_rough"] or now["is_misled"]) and not is_at_rest:
        return _KINKS
    if now["flat"] >= _FLAT:
        return _PLATEAU
    if not now["is_estimate"]:
        return ""
    return _NOISE if now["has_won"] else _PURE_NOISE
