"""The paper's schemes, and how what it leaves open is read."""

from __future__ import annotations

from typing import Any, NamedTuple

from pursuit.checks import checked_choice


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
