"""Evaluations and time until the target is reached.

Runs whose result can be predicted are skipped, and each of them is a row that says so. A solver that a cap
stops with its first seed is not run with the others; one that a cap stops for L = 1e4 is not run for L = 1e6,
which is harder; and one that does not reach the target in 100 variables with any seed, because a cap stops it
or because it quits, is not run in 1000.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from benchmarks.peers.adapters import DENSE_LIMIT, NO_ROOM, Solver, solver_named
from benchmarks.peers.counting import ERROR, QUIT, TIME, Counted, RunResult, run_solver
from benchmarks.peers.isolation import Failure, Job, run_jobs
from benchmarks.peers.problems import HARD, HARD_CONDITION, SMOOTH, Task, make_objective
from benchmarks.peers.records import MISSING, NOT_RUN, SKIPPED, RunRow, Table
from benchmarks.peers.versions import version_of
from pursuit.counting import CAP

SIGMA0 = 1.0
PER_VARIABLE = 20_000
"""The cap of evaluations, divided by n."""
FEW, MANY = 100, 1000
SEEDS = {FEW: 3, MANY: 2}
EASIER, HARDER = 1e4, 1e6
# The caps of time, in 1000 variables by L, which Rosenbrock's function does not have. Along the axes, solvers
# that make use of them need seconds only.
_SECONDS_OF_FEW = 60.0
_SECONDS_OF_MANY = {EASIER: 150.0, HARDER: 300.0, None: 450.0}
_SECONDS_OF_MANY_ALONG_AXES = {EASIER: 30.0, HARDER: 150.0, None: 30.0}
# After one of these another seed or a harder problem is not expected to do better.
_HOPELESS = (CAP, TIME, SKIPPED)
# A run of so many evaluations precedes the measured one, so that imports and compilation are not measured.
_WARM_UP = 20
# A process is killed after so many times the cap, since others may use the processor too, and so many seconds
# more, for imports, the warm-up and the last step of a slow solver.
_PATIENCE, _GRACE = 5.0, 120.0


class Caps(NamedTuple):
    """The limits of a run."""

    maxfev: int
    maxtime: float


def caps_for(task: Task, time_cap: float | None) -> Caps:
    """Return the limits of all runs on a problem."""
    if time_cap is None and _nearest(task.n) == MANY:
        seconds = _SECONDS_OF_MANY if task.rotated else _SECONDS_OF_MANY_ALONG_AXES
        time_cap = seconds.get(task.L, seconds[EASIER])
    return Caps(PER_VARIABLE * task.n, _SECONDS_OF_FEW if time_cap is None else time_cap)


def seeds_for(n: int, seeds: int | None) -> range:
    """Return the seeds of all runs in n variables."""
    return range(1, 1 + (SEEDS[_nearest(n)] if seeds is None else seeds))


def _nearest(n: int) -> int:
    return min((FEW, MANY), key=lambda known: abs(known - n))


def smooth_tasks(dimensions: Sequence[int]) -> list[Task]:
    """Return the paper's problems, along the axes and rotated."""
    return [Task(name, L, rotated, n) for n in dimensions for rotated in (True, False) for name, L in SMOOTH]


def hard_tasks(dimensions: Sequence[int]) -> list[Task]:
    """Return the problems whose values are noisy or rounded, or which have kinks."""
    return [Task(name, HARD_CONDITION, True, n) for n in dimensions for name in HARD]


def one_run(name: str, task: Task, seed: int, caps: Caps) -> RunResult:
    """Run a solver; what a child process does."""
    solve = solver_named(name).solve
    objective = make_objective(task, seed)

    def run(maxfev: int, maxtime: float) -> RunResult:
        counted = Counted(
            objective.fun,
            target=objective.target,
            maxfev=maxfev,
            maxtime=maxtime,
            observed=objective.observed,
        )
        return run_solver(
            lambda fun: solve(fun, objective.x0.copy(), sigma0=SIGMA0, maxfev=caps.maxfev, seed=seed), counted
        )

    run(_WARM_UP, _GRACE / 2)
    # Made again, so that the noise starts again.
    objective = make_objective(task, seed)
    return run(*caps)


def plan(
    solvers: Sequence[Solver], tasks: Sequence[Task], *, seeds: int | None, time_cap: float | None
) -> list[RunRow]:
    """Return a row without a result for every run; runs because of which others may be skipped come first."""
    rows = [
        RunRow(
            solver=solver.name,
            package=solver.package,
            version=version_of(solver),
            **task._asdict(),
            seed=seed,
            status="",
            detail="",
            evaluations=None,
            seconds=None,
            best=None,
            **caps_for(task, time_cap)._asdict(),
        )
        for task in tasks
        for solver in solvers
        for seed in seeds_for(task.n, seeds)
    ]
    return sorted(rows, key=_stage)


