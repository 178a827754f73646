"""The report beside peers: tables of everything that was measured."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from benchmarks.measure import MEMORY_EVALUATIONS
from benchmarks.pages.peers import (
    Comparison,
    Measurements,
    RunSummary,
    Summaries,
    absent,
    comparisons,
    count,
    losses,
    summaries_of,
)
from benchmarks.pages.stamp import stamp
from benchmarks.problems.paper import DIGITS, HARD, HARD_CONDITION, NOISE, TARGET
from benchmarks.runs import NOT_RUN
from benchmarks.suites import coco
from benchmarks.suites.peers import LINEAR_PEERS, SIGMA0, SOLVERS, named
from pursuit.experiments.common.formatting import brief, power, spaced, table

FILE = "report.md"
_NORMALS = "n normals by NumPy"


class Cell(NamedTuple):
    """A cell of a table; the smallest number of a column is shown in bold."""

    number: float
    text: str


Columns = dict[str, dict[str, Cell]]


def text(folder: Path, measured: Measurements) -> str:
    """Return the report."""
    pictures = coco.figures(folder)
    shown = "\n\n".join(f"![{title}]({file})" for file, title in pictures.items())
    parts = [
        (measured.overhead, "Overhead", overhead_table),
        (measured.evaluations, "Evaluations and time", evaluation_tables),
        (measured.memory, "Memory", memory_table),
        (measured.hard, "Noise and kinks", hard_tables),
        (measured.suite, "Data profiles over a suite of COCO", suite_table),
    ]
    sections = "\n\n".join(f"## {name}\n\n{make(measured)}" for there, name, make in parts if there)
    solvers = table(
        ["", "package", "memory", "note"], [[_bold(s.name), s.package, s.memory, s.note] for s in SOLVERS]
    )
    return f"""# Measured beside what people use today

Every solver has its default settings, unless its name or a note says otherwise, the same start, the first
step size {SIGMA0:g} if it takes one, and the same caps ({_caps(measured)}). Every call of f counts. A run
ends with the first value not above the target, at a cap, or when the solver quits. Each run has its own
process and a single thread. All solvers call the same plain Python function around a compiled value;
[Speed](../speed.md) has what our methods gain if Numba compiles their loop around the function. Seconds are
the processor's.

## Summary

{absent(measured)}

Where a peer is ahead of the best of ours:

{losses(measured)}

{shown}

{sections}

## Solvers

{solvers}

{stamp("make bench-peers", measured.rows, named, folder)}"""


def _caps(measured: Measurements) -> str:
    rows = [row for row in (*measured.evaluations, *measured.hard) if row.status not in NOT_RUN]
    shown = []
    for n, axes in sorted({(row.n, not row.rotated) for row in rows}):
        some = [row for row in rows if (row.n, not row.rotated) == (n, axes)]
        seconds = [f"{seconds:g}" for seconds in sorted({row.maxtime for row in some})]
        spread = " to ".join(dict.fromkeys((seconds[0], seconds[-1])))
        where = "along the axes" if axes else "rotated"
        shown.append(f"n = {spaced(n)}, {where}: {spaced(some[0].maxfev)} evaluations, {spread} s")
    return "; ".join(shown)


def overhead_table(measured: Measurements) -> str:
    """Return microseconds per evaluation beyond the objective's own."""
    columns: Columns = {}
    for row in measured.overhead:
        cell = Cell(math.inf, row.detail)
        if row.microseconds is not None and row.normals is not None:
            cell = Cell(row.microseconds, f"{row.microseconds:.3g} ({row.microseconds / row.normals:.2g})")
        columns.setdefault(f"n = {spaced(row.n)}", {})[row.solver] = cell
    for n in {row.n for row in measured.overhead}:
        if found := [row.normals for row in measured.overhead if row.n == n and row.normals is not None]:
            middle = statistics.median(found)
            columns[f"n = {spaced(n)}"][_NORMALS] = Cell(middle, f"{middle:.3g}")
    astray = ", ".join(solver.name for solver in SOLVERS if not solver.replayable)
    return f"""Microseconds per evaluation beyond the objective's own; in brackets divided by the time in
which NumPy draws n normals, measured alternately. The objective returns prepared values, or is a function of
two variables for solvers that misbehave on prepared values ({astray}). L-BFGS-B draws no random numbers. The
lowest of each column is bold.

{grid(columns)}"""


def memory_table(measured: Measurements) -> str:
    """Return the most memory at a time."""
    columns: Columns = {}
    for row in measured.memory:
        cell = Cell(math.inf, row.detail)
        if row.bytes is not None:
            cell = Cell(row.bytes, f"{row.bytes / 2**20:.3g} ({row.bytes / (8 * row.n):.3g})")
        columns.setdefault(f"n = {spaced(row.n)}", {})[row.solver] = cell
    return f"""The peak of allocated memory during {MEMORY_EVALUATIONS} evaluations, beyond the start, in MB,
and in brackets in vectors of n doubles. For L-BFGS-B these evaluations are a part of its first gradient: a
longer run adds its pairs of vectors. Solvers that archive points grow with every evaluation.

{grid(columns)}"""


