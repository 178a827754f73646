"""Restarts, for functions with many valleys: how a run that has stalled begins again.

    repeat, beginning with a wide search:
        wide:   the method that can widen its search, twice as wide as the time before
        narrow: the method as it was at first, with at most half of what the latest wide search spent,
                as long as narrow restarts have spent less than wide ones
                (less than half of that, unless one of them has found the best point of all restarts)

This shares the budget much as BIPOP-CMA-ES does (Hansen 2009): many valleys of one large bowl want a wide
search, and few deep ones many narrow searches. `evolution` widens its search by larger rounds. A method that
cannot do so starts again as it is; `auto` has `evolution` for wide searches and `differences` for narrow
ones. There are as many wide searches as restarts are wanted; narrow ones, which cost no more than these, are
not counted.

A restart begins at a new point: between the bounds of a variable that has both, and otherwise about a first
step away from the best point.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from pursuit.methods.catalogue import method_text, resolved
from pursuit.methods.stages import AT_NEW_POINT, Stage, Task

_WHY = "restarts are wanted"
_UNLUCKY = 0.5


def has_stages(task: Task) -> bool:
    """Say whether another stage may follow the first."""
    cls, _ = resolved(task.method, task.n)
    return task.restarts > 0 or hasattr(cls, "next_stage")


def first_stage(task: Task) -> Stage:
    """Return the stage that a run begins with."""
    cls, _ = resolved(task.method, task.n)
    if hasattr(cls, "first_stage"):
        stage: Stage = cls.first_stage(task)
        return stage
    return Stage(method_text(task.method), task.options)


def next_stage(task: Task, ended: Sequence[Stage]) -> Stage | None:
    """Return the stage that follows those that have ended, or None if there is none."""
    cls, _ = resolved(task.method, task.n)
    if hasattr(cls, "next_stage"):
        chosen: Stage | None = cls.next_stage(task, ended)
        if chosen is not None:
            return chosen
    again = [one for one in ended if one.start == AT_NEW_POINT]
    # A narrow search has a limit of its own.
    wide = [one for one in again if one.most is None]
    if len(wide) >= task.restarts:
        return None
    spent = sum(one.nfev for one in wide)
    narrow = first_stage(task)._replace(start=AT_NEW_POINT, why=_WHY)
    wider = _wider_stage(task, ended)
    if wider is None:
        return narrow
    narrow_ones = [one for one in again if one.most is not None]
    if wide and sum(one.nfev for one in narrow_ones) < _share(wide, narrow_ones) * spent:
        return narrow._replace(most=max(1, wide[-1].nfev // 2))
    return wider


def _share(wide: Sequence[Stage], narrow: Sequence[Stage]) -> float:
    """Return how much narrow searches may spend, as a part of what wide ones have."""
    lowest = min((one.fun for one in narrow), default=math.inf)
    return 1.0 if lowest < min(one.fun for one in wide) else _UNLUCKY


def _wider_stage(task: Task, ended: Sequence[Stage]) -> Stage | None:
    """Return a search twice as wide as the latest of its kind, or None if the method cannot search wider."""
    cls, _ = resolved(task.method, task.n)
    method = cls.wide_method() if hasattr(cls, "wide_method") else task.method
    (widened, _), name = resolved(method, task.n), method_text(method)
    if not hasattr(widened, "wider"):
        return None
    latest = [one for one in ended if one.method == name and one.most is None][-1]
    return Stage(name, widened.wider(task.n, latest.options, 2), start=AT_NEW_POINT, why=_WHY)
