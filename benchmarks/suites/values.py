"""Which share of problems methods solve, without noise and with; rules are chosen on other sets of them."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.problems.minima import minimum_of
from benchmarks.problems.problem import Problem
from benchmarks.problems.sets import SETS, problem_named, problems_of
from benchmarks.processes import Failure, Job, run_jobs
from benchmarks.recording import ERROR, QUIT, TIME, Outcome, Recorder, run_solver, warm_up
from benchmarks.runs import Part, Table, Wanted
from benchmarks.solvers import Solver, solver_named
from benchmarks.suites.declared import solvers_of
from pursuit.checks import Vector
from pursuit.engine.counting import CAP
from pursuit.experiments.common import StudyError

FOLDER = Path("docs/results/values")
FILE = "runs.csv"
BUDGETS = (0.3, 1, 3, 10, 30, 100, 500)
"""Evaluations, divided by n, at which the true value is kept; all but the first three are in the tables."""
NOISY_BUDGETS = (10, 30, 100, 500)
"""Those of runs with noise, each a run of its own."""
PRECISIONS = (1e-1, 1e-3, 1e-5, 1e-7)
"""A problem is solved to the precision tau where f - f* <= tau (f0 - f*)."""
NOISY_PRECISIONS = (1e-1, 1e-3, 1e-5)
OURS = ("auto", "differences", "evolution")
SPSA = "SPSA"
"""How the names of all SPSA's gains begin."""
_OTHERS = solvers_of("values")
PEERS = tuple(one.name for one in _OTHERS if not one.name.startswith(SPSA))
SPSAS = tuple(one.name for one in _OTHERS if one.name.startswith(SPSA))
named = functools.partial(solver_named, among=_OTHERS)
_SEEDS, _SECONDS = 11, 600.0
# Methods with populations may exceed the budget of a noisy run by so much, and then return their point.
_EXCESS, _EXCESS_OF_FEW = 0.1, 20
# One that returns after such a share of its budget has spent it, except for less than a population.
_NEARLY = 0.95
_LONGEST_DESCENT = 600.0


class Row(NamedTuple):
    """A method on a problem with one seed.

    Without noise this is one run with the largest budget, and the value at a budget is the smallest one until
    then. With noise it is one run for each of four budgets, and the value is the true one at the point that
    the method returns; the evaluations and seconds are those of all four.
    """

    group: str
    problem: str
    kind: str
    n: int
    seed: int
    solver: str
    version: str
    noisy: bool
    maxtime: float
    """The limit of processor time for a run, in seconds."""
    status: str = ""
    detail: str = ""
    evaluations: int | None = None
    seconds: float | None = None
    start: float | None = None
    """f at the start, without noise."""
    minimum: float | None = None
    """The smallest value known."""
    to_1: int | None = None
    """The evaluations to the precision 1e-1, None where it is not reached; so on for the other precisions."""
    to_3: int | None = None
    to_5: int | None = None
    to_7: int | None = None
    at_03: float | None = None
    """The true value at 0.3 n evaluations; so on for the other budgets."""
    at_1: float | None = None
    at_3: float | None = None
    at_10: float | None = None
    at_30: float | None = None
    at_100: float | None = None
    at_500: float | None = None

    def value_at(self, budget: float) -> float:
        """Return the true value at a budget, infinity where the method was not run."""
        found: float | None = getattr(self, AT[budget])
        return math.inf if found is None else found

    def evaluations_to(self, precision: float) -> float:
        """Return the evaluations until a precision was reached, infinity if it was not."""
        found: int | None = getattr(self, TO[precision])
        return math.inf if found is None else found

    def solves(self, precision: float, budget: float) -> bool:
        """Return whether a precision is reached within a budget."""
        if self.noisy:
            return self.error_at(budget) <= precision
        return self.evaluations_to(precision) <= budget * self.n

    def error_at(self, budget: float) -> float:
        """Return (f - f*)/(f0 - f*) at a budget."""
        if self.start is None or self.minimum is None:
            return math.inf
        return (self.value_at(budget) - self.minimum) / (self.start - self.minimum)


AT = dict(zip(BUDGETS, (name for name in Row._fields if name.startswith("at_")), strict=True))
TO = dict(zip(PRECISIONS, (name for name in Row._fields if name.startswith("to_")), strict=True))


