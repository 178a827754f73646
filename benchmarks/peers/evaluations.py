"""Evaluations and time until the target is reached.

Rules spare runs whose ending is known, and every run that they spare is a row that says so. A solver that a
cap ends with its first seed is not run with the others; one that it ends for L = 1e4 is not run for L = 1e6,
which is harder; and one that does not get there in 100 variables with any seed, since a cap ends it or since
it quits, is not run in 1000.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from benchmarks.peers.adapters import DENSE_LIMIT, NO_ROOM, Solver, solver_named
from benchmarks.peers.counting import CAP, ERROR, QUIT, TIME, Counted, Ending, ending_of
from benchmarks.peers.isolation import Failure, Job, run_apart
from benchmarks.peers.problems import HARD, HARD_CONDITION, SMOOTH, Task, make
from benchmarks.peers.records import MISSING, SKIPPED, UNDONE, RunRow, Table
from benchmarks.peers.versions import version_of

SIGMA0 = 1.0
PER_VARIABLE = 20_000
"""The cap of evaluations, divided by n."""
FEW, MANY = 100, 1000
SEEDS = {FEW: 3, MANY: 2}
EASIER, HARDER = 1e4, 1e6
# The caps of time, in 1000 variables by L, which Rosenbrock's function does not have. Along the axes, solvers
# that know of them are done within seconds.
_SECONDS_OF_FEW = 60.0
_SECONDS_OF_MANY = {EASIER: 150.0, HARDER: 300.0, None: 450.0}
_SECONDS_OF_MANY_ALONG_AXES = {EASIER: 30.0, HARDER: 150.0, None: 30.0}
# With these endings no more is to be expected of another seed or of a harder problem.
_FRUITLESS = (CAP, TIME, SKIPPED)
# A warm-up of so many evaluations comes before the clock: imports and compilation are nobody's time.
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


def one_run(name: str, task: Task, seed: int, caps: Caps) -> Ending:
    """Run a solver; what a child process does."""
    solve = solver_named(name).solve
    work = make(task, seed)

    def run(maxfev: int, maxtime: float) -> Ending:
        counted = Counted(
            work.fun, target=work.target, maxfev=maxfev, maxtime=maxtime, observed=work.observed
        )
        return ending_of(
            lambda fun: solve(fun, work.x0.copy(), sigma0=SIGMA0, maxfev=caps.maxfev, seed=seed), counted
        )

    run(_WARM_UP, _GRACE / 2)
    # The noise begins anew.
    work = make(task, seed)
    return run(*caps)


def plan(
    solvers: Sequence[Solver], tasks: Sequence[Task], *, seeds: int | None, time_cap: float | None
) -> list[RunRow]:
    """Return a row without a result for every run, those first whose ending may spare others."""
    rows = []
    for task in tasks:
        caps = caps_for(task, time_cap)
        for solver in solvers:
            for seed in seeds_for(task.n, seeds):
                rows.append(
                    RunRow(
                        solver.name,
                        solver.package,
                        version_of(solver),
                        *task,
                        seed,
                        "",
                        "",
                        None,
                        None,
                        None,
                        *caps,
                    )
                )
    return sorted(rows, key=_stage)


def run_all(
    rows: Sequence[RunRow], *, table: Table[RunRow], at_once: int, say: Callable[[str], None]
) -> None:
    """Make all runs of a plan that the table does not have yet."""
    for stage, group in itertools.groupby(rows, key=_stage):
        wanted = [row for row in group if _is_wanted(row, table)]
        worst = sum(row.maxtime for row in wanted) / at_once
        if wanted:
            say(f"{len(wanted)} runs in {stage.n} variables, of {worst / 60:.0f} minutes at most.")
        jobs = {}
        for row in wanted:
            arguments = (
                row.solver,
                Task(row.problem, row.L, row.rotated, row.n),
                row.seed,
                Caps(row.maxfev, row.maxtime),
            )
            jobs[Job(one_run, arguments, _PATIENCE * row.maxtime + _GRACE)] = row
        begin = time.monotonic()
        for done, (job, result) in enumerate(run_apart(list(jobs), at_once), 1):
            row = _with_result(jobs[job], result)
            table.add(row)
            left = (time.monotonic() - begin) / done * (len(jobs) - done)
            say(f"{_in_words(row)}  ({done} of {len(jobs)}, about {left / 60:.0f} minutes more)")


class _Stage(NamedTuple):
    """What comes after what, so that an ending may spare others."""

    along_axes: bool
    n: int
    another_seed: bool
    harder: bool


def _stage(row: RunRow) -> _Stage:
    return _Stage(not row.rotated, row.n, row.seed > 1, row.L == HARDER)


def _is_wanted(row: RunRow, table: Table[RunRow]) -> bool:
    """Say whether a run is to be made; put down why, if it is spared."""
    found = table.get(row.key)
    if found is not None and found.status not in UNDONE and not _is_outdated(found, row):
        return False
    reason = _reason_to_spare(row, table)
    if reason is None:
        return True
    # A result from where the solver was installed is better than none.
    if found is None or found.status in UNDONE or reason[0] == SKIPPED:
        status, detail, evaluations = reason
        table.add(row._replace(status=status, detail=detail, evaluations=evaluations))
    return False


def _is_outdated(found: RunRow, row: RunRow) -> bool:
    """Say whether a result is another version's, or that of a run which now may take longer."""
    return (
        found.version != row.version
        or (found.status == TIME and found.maxtime < row.maxtime)
        or (found.status == CAP and found.maxfev < row.maxfev)
    )


