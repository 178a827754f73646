"""Our methods beside those of other libraries: evaluations and time to a target, time per evaluation, memory.

Runs whose result can be predicted are skipped, and each of them is a row that says so. A solver that a cap
stops with its first seed is not run with the others; one that a cap stops for L = 1e4 is not run for L = 1e6,
which is harder; and one that does not reach the target in 100 variables with any seed, because a cap stops it
or because it quits, is not run in 1000.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.measure import memory_of, overhead_of
from benchmarks.problems.paper import HARD, HARD_CONDITION, SMOOTH, Task, make_objective
from benchmarks.recording import QUIT, TIME, Recorder, run_solver, warm_up
from benchmarks.runs import MEASURED, SKIPPED, Part, Skip, Table, Wanted
from benchmarks.solvers import LINEAR, Solve, Solver, solver_named
from benchmarks.suites.declared import solvers_of
from pursuit.engine.counting import CAP

FOLDER = Path("docs/results/peers")
SIGMA0 = 1.0
PER_VARIABLE = 20_000
"""The cap of evaluations, divided by n."""
FEW, MANY = 100, 1000
SEEDS = {FEW: 3, MANY: 2}
EASIER, HARDER = 1e4, 1e6
OVERHEAD_DIMENSIONS, MEMORY_DIMENSIONS = (100, 1_000, 10_000, 100_000, 1_000_000), (100_000, 1_000_000)
# The caps of time, in 1000 variables by L, which Rosenbrock's function does not have. Along the axes, solvers
# that make use of them need seconds only.
_SECONDS_OF_FEW = 60.0
_SECONDS_OF_MANY = {EASIER: 150.0, HARDER: 300.0, None: 450.0}
_SECONDS_OF_MANY_ALONG_AXES = {EASIER: 30.0, HARDER: 150.0, None: 30.0}
# After one of these another seed or a harder problem is not expected to do better.
_HOPELESS = (CAP, TIME, SKIPPED)


# --- the solvers -----------------------------------------------------------------------------------


DEFAULT = "scipy L-BFGS-B"
PRECISE = "scipy L-BFGS-B 3-point"
SOLVERS = solvers_of("peers")
OURS = tuple(solver for solver in SOLVERS if solver.ours and not solver.of_others)
PEERS = tuple(solver for solver in SOLVERS if not solver.ours)
LINEAR_PEERS = tuple(solver for solver in PEERS if solver.memory == LINEAR)
named = partial(solver_named, among=SOLVERS)


def __getattr__(name: str) -> Solve:
    """Return a solver by its identifier, so that `pursuit coco` accepts, say, `...:pypop7_LMCMA`."""
    for solver in SOLVERS:
        if solver.identifier == name:
            return solver.solve
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def chosen(wanted: Wanted) -> list[Solver]:
    """Return the solvers that are wanted, by default all."""
    return [named(name) for name in wanted.solvers or [solver.name for solver in SOLVERS]]


# --- evaluations to the target ---------------------------------------------------------------------


class RunRow(NamedTuple):
    """One run of a solver on a problem."""

    solver: str
    package: str
    version: str
    problem: str
    L: float | None
    rotated: bool
    n: int
    seed: int
    status: str
    detail: str
    evaluations: int | None
    """Of a run that was skipped, a number that it would have exceeded, if one is known."""
    seconds: float | None
    best: float | None
    maxfev: int
    maxtime: float

    @property
    def task(self) -> Task:
        """What the solver was to minimise."""
        return Task(self.problem, self.L, self.rotated, self.n)


def planned_row(solver: Solver, task: Task, seed: int, maxfev: int, maxtime: float) -> RunRow:
    """Return a row without a result."""
    return RunRow(
        solver.name, solver.package, solver.version, *task, seed, status="", detail="", evaluations=None,
        seconds=None, best=None, maxfev=maxfev, maxtime=maxtime,
    )  # fmt: skip


def run_to_target(row: RunRow, solver: Solver) -> RunRow:
    """Return a row with its result."""
    objective = make_objective(row.task, row.seed)
    warm_up(solver.solve, objective.fun, objective.x0, row.maxfev)
    record = Recorder(
        objective.fun, target=objective.target, maxfev=row.maxfev, maxtime=row.maxtime,
        observed=objective.observed,
    )  # fmt: skip
    found = run_solver(solver.solve, record, objective.x0, sigma0=SIGMA0, maxfev=row.maxfev, seed=row.seed)
    return row._replace(
        status=found.status, detail=found.detail, evaluations=found.evaluations, seconds=found.seconds,
        best=record.best,
    )  # fmt: skip


def smooth_tasks(wanted: Wanted) -> list[Task]:
    """Return the paper's problems, along the axes and rotated."""
    if wanted.quick:
        return [Task("exp", EASIER, True, 20)]
    return [Task(name, L, rotated, n) for n in (FEW, MANY) for rotated in (True, False) for name, L in SMOOTH]


