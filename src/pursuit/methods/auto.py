"""`auto`, the default: how it decides between `values` and `momentum`.

    values
    if it has settled, and f follows slopes and curvatures there:
        if nothing more is wanted: that is the result
        else: momentum with rounds eight times as large, but no more than 2 n pairs, from the original start
    else: momentum, from the original start

*Nothing more is wanted* where there is neither a target that was missed nor a restart to be made: a smooth
function has a minimum there, if only a local one. If more is wanted, f has other valleys, and larger rounds
see more of them.

`values` learns within a few evaluations per variable what `momentum` cannot know, and notices when f does not
suit it: it ends at the second kink, or when its steps fail. So it comes first, and costs little where it is
wrong. `momentum` begins at the original start: the kink or the narrow valley in which `values` has ended is a
bad place to learn scales from.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from pursuit.methods.momentum import RankedMomentum
from pursuit.methods.stages import AT_START, EndedStages, Stage, Wish
from pursuit.methods.values.scheme import Values

# How many times as wide `momentum` searches where a smooth function is known to have another valley, and the
# most pairs of a round for each variable: with more of them it comes down too slowly.
_WIDE, _MOST_PAIRS = 8, 2
# `values` may meet one kink, that of the minimum, but not another.
_KINKS = 2


class Auto(NamedTuple):
    """The two schemes to choose from."""

    values: Values
    momentum: RankedMomentum

    @classmethod
    def create(cls, n: int, *, memory: int | None = None, m: int | None = None) -> Auto:
        """Return the schemes for n variables: `memory` is an option of `values`, `m` one of `momentum`."""
        return cls(
            values=Values.create(n, memory=memory, kinks=_KINKS), momentum=RankedMomentum.create(n, m=m)
        )

    @classmethod
    def first_stage(cls, wish: Wish) -> Stage:
        """Return the stage to begin with."""
        return Stage("values", {**cls._options(wish, "memory"), "kinks": _KINKS})

    @classmethod
    def next_stage(cls, wish: Wish, ended: EndedStages) -> Stage | None:
        """Return the stage that follows those that have ended; None if there is nothing left to choose."""
        if len(ended) > 1:
            return None
        (last,) = ended
        options = cls._options(wish, "m")
        if last.remark or not last.has_settled:
            return Stage("momentum", options, start=AT_START, why="slopes and curvatures led no further")
        if not (wish.has_target or wish.restarts):
            return None
        if not options:
            options = RankedMomentum.wider(wish.n, options, _WIDE, at_most=_MOST_PAIRS * wish.n)
        why = "the target was not reached" if wish.has_target else "restarts are wanted"
        return Stage("momentum", options, start=AT_START, why=why)

    @classmethod
    def wide_method(cls) -> str:
        """Return the method that restarts widen."""
        return "momentum"

    @staticmethod
    def _options(wish: Wish, name: str) -> dict[str, Any]:
        return {name: wish.options[name]} if name in wish.options else {}
