"""Runs of a method on a problem, each in a process of its own, as many as are not stored yet."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from benchmarks.peers.counting import ERROR, QUIT, REACHED, TIME, Counted, RunResult, run_solver
from benchmarks.peers.isolation import Failure, Job, run_jobs
from benchmarks.peers.records import MISSING, NOT_RUN, SKIPPED, Table
from benchmarks.peers.versions import version_of
from benchmarks.values.minima import minimum_of
from benchmarks.values.problem import Problem
from benchmarks.values.problems import problem_named
from benchmarks.values.rows import AT, BUDGETS, NOISY_BUDGETS, PRECISIONS, TO, Row
from benchmarks.values.solvers import DETERMINISTIC, MOST_VARIABLES, SPSAS, solver_named
from pursuit.checks import Vector
from pursuit.counting import CAP
from pursuit.experiments.common.errors import StudyError

SIGMA0 = 1.0
# A run of so many evaluations precedes the measured one, so that imports and compilation do not count.
_WARM_UP = 20
# Methods with populations may exceed the budget of a noisy run by so much, and then return their point.
_EXCESS, _EXCESS_OF_FEW = 0.1, 20
# One that returns after such a share of its budget has spent it, except for less than a population.
_NEARLY = 0.95
# A process is killed after so many times the limit, and so many seconds more.
_PATIENCE, _GRACE = 5.0, 120.0
_LONGEST_DESCENT = 600.0


_Key = tuple[str, str, int]
"""The set, the name and the number of variables of a problem."""


class Progress:
    """The true function; it remembers its smallest value at each budget, and when it reached a precision."""

    def __init__(self, problem: Problem, minimum: float) -> None:
        self._problem = problem
        height = problem.f0 - minimum
        self._targets = [minimum + precision * height for precision in PRECISIONS]
        self._ends = [max(1, int(budget * problem.n)) for budget in BUDGETS]
        self.evaluations = 0
        self.best = math.inf
        self.reached: list[int] = []
        self.values: list[float] = []

    @property
    def last_target(self) -> float:
        """The value at which nothing more is to be seen."""
        return self._targets[-1]

    def __call__(self, x: Vector) -> float:
        """Return f(x)."""
        found = self._problem.true_value(x)
        self.evaluations += 1
        if found < self.best:
            self.best = found
            while len(self.reached) < len(self._targets) and found <= self._targets[len(self.reached)]:
                self.reached.append(self.evaluations)
        while len(self.values) < len(self._ends) and self.evaluations >= self._ends[len(self.values)]:
            self.values.append(self.best)
        return found

    def fields(self) -> dict[str, Any]:
        """Return the fields of a row; a run that ended early keeps its smallest value from then on."""
        values = self.values + [self.best] * (len(BUDGETS) - len(self.values))
        return dict(zip(AT.values(), values, strict=True)) | dict(
            zip(TO.values(), self.reached, strict=False)
        )


class Lowest:
    """A function that remembers the point of its smallest value as it was seen, with noise."""

    def __init__(self, fun: Callable[[Vector], float], x0: Vector) -> None:
        self._fun = fun
        self._value = math.inf
        self.point = x0

    def __call__(self, x: Vector) -> float:
        """Return what was seen of f(x)."""
        found = self._fun(x)
        if found < self._value:
            self._value, self.point = found, x.copy()
        return found


def one_case(row: Row) -> Row:
    """Return a row with the result of its runs; what a child process does."""
    problem = problem_named(row.group, row.problem, row.n)
    solve = functools.partial(solver_named(row.solver).solve, sigma0=SIGMA0, seed=row.seed)
    assert row.minimum is not None
    warm_up = Counted(problem.true_value, target=-math.inf, maxfev=_WARM_UP, maxtime=_GRACE)
    run_solver(lambda fun: solve(fun, problem.x0.copy(), maxfev=_WARM_UP), warm_up)
    return _noisy_case(row, problem, solve) if row.noisy else _smooth_case(row, problem, solve)


def _smooth_case(row: Row, problem: Problem, solve: Callable[..., Any]) -> Row:
    assert row.minimum is not None
    progress = Progress(problem, row.minimum)
    budget = BUDGETS[-1] * problem.n
    counted = Counted(progress, target=progress.last_target, maxfev=int(budget), maxtime=row.maxtime)
    result = run_solver(lambda fun: solve(fun, problem.x0.copy(), maxfev=int(budget)), counted)
    return row._replace(
        status=result.status, detail=result.detail, evaluations=result.evaluations, seconds=result.seconds,
        **progress.fields(),
    )  # fmt: skip


def _noisy_case(row: Row, problem: Problem, solve: Callable[..., Any]) -> Row:
    results: list[RunResult] = []
    values: dict[str, Any] = {}
    for budget in NOISY_BUDGETS:
        result, point = _returned(problem, solve, budget * problem.n, row)
        results.append(result)
        values[AT[budget]] = problem.true_value(point)
    last = next((one for one in results if one.status in (ERROR, TIME)), results[-1])
    return row._replace(
        status=last.status, detail=last.detail, evaluations=sum(one.evaluations for one in results),
        seconds=sum(one.seconds for one in results), **values,
    )  # fmt: skip


def _returned(problem: Problem, solve: Callable[..., Any], maxfev: int, row: Row) -> tuple[RunResult, Vector]:
    """Return how a noisy run ended, and its point: the lowest one seen, where the method returns none."""
    counted = Counted(
        problem.true_value, target=-math.inf, maxfev=int((1.0 + _EXCESS) * maxfev) + _EXCESS_OF_FEW,
        maxtime=row.maxtime, observed=problem.observer(row.seed),
    )  # fmt: skip
    seen = Lowest(counted, problem.x0)
    returned: list[Any] = []
    result = run_solver(lambda _: returned.append(solve(seen, problem.x0.copy(), maxfev=maxfev)), counted)
    if result.status == QUIT and result.evaluations >= _NEARLY * maxfev:
        result = result._replace(status=CAP)
    # What a method returns after it was stopped may be anything.
    point = returned[0] if returned and not counted.status else None
    return result, seen.point if point is None else point


# --- all runs --------------------------------------------------------------------------------------


class Plan(NamedTuple):
    """What is to be run."""

    problems: Sequence[tuple[str, Problem]]
    """Problems, each with the name of its set."""
    solvers: Sequence[str]
    seeds: int
    maxtime: float

    def rows(self) -> Iterator[Row]:
        """Yield a row without a result for every case."""
        for group, problem in self.problems:
            noisy = problem.noise is not None
            for name in self.solvers:
                if name in SPSAS and not noisy:
                    continue
                count = 1 if name in DETERMINISTIC and not noisy else self.seeds
                for seed in range(1, count + 1):
                    yield Row(
                        group=group, problem=problem.name, kind=problem.kind, n=problem.n, seed=seed,
                        solver=name, version=version_of(solver_named(name)), noisy=noisy,
                        maxtime=self.maxtime,
                    )  # fmt: skip


def run_missing(
    plan: Plan, table: Table[Row], *, at_once: int, keep: bool, say: Callable[[str], None]
) -> None:
    """Make all runs of a plan that the table does not have yet.

    Parameters
    ----------
    plan : Plan
        What is to be run.
    table : Table
        Where rows are read and written.
    at_once : int
        How many processes run at a time.
    keep : bool
        Whether rows of other versions count as well.
    say : callable
        Shows progress.
    """
    rows = [row for row in plan.rows() if _is_wanted(row, table, keep)]
    facts = _facts_of(rows, at_once, say)
    rows = [row._replace(**facts[row.group, row.problem, row.n]) for row in rows]
    jobs = {Job(one_case, (row,), _PATIENCE * row.maxtime + _GRACE): row for row in rows}
    begin = time.monotonic()
    for done, (job, result) in enumerate(run_jobs(list(jobs), at_once), 1):
        row = result
        if isinstance(result, Failure):
            row = jobs[job]._replace(status=ERROR, detail=result.text)
        table.add(row)
        left = (time.monotonic() - begin) / done * (len(jobs) - done)
        say(f"{_describe(row)}  ({done} of {len(jobs)}, about {left / 60:.0f} minutes more)")


def _is_wanted(row: Row, table: Table[Row], keep: bool) -> bool:
    """Return whether a case is to be run; if it is skipped, store why."""
    found = table.get(row)
    if found is not None and found.status not in NOT_RUN:
        longer = found.status == TIME and found.maxtime < row.maxtime
        if not longer and (keep or found.version == row.version):
            return False
    solver, most = solver_named(row.solver), MOST_VARIABLES.get(row.solver, math.inf)
    if not solver.installed:
        status, detail = MISSING, f"{solver.package} is not installed."
    elif row.n > most:
        status, detail = SKIPPED, f"It is not run with more than {most} variables."
    else:
        return True
    # A result from a machine on which the solver was installed is better than none.
    if found is None or found.status in NOT_RUN:
        table.add(row._replace(status=status, detail=detail))
    return False


def _facts_of(rows: Sequence[Row], at_once: int, say: Callable[[str], None]) -> dict[_Key, dict[str, Any]]:
    """Return the values at the start and at the minimum of every problem, computed in other processes.

    Those have one thread each; with more, small matrices take many times longer on a busy machine.
    """
    keys = dict.fromkeys((row.group, row.problem, row.n) for row in rows)
    if keys:
        say(f"Computing the minima of {len(keys)} problems.")
    found: dict[Any, dict[str, Any]] = {}
    for job, result in run_jobs([Job(facts_of, key, _LONGEST_DESCENT) for key in keys], at_once):
        if isinstance(result, Failure):
            raise StudyError(f"The minimum of {job.arguments[1]} was not found: {result.text}")
        found[job.arguments] = result
    return found


def facts_of(group: str, name: str, n: int) -> dict[str, float]:
    """Return the fields of a row that follow from its problem; what a child process does."""
    problem = problem_named(group, name, n)
    return {"start": problem.f0, "minimum": minimum_of(problem)}


def _describe(row: Row) -> str:
    status = {REACHED: "solved", CAP: "budget spent"}.get(row.status, f"{row.status} {row.detail}".strip())
    spent = "" if row.evaluations is None else f", {row.evaluations / row.n:.0f} n, {row.seconds:.1f} s"
    return f"{row.solver} on {row.problem}, n = {row.n}, seed {row.seed}: {status}{spent}"
