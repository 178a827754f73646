"""All that was measured, read from a folder, and what several runs of a solver on a problem come to."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.peers import suite
from benchmarks.peers.adapters import LINEAR, SOLVERS, Solver
from benchmarks.peers.counting import CAP, ERROR, QUIT, REACHED, TIME
from benchmarks.peers.problems import SMOOTH, Task
from benchmarks.peers.records import MISSING, SKIPPED, UNDONE, MemoryRow, OverheadRow, RunRow, read_rows
from benchmarks.peers.suite import Reached
from benchmarks.peers.versions import noted
from pursuit.experiments.common.formatting import power

# After these more might have come.
_CUT_OFF = (CAP, TIME, SKIPPED)
EVALUATIONS, HARD, OVERHEAD, MEMORY = "evaluations.csv", "hard.csv", "overhead.csv", "memory.csv"


class Measured(NamedTuple):
    """What a folder holds."""

    evaluations: list[RunRow]
    hard: list[RunRow]
    overhead: list[OverheadRow]
    memory: list[MemoryRow]
    suite: Reached | None
    versions: dict[str, Any] | None

    @property
    def rows(self) -> list[RunRow | OverheadRow | MemoryRow]:
        """All measurements but the suite's."""
        return [*self.evaluations, *self.hard, *self.overhead, *self.memory]

    @property
    def is_empty(self) -> bool:
        """Whether nothing was measured yet."""
        return not (self.rows or self.suite)


def load(folder: Path) -> Measured:
    """Read a folder; what is not there was not measured."""
    return Measured(
        read_rows(folder / EVALUATIONS, RunRow),
        read_rows(folder / HARD, RunRow),
        read_rows(folder / OVERHEAD, OverheadRow),
        read_rows(folder / MEMORY, MemoryRow),
        suite.read(folder),
        noted(folder),
    )


class Outcome(NamedTuple):
    """What the runs of a solver on a problem come to: medians, infinite where most of them fail."""

    evaluations: float
    seconds: float
    at_least: float
    """The median, or what was spent where caps have cut the runs off: it may need any number above."""
    why: str
    """How those ended that failed, in a few words; empty where none did."""


class Best(NamedTuple):
    """The solver that needs the fewest evaluations of some."""

    solver: str
    evaluations: float


def outcome(rows: Sequence[RunRow]) -> Outcome:
    """Return what runs come to. A run that was spared counts as a failure, like the one that spared it."""
    reached = [row for row in rows if row.status == REACHED]
    failed = [row for row in rows if row.status != REACHED]
    why = ""
    if failed:
        # What happened says more than that another run was spared for it.
        told = sorted(failed, key=lambda row: (row.status in UNDONE, row.seed))[0]
        why = _why(told) if not reached else f"{len(failed)} of {len(rows)} fail: {_why(told)}"
    spent = _lower_median([float(row.evaluations or 0) for row in reached], len(rows))
    seconds = _lower_median([row.seconds or 0.0 for row in reached], len(rows))
    cut_off = [float(row.evaluations) for row in failed if row.status in _CUT_OFF and row.evaluations]
    return Outcome(spent, seconds, min([spent, *cut_off]) if math.isinf(spent) else spent, why)


def _why(row: RunRow) -> str:
    if row.status in (CAP, TIME, QUIT) and row.best is not None:
        words = {CAP: "cap", TIME: "time", QUIT: "quits"}[row.status]
        return f"{words} at {power(float(f'{row.best:.1g}'))}"
    if row.status == MISSING:
        return "not installed"
    return f"error: {row.detail}" if row.status == ERROR else f"not run: {row.detail}"


def _lower_median(values: list[float], count: int) -> float:
    """Return the median of so many values, the lower of two; those that are not given are infinite."""
    ordered = [*sorted(values), *[math.inf] * (count - len(values))]
    return ordered[(count - 1) // 2]


def outcomes(rows: Iterable[RunRow]) -> dict[Task, dict[str, Outcome]]:
    """Return what was measured of each problem, by the solver's name."""
    groups: dict[Task, dict[str, list[RunRow]]] = {}
    for row in rows:
        task = Task(row.problem, row.L, row.rotated, row.n)
        groups.setdefault(task, {}).setdefault(row.solver, []).append(row)
    order = [name for name, _ in SMOOTH]
    tasks = sorted(
        groups,
        key=lambda t: (t.n, not t.rotated, order.index(t.problem) if t.problem in order else 0, t.L or 0.0),
    )
    return {task: {solver: outcome(runs) for solver, runs in groups[task].items()} for task in tasks}


def best_of(found: dict[str, Outcome], solvers: Iterable[Solver]) -> Best:
    """Return the solver that needs the fewest evaluations, an infinite number if none gets there."""
    counts = [Best(s.name, found[s.name].evaluations) for s in solvers if s.name in found]
    return min(counts, key=lambda best: best.evaluations, default=Best("", math.inf))


OURS = tuple(solver for solver in SOLVERS if solver.ours)
PEERS = tuple(solver for solver in SOLVERS if not solver.ours)
LINEAR_PEERS = tuple(solver for solver in PEERS if solver.memory == LINEAR)
