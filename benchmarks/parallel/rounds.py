"""Runs to a target with a given batch, of ours and of other packages: evaluations and rounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from importlib import metadata
from typing import Any, NamedTuple

import numpy as np

import pursuit
from benchmarks.peers.problems import SMOOTH, TARGET, Task, make_objective
from benchmarks.peers.records import Table
from pursuit.checks import Vector
from pursuit.compiling.cache import code_hash

OURS = ("differences", "evolution")
PYCMA, CR_FM_NES = "pycma", "fcmaes CR-FM-NES"
PACKAGES = {PYCMA: "cma", CR_FM_NES: "fcmaes"}
PROBLEMS = SMOOTH
_SIGMA0 = 1.0
# A run of ours is given up after so many evaluations, divided by n.
_PATIENCE = 30_000
# A rival's, after so many times the rounds of `differences`: beyond that it makes no difference.
_RIVALS_ROUNDS = 4


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
    waves: str = ""
    """How long the run takes with 1, 2, 4, ... workers, in units of one evaluation."""


WORKERS = (1, 2, 4, 8, 16, 32, 64)


class Counted:
    """A function that counts its evaluations and remembers whether the target was reached."""

    def __init__(self, fun: Callable[[Vector], float]) -> None:
        self._fun = fun
        self.evaluations, self.reached_at = 0, math.inf

    def __call__(self, x: Vector) -> float:
        """Return f(x)."""
        self.evaluations += 1
        value = self._fun(x)
        if value <= TARGET and self.reached_at == math.inf:
            self.reached_at = self.evaluations
        return value


def run(row: RoundsRow, most_rounds: float = math.inf) -> RoundsRow:
    """Return a row with its results."""
    made = make_objective(Task(row.problem, row.L, True, row.n), row.seed)
    fun, sizes = Counted(made.fun), []

    def evaluate(function: Callable[[Vector], Any], points: Iterable[Vector]) -> list[float]:
        values = [fun(x) for x in points]
        sizes.append(len(values))
        return values

    if row.solver in OURS:
        pursuit.minimize(
            made.fun, made.x0, method=row.solver, rng=row.seed, sigma0=_SIGMA0, ftarget=TARGET,
            maxfev=_PATIENCE * row.n, batch=row.budget, workers=evaluate,
        )  # fmt: skip
    elif row.solver == PYCMA:
        _pycma(evaluate, fun, made.x0, row, most_rounds)
    else:
        _cr_fm_nes(fun, made.x0, row, most_rounds)
        sizes = [row.budget] * math.ceil(min(fun.reached_at, fun.evaluations) / row.budget)
    if fun.reached_at == math.inf:
        return row
    waves = [sum(math.ceil(size / workers) for size in sizes) for workers in WORKERS]
    return row._replace(evaluations=fun.reached_at, rounds=len(sizes), waves=" ".join(map(str, waves)))


def _pycma(evaluate: Any, fun: Counted, x0: Vector, row: RoundsRow, most_rounds: float) -> None:
    import cma

    options = {"seed": row.seed, "verbose": -9, "popsize": row.budget, "tolfun": 0.0, "tolfunhist": 0.0}
    strategy = cma.CMAEvolutionStrategy(x0, _SIGMA0, options)
    rounds = 0
    while not strategy.stop() and fun.reached_at == math.inf and rounds < most_rounds:
        points = strategy.ask()
        strategy.tell(points, evaluate(None, points))
        rounds += 1


def _cr_fm_nes(fun: Counted, x0: Vector, row: RoundsRow, most_rounds: float) -> None:
    from fcmaes import crfmnescpp

    most = int(min(most_rounds * row.budget, _PATIENCE * row.n))
    crfmnescpp.minimize(
        fun, x0=x0, input_sigma=_SIGMA0, popsize=row.budget + row.budget % 2, max_evaluations=most,
        stop_fitness=TARGET, rg=np.random.Generator(np.random.PCG64DXSM(row.seed)),
    )  # fmt: skip


def rows_of(n: int, seeds: int, rivals_seeds: int) -> list[RoundsRow]:
    """Return what is to be measured: ours with batches of 1, sqrt(n) and n, the others with sqrt(n)."""
    middle = math.ceil(math.sqrt(n))
    wanted: list[tuple[str, int, int]] = [("differences", batch, seeds) for batch in (middle, 1, n)]
    if n <= 100:
        wanted += [("evolution", batch, rivals_seeds) for batch in (1, middle)]
        wanted += [(solver, middle, rivals_seeds) for solver in PACKAGES]
    return [
        RoundsRow(solver, "", problem, L, n, seed, batch)
        for problem, L in PROBLEMS
        for solver, batch, count in wanted
        for seed in range(1, count + 1)
    ]


def run_missing(rows: Sequence[RoundsRow], table: Table[RoundsRow], say: Callable[[str], None]) -> None:
    """Make the runs that the table does not have, or has from other versions."""
    for row in rows:
        version = _installed(PACKAGES[row.solver]) if row.solver in PACKAGES else code_hash()[:8]
        found = table.get(row)
        if not version or (found is not None and found.version == version):
            continue
        ours = table.get(row._replace(solver="differences"))
        most = _RIVALS_ROUNDS * ours.rounds if ours is not None else math.inf
        table.add(run(row._replace(version=version), most))
        say(f"{row.solver} on {row.problem} {row.L or ''}, n = {row.n}, batch {row.budget}, seed {row.seed}")


def _installed(package: str) -> str:
    """Return the version of a package, nothing if it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""