def hard_tasks(wanted: Wanted) -> list[Task]:
    """Return the problems whose values are noisy or rounded, or which have kinks."""
    return [Task(name, HARD_CONDITION, True, 20 if wanted.quick else FEW) for name in HARD][
        : 1 if wanted.quick else None
    ]


def plan_runs(tasks: list[Task], wanted: Wanted) -> Iterator[RunRow]:
    """Yield a row without a result for every run."""
    for task in tasks:
        for solver in chosen(wanted):
            maxtime = wanted.maxtime or (2.0 if wanted.quick else _seconds_for(task))
            for seed in wanted.seeds_of(SEEDS.get(task.n, SEEDS[FEW])):
                yield planned_row(solver, task, seed, PER_VARIABLE * task.n, maxtime)


def _seconds_for(task: Task) -> float:
    if task.n < MANY:
        return _SECONDS_OF_FEW
    seconds = _SECONDS_OF_MANY if task.rotated else _SECONDS_OF_MANY_ALONG_AXES
    return seconds.get(task.L, seconds[EASIER])


def work(row: RunRow) -> RunRow:
    """Make a run; what a child process does."""
    return run_to_target(row, named(row.solver))


def reason_to_skip(row: RunRow, table: Table[RunRow]) -> Skip | None:
    """Return why a run is not to be made, None if it is."""
    first = table.get(row._replace(seed=1)) if row.seed > 1 else None
    easier = table.get(row._replace(L=EASIER)) if row.L == HARDER else None
    if first is not None and first.status in _HOPELESS:
        return Skip(SKIPPED, "It does not reach the target with seed 1.", first.evaluations)
    if easier is not None and easier.status in _HOPELESS:
        return Skip(SKIPPED, "It does not reach the target for L = 1e4.", easier.evaluations)
    found = (
        [table.get(row._replace(n=FEW, seed=seed)) for seed in range(1, 1 + SEEDS[FEW])]
        if row.n == MANY
        else []
    )
    smaller = [run for run in found if run is not None]
    if not smaller or any(run.status not in (*_HOPELESS, QUIT) for run in smaller):
        return None
    spent = smaller[0].evaluations if smaller[0].status in _HOPELESS else None
    # No method that sees values alone needs fewer than in proportion to n.
    evaluations = None if spent is None else spent * (MANY // FEW)
    return Skip(SKIPPED, f"It does not reach the target for n = {FEW}.", evaluations)


def _stage(row: RunRow) -> tuple[bool, int, bool, bool]:
    return not row.rotated, row.n, row.seed > 1, row.L == HARDER


# --- time and memory -------------------------------------------------------------------------------


class OverheadRow(NamedTuple):
    """The time of a solver per evaluation."""

    solver: str
    package: str
    version: str
    n: int
    status: str = ""
    detail: str = ""
    evaluations: int | None = None
    """How many of them were timed."""
    microseconds: float | None = None
    """Without the objective's own."""
    normals: float | None = None
    """The microseconds in which NumPy draws n normals."""
    own: float | None = None
    """The microseconds of the objective."""


class MemoryRow(NamedTuple):
    """The peak of a solver's memory, beyond what the process had before."""

    solver: str
    package: str
    version: str
    n: int
    status: str = ""
    detail: str = ""
    bytes: int | None = None


def _plan_costs(kind: Any, dimensions: tuple[int, ...], wanted: Wanted) -> list[Any]:
    return [
        kind(solver.name, solver.package, solver.version, n)
        for n in (dimensions[:1] if wanted.quick else dimensions)
        for solver in chosen(wanted)
    ]


def measure_overhead(row: OverheadRow) -> OverheadRow:
    """Return a row with its times; what a child process does."""
    return row._replace(status=MEASURED, **overhead_of(named(row.solver), row.n)._asdict())


def measure_memory(row: MemoryRow) -> MemoryRow:
    """Return a row with its memory; what a child process does."""
    return row._replace(status=MEASURED, bytes=memory_of(named(row.solver), row.n))


PARTS = {
    "overhead": Part(
        "overhead.csv", OverheadRow, lambda wanted: _plan_costs(OverheadRow, OVERHEAD_DIMENSIONS, wanted),
        measure_overhead, named, alone=True,
    ),
    "memory": Part(
        "memory.csv", MemoryRow, lambda wanted: _plan_costs(MemoryRow, MEMORY_DIMENSIONS, wanted),
        measure_memory, named, alone=True, fresh=True,
    ),
    "evaluations": Part(
        "evaluations.csv", RunRow, lambda wanted: plan_runs(smooth_tasks(wanted), wanted), work, named,
        stage=_stage, skip=reason_to_skip,
    ),
    "hard": Part(
        "hard.csv", RunRow, lambda wanted: plan_runs(hard_tasks(wanted), wanted), work, named, stage=_stage,
        skip=reason_to_skip,
    ),
}  # fmt: skip
