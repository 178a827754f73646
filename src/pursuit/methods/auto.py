"""`auto`, the default: how it decides between `differences` and `momentum`.

    differences
    if f does not suit it: momentum, from the original start
    else if nothing more is wanted: that is the result
    else: momentum with rounds eight times as large, but no more than 2 n pairs, from the original start

*Nothing more is wanted* where there is neither a target that was missed nor a restart to be made: a smooth
function has a minimum there, if only a local one. If more is wanted, f has other valleys, and larger rounds
see more of them.

`differences` learns within a few evaluations per variable what `momentum` cannot know, and notices when f
does not suit it. So it comes first, and costs little where it is wrong. `momentum` begins at the original
start: the kink or the narrow valley in which `differences` has ended is a bad place to learn scales from.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from pursuit.methods.stages import AT_START, EndedStages, Stage, Wish

# How many times as wide `momentum` searches where a smooth function is known to have another valley, and the
# most pairs of a round for each variable: with more of them it comes down too slowly.
_WIDE, _MOST_PAIRS = 8, 2


class Auto(NamedTuple):
    """The choice between two methods."""

    n: int

    @staticmethod
    def parts() -> tuple[str, ...]:
        """Return the methods to choose from."""
        return "differences", "momentum"

    @classmethod
    def create(cls, n: int, *, m: int | None = None) -> Auto:
        """Return the choice for n variables; `m` is an option of `momentum`."""
        if m is not None:
            # A compiler comes with it, which nobody waits for without need.
            from pursuit.methods.momentum import RankedMomentum

            RankedMomentum.create(n, m=m)
        return cls(n)

    @classmethod
    def first_stage(cls, wish: Wish) -> Stage:
        """Return the stage to begin with."""
        return Stage("differences", {})

    @classmethod
    def next_stage(cls, wish: Wish, ended: EndedStages) -> Stage | None:
        """Return the stage that follows those that have ended; None if there is nothing left to choose."""
        if len(ended) > 1:
            return None
        (last,) = ended
        options = cls._options(wish)
        if last.is_unsuited:
            return Stage("momentum", options, start=AT_START, why="its model made no progress")
        if not (wish.has_target or wish.restarts):
            return None
        if not options:
            from pursuit.methods.momentum import RankedMomentum

            options = RankedMomentum.wider(wish.n, options, _WIDE, at_most=_MOST_PAIRS * wish.n)
        why = "the target was not reached" if wish.has_target else "restarts are wanted"
        return Stage("momentum", options, start=AT_START, why=why)

    @classmethod
    def wide_method(cls) -> str:
        """Return the method that restarts widen."""
        return "momentum"

    @staticmethod
    def _options(wish: Wish) -> dict[str, Any]:
        return {"m": wish.options["m"]} if "m" in wish.options else {}
