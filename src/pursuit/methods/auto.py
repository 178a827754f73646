"""`auto`, the default: how it decides between `differences` and `evolution`.

    evaluate x0 again; if the values differ and noise is loud: evolution, from x0
    else: differences, from x0
        if f has kinks, or does not follow its slopes: evolution, from the best point
        if noise hides the rest, of few variables: evolution, from the best point
        if nothing was gained: evolution, from x0
            if that ends without reaching a target: evolution with large rounds, from the best point
        if a target was missed, or restarts are wanted: evolution with large rounds, from x0

Noise is loud if it is a large part of what values differ by at a distance of sigma0 (`differences/noise.py`).
Then ranks of many values tell more than slopes. Otherwise `differences` learns within a few evaluations per
variable what `evolution` cannot know, and notices when f does not suit it. Where it ends in noise, f may have
kinks that noise has hidden; where it has gained nothing, x0 may be a saddle.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pursuit.engine.stopping import Reason
from pursuit.methods.stages import AT_BEST, AT_START, Stage, Task

# How many times as large rounds are where a smooth function is known to have another valley.
_WIDE = 2
# And where kinks have held up a search that was to reach a target.
_WIDER = 4
# Up to this many variables `evolution` looks for what noise has hidden from `differences`.
_FEW = 200


class Auto(NamedTuple):
    """The choice between two methods."""

    n: int

    @staticmethod
    def parts() -> tuple[str, ...]:
        """Return the methods to choose from."""
        return "differences", "evolution"

    @classmethod
    def create(cls, n: int, *, popsize: int | None = None) -> Auto:
        """Return the choice for n variables; `popsize` is an option of `evolution`."""
        from pursuit.methods.evolution.program import Evolution

        Evolution.create(n, popsize=popsize)
        return cls(n)

    @classmethod
    def first_stage(cls, task: Task) -> Stage:
        """Return the stage to begin with."""
        return Stage("differences", {"quiet": True})

    @classmethod
    def next_stage(cls, task: Task, ended: Sequence[Stage]) -> Stage | None:
        """Return the stage that follows those that have ended; None if there is nothing left to choose."""
        last, options = ended[-1], dict(task.options)
        if len(ended) > 1:
            is_stuck = len(ended) == 2 and last.start == AT_BEST and last.reason == Reason.CONVERGED
            return cls._wide(task, AT_BEST, _WIDER) if is_stuck and task.has_target else None
        if last.reason == Reason.LOUD:
            return Stage("evolution", options, start=AT_START, why="noise is loud")
        if last.reason in (Reason.KINKS, Reason.STUCK):
            return Stage("evolution", options, start=AT_BEST, why="f does not follow its slopes")
        if last.reason == Reason.NOISE and task.n <= _FEW:
            return Stage("evolution", options, start=AT_BEST, why="noise hid the rest")
        if last.reason == Reason.CONVERGED and not last.has_gained:
            return Stage("evolution", options, start=AT_START, why="it gained nothing")
        return cls._wide(task, AT_START, _WIDE) if task.has_target or task.restarts else None

    @classmethod
    def _wide(cls, task: Task, start: str, factor: int) -> Stage:
        """Return a search with larger rounds."""
        from pursuit.methods.evolution.program import Evolution

        why = "the target was not reached" if task.has_target else "restarts are wanted"
        return Stage("evolution", Evolution.wider(task.n, dict(task.options), factor), start=start, why=why)

    @classmethod
    def wide_method(cls) -> str:
        """Return the method that restarts widen."""
        return "evolution"
