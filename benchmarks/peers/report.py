"""The report in Markdown: tables of what was measured, and the summary."""

from __future__ import annotations

import math
import statistics
from pathlib import Path
from typing import NamedTuple

from benchmarks.peers import figures, suite
from benchmarks.peers.adapters import SOLVERS
from benchmarks.peers.counting import TIME
from benchmarks.peers.evaluations import SIGMA0
from benchmarks.peers.measurements import (
    LINEAR_PEERS,
    PEERS,
    Measurements,
    RunSummary,
    Summaries,
    load,
    summaries_of,
)
from benchmarks.peers.memory import EVALUATIONS as MEMORY_EVALUATIONS
from benchmarks.peers.problems import DIGITS, HARD, HARD_CONDITION, NOISE, TARGET
from benchmarks.peers.records import NOT_RUN, RunRow
from benchmarks.peers.summary import Comparison, absent, comparisons, count, losses, targets_table
from pursuit.experiments.common.files import write_file
from pursuit.experiments.common.formatting import brief, power, spaced, table

FILE = "report.md"
_NORMALS = "n normals by NumPy"


class TableCell(NamedTuple):
    """A cell of a table."""

    number: float
    """The smallest number of a column is shown in bold."""
    text: str


Columns = dict[str, dict[str, TableCell]]


def write(folder: Path) -> Path:
    """Write the report on a folder and its figures into the folder."""
    measured = load(folder)
    pictures = figures.draw(measured, folder) | suite.figures(folder)
    path = folder / FILE
    write_file(path, text(measured, pictures))
    return path


def text(measured: Measurements, pictures: dict[str, str]) -> str:
    """Return the report; `pictures` are the titles of the figures by the names of their files."""
    shown = "\n\n".join(f"![{title}]({file})" for file, title in pictures.items())
    return f"""# Measured beside what people use today

{how_measured(measured)}

## Summary

{absent(measured)}

{targets_table(measured)}

Where a peer is ahead of the best of ours:

{losses(measured)}

{shown}

{sections(measured, "##")}

## Solvers

{solver_table()}

{made_with(measured)}
"""


def how_measured(measured: Measurements) -> str:
    """Return how the evaluations were measured."""
    rows = [row for row in (*measured.evaluations, *measured.hard) if row.status not in NOT_RUN]
    groups = sorted({(row.n, not row.rotated) for row in rows})
    caps = "; ".join(_caps_of(rows, n, not along_axes) for n, along_axes in groups)
    equal = f" ({caps})" if caps else ""
    return f"""Every solver has its default settings, unless its name or a note says otherwise, the same
start, the first step size {SIGMA0:g} if it takes one, and the same caps{equal}. Every call of f counts,
wherever it comes from. A run ends with the
first value not above the target, at a cap, or when the solver quits. Each runs in a process of its own
with a single thread. All get the same plain Python function around a compiled value: our loop is not
compiled around it, as it would be around a function jitted by Numba; what that gains is in
[Speed](../speed.md). Seconds are the processor's."""


def _caps_of(rows: list[RunRow], n: int, rotated: bool) -> str:
    """Return the limits of some runs, with the solvers that were given more time.

    The cap of time is that of the runs which it stopped, if there are any: a run that reached the target may
    have had less time than others got later, and would not have used more.
    """
    some = [row for row in rows if (row.n, row.rotated) == (n, rotated)]
    usual = {}
    for L in {row.L for row in some}:
        alike = [row for row in some if row.L == L]
        cut_off = [row.maxtime for row in alike if row.status == TIME]
        usual[L] = min(cut_off) if cut_off else max(row.maxtime for row in alike)
    least = min(usual.values())
    longer = {L: seconds for L, seconds in usual.items() if seconds > least}
    most: dict[str, float] = {}
    for row in some:
        if row.maxtime > usual[row.L]:
            most[row.solver] = max(row.maxtime, most.get(row.solver, 0.0))
    text = "".join(
        f", {seconds:g} s for {'rosenbrock' if L is None else f'L = {power(L)}'}"
        for L, seconds in sorted(longer.items(), key=lambda item: item[1])
    )
    favoured = [
        f"{seconds:g} s for {', '.join(name for name in most if most[name] == seconds)}"
        for seconds in sorted(set(most.values()))
    ]
    text += f", or more, up to {', '.join(favoured)}" if favoured else ""
    axes = "rotated" if rotated else "along the axes"
    return f"n = {spaced(n)}, {axes}: {spaced(some[0].maxfev)} evaluations, {least:g} s{text}"


