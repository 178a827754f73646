"""The paper's schemes, and how what it leaves open is read."""

from __future__ import annotations

from typing import Any, NamedTuple, TypedDict

from pursuit.checks import checked_choice
from pursuit.methods.contract import checked_rate
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


class PathOptions(TypedDict, total=False):
    """The options that CMA and EP-CMA share, as `path_settings` takes them."""

    c_c: float | None
    c_cov: float | None
    c_p: float | None
    p: float
    reading: str


def path_settings(
    n: int,
    usual_c_cov: float,
    c_c: float | None = None,
    c_cov: float | None = None,
    c_p: float | None = None,
    p: float = 0.27,
    reading: str = "frozen",
) -> dict[str, Any]:
    """Return a scheme's fields by these options; rates default to the paper's, c_p to the reading's."""
    return {
        "line_search": AdaptiveStep.create(p),
        "c_c": checked_rate("c_c", c_c, 2.0 / (n + 2.0)),
        "c_cov": checked_rate("c_cov", c_cov, usual_c_cov),
        "c_p": checked_rate("c_p", c_p, reading_named(reading).c_p(n)),
    }
