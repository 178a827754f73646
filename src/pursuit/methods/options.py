"""Options that several schemes share: the reading of the paper, and the search along a line."""

from __future__ import annotations

from typing import Any, NamedTuple

from pursuit.checks import checked_choice, checked_number
from pursuit.methods.line_searches import AdaptiveStep, Bracketing, ExactStep

LineSearch = AdaptiveStep | ExactStep | Bracketing


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


def line_search_named(name: Any, tolerance: float, **others: Any) -> Any:
    """Return the line search of that name: one that goes to a minimum on the line, or one of `others`."""
    searches = {**others, "exact": ExactStep(), "bracketing": Bracketing.create(tolerance)}
    return searches[checked_choice("line_search", name, tuple(searches))]


def checked_rate(name: str, value: float | None, default: float) -> float:
    """Return a learning rate: `default` for None, and otherwise at least 0 and below 1."""
    return default if value is None else checked_number(name, value, at_least=0.0, below=1.0)