def plan(wanted: Wanted) -> Iterator[Row]:
    """Yield a row without a result for every case; what has no random numbers runs once without noise."""
    for group in SETS:
        for problem in problems_of(group)[: 2 if wanted.quick else None]:
            noisy = problem.noise is not None
            for solver in map(named, wanted.solvers or (*OURS, *PEERS, *SPSAS)):
                if noisy or not solver.name.startswith(SPSA):
                    seeds = wanted.seeds_of(_SEEDS)
                    for seed in seeds if solver.random or noisy else seeds[:1]:
                        yield Row(
                            group, problem.name, problem.kind, problem.n, seed, solver.name, solver.version,
                            noisy, wanted.maxtime or _SECONDS,
                        )  # fmt: skip


def work(row: Row) -> Row:
    """Return a row with the result of its runs; what a child process does."""
    problem, solver = problem_named(row.group, row.problem, row.n), named(row.solver)
    warm_up(solver.solve, problem.true_value, problem.x0, maxfev=20)
    return _noisy(row, problem, solver) if row.noisy else _smooth(row, problem, solver)


def _smooth(row: Row, problem: Problem, solver: Solver) -> Row:
    assert row.start is not None
    assert row.minimum is not None
    targets = [row.minimum + precision * (row.start - row.minimum) for precision in PRECISIONS]
    budget = int(BUDGETS[-1] * problem.n)
    record = Recorder(problem.true_value, target=targets[-1], maxfev=budget, maxtime=row.maxtime)
    found = run_solver(solver.solve, record, problem.x0, maxfev=budget, seed=row.seed)
    lowest = record.lowest_by([max(1, int(budget * problem.n)) for budget in BUDGETS])
    values: dict[str, Any] = dict(zip(AT.values(), lowest, strict=True))
    values |= {name: record.evaluations_to(target) for name, target in zip(TO.values(), targets, strict=True)}
    return row._replace(
        status=found.status, detail=found.detail, evaluations=found.evaluations,
        seconds=found.seconds, **values,
    )  # fmt: skip


def _noisy(row: Row, problem: Problem, solver: Solver) -> Row:
    results: list[Outcome] = []
    values: dict[str, Any] = {}
    for budget in NOISY_BUDGETS:
        result, point = _returned(row, problem, solver, budget * problem.n)
        results.append(result)
        values[AT[budget]] = problem.true_value(point)
    last = next((one for one in results if one.status in (ERROR, TIME)), results[-1])
    return row._replace(
        status=last.status, detail=last.detail, evaluations=sum(one.evaluations for one in results),
        seconds=sum(one.seconds for one in results), **values,
    )  # fmt: skip


def _returned(row: Row, problem: Problem, solver: Solver, maxfev: int) -> tuple[Outcome, Vector]:
    """Return how a noisy run ended, and its point: the lowest one seen, where the method returns none."""
    record = Recorder(
        problem.true_value, maxfev=int((1.0 + _EXCESS) * maxfev) + _EXCESS_OF_FEW, maxtime=row.maxtime,
        observed=problem.observer(row.seed),
    )  # fmt: skip
    found = run_solver(solver.solve, record, problem.x0, maxfev=maxfev, seed=row.seed)
    if found.status == QUIT and found.evaluations >= _NEARLY * maxfev:
        found = found._replace(status=CAP)
    point = record.point if found.answer is None else found.answer.x
    return found, problem.x0 if point is None else np.asarray(point)


def with_facts(rows: list[Row], table: Table[Row], jobs: int) -> list[Row]:
    """Return rows with the values at the start and at the minimum, computed once for every problem."""
    keys = dict.fromkeys((row.group, row.problem, row.n) for row in rows)
    found: dict[Any, dict[str, Any]] = {}
    for job, result in run_jobs([Job(facts_of, key, _LONGEST_DESCENT) for key in keys], jobs):
        if isinstance(result, Failure):
            raise StudyError(f"The minimum of {job.arguments[1]} was not found: {result.text}")
        found[job.arguments] = result
    return [row._replace(**found[row.group, row.problem, row.n]) for row in rows]


def facts_of(group: str, name: str, n: int) -> dict[str, float]:
    """Return the fields of a row that follow from its problem; what a child process does."""
    problem = problem_named(group, name, n)
    return {"start": problem.f0, "minimum": minimum_of(problem)}


PARTS = {"runs": Part(FILE, Row, plan, work, named, prepare=with_facts)}
