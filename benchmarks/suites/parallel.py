"""Rounds of many points: how many of them a target takes, and how well workers are used."""

from __future__ import annotations

import heapq
import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import pursuit
from benchmarks.measure import seconds
from benchmarks.problems.paper import SMOOTH, TARGET, Task, make_objective
from benchmarks.recording import Recorder, run_solver
from benchmarks.runs import Part, Table, Wanted
from benchmarks.solvers import Solver, our, using_fcmaes, using_pycma
from pursuit.checks import Vector
from pursuit.engine.driving import Interrupts, drive
from pursuit.engine.evaluation import Others
from pursuit.engine.setup import set_up
from pursuit.engine.staged import StagedRun
from pursuit.methods import stages as tasks
from pursuit.methods.contract import Rounds

FOLDER = Path("docs/results/parallel")
ROUNDS, TIMES = "rounds.csv", "times.csv"
OURS = ("differences", "evolution")
PYCMA, CR_FM_NES = "pycma", "fcmaes CR-FM-NES"
WORKERS = (1, 2, 4, 8, 16, 32, 64)
# How many seeds there are for n, of `differences` and of the others.
_SEEDS = {100: (11, 3), 1000: (1, 0)}
# A run is given up after so many evaluations, divided by n; a rival's, after so many times the rounds of
# `differences`: beyond that it makes no difference.
_PATIENCE, _RIVALS_ROUNDS = 30_000, 4
_THREADS, _SLEEP = 16, 0.02
# The shortest of so many measurements counts.
_TIMES = 3


class RoundsRow(NamedTuple):
    """One run to the target."""

    solver: str
    version: str
    problem: str
    L: float | None
    n: int
    seed: int
    budget: int
    """The batch."""
    evaluations: float = math.inf
    """Infinite if the target was not reached."""
    rounds: float = math.inf
    """Of a row without a result, the most that matter."""
    waves: str = ""
    """How long the run takes with 1, 2, 4, ... workers, in units of one evaluation."""


def solver_of(name: str, batch: int) -> Solver:
    """Return a solver with rounds of so many points."""
    if name == PYCMA:
        return Solver(name, "cma", using_pycma(popsize=batch, tolfun=0.0, tolfunhist=0.0))
    return Solver(name, "fcmaes", using_fcmaes(lambda n: batch)) if name == CR_FM_NES else our(name)


named = partial(solver_of, batch=1)


def plan_rounds(wanted: Wanted) -> Iterator[RoundsRow]:
    """Yield what is to be measured: ours with batches of 1, sqrt(n) and n, the others with sqrt(n)."""
    for n, (seeds, others) in list(_SEEDS.items())[: 1 if wanted.quick else None]:
        seeds, others = (len(wanted.seeds_of(number)) for number in (seeds, others))
        middle = math.ceil(math.sqrt(n))
        cases = [("differences", batch, seeds) for batch in (middle, 1, n)]
        if n <= 100:
            cases += [("evolution", batch, others) for batch in (1, middle)]
            cases += [(solver, middle, others) for solver in (PYCMA, CR_FM_NES)]
        for problem, L in SMOOTH[:: 3 if wanted.quick else 1]:
            for solver, batch, count in cases:
                if not wanted.solvers or solver in wanted.solvers:
                    for seed in range(1, count + 1):
                        yield RoundsRow(solver, solver_of(solver, batch).version, problem, L, n, seed, batch)