def run_missing(
    rows: Sequence[RunRow], *, table: Table[RunRow], at_once: int, say: Callable[[str], None]
) -> None:
    """Make all runs of a plan that the table does not have yet."""
    for stage, group in itertools.groupby(rows, key=_stage):
        jobs = {_job(row): row for row in group if _is_wanted(row, table)}
        worst = sum(row.maxtime for row in jobs.values()) / at_once
        if jobs:
            say(f"{len(jobs)} runs in {stage.n} variables, of {worst / 60:.0f} minutes at most.")
        begin = time.monotonic()
        for done, (job, result) in enumerate(run_jobs(list(jobs), at_once), 1):
            row = _with_result(jobs[job], result)
            table.add(row)
            left = (time.monotonic() - begin) / done * (len(jobs) - done)
            say(f"{_describe(row)}  ({done} of {len(jobs)}, about {left / 60:.0f} minutes more)")


class _Stage(NamedTuple):
    """The order of the runs: results of one stage may let runs of later stages be skipped."""

    along_axes: bool
    n: int
    another_seed: bool
    harder: bool


def _stage(row: RunRow) -> _Stage:
    return _Stage(not row.rotated, row.n, row.seed > 1, row.L == HARDER)


def _job(row: RunRow) -> Job:
    caps = Caps(row.maxfev, row.maxtime)
    return Job(one_run, (row.solver, row.task, row.seed, caps), _PATIENCE * row.maxtime + _GRACE)


def _is_wanted(row: RunRow, table: Table[RunRow]) -> bool:
    """Return whether a run is to be made; if it is skipped, store why."""
    found = table.get(row)
    if found is not None and found.status not in NOT_RUN and not _is_outdated(found, row):
        return False
    reason = _reason_to_skip(row, table)
    if reason is None:
        return True
    # A result from a machine on which the solver was installed is better than none.
    if found is None or found.status in NOT_RUN or reason.status == SKIPPED:
        table.add(row._replace(**reason._asdict()))
    return False


def _is_outdated(found: RunRow, row: RunRow) -> bool:
    """Return whether a result is another version's, or that of a run which may take longer now."""
    return (
        found.version != row.version
        or (found.status == TIME and found.maxtime < row.maxtime)
        or (found.status == CAP and found.maxfev < row.maxfev)
    )


class _Skip(NamedTuple):
    """Why a run is not made."""

    status: str
    detail: str
    evaluations: int | None = None
    """A number that it would have exceeded: what a cap allowed a run that predicts the result."""


def _reason_to_skip(row: RunRow, table: Table[RunRow]) -> _Skip | None:
    """Return why a run is not to be made, None if it is."""
    solver = solver_named(row.solver)
    if not solver.installed:
        return _Skip(MISSING, f"{row.package} is not installed.")
    if solver.dense and row.n >= DENSE_LIMIT:
        return _Skip(SKIPPED, NO_ROOM)
    first = table.get(row._replace(seed=1)) if row.seed > 1 else None
    if first is not None and first.status in _HOPELESS:
        return _Skip(SKIPPED, "It does not reach the target with seed 1.", first.evaluations)
    easier = table.get(row._replace(L=EASIER)) if row.L == HARDER else None
    if easier is not None and easier.status in _HOPELESS:
        return _Skip(SKIPPED, "It does not reach the target for L = 1e4.", easier.evaluations)
    return _reason_from_fewer_variables(row, table) if row.n == MANY else None


def _reason_from_fewer_variables(row: RunRow, table: Table[RunRow]) -> _Skip | None:
    found = [table.get(row._replace(n=FEW, seed=seed)) for seed in seeds_for(FEW, None)]
    smaller = [run for run in found if run is not None]
    if not smaller or any(run.status not in (*_HOPELESS, QUIT) for run in smaller):
        return None
    spent = smaller[0].evaluations if smaller[0].status in _HOPELESS else None
    # No method that sees values alone needs fewer than in proportion to n.
    evaluations = None if spent is None else spent * (MANY // FEW)
    return _Skip(SKIPPED, f"It does not reach the target for n = {FEW}.", evaluations)


def _with_result(row: RunRow, result: Any) -> RunRow:
    if isinstance(result, Failure):
        return row._replace(status=ERROR, detail=result.text)
    return row._replace(**result._asdict())


def _describe(row: RunRow) -> str:
    """Return a run and its result in a line for people."""
    axes = "rotated" if row.rotated else "along the axes"
    status = row.status if row.status != ERROR else f"error: {row.detail}"
    spent = "" if row.evaluations is None else f", {row.evaluations} evaluations, {row.seconds:.1f} s"
    return f"{row.solver} on {row.task.label} {axes}, n = {row.n}, seed {row.seed}: {status}{spent}"
