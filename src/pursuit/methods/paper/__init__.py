"""The paper's schemes, and how what it leaves open is read."""

from __future__ import annotations

from typing import Any, NamedTuple, TypedDict

from pursuit.checks import checked_choice
from pursuit.methods.line_searches import AdaptiveStep, LineSearch, line_search_named


class Reading(NamedTuple):
    """One way to read what the paper leaves open or prints against its own figures."""

    failure_decay: float | None
    """c_p, by which a failure shortens the evolution path; None for 1/n."""
    damping: float
    """c in SARP's theta = 1/(n sqrt(c kappa)) when its steps are adaptive."""

    def c_p(self, n: int) -> float:
        """Return c_p in dimension n."""
        return 1.0 / n if self.failure_decay is None else self.failure_decay


READINGS = {
    "printed": Reading(failure_decay=1.0 / 12.0, damping=2.0),
    "fitted": Reading(failure_decay=None, damping=3.0),
    "frozen": Reading(failure_decay=0.0, damping=3.0),
}


def reading_named(name: Any) -> Reading:
    """Return the reading of that name."""
    return READINGS[checked_choice("reading", name, tuple(READINGS))]


class PursuitOptions(TypedDict, total=False):
    """The options that Random Pursuit and SARP share, as `search_and_reading` takes them."""

    line_search: str
    p: float
    tolerance: float
    reading: str


def search_and_reading(
    line_search: str = "adaptive", p: float = 0.27, tolerance: float = 1e-3, reading: str = "frozen"
) -> tuple[LineSearch, Reading]:
    """Return the line search that these options describe, and the reading."""
    adaptive = AdaptiveStep.create(p)
    return line_search_named(line_search, tolerance, adaptive=adaptive), reading_named(reading)
