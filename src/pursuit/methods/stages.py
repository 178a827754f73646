"""A run of several stages: what a stage is, and which comes next.

Most runs have one stage. `auto` may have two (`auto.py`), and each restart is one more (`restarts.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

# Where a stage begins: at the start of the run; at the best point so far, with first steps that are a part of
# the way from the start to it; or at a new point, between the bounds of a variable that has both, and
# otherwise about a first step away from the best point.
AT_START, AT_BEST, AT_NEW_POINT = "the start", "the best point", "a new point"


class Stage(NamedTuple):
    """What is to be done until nothing is left to gain that way."""

    method: str | type
    options: dict[str, Any]
    start: str = AT_START
    most: int | None = None
    """The most evaluations; None for as many as are left."""
    why: str = ""
    """Why the stage before did not suffice: what comes after "because"; empty for the first."""


class Ended(NamedTuple):
    """A stage that has ended without the run being over."""

    stage: Stage
    nfev: int
    reason: str
    """Why it ended: one of the names in `pursuit.methods.programs` if the method is a program."""
    has_gained: bool
    """Whether it has found a better point than the start of the run."""


class Wish(NamedTuple):
    """What the caller asked for, as far as the choice of stages depends on it."""

    method: str | type
    options: dict[str, Any]
    n: int
    restarts: int
    has_target: bool


EndedStages = Sequence[Ended]
