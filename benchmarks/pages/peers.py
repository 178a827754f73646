"""What follows from the measurements beside peers: medians of runs, and ours beside the best of others."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.problems.paper import SMOOTH, Task
from benchmarks.recording import ERROR, QUIT, REACHED, TIME
from benchmarks.runs import MISSING, NOT_RUN, SKIPPED, read_rows
from benchmarks.solvers import Solver
from benchmarks.suites import coco
from benchmarks.suites.peers import OURS, PARTS, PEERS, SOLVERS, MemoryRow, OverheadRow, RunRow
from pursuit.engine.counting import CAP
from pursuit.experiments.common.formatting import power, spaced

# Runs of this status might have reached the target later.
_CUT_OFF = (CAP, TIME, SKIPPED)
_NAMES = {solver.name for solver in SOLVERS}
DEFAULT = tuple(solver for solver in OURS if solver.name == "auto")


class Measurements(NamedTuple):
    """All measurements of a folder."""

    evaluations: list[RunRow]
    hard: list[RunRow]
    overhead: list[OverheadRow]
    memory: list[MemoryRow]
    suite: coco.SuiteShares | None = None

    @property
    def rows(self) -> list[RunRow | OverheadRow | MemoryRow]:
        """All measurements but the suite's."""
        return [*self.evaluations, *self.hard, *self.overhead, *self.memory]


def load(folder: Path) -> Measurements:
    """Read the measurements of a folder; a file that does not exist counts as empty."""
    found: dict[str, Any] = {
        name: [row for row in read_rows(folder / part.file, part.kind) if row.solver in _NAMES]
        for name, part in PARTS.items()
    }
    return Measurements(**found, suite=coco.read(folder))


class RunSummary(NamedTuple):
    """The runs of a solver on a problem: medians, infinite where most of them fail."""

    evaluations: float
    seconds: float
    at_least: float
    """The median, or where caps have stopped the runs, a lower bound: what they had spent."""
    why: str
    """How those that failed ended, in a few words; empty where none did."""


def summarize(rows: Sequence[RunRow]) -> RunSummary:
    """Summarize runs of a solver on a problem. A run that was skipped counts as a failure."""
    reached = [row for row in rows if row.status == REACHED]
    failed = [row for row in rows if row.status != REACHED]
    why = ""
    if failed:
        # How a run ended says more than that another was skipped because of it.
        shown = _why(min(failed, key=lambda row: (row.status in NOT_RUN, row.seed)))
        why = shown if not reached else f"{len(failed)} of {len(rows)} fail: {shown}"
    spent = _lower_median([float(row.evaluations or 0) for row in reached], len(rows))
    seconds = _lower_median([row.seconds or 0.0 for row in reached], len(rows))
    cut_off = [float(row.evaluations) for row in failed if row.status in _CUT_OFF and row.evaluations]
    return RunSummary(spent, seconds, min([spent, *cut_off]) if math.isinf(spent) else spent, why)


def _why(row: RunRow) -> str:
    words = {CAP: "cap", TIME: "time", QUIT: "quits"}
    if row.status in words and row.best is not None:
        return f"{words[row.status]} at {power(float(f'{row.best:.1g}'))}"
    if row.status == MISSING:
        return "not installed"
    return f"error: {row.detail}" if row.status == ERROR else f"not run: {row.detail}"


