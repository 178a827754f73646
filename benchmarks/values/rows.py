"""What is kept of a method's runs on a problem with one seed: a row of a CSV file."""

from __future__ import annotations

import math
from typing import NamedTuple

FILE = "runs.csv"
BUDGETS = (0.3, 1, 3, 10, 30, 100, 500)
"""Evaluations, divided by n, at which the true value is kept; all but the first three are in the tables."""
NOISY_BUDGETS = (10, 30, 100, 500)
"""Those of runs with noise, each a run of its own."""
PRECISIONS = (1e-1, 1e-3, 1e-5, 1e-7)
"""A problem is solved to the precision tau where f - f* <= tau (f0 - f*)."""
NOISY_PRECISIONS = (1e-1, 1e-3, 1e-5)


class Row(NamedTuple):
    """A method on a problem with one seed.

    Without noise this is one run with the largest budget, and the value at a budget is the smallest one until
    then. With noise it is one run for each of four budgets, and the value is the true one at the point that
    the method returns; the evaluations and seconds are those of all four.
    """

    group: str
    problem: str
    kind: str
    n: int
    seed: int
    solver: str
    version: str
    noisy: bool
    maxtime: float
    """The limit of processor time for a run, in seconds."""
    status: str = ""
    detail: str = ""
    evaluations: int | None = None
    seconds: float | None = None
    start: float | None = None
    """f at the start, without noise."""
    minimum: float | None = None
    """The smallest value known."""
    to_1: int | None = None
    """The evaluations to the precision 1e-1, None where it is not reached; so on for the other precisions."""
    to_3: int | None = None
    to_5: int | None = None
    to_7: int | None = None
    at_03: float | None = None
    """The true value at 0.3 n evaluations; so on for the other budgets."""
    at_1: float | None = None
    at_3: float | None = None
    at_10: float | None = None
    at_30: float | None = None
    at_100: float | None = None
    at_500: float | None = None

    def value_at(self, budget: float) -> float:
        """Return the true value at a budget, infinity where the method was not run."""
        found: float | None = getattr(self, AT[budget])
        return math.inf if found is None else found

    def evaluations_to(self, precision: float) -> float:
        """Return the evaluations until a precision was reached, infinity if it was not."""
        found: int | None = getattr(self, TO[precision])
        return math.inf if found is None else found

    def error_at(self, budget: float) -> float:
        """Return (f - f*)/(f0 - f*) at a budget."""
        if self.start is None or self.minimum is None:
            return math.inf
        return (self.value_at(budget) - self.minimum) / (self.start - self.minimum)


AT = dict(zip(BUDGETS, (name for name in Row._fields if name.startswith("at_")), strict=True))
TO = dict(zip(PRECISIONS, (name for name in Row._fields if name.startswith("to_")), strict=True))