def _reason_to_spare(row: RunRow, table: Table[RunRow]) -> tuple[str, str, int | None] | None:
    """Return status, sentence and evaluations for a run that is not to be made, None for one that is.

    Its evaluations are those of the run that spares it, more than which it would have needed, if a cap ended
    that, ten times as many where that was in 100 variables; one that quit would not have needed any number.
    """
    solver = solver_named(row.solver)
    if not solver.installed:
        return MISSING, f"{row.package} is not installed.", None
    if solver.dense and row.n >= DENSE_LIMIT:
        return SKIPPED, NO_ROOM, None
    first = table.get(row._replace(seed=1).key) if row.seed > 1 else None
    if first is not None and first.status in _FRUITLESS:
        return SKIPPED, "It does not reach the target with seed 1.", first.evaluations
    easier = table.get(row._replace(L=EASIER).key) if row.L == HARDER else None
    if easier is not None and easier.status in _FRUITLESS:
        return SKIPPED, "It does not reach the target for L = 1e4.", easier.evaluations
    if row.n == MANY:
        found = [table.get(row._replace(n=FEW, seed=seed).key) for seed in seeds_for(FEW, None)]
        smaller = [run for run in found if run is not None]
        if smaller and all(run.status in (*_FRUITLESS, QUIT) for run in smaller):
            spent = smaller[0].evaluations if smaller[0].status in _FRUITLESS else None
            # No method that sees values alone needs fewer than in proportion to n.
            evaluations = None if spent is None else spent * (MANY // FEW)
            return SKIPPED, f"It does not reach the target for n = {FEW}.", evaluations
    return None


def _with_result(row: RunRow, result: Any) -> RunRow:
    if isinstance(result, Failure):
        return row._replace(status=ERROR, detail=result.text)
    return row._replace(**result._asdict())


def _in_words(row: RunRow) -> str:
    label = Task(row.problem, row.L, row.rotated, row.n).label
    turned = "rotated" if row.rotated else "along the axes"
    ending = row.status if row.status != ERROR else f"error: {row.detail}"
    spent = "" if row.evaluations is None else f", {row.evaluations} evaluations, {row.seconds:.1f} s"
    return f"{row.solver} on {label} {turned}, n = {row.n}, seed {row.seed}: {ending}{spent}"
