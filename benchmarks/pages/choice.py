"""What it costs `auto` to choose: its evaluations beside the better of `differences` and `evolution`."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.pages.profiles import Cases, ProblemKey, cases_of, median_error, median_evaluations
from benchmarks.pages.stamp import stamp
from benchmarks.problems.sets import SETS
from benchmarks.runs import read_rows
from benchmarks.suites.values import FILE, PRECISIONS, Row, named
from pursuit.experiments.common.formatting import power, table

AUTO, CHOICES = "auto", ("differences", "evolution")
COST = 1.5
"""A problem on which choosing costs more is listed."""
KNOWN_BY = 100
"""The evaluations / n by which the better method must have got there to count for the largest cost."""
# A run that did not get there counts as if it had with the last evaluation of its budget.
_BUDGET = 500
_SHOWN = 1e-5
_NOISY_BUDGETS = (100, 500)


class Cost(NamedTuple):
    """What choosing costs on a problem, to a precision."""

    group: str
    key: ProblemKey
    precision: float
    better: str
    evaluations: float
    """Those of the better method, divided by n."""
    ratio: float


def texts(folder: Path) -> dict[Path, str]:
    """Return the page."""
    rows = [row for row in read_rows(folder / FILE, Row) if row.solver in (AUTO, *CHOICES)]
    return {folder / "choice.md": text_of(rows, folder)}


def _cases(rows: Sequence[Row], group: str, noisy: bool) -> dict[str, Cases]:
    selected = [row for row in rows if row.group == group and row.noisy == noisy]
    return {name: cases_of(selected, name) for name in (*CHOICES, AUTO)}


def costs_of(rows: Sequence[Row], group: str) -> list[Cost]:
    """Return the costs on the problems of a set without noise that one of the two methods solves."""
    cases, found = _cases(rows, group, noisy=False), []
    for key in cases[AUTO]:
        for precision in PRECISIONS:
            spent = {name: _evaluations(cases[name], key, precision) for name in cases}
            better = min(CHOICES, key=lambda name: spent[name])
            if math.isfinite(spent[better]):
                ratio = min(spent[AUTO], _BUDGET) / spent[better]
                found.append(Cost(group, key, precision, better, spent[better], ratio))
    return found


def _evaluations(cases: Cases, key: ProblemKey, precision: float) -> float:
    found = median_evaluations(cases, key, precision)
    return math.inf if found is None else found


def text_of(rows: Sequence[Row], folder: Path | None = None) -> str:
    """Return the page."""
    groups = [group for group in SETS if any(row.group == group for row in rows)]
    costs = [cost for group in groups for cost in costs_of(rows, group)]
    dear = [
        [one.group, one.key.problem, str(one.key.n), power(one.precision), one.better,
         f"{one.evaluations:.1f}", f"{one.ratio:.2f}"]
        for one in costs if one.ratio > COST
    ]  # fmt: skip
    head = ["set", "problem", "n"]
    evaluations, errors = [], []
    for group in groups:
        cases = _cases(rows, group, noisy=False)
        for key in cases[AUTO]:
            spent = [_evaluations(cases[name], key, _SHOWN) for name in cases]
            shown = [f"{number:.1f}" if math.isfinite(number) else "∞" for number in spent]
            evaluations.append([group, key.problem, str(key.n), *shown])
        cases = _cases(rows, group, noisy=True)
        for key in cases[AUTO]:
            errors.append([group, key.problem, str(key.n), *(_errors(cases[name], key) for name in cases)])
    budgets = " / ".join(f"{budget} n" for budget in _NOISY_BUDGETS)
    parts = [
        "# What choosing costs",
        "Evaluations of `auto` divided by those of the better of `differences` and `evolution`, medians of "
        f"all seeds, for every problem without noise and every precision τ of "
        f"{', '.join(map(power, PRECISIONS))} that the better method reaches within {_BUDGET} n. Rules were "
        "chosen on the sets with *choosing* in their names.",
        _summary(costs, groups),
        f"## Where it costs more than {COST:g}",
        table([*head, "τ", "better", "its evaluations / n", "cost"], dear) if dear else "Nowhere.",
        f"## Evaluations / n to τ = {power(_SHOWN)}",
        table([*head, *CHOICES, AUTO], evaluations),
        "## With noise: (f - f\\*)/(f0 - f\\*) at the point returned",
        f"After {budgets}:",
        table([*head, *CHOICES, AUTO], errors),
    ]
    return "\n\n".join([*parts, stamp("make bench-choice", rows, named, folder)])


def _summary(costs: Sequence[Cost], groups: Sequence[str]) -> str:
    lines = []
    for group in [*groups, "all"]:
        if own := [cost for cost in costs if group in (cost.group, "all")]:
            known = [cost.ratio for cost in own if cost.evaluations <= KNOWN_BY]
            mean = statistics.geometric_mean(cost.ratio for cost in own)
            dear = f"{sum(ratio > COST for ratio in known)} of {len(known)}"
            lines.append([group, str(len(own)), f"{mean:.2f}", f"{max(known, default=1.0):.2f}", dear])
    header = ["set", "cases", "geometric mean", f"largest, solved by {KNOWN_BY} n", f"above {COST:g}"]
    return table(header, lines)


def _errors(cases: Cases, key: ProblemKey) -> str:
    found = [median_error(cases, key, budget) for budget in _NOISY_BUDGETS]
    return " / ".join("—" if error is None else f"{error:.1e}" for error in found)
