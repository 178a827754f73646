"""Data profiles: which share of the problems a method solves within a budget, to a precision.

Every problem counts the same, by the share of its seeds that solved it. A method that was not run on a
problem, because that has too many variables for it, has not solved it.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from benchmarks.runs import MISSING
from benchmarks.suites.values import NOISY_BUDGETS, OURS, PEERS, PRECISIONS, SPSA, SPSAS, Row

TABLE_BUDGETS = NOISY_BUDGETS
_ORDER = (*OURS, *PEERS, *SPSAS)
BEST_SPSA = f"{SPSA}, best of four gains"
# How much lower than the known minimum a value must be to be reported, in units of f0 - f*.
_LOWER = 1e-6


class ProblemKey(NamedTuple):
    """What identifies a problem."""

    problem: str
    n: int


Cases = dict[ProblemKey, list[Row]]
"""The rows of one method by problem, one for each seed."""


def cases_of(rows: Iterable[Row], solver: str) -> Cases:
    """Return the rows of a method, without those of packages that are not installed."""
    found: Cases = {}
    for row in rows:
        if row.solver == solver and row.status != MISSING:
            found.setdefault(ProblemKey(row.problem, row.n), []).append(row)
    return found


def solvers_of(rows: Iterable[Row]) -> list[str]:
    """Return the methods that have rows: ours, those of earlier versions, and those of other packages."""
    names = dict.fromkeys(row.solver for row in rows if row.status != MISSING)
    return sorted(names, key=lambda name: _ORDER.index(name) if name in _ORDER else len(OURS) - 0.5)


# --- shares of problems solved ---------------------------------------------------------------------


def share_by_budget(cases: Cases, budget: float, precision: float) -> float:
    """Return the share of problems with f - f* <= tau (f0 - f*) at a budget."""
    return _mean([_solved_share(rows, budget, precision) for rows in cases.values()])


def share_by_evaluations(cases: Cases, evaluations_per_n: float, precision: float) -> float:
    """Return the share of problems solved within any number of evaluations, divided by n; without noise."""
    return _mean(
        [
            _mean([float(row.evaluations_to(precision) <= evaluations_per_n * row.n) for row in rows])
            for rows in cases.values()
        ]
    )


def best_share(gains: Sequence[Cases], budget: float, precision: float) -> float:
    """Return the share solved by whichever gain is best for each problem, budget and precision."""
    return _mean([_best(gains, key, budget, precision) for key in gains[0]])


def _best(gains: Sequence[Cases], key: ProblemKey, budget: float, precision: float) -> float:
    return max(_solved_share(cases[key], budget, precision) for cases in gains if key in cases)


def _solved_share(rows: Sequence[Row], budget: float, precision: float) -> float:
    return _mean([float(row.error_at(budget) <= precision) for row in rows])


def _mean(numbers: Sequence[float]) -> float:
    return sum(numbers) / len(numbers) if numbers else 0.0


# --- what a report asks for ------------------------------------------------------------------------


class Profile(NamedTuple):
    """The shares that a method solves at the budgets of the tables, by budget and precision."""

    solver: str
    problems: int
    shares: dict[tuple[int, float], float]


def profiles_of(rows: Sequence[Row], precisions: Sequence[float] = PRECISIONS) -> list[Profile]:
    """Return the profiles of all methods; SPSA with its best gain counts as one method."""
    places = [(budget, precision) for precision in precisions for budget in TABLE_BUDGETS]
    found = []
    gains = [cases_of(rows, name) for name in solvers_of(rows) if name.startswith(SPSA)]
    for name in solvers_of(rows):
        if not name.startswith(SPSA):
            cases = cases_of(rows, name)
            shares = {place: share_by_budget(cases, *place) for place in places}
            found.append(Profile(name, len(cases), shares))
    if gains:
        found.append(
            Profile(BEST_SPSA, len(gains[0]), {place: best_share(gains, *place) for place in places})
        )
    return found


def median_error(cases: Cases, key: ProblemKey, budget: float) -> float | None:
    """Return the median of (f - f*)/(f0 - f*) on a problem at a budget, None where it was not run."""
    rows = [row for row in cases.get(key, []) if row.evaluations is not None]
    return statistics.median(row.error_at(budget) for row in rows) if rows else None


def median_evaluations(cases: Cases, key: ProblemKey, precision: float) -> float | None:
    """Return the median of the evaluations to a precision, divided by n, None where it was not run."""
    rows = [row for row in cases.get(key, []) if row.evaluations is not None]
    return statistics.median(row.evaluations_to(precision) / row.n for row in rows) if rows else None


def below_minimum(rows: Iterable[Row]) -> list[Row]:
    """Return rows with a value below what is known as the minimum, which must then be found anew."""
    return [row for row in rows if row.evaluations is not None and row.error_at(TABLE_BUDGETS[-1]) < -_LOWER]