def sections(measured: Measurements, heading: str) -> str:
    """Return all tables, each under a heading such as ``"##"``."""
    parts = [
        (bool(measured.overhead), "Overhead", overhead_table),
        (bool(measured.evaluations), "Evaluations and time", evaluation_tables),
        (bool(measured.memory), "Memory", memory_table),
        (bool(measured.hard), "Noise and kinks", hard_tables),
        (bool(measured.suite), "Data profiles over a suite of COCO", suite_table),
    ]  # fmt: skip
    return "\n\n".join(f"{heading} {name}\n\n{make(measured)}" for there, name, make in parts if there)


def overhead_table(measured: Measurements) -> str:
    """Return microseconds per evaluation beyond the objective's own."""
    columns: Columns = {}
    for row in measured.overhead:
        cell = TableCell(math.inf, row.detail)
        if row.microseconds is not None and row.normals is not None:
            cell = TableCell(
                row.microseconds, f"{row.microseconds:.3g} ({row.microseconds / row.normals:.2g})"
            )
        columns.setdefault(f"n = {spaced(row.n)}", {})[row.solver] = cell
    for n in {row.n for row in measured.overhead}:
        found = [row.normals for row in measured.overhead if row.n == n and row.normals is not None]
        if found:
            middle = statistics.median(found)
            columns[f"n = {spaced(n)}"][_NORMALS] = TableCell(middle, f"{middle:.3g}")
    astray = ", ".join(solver.name for solver in SOLVERS if not solver.replayable)
    return f"""Microseconds per evaluation beyond the objective's own; in brackets divided by the time in
which NumPy draws n normals, measured in turns with the solver. The objective returns prepared values, or
is a function of two of the variables for solvers that these lead astray ({astray}).
L-BFGS-B draws no random numbers. The lowest of each column is bold.

{grid(columns)}"""


def memory_table(measured: Measurements) -> str:
    """Return the most memory at a time."""
    columns: Columns = {}
    for row in measured.memory:
        cell = TableCell(math.inf, row.detail)
        if row.bytes is not None:
            cell = TableCell(row.bytes, f"{row.bytes / 2**20:.3g} ({row.bytes / (8 * row.n):.3g})")
        columns.setdefault(f"n = {spaced(row.n)}", {})[row.solver] = cell
    return f"""The peak of allocated memory during {MEMORY_EVALUATIONS} evaluations, beyond the start, in MB,
and in brackets in vectors of n doubles. For L-BFGS-B these evaluations are a part of its first gradient: a
longer run adds the pairs that it remembers. Solvers that keep an archive of points grow with every
evaluation.

{grid(columns)}"""


def evaluation_tables(measured: Measurements) -> str:
    """Return evaluations and seconds to the target, for each dimension, rotated and along the axes."""
    found = summaries_of(measured.evaluations)
    seeds = {n: len({row.seed for row in measured.evaluations if row.n == n}) for n in _dimensions(found)}
    counts = ", ".join(f"{spaced(n)}, {number}" for n, number in seeds.items())
    parts = [
        f"""To f <= {power(TARGET)}. Medians over seeds (n and how many: {counts}; of two the lower), failures
counted as infinite. Of a run that fails the reason and its best value are given: the cap of evaluations or of
time, or that the solver quits by its own criteria. A solver that a cap ends with its first seed is not
run with the others, one that it ends for L = 1e4 is not run for L = 1e6, and one that fails for n = 100
with every seed is not run for n = 1000, where it is taken to need more than ten times what it was given.
The fewest of each column are bold.""",
        "Our best beside the best peers:",
        comparison_table(found),
    ]
    for n in _dimensions(found):
        for rotated in (True, False):
            part = {task: row for task, row in found.items() if (task.n, task.rotated) == (n, rotated)}
            if part:
                axes = "rotated" if rotated else "along the axes"
                parts += [f"Evaluations, n = {spaced(n)}, {axes}:", grid(_evaluations(part))]
                parts += [f"Seconds, n = {spaced(n)}, {axes}:", grid(_seconds(part))]
    return "\n\n".join(parts)