def evaluation_tables(measured: Measurements) -> str:
    """Return evaluations and seconds to the target, for each dimension, rotated and along the axes."""
    rows = measured.evaluations
    dimensions = sorted({row.n for row in rows})
    counts = ", ".join(f"{spaced(n)}, {len({row.seed for row in rows if row.n == n})}" for n in dimensions)
    parts = [
        f"""To f <= {power(TARGET)}. Medians over seeds (n and how many: {counts}; of two the lower), failures
counted as infinite. Of a run that fails the reason and its best value are given: the cap of evaluations or of
time, or that the solver quits by its own criteria. A solver that a cap ends with its first seed is not run
with the others, one that it ends for L = 1e4 is not run for L = 1e6, and one that fails for n = 100 with
every seed is not run for n = 1000, where it is taken to need more than ten times what it was given. The
fewest of each column are bold.""",
        "Our best beside the best peers:",
        comparison_table(summaries_of(rows)),
    ]
    for n in dimensions:
        for rotated in (True, False):
            if part := summaries_of(rows, n=n, rotated=rotated):
                place = f"n = {spaced(n)}, {'rotated' if rotated else 'along the axes'}"
                parts += [f"Evaluations, {place}:", grid(_columns(part, lambda one: one.evaluations, count))]
                parts += [
                    f"Seconds, {place}:",
                    grid(_columns(part, lambda one: one.seconds, "{:.3g}".format)),
                ]
    return "\n\n".join(parts)


def comparison_table(found: Summaries) -> str:
    """Return our best on every problem beside the best of linear memory, and the best of all."""
    rows = []
    for linear, anyone in zip(comparisons(found, LINEAR_PEERS), comparisons(found), strict=True):
        rows.append([linear.place, linear.ours, linear.theirs, _ratio(linear), anyone.theirs, _ratio(anyone)])
    return table(["problem", "ours", "peer of linear memory", "ratio", "any peer", "ratio"], rows)


def _ratio(one: Comparison) -> str:
    if one.open:
        return f"open: time or a cap ended {', '.join(one.open)} before"
    if math.isnan(one.ratio):
        return "nobody"
    if math.isinf(one.ratio):
        return "only theirs"
    if one.ratio == 0.0:
        return "**only ours**"
    return f"**{one.ratio:.2f}**" if one.ratio <= 1.0 else brief(one.ratio)


def hard_tables(measured: Measurements) -> str:
    """Return evaluations on the problems whose values are noisy or rounded, or which have kinks."""
    targets = ", ".join(f"{name} {power(target)}" for name, target in HARD.items())
    parts = [
        f"""All are made of the spectrum of `exp`, L = {HARD_CONDITION:g}, and rotated. `noisy` adds a normal
of deviation {power(NOISE)} to every value, `rounded` shows {DIGITS} digits of it, and `absolute` is a sum of
absolute values, with a kink wherever one is 0. The targets are for f without noise: {targets}.""",
        comparison_table(summaries_of(measured.hard)),
    ]
    for n in sorted({row.n for row in measured.hard}):
        part = summaries_of(measured.hard, n=n)
        parts += [f"Evaluations, n = {spaced(n)}:", grid(_columns(part, lambda one: one.evaluations, count))]
    return "\n\n".join(parts)


def suite_table(measured: Measurements) -> str:
    """Return which part of the suite each solver has solved."""
    if measured.suite is None:
        return ""
    extent = measured.suite.extent
    n, instances = (", ".join(map(str, numbers)) for numbers in (extent.dimensions, extent.instances))
    return f"""The share of all pairs of a problem and a target that was reached within {extent.budget} n
evaluations, on {len(extent.functions)} functions of {extent.suite}, n = {n}, instances {instances}, by
`pursuit coco`. A solver that quits is restarted with the remaining evaluations. The largest share of each
column is bold.

{coco.shares_table(measured.suite.shares)}"""


def _columns(
    found: Summaries, number: Callable[[RunSummary], float], show: Callable[[float], str]
) -> Columns:
    def cell(one: RunSummary) -> Cell:
        if math.isinf(one.evaluations):
            return Cell(math.inf, one.why)
        return Cell(number(one), f"{show(number(one))} ({one.why})" if one.why else show(number(one)))

    return {task.label: {name: cell(one) for name, one in row.items()} for task, row in found.items()}


def grid(columns: Columns) -> str:
    """Return a table with a row for every solver in a column; the smallest number of a column is bold."""

    def shown(column: dict[str, Cell], name: str) -> str:
        if name not in column:
            return ""
        least = min(cell.number for solver, cell in column.items() if solver != _NORMALS)
        is_least = name != _NORMALS and math.isfinite(column[name].number) and column[name].number == least
        return f"**{column[name].text}**" if is_least else column[name].text

    names = [_NORMALS, *(solver.name for solver in SOLVERS)]
    there = [name for name in names if any(name in column for column in columns.values())]
    return table(
        ["", *columns],
        [[_bold(name), *(shown(column, name) for column in columns.values())] for name in there],
    )


def _bold(solver: str) -> str:
    return f"**{solver}**" if solver in {one.name for one in SOLVERS if one.ours} else solver
