"""Runs, and the file that keeps them: a line for each task, budget, solver and seed.

What is stored is not run again, unless another version of ours has made it; where a run is stored twice, the
later line counts.
"""

from __future__ import annotations

import concurrent.futures
import csv
import io
import math
import time
import warnings
import zlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.tasks.suite import SUITE
from benchmarks.tasks.task import Case, Task
from benchmarks.tasks.tools import PEERS, Answer, ours, scaled, version_of
from pursuit.checks import Vector
from pursuit.experiments.common.executors import one_thread_each, processes
from pursuit.experiments.common.files import write_file

FOLDER, QUICK_FOLDER = Path("docs/results/tasks"), Path("reproduced/tasks")
ALL_PEERS = "peers"
"""Stands for the peers of each task."""
# What is violated by less is kept to.
_VIOLATION = 1e-6
# The noise of a value is that of so many at the point that is returned.
_REPEATS = 20


class Row(NamedTuple):
    """What a run has found; texts, as the file has them."""

    task: str
    budget: str
    solver: str
    seed: str
    version: str = ""
    evaluations: str = ""
    start: str = ""
    """The true gap at the start."""
    gap: str = ""
    """The true gap of the returned point."""
    noise: str = ""
    """The standard deviation of values there."""
    fun: str = ""
    fun_error: str = ""
    success: str = ""
    seconds: str = ""
    """Of processor time."""
    message: str = ""

    @property
    def key(self) -> tuple[str, ...]:
        """What tells runs apart."""
        return self[:4]


class Spent(Exception):  # noqa: N818 - it is no error
    """The budget or the time is spent."""


class Recorder:
    """The function and the constraint of a case, counted; a simulation gives both values at a point."""

    def __init__(self, case: Case, rng: np.random.Generator, maxfev: float, maxtime: float) -> None:
        self.case, self.rng, self.maxfev = case, rng, maxfev
        self.deadline = time.process_time() + maxtime
        self.nfev = 0
        self.best, self.lowest = case.x0, (math.inf, math.inf)
        self.known: dict[bytes, tuple[float, float]] = {}

    def fun(self, x: Vector) -> float:
        """Return a value."""
        return self._simulated(x)[0]

    def constraint(self, x: Vector) -> float:
        """Return the constraint."""
        return self._simulated(x)[1]

    def _simulated(self, x: Vector) -> tuple[float, float]:
        place = x.tobytes() if self.case.constraint else b""
        if place in self.known:
            return self.known[place]
        if self.nfev >= self.maxfev or time.process_time() > self.deadline:
            raise Spent
        self.nfev += 1
        values = self.case.fun(x, self.rng), self.case.constraint(x) if self.case.constraint else 0.0
        rank = max(values[1] - _VIOLATION, 0.0), values[0]
        if rank < self.lowest:
            self.best, self.lowest = x.copy(), rank
        if self.case.constraint:
            self.known[place] = values
        return values


class Job(NamedTuple):
    """A run that is to be made."""

    task: str
    budget: int
    solver: str
    seed: int
    maxtime: float


def one_run(job: Job) -> Row:
    """Make one run; if a tool does not end itself, it returns the best point that it has seen."""
    version = version_of(job.solver)
    case = next(task for task in SUITE if task.name == job.task).make(job.seed)
    rng = np.random.default_rng([job.seed, zlib.crc32(job.task.encode())])
    if not version:
        case = scaled(case)
    # Ours keep to the budget themselves, or their rows show that they do not.
    record = Recorder(case, rng, math.inf if version else job.budget, job.maxtime)
    seen = case._replace(constraint=case.constraint and record.constraint)
    solve, start = ours(job.solver) if version else PEERS[job.solver], time.process_time()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            answer = solve(record.fun, seen, job.budget, job.seed)
        except Spent:
            answer = Answer(record.best, None, "The budget is spent.", record.lowest[1])
        except Exception as failure:
            # A tool that fails keeps what it has found.
            answer = Answer(record.best, False, f"{type(failure).__name__}: {failure}", record.lowest[1])
    x = np.clip(answer.x, case.lower, case.upper)
    again = np.random.default_rng([job.seed, 1])
    texts = (
        record.nfev, _shown(case.gap(case.x0)), _shown(case.gap(x)),
        _shown(float(np.std([case.fun(x, again) for _ in range(_REPEATS)]))), _shown(answer.fun),
        _shown(answer.fun_error), "" if answer.success is None else answer.success,
        f"{time.process_time() - start:.2f}", " ".join(answer.message.split())[:200],
    )  # fmt: skip
    return Row(job.task, str(job.budget), job.solver, str(job.seed), version, *map(str, texts))


def _shown(value: float | None) -> str:
    return "" if value is None else f"{value:.8g}"


def read_rows(folder: Path) -> dict[tuple[str, ...], Row]:
    """Return the stored runs; a line that an interruption has cut is left out."""
    path = folder / "runs.csv"
    if not path.exists():
        return {}
    lines, _, _ = path.read_text().rpartition("\n")
    rows = [Row(*line) for line in csv.reader(lines.splitlines()) if tuple(line) != Row._fields]
    return {row.key: row for row in rows}


def write_rows(folder: Path, rows: Iterable[Row]) -> None:
    """Write all runs, in the order of the suite."""
    names = [task.name for task in SUITE]
    ordered = sorted(
        rows, key=lambda row: (names.index(row.task), int(row.budget), row.solver, int(row.seed))
    )
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([Row._fields, *ordered])
    write_file(folder / "runs.csv", text.getvalue())


class Plan(NamedTuple):
    """Which runs are to be there."""

    tasks: Sequence[Task]
    solvers: Sequence[str]
    seeds: int = 5
    again: bool = False
    """Whether the runs that are stored are made as well."""
    keep: bool = False
    """Whether runs that another version of ours has made are as good."""
    quick: bool = False
    """Whether only the first budget of each task is run, with a tenth of its evaluations."""
    maxtime: float = 300.0
    """Of processor time for each run, in seconds."""


def missing(plan: Plan, folder: Path) -> list[Job]:
    """Return the runs of a plan that are not stored."""
    rows, jobs = read_rows(folder), []
    versions = {name: version_of(name) for name in (*plan.solvers, *PEERS) if name != ALL_PEERS}
    for task in plan.tasks:
        solvers = [name for one in plan.solvers for name in (task.peers if one == ALL_PEERS else (one,))]
        for budget in (task.budgets[0] // 10,) if plan.quick else task.budgets:
            for solver in dict.fromkeys(solvers):
                for seed in range(1, plan.seeds + 1):
                    row = rows.get((task.name, str(budget), solver, str(seed)))
                    is_current = row and (plan.keep or row.version == versions[solver])
                    if plan.again or not is_current:
                        jobs.append(Job(task.name, budget, solver, seed, plan.maxtime))
    return jobs


def run_missing(plan: Plan, folder: Path, jobs: int = 1, say: Callable[[str], None] = print) -> None:
    """Make the runs that are missing, in processes of their own."""
    todo = missing(plan, folder)
    write_rows(folder, read_rows(folder).values())
    with (
        (folder / "runs.csv").open("a", newline="") as file,
        one_thread_each(),
        processes(jobs) as pool,
    ):
        for done in concurrent.futures.as_completed([pool.executor.submit(one_run, job) for job in todo]):
            row = done.result()
            csv.writer(file, lineterminator="\n").writerow(row)
            file.flush()
            say(f"{' '.join(row.key)}: gap {row.gap}, {row.evaluations} evaluations, {row.seconds} s")
    write_rows(folder, read_rows(folder).values())