def comparison_table(found: Summaries) -> str:
    """Return our best on every problem beside the best of linear memory, and the best of all."""
    rows = []
    for linear, anyone in zip(comparisons(found, LINEAR_PEERS), comparisons(found, PEERS), strict=True):
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
    found = summaries_of(measured.hard)
    targets = ", ".join(f"{name} {power(target)}" for name, target in HARD.items())
    parts = [
        f"""All are made of the spectrum of `exp`, L = {HARD_CONDITION:g}, and rotated. `noisy` adds a
normal of deviation {power(NOISE)} to every value, `rounded` shows {DIGITS} digits of it, and `absolute`
is a sum of absolute values, with a kink wherever one is 0. The targets are for f without noise:
{targets}.""",
        comparison_table(found),
    ]
    for n in _dimensions(found):
        part = {task: row for task, row in found.items() if task.n == n}
        parts += [f"Evaluations, n = {spaced(n)}:", grid(_evaluations(part))]
    return "\n\n".join(parts)


def suite_table(measured: Measurements) -> str:
    """Return which part of the suite each solver has solved."""
    if measured.suite is None:
        return ""
    extent, shares = measured.suite
    n, instances = (", ".join(map(str, numbers)) for numbers in (extent.dimensions, extent.instances))
    return f"""Which part of all pairs of a problem and a target was reached within {extent.budget} n
evaluations, on {len(extent.functions)} functions of {suite.SUITE}, n = {n}, instances {instances}, by
`pursuit coco`. A solver that quits is restarted with the evaluations that are left. The largest share of each
column is bold.

{suite.shares_table(shares)}"""


def solver_table() -> str:
    """Return a table of the solvers."""
    rows = [[_name(s.name), s.package, s.memory, s.note] for s in SOLVERS]
    return table(["", "package", "memory", "note"], rows)


def made_with(measured: Measurements) -> str:
    """Return a line that says when and with which versions the measurements were made."""
    if measured.versions is None:
        return "Nothing was measured yet."
    found = dict(measured.versions)
    versions = found.pop("packages")
    packages = ", ".join(f"{name} {version or 'not installed'}" for name, version in versions.items())
    rest = ", ".join(f"{name} {found[name]}" for name in ("Python", "numpy", "scipy", "numba"))
    line = f"Made by `make bench-peers`, last on {found['date']}: {found['machine']}, {rest}. {packages}."
    older = {f"{row.package} {row.version}" for row in measured.rows if row.version != versions[row.package]}
    return f"{line} Some rows, as the CSV files show, are of {', '.join(sorted(older))}." if older else line


def _dimensions(found: Summaries) -> list[int]:
    return list(dict.fromkeys(task.n for task in found))


def _evaluations(found: Summaries) -> Columns:
    return {
        task.label: {
            name: TableCell(one.evaluations, _text(count(one.evaluations), one)) for name, one in row.items()
        }
        for task, row in found.items()
    }


def _seconds(found: Summaries) -> Columns:
    return {
        task.label: {
            name: TableCell(one.seconds, _text(f"{one.seconds:.3g}", one)) for name, one in row.items()
        }
        for task, row in found.items()
    }


def _text(number: str, one: RunSummary) -> str:
    if math.isinf(one.evaluations):
        return one.why
    return f"{number} ({one.why})" if one.why else number


def grid(columns: Columns) -> str:
    """Return a table with a row for every solver in a column; the smallest number of a column is bold."""
    names = [_NORMALS, *(solver.name for solver in SOLVERS)]
    rows = []
    for name in names:
        if any(name in column for column in columns.values()):
            rows.append([_name(name), *(_shown(column, name) for column in columns.values())])
    return table(["", *columns], rows)


def _shown(column: dict[str, TableCell], name: str) -> str:
    if name not in column:
        return ""
    cell = column[name]
    least = min(other.number for solver, other in column.items() if solver != _NORMALS)
    is_least = name != _NORMALS and math.isfinite(cell.number) and cell.number == least
    return f"**{cell.text}**" if is_least else cell.text


def _name(solver: str) -> str:
    return f"**{solver}**" if solver in {one.name for one in SOLVERS if one.ours} else solver
