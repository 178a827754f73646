"""All measurements of a folder, and a summary of the runs of each solver on each problem."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.peers import suite
from benchmarks.peers.adapters import LINEAR, SOLVERS, Solver
from benchmarks.peers.counting import ERROR, QUIT, REACHED, TIME
from benchmarks.peers.problems import SMOOTH, Task
from benchmarks.peers.records import MISSING, NOT_RUN, SKIPPED, MemoryRow, OverheadRow, RunRow, read_rows
from benchmarks.peers.suite import SuiteShares
from benchmarks.peers.versions import read_versions
from pursuit.counting import CAP
from pursuit.experiments.common.formatting import power

# Runs of this status might have reached the target later.
_CUT_OFF = (CAP, TIME, SKIPPED)
EVALUATIONS, HARD, OVERHEAD, MEMORY = "evaluations.csv", "hard.csv", "overhead.csv", "memory.csv"


class Measurements(NamedTuple):
    """All measurements of a folder."""

    evaluations: list[RunRow]
    hard: list[RunRow]
    overhead: list[OverheadRow]
    memory: list[MemoryRow]
    suite: SuiteShares | None
    versions: dict[str, Any] | None

    @property
    def rows(self) -> list[RunRow | OverheadRow | MemoryRow]:
        """All measurements but the suite's."""
        return [*self.evaluations, *self.hard, *self.overhead, *self.memory]

    @property
    def is_empty(self) -> bool:
        """Whether nothing has been measured yet."""
        return not (self.rows or self.suite)


def load(folder: Path) -> Measurements:
    """Read the measurements of a folder; a file that does not exist counts as empty."""
    return Measurements(
        evaluations=read_rows(folder / EVALUATIONS, RunRow),
        hard=read_rows(folder / HARD, RunRow),
        overhead=read_rows(folder / OVERHEAD, OverheadRow),
        memory=read_rows(folder / MEMORY, MemoryRow),
        suite=suite.read(folder),
        versions=read_versions(folder),
    )


class RunSummary(NamedTuple):
    """The runs of a solver on a problem: medians, infinite where most of them fail."""

    evaluations: float
    seconds: float
    at_least: float
    """The median, or where caps have stopped the runs, a lower bound: what they had spent."""
    why: str
    """How those that failed ended, in a few words; empty where none did."""


class Best(NamedTuple):
    """The solver among some that needs the fewest evaluations."""

    solver: str
    evaluations: float


def summarize(rows: Sequence[RunRow]) -> RunSummary:
    """Summarize runs of a solver on a problem. A run that was skipped counts as a failure."""
    reached = [row for row in rows if row.status == REACHED]
    failed = [row for row in rows if row.status != REACHED]
    why = ""
    if failed:
        # How a run ended says more than that another was skipped because of it.
        shown = sorted(failed, key=lambda row: (row.status in NOT_RUN, row.seed))[0]
        why = _why(shown) if not reached else f"{len(failed)} of {len(rows)} fail: {_why(shown)}"
    spent = _lower_median([float(row.evaluations or 0) for row in reached], len(rows))
    seconds = _lower_median([row.seconds or 0.0 for row in reached], len(rows))
    cut_off = [float(row.evaluations) for row in failed if row.status in _CUT_OFF and row.evaluations]
    return RunSummary(spent, seconds, min([spent, *cut_off]) if math.isinf(spent) else spent, why)


def _why(row: RunRow) -> str:
    if row.status in (CAP, TIME, QUIT) and row.best is not None:
        words = {CAP: "cap", TIME: "time", QUIT: "quits"}[row.status]
        return f"{words} at {power(float(f'{row.best:.1g}'))}"
    if row.status == MISSING:
        return "not installed"
    return f"error: {row.detail}" if row.status == ERROR else f"not run: {row.detail}"


def _lower_median(values: list[float], count: int) -> float:
    """Return the median of `count` values, the lower of two; those that are not given are infinite."""
    ordered = [*sorted(values), *[math.inf] * (count - len(values))]
    return ordered[(count - 1) // 2]


Summaries = dict[Task, dict[str, RunSummary]]
"""The runs on each problem, by the solver's name."""


def summaries_of(rows: Iterable[RunRow]) -> Summaries:
    """Summarize the runs of each solver on each problem."""
    groups: dict[Task, dict[str, list[RunRow]]] = {}
    for row in rows:
        groups.setdefault(row.task, {}).setdefault(row.solver, []).append(row)
    order = [name for name, _ in SMOOTH]
    tasks = sorted(
        groups,
        key=lambda t: (t.n, not t.rotated, order.index(t.problem) if t.problem in order else 0, t.L or 0.0),
    )
    return {task: {solver: summarize(runs) for solver, runs in groups[task].items()} for task in tasks}


def best_of(found: dict[str, RunSummary], solvers: Iterable[Solver]) -> Best:
    """Return the solver that needs the fewest evaluations, infinitely many if none reaches the target."""
    counts = [Best(s.name, found[s.name].evaluations) for s in solvers if s.name in found]
    return min(counts, key=lambda best: best.evaluations, default=Best("", math.inf))


OURS = tuple(solver for solver in SOLVERS if solver.ours and not solver.of_others)
PEERS = tuple(solver for solver in SOLVERS if not solver.ours)
LINEAR_PEERS = tuple(solver for solver in PEERS if solver.memory == LINEAR)
