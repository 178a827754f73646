"""Runs, and the files that keep them: one for each feature and solver, with a line of JSON for each run.

A line holds the evaluations at which the best true value so far falls, and these values. What is stored is
not run again, unless another version of ours has made it; where a run is stored twice, the later line counts.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import json
import math
import multiprocessing
import os
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.cutest.problems import Listed, Problem, load, noisy
from benchmarks.cutest.solvers import Solver, named
from pursuit.checks import Vector
from pursuit.experiments.common.formatting import file_name

FOLDER = Path("reproduced/cutest")
PLAIN, NOISY = "plain", "noisy"
FEATURES = (PLAIN, NOISY)
SIGMA0 = 1.0
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Run(NamedTuple):
    """What a run has found."""

    problem: str
    n: int
    seed: int
    budget: int
    """Of evaluations, divided by n."""
    f0: float
    """The true value at the start."""
    nfev: int
    seconds: float
    """Of processor time."""
    error: str
    """How the solver failed, if it did."""
    at: tuple[int, ...]
    best: tuple[float, ...]
    """The best true values so far, and the evaluations at which they were found."""
    version: str = ""
    """Of the solver, if it is ours."""


class Plan(NamedTuple):
    """Which runs are to be there."""

    feature: str
    problems: Sequence[Listed]
    seeds: int = 1
    budget: int = 100
    maxtime: float = 300.0
    """Of processor time for each run, in seconds."""
    again: bool = False
    """Whether the runs that are stored are made as well."""
    keep: bool = False
    """Whether runs that another version of ours has made are as good."""


class Task(NamedTuple):
    """A run that is to be made."""

    solver: str
    feature: str
    problem: str
    seed: int
    budget: int
    maxtime: float


class Spent(Exception):  # noqa: N818 - it is no error
    """The budget is spent."""


class Recorder:
    """A function that records the best true value so far, and ends a run that does not end itself."""

    def __init__(
        self, problem: Problem, disturb: Callable[[float], float] | None, maxfev: int, maxtime: float
    ) -> None:
        self.problem, self.disturb, self.maxfev = problem, disturb, maxfev
        self.nfev, self.lowest = 0, math.inf
        self.at: list[int] = []
        self.best: list[float] = []
        self.deadline = time.process_time() + maxtime

    def __call__(self, x: Vector) -> float:
        """Return the value that the solver sees."""
        if self.nfev >= self.maxfev or time.process_time() > self.deadline:
            raise Spent
        value = self.problem.fun(x)
        self.nfev += 1
        if value < self.lowest:
            self.lowest = value
            self.at.append(self.nfev)
            self.best.append(value)
        return value if self.disturb is None else self.disturb(value)


def one_run(task: Task) -> Run:
    """Make one run."""
    problem = load(task.problem)
    disturb = noisy(problem, task.seed) if task.feature == NOISY else None
    maxfev, start, error = task.budget * problem.n, time.process_time(), ""
    record = Recorder(problem, disturb, maxfev, task.maxtime)
    solver = named(task.solver)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with contextlib.suppress(Spent):
                solver.solve(record, problem.x0.copy(), problem.bounds, maxfev, task.seed, SIGMA0)
        except Exception as failure:
            # A solver that fails keeps what it has found.
            error = f"{type(failure).__name__}: {failure}"[:200]
    return Run(
        task.problem, problem.n, task.seed, task.budget, problem.fun(problem.x0), record.nfev,
        round(time.process_time() - start, 3), error, tuple(record.at), tuple(record.best), solver.version,
    )  # fmt: skip


def path_of(folder: Path, feature: str, solver: str) -> Path:
    """Return where the runs of a solver are kept."""
    return folder / feature / f"{file_name(solver)}.jsonl"


def read_runs(path: Path) -> dict[tuple[str, int], Run]:
    """Return the stored runs by their problem and seed; a line that an interruption has cut is left out."""
    runs = {}
    if path.exists():
        for line in path.read_text().splitlines():
            with contextlib.suppress(json.JSONDecodeError):
                fields = json.loads(line)
                run = Run(**{**fields, "at": tuple(fields["at"]), "best": tuple(fields["best"])})
                runs[run.problem, run.seed] = run
    return runs


def run_missing(
    solver: Solver, plan: Plan, *, jobs: int = 1, folder: Path = FOLDER, say: Callable[[str], None] = print
) -> None:
    """Make the runs of a plan that are not stored, those of cheap problems first."""
    path = path_of(folder, plan.feature, solver.name)
    tasks = _missing(solver, plan, read_runs(path))
    start, label = time.perf_counter(), f"{solver.name}, {plan.feature}"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        for done, run in enumerate(_made(tasks, jobs), 1):
            # On a line of its own, even if the last one was cut.
            file.write("\n" + json.dumps(run._asdict()))
            file.flush()
            if run.error:
                say(f"{label}, {run.problem}: {run.error}")
            if done % 50 == 0 or done == len(tasks):
                say(f"{label}: {done}/{len(tasks)}, {time.perf_counter() - start:.0f} s")


def _missing(solver: Solver, plan: Plan, stored: Mapping[tuple[str, int], Run]) -> list[Task]:
    # Without noise and without chance, one run tells everything.
    last = plan.seeds if solver.random or plan.feature == NOISY else 1
    return [
        Task(solver.spec, plan.feature, one.name, seed, plan.budget, plan.maxtime)
        for one in sorted(plan.problems, key=lambda one: one.seconds)
        for seed in range(1, last + 1)
        if plan.again or _outdated(stored.get((one.name, seed)), plan, solver)
    ]


def _outdated(run: Run | None, plan: Plan, solver: Solver) -> bool:
    if run is None or run.budget < plan.budget:
        return True
    return not plan.keep and run.version != solver.version


def _made(tasks: Sequence[Task], jobs: int) -> Iterable[Run]:
    """Make runs in processes of their own, in which linear algebra has one thread each."""
    if not tasks:
        return
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(jobs, mp_context=context) as pool:
        futures = [pool.submit(one_run, task) for task in tasks]
        for future in concurrent.futures.as_completed(futures):
            yield future.result()
