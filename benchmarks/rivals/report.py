"""What follows from the runs and times: a page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import quantile_test

from benchmarks.peers.problems import Task
from benchmarks.rivals.pairs import PAIRS, Pair
from benchmarks.rivals.runs import DIMENSIONS, PROBLEMS, RivalRow
from benchmarks.rivals.times import TimeRow
from pursuit.experiments.common.formatting import brief, spaced, table

_TOLERANCE = 1.15
_NO = "**no**"
# How much faster than a package ours should be, by the package.
_TARGETS = {"pypop7": 3.0, "fcmaes": 1.0}


class Median(NamedTuple):
    """The median of evaluations and an interval that covers the true one in 95 % of all cases, or NaN."""

    value: float
    low: float
    high: float
    runs: int

    def __str__(self) -> str:
        interval = "" if math.isnan(self.low) else f" ({brief(self.low)} to {brief(self.high)})"
        return f"{brief(self.value)}{interval}"


def text_of(runs: Sequence[RivalRow], times: Sequence[TimeRow]) -> str:
    """Return the page."""
    compared = [line for pair in PAIRS for line in _lines(pair, runs)]
    agree, decided = (sum(line[-1] in words for line in compared) for words in (["yes"], ["yes", _NO]))
    parts = [
        "# The methods of others, beside independent implementations",
        "Median evaluations to 1e-9 with σ₀ = 1, infinite if half of the runs have not reached it after "
        "5 000 n. The interval covers the true median in 95 % of all cases. The methods agree if medians "
        "differ by less than 15 %, or theirs lies within our interval. Where at least one of the two medians "
        f"is finite, {agree} of {decided} agree.",
        table(["ours", "theirs", "problem", "n", "runs", "ours", "theirs", "ratio", "agrees"], compared),
        "On Rosenbrock's function runs may end in a second valley: ours stop there, pypop7 begins again.",
        "Where theirs is not what the source says:",
        "\n".join(f"- **{pair.ours.name}, {pair.theirs.name}**: {pair.note}" for pair in PAIRS if pair.note),
        "## Time per evaluation",
        "Microseconds of processor time around a Python function, x @ x, which is included; both take turns.",
        table(["ours", "theirs", "n", "ours, µs", "theirs, µs", "faster", "target"], _times(times)),
        f"Versions: {'; '.join(sorted({f'{row.package} {row.version}' for row in runs}))}.",
    ]
    return "\n\n".join(parts) + "\n"


def _lines(pair: Pair, runs: Sequence[RivalRow]) -> list[list[str]]:
    lines = []
    for problem, L in PROBLEMS:
        for n in DIMENSIONS:
            ours, theirs = (_median(runs, solver.name, problem, L, n) for solver in (pair.ours, pair.theirs))
            if ours is None or theirs is None:
                continue
            label = "sphere" if L == 1.0 else Task(problem, L, False, n).label
            count = f"{ours.runs}, {theirs.runs}" if ours.runs != theirs.runs else str(ours.runs)
            names = [pair.ours.name, pair.theirs.name, label, str(n), count]
            lines.append([*names, str(ours), str(theirs), *_verdict(ours, theirs)])
    return lines


def _verdict(ours: Median, theirs: Median) -> tuple[str, str]:
    """Return the ratio of two medians, and whether they agree."""
    if math.isinf(ours.value) and math.isinf(theirs.value):
        return "—", "—"
    ratio = ours.value / theirs.value
    # An interval without an end says nothing about a median that is infinite.
    within = ours.low <= theirs.value <= ours.high and math.isfinite(theirs.value)
    close = 1.0 / _TOLERANCE <= ratio <= _TOLERANCE or within
    return brief(ratio), "yes" if close else _NO


def _median(runs: Sequence[RivalRow], solver: str, problem: str, L: float | None, n: int) -> Median | None:
    """Return the median of a solver's evaluations; infinite for a run without the target."""
    found = [
        math.inf if row.evaluations is None else float(row.evaluations)
        for row in runs
        if (row.solver, row.problem, row.L, row.n) == (solver, problem, L, n)
    ]
    if not found:
        return None
    interval = quantile_test(found, q=0.0, p=0.5).confidence_interval()
    return Median(float(np.median(found)), float(interval.low), float(interval.high), len(found))


def _times(times: Sequence[TimeRow]) -> list[list[str]]:
    lines = []
    for row in times:
        target, ratio = _TARGETS[row.other.split()[0]], row.theirs / row.ours
        verdict = f"{'reaches' if ratio >= target else 'MISSES'} {target:g} times"
        names = [row.solver, row.other, spaced(row.n)]
        lines.append([*names, f"{row.ours:.3g}", f"{row.theirs:.3g}", f"{ratio:.1f} times", verdict])
    return lines