def run_rounds(row: RoundsRow) -> RoundsRow:
    """Return a row with its results; what a child process does."""
    made = make_objective(Task(row.problem, row.L, True, row.n), row.seed)
    maxfev = int(min(row.rounds * row.budget, _PATIENCE * row.n))
    record, sizes = Recorder(made.fun), list[int]()

    def evaluate(function: Callable[[Vector], Any], points: Iterable[Vector]) -> list[float]:
        values = [record(x) for x in points]
        sizes.append(len(values))
        return values

    if row.solver in OURS:
        pursuit.minimize(
            made.fun, made.x0, method=row.solver, rng=row.seed, sigma0=1.0, ftarget=TARGET, maxfev=maxfev,
            batch=row.budget, workers=evaluate,
        )  # fmt: skip
    else:
        record = Recorder(made.fun, target=TARGET, maxfev=maxfev)
        solve = solver_of(row.solver, row.budget).solve
        run_solver(solve, record, made.x0, maxfev=maxfev, seed=row.seed)
        sizes = [row.budget] * math.ceil(record.evaluations / row.budget)
    reached = record.evaluations_to(TARGET)
    if reached is None:
        return row._replace(rounds=math.inf)
    waves = [sum(math.ceil(size / workers) for size in sizes) for workers in WORKERS]
    return row._replace(evaluations=reached, rounds=len(sizes), waves=" ".join(map(str, waves)))


def with_limits(rows: list[RoundsRow], table: Table[RoundsRow], jobs: int) -> list[RoundsRow]:
    """Return rows with the most rounds that matter of a rival."""
    ours = [table.get(row._replace(solver="differences")) for row in rows]
    return [
        row if row.solver in OURS or mine is None else row._replace(rounds=_RIVALS_ROUNDS * mine.rounds)
        for row, mine in zip(rows, ours, strict=True)
    ]


# --- times -----------------------------------------------------------------------------------------


class TimeRow(NamedTuple):
    """One measurement of time."""

    part: str
    n: int
    value: float | None = None
    version: str = ""


def sleeping(n: int, maxfev: int) -> float:
    """Return how many times faster sixteen threads are than one, with a function that sleeps."""
    made = make_objective(Task("exp", 1e4, True, n), 1)

    def fun(x: Vector) -> float:
        time.sleep(_SLEEP)
        return made.fun(x)

    with ThreadPoolExecutor(_THREADS) as threads:
        many = seconds(lambda: _run(fun, made.x0, maxfev, workers=threads))
    few = maxfev // _THREADS
    return seconds(lambda: _run(fun, made.x0, few)) * maxfev / few / many


def busy_share(n: int, maxfev: int, batch: int | None) -> float:
    """Return which part of the time sixteen threads are busy, when times vary from 1 to 10 at random."""
    made = make_objective(Task("exp", 1e4, True, n), 1)
    spans = []

    def fun(x: Vector) -> float:
        # It depends on the point alone, so that times are the same with any batch.
        spans.append(0.2 * _SLEEP * (1.0 + 9.0 * (abs(float(x[0])) * 1e9 % 1.0)))
        time.sleep(spans[-1])
        return made.fun(x)

    with ThreadPoolExecutor(_THREADS) as threads:
        spent = seconds(lambda: _run(fun, made.x0, maxfev, workers=threads, batch=batch))
    return sum(spans) / (_THREADS * spent)


class Simulated:
    """Workers in simulated time; half of the evaluations take ten times as long as the others."""

    def __init__(self, fun: Callable[[Vector], float], count: int) -> None:
        self._fun, self._free = fun, count
        self._rng = np.random.default_rng(1)
        self._waiting = deque[tuple[Future[Any], Vector]]()
        self._busy: list[tuple[float, int, Future[Any], float]] = []
        self.now, self.worked, self.evaluations = 0.0, 0.0, 0

    def submit(self, x: Vector) -> Future[Any]:
        """Begin to evaluate a point, as soon as a worker is free."""
        self._waiting.append((Future(), x.copy()))
        future = self._waiting[-1][0]
        self._begin()
        return future

    def wait(self, futures: Iterable[Future[Any]], seconds: float) -> None:
        """Let time pass until evaluations end."""
        while not all(future.done() for future in futures):
            self.now, _, ended, value = heapq.heappop(self._busy)
            self._free += 1
            self._begin()
            ended.set_result(value)

    def _begin(self) -> None:
        while self._free and self._waiting:
            future, x = self._waiting.popleft()
            took = float(self._rng.choice([1.0, 10.0]))
            self._free -= 1
            self.evaluations += 1
            self.worked += took
            heapq.heappush(self._busy, (self.now + took, self.evaluations, future, self._fun(x)))