def _lower_median(values: list[float], count: int) -> float:
    """Return the median of `count` values, the lower of two; those that are not given are infinite."""
    ordered = [*sorted(values), *[math.inf] * (count - len(values))]
    return ordered[(count - 1) // 2]


Summaries = dict[Task, dict[str, RunSummary]]
"""The runs on each problem, by the solver's name."""


def summaries_of(rows: Iterable[RunRow], **chosen: Any) -> Summaries:
    """Summarize the runs of each solver on each problem, of those with such fields."""
    groups: dict[Task, dict[str, list[RunRow]]] = {}
    for row in rows:
        if all(getattr(row, name) == value for name, value in chosen.items()):
            groups.setdefault(row.task, {}).setdefault(row.solver, []).append(row)
    order = [name for name, _ in SMOOTH]

    def place(task: Task) -> tuple[Any, ...]:
        number = order.index(task.problem) if task.problem in order else 0
        return task.n, not task.rotated, number, task.L or 0.0

    return {
        task: {solver: summarize(runs) for solver, runs in groups[task].items()}
        for task in sorted(groups, key=place)
    }


# --- ours beside the best of the others ------------------------------------------------------------


class Comparison(NamedTuple):
    """Our best beside the best of some peers."""

    place: str
    """What is compared: a problem or n."""
    ours: str
    theirs: str
    """The best peer and its number, or only "not reached","""
    peer: str
    """and its name."""
    ratio: float
    """Ours divided by theirs; infinite where only they have a result, NaN where neither has."""
    open: tuple[str, ...] = ()
    """Where ours seems to be ahead, the peers that a cap stopped before they had spent as much as ours."""

    @property
    def is_ahead(self) -> bool:
        """Whether ours is ahead for certain."""
        return self.ratio < 1.0 and not self.open


def count(number: float) -> str:
    """Return a number of evaluations, rounded for people.

    Examples
    --------
    >>> [count(number) for number in (157.0, 4417.0, 302_000.0, 1_160_000.0)]
    ['157', '4.42k', '302k', '1.16M']
    """
    if math.isinf(number):
        return "not reached"
    for unit, suffix in ((1e6, "M"), (1e3, "k")):
        if number >= 0.9995 * unit:
            return f"{number / unit:.3g}{suffix}"
    return f"{number:.0f}"


def comparisons(
    found: Summaries, peers: Iterable[Solver] = PEERS, ours: Sequence[Solver] = OURS
) -> list[Comparison]:
    """Return our best beside the best of some peers on every problem."""
    compared = []
    for task, row in found.items():
        axes = "rotated" if task.rotated else "along the axes"
        spent = {name: one.evaluations for name, one in row.items()}
        one = _compare(f"{task.label}, {axes}, n = {spaced(task.n)}", spent, ours, peers, count)
        mine = min((spent[solver.name] for solver in ours if solver.name in spent), default=math.inf)
        # A peer that a cap stopped before it had spent as much as ours might have needed less.
        cut_off = tuple(p.name for p in peers if p.name in row and row[p.name].at_least < mine)
        compared.append(one._replace(open=cut_off if one.ratio <= 1.0 else ()))
    return compared


def cost_comparisons(
    rows: Sequence[Any], field: str, unit: str, peers: Iterable[Solver] = PEERS, ours: Sequence[Solver] = OURS
) -> list[Comparison]:
    """Return our lowest time or memory beside the lowest of some peers, for every n."""
    scale = 2.0**20 if unit == "MB" else 1.0
    return [
        _compare(
            f"n = {spaced(n)}",
            {r.solver: getattr(r, field) / scale for r in rows if r.n == n and getattr(r, field) is not None},
            ours, peers, lambda value: f"{value:.3g} {unit}" if math.isfinite(value) else "not measured",
        )
        for n in dict.fromkeys(row.n for row in rows)
    ]  # fmt: skip


def _compare(
    place: str, found: dict[str, float], ours: Iterable[Solver], peers: Iterable[Solver], show: Any
) -> Comparison:
    best = []
    for solvers in (ours, peers):
        known = [(found[solver.name], solver.name) for solver in solvers if solver.name in found]
        best.append(min(known, key=lambda one: one[0], default=(math.inf, "")))
    (mine, _), (theirs, peer) = best
    shown = [f"{who} {show(value)}" if math.isfinite(value) else show(value) for value, who in best]
    ratio = mine / theirs if math.isfinite(min(mine, theirs)) else math.nan
    return Comparison(place, shown[0], shown[1], peer, ratio)


def losses(measured: Measurements) -> str:
    """Return a list of all comparisons in which a peer, of whatever kind, is ahead of the best of ours."""
    lines = []
    for name, found in (
        ("Overhead", cost_comparisons(measured.overhead, "microseconds", "µs")),
        ("Memory", cost_comparisons(measured.memory, "bytes", "MB")),
        ("Evaluations", comparisons(summaries_of(measured.evaluations))),
        ("Evaluations", comparisons(summaries_of(measured.hard))),
    ):
        for one in found:
            if one.ratio > 1.0:
                how = f": {one.ratio:.3g} times as much" if math.isfinite(one.ratio) else ""
                lines.append(f"- {name}, {one.place}: {one.theirs}, ours {one.ours}{how}.")
    for group, shares in measured.suite.shares.items() if measured.suite else ():
        (ours, mine), (theirs, peer) = (
            max(
                ((shares[one.name], one.name) for one in solvers if one.name in shares), default=(0.0, "none")
            )
            for solvers in (OURS, PEERS)
        )
        if theirs > ours:
            shown = f"{peer} {100.0 * theirs:.1f} %, ours {mine} {100.0 * ours:.1f} %"
            lines.append(f"- Targets of COCO's suite, {group} functions: {shown}.")
    return "\n".join(lines) or "- Nowhere."


def absent(measured: Measurements) -> str:
    """Return sentences that name the solvers that were not measured, or that stand apart from the others."""
    seen = {row.solver for row in measured.rows if row.status != MISSING}
    unmeasured = [solver.name for solver in SOLVERS if solver.name not in seen]
    of_others = [solver.name for solver in SOLVERS if solver.of_others and solver.name in seen]
    text = f"Not measured: {', '.join(unmeasured)}." if unmeasured else "All solvers were measured."
    if of_others:
        text += " Our versions of methods of others, which count neither as ours nor as peers: "
        text += f"{', '.join(of_others)}."
    return text
