"""The page on the methods of others, from runs and times."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import quantile_test

from benchmarks.pages.stamp import filled, stamp
from benchmarks.problems.paper import Task
from benchmarks.recording import REACHED
from benchmarks.runs import read_rows
from benchmarks.suites.peers import RunRow
from benchmarks.suites.rivals import DIMENSIONS, PAIRS, PROBLEMS, RUNS, TIMES, Pair, TimeRow, named
from pursuit.experiments.common.formatting import brief, spaced, table

_TOLERANCE = 1.15
_NO = "**no**"


class Median(NamedTuple):
    """The median of evaluations and an interval that covers the true one in 95 % of all cases, or NaN."""

    value: float
    low: float
    high: float
    runs: int

    def __str__(self) -> str:
        interval = "" if math.isnan(self.low) else f" ({brief(self.low)} to {brief(self.high)})"
        return f"{brief(self.value)}{interval}"


def texts(folder: Path) -> dict[Path, str]:
    """Return the page."""
    runs, times = read_rows(folder / RUNS, RunRow), read_rows(folder / TIMES, TimeRow)
    return {folder / "agreement.md": text_of(runs, times, folder)}


def text_of(runs: Sequence[RunRow], times: Sequence[TimeRow], folder: Path | None = None) -> str:
    """Return the page."""
    compared = [line for pair in PAIRS for line in _lines(pair, runs)]
    agree, decided = (sum(line[-1] in words for line in compared) for words in (["yes"], ["yes", _NO]))
    heads = ["ours", "theirs", "problem", "n", "runs", "ours", "theirs", "ratio", "agrees"]
    notes = [f"- **{pair.ours.name}, {pair.theirs.name}**: {pair.note}" for pair in PAIRS if pair.note]
    times_heads = ["ours", "theirs", "n", "ours, µs", "theirs, µs", "faster"]
    return filled(
        "rivals", agree=agree, decided=decided, compared=table(heads, compared), notes="\n".join(notes),
        times=table(times_heads, _times(times)),
        stamp=stamp("make bench-rivals", [*runs, *times], named, folder),
    )  # fmt: skip


def _lines(pair: Pair, runs: Sequence[RunRow]) -> list[list[str]]:
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


def _median(runs: Sequence[RunRow], solver: str, problem: str, L: float | None, n: int) -> Median | None:
    """Return the median of a solver's evaluations; infinite for a run without the target."""
    found = [
        float(row.evaluations) if row.status == REACHED and row.evaluations is not None else math.inf
        for row in runs
        if (row.solver, row.problem, row.L, row.n) == (solver, problem, L, n)
    ]
    if not found:
        return None
    interval = quantile_test(found, q=0.0, p=0.5).confidence_interval()
    return Median(float(np.median(found)), float(interval.low), float(interval.high), len(found))


def _times(times: Sequence[TimeRow]) -> list[list[str]]:
    return [
        [solver, other, spaced(n), f"{ours:.3g}", f"{theirs:.3g}", f"{theirs / ours:.1f} times"]
        for solver, other, _, n, ours, theirs in times
        if ours is not None and theirs is not None
    ]
