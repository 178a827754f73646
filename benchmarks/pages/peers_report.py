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
from benchmarks.pages.stamp import filled, stamp
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
    return filled(
        "peers", sigma0=SIGMA0, caps=_caps(measured), absent=absent(measured), losses=losses(measured),
        shown=shown, sections=sections, solvers=solvers,
        stamp=stamp("make bench-peers", measured.rows, named, folder),
    )  # fmt: skip


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
    return filled("peers-overhead", astray=astray, grid=grid(columns))


def memory_table(measured: Measurements) -> str:
    """Return the most memory at a time."""
    columns: Columns = {}
    for row in measured.memory:
        cell = Cell(math.inf, row.detail)
        if row.bytes is not None:
            cell = Cell(row.bytes, f"{row.bytes / 2**20:.3g} ({row.bytes / (8 * row.n):.3g})")
        columns.setdefault(f"n = {spaced(row.n)}", {})[row.solver] = cell
    return filled("peers-memory", evaluations=MEMORY_EVALUATIONS, grid=grid(columns))


def evaluation_tables(measured: Measurements) -> str:
    """Return evaluations and seconds to the target, for each dimension, rotated and along the axes."""
    rows = measured.evaluations
    dimensions = sorted({row.n for row in rows})
    counts = ", ".join(f"{spaced(n)}, {len({row.seed for row in rows if row.n == n})}" for n in dimensions)
    parts = [
        filled("peers-evaluations", target=power(TARGET), counts=counts),
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
        filled("peers-hard", condition=HARD_CONDITION, noise=power(NOISE), digits=DIGITS, targets=targets),
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
    return filled(
        "peers-suite", budget=extent.budget, functions=len(extent.functions), suite=extent.suite,
        place=extent.place, shares=coco.shares_table(measured.suite.shares),
    )  # fmt: skip


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