def simulated_share(method: str, n: int) -> float:
    """Return which part of the time sixteen workers are busy in runs to the target."""
    shares, size = [], Rounds(_THREADS, 8 * _THREADS)
    for problem, L in SMOOTH:
        made = make_objective(Task(problem, L, True, n), 1)
        limits = {"ftarget": TARGET, "xtol": 0.0, "ftol": 0.0, "maxiter": None, "maxfev": _PATIENCE}
        setup, start = set_up(tasks.Task(made.x0, method, limits, fun=made.fun, rounds=size))
        rng, crew = np.random.default_rng(1), Simulated(made.fun, _THREADS)
        run = StagedRun(setup, setup.first_snapshot(start, made.fun(start), rng), rng, here=False)
        with Interrupts() as interrupts:
            drive(run, Others(crew.submit, crew.wait), interrupts=interrupts)
        shares.append(crew.worked / (_THREADS * crew.now))
    return float(np.median(shares))


def _computing(x: Vector) -> float:
    """Compute for about 20 ms."""
    total = 0.0
    for k in range(300_000):
        total += (k % 7) * 1e-12
    return float(np.sum(np.linspace(1.0, 100.0, x.size) * x * x)) + total


def two_processes(n: int, maxfev: int = 300) -> float:
    """Return how many times faster two processes are than one, with a function that computes."""
    start = np.ones(n)
    _run(_computing, start, 20, workers=2)
    alone, together = (
        min(seconds(lambda: _run(_computing, start, maxfev, **workers)) for _ in range(_TIMES))  # noqa: B023
        for workers in ({}, {"workers": 2})
    )
    return alone / together


def _run(fun: Callable[..., Any], x0: Vector, maxfev: int, **arguments: Any) -> pursuit.Result:
    result = pursuit.minimize(fun, x0, method="differences", rng=1, maxfev=maxfev, **arguments)
    assert result.nfev == maxfev
    return result


_BUSY = "share of the time 16 threads are busy, times varying tenfold, batch"
_SIMULATED = "share of simulated time 16 workers are busy where half of f takes ten times as long"
_MEASUREMENTS: dict[tuple[str, int], Callable[[], float]] = {}
for _n, _maxfev in ((100, 1600), (1000, 3200)):
    _MEASUREMENTS["times faster with 16 threads, f sleeping 20 ms", _n] = partial(sleeping, _n, _maxfev)
    for _batch in (None, 16, 128):
        _MEASUREMENTS[f"{_BUSY} {_batch or 'default'}", _n] = partial(busy_share, _n, _maxfev, _batch)
for _method in OURS:
    _MEASUREMENTS[f"{_SIMULATED} with {_method}", 100] = partial(simulated_share, _method, 100)
_MEASUREMENTS["times faster with 2 processes, f computing for 20 ms", 100] = partial(two_processes, 100)


def plan_times(wanted: Wanted) -> Iterator[TimeRow]:
    """Yield a row without a result for every measurement."""
    for part, n in list(_MEASUREMENTS)[: 1 if wanted.quick else None]:
        yield TimeRow(part, n, version=our("differences").version)


def measure_time(row: TimeRow) -> TimeRow:
    """Return a row with its result; what a child process does."""
    return row._replace(value=_MEASUREMENTS[row.part, row.n]())


PARTS = {
    "rounds": Part(
        ROUNDS, RoundsRow, plan_rounds, run_rounds, named, seconds=600.0, prepare=with_limits,
        stage=lambda row: (row.n, row.solver != "differences"),
    ),
    "times": Part(TIMES, TimeRow, plan_times, measure_time, lambda name: our("differences"), alone=True),
}  # fmt: skip
