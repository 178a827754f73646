"""Which problems are solved, after how many evaluations, in the sense of Moré and Wild.

A problem is solved to τ by a point with f <= f_L + τ (f0 - f_L), where f0 is the value at the start and f_L
the lowest that any solver has found in any stored run, or that ``minima.csv`` has from earlier ones.
(J. J. Moré and S. M. Wild, Benchmarking derivative-free optimization algorithms, SIAM J. Optim. 20, 2009.)
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.cutest.problems import BOUNDS, UNCONSTRAINED, Listed
from benchmarks.cutest.running import FEATURES, NOISY, Run, path_of, read_runs
from pursuit.experiments.common.files import write_file

MINIMA = Path(__file__).with_name("minima.csv")
PRECISIONS = (1e-1, 1e-3, 1e-5, 1e-7)
NOISY_PRECISIONS = PRECISIONS[:3]
BUDGETS = (10, 30, 100, 500)
"""Of evaluations, divided by n."""

UNBOUNDED = -1e20
"""A problem with a lower value has no minimum, and is left out."""

Minima = dict[str, float]


class Cases(NamedTuple):
    """The evaluations of solvers on the problems that all of them have run on."""

    problems: list[Listed]
    budget: int
    """The smallest of any run."""
    spent: dict[tuple[str, str, float], list[float]]
    """Evaluations divided by n, infinite if not solved, by solver, problem and τ; one for each seed."""


def precisions_of(feature: str) -> Sequence[float]:
    """Return the τ that are asked for."""
    return NOISY_PRECISIONS if feature == NOISY else PRECISIONS


def known_minima() -> Minima:
    """Return the minima that are kept with the problems."""
    if not MINIMA.exists():
        return {}
    with MINIMA.open(newline="") as file:
        return {row["name"]: float(row["minimum"]) for row in csv.DictReader(file)}


def lowest_found(folder: Path) -> Minima:
    """Return the lowest value of each problem, in all stored runs and among the known minima."""
    lowest = known_minima()
    for feature in FEATURES:
        for path in sorted((folder / feature).glob("*.jsonl")):
            for run in read_runs(path).values():
                lowest[run.problem] = min(lowest.get(run.problem, math.inf), *run.best[-1:], run.f0)
    return {name: value for name, value in lowest.items() if math.isfinite(value)}


def update_minima(folder: Path) -> int:
    """Keep the minima that are lower than the known ones; return how many there are."""
    known, lowest = known_minima(), lowest_found(folder)
    text = io.StringIO()
    rows = [[name, repr(lowest[name])] for name in sorted(lowest, key=str.upper)]
    csv.writer(text, lineterminator="\n").writerows([["name", "minimum"], *rows])
    write_file(MINIMA, text.getvalue())
    return sum(value < known.get(name, math.inf) for name, value in lowest.items())


def evaluations_to(run: Run, minimum: float, precision: float) -> float:
    """Return the evaluations, divided by n, to solve a problem to τ; infinite if it was not."""
    target = minimum + precision * (run.f0 - minimum)
    return next((at / run.n for at, best in zip(run.at, run.best, strict=True) if best <= target), math.inf)


def cases_of(folder: Path, solvers: Iterable[str], feature: str, problems: Sequence[Listed]) -> Cases:
    """Return the evaluations of solvers on those of the problems that all of them have run on."""
    stored = {name: read_runs(path_of(folder, feature, name)) for name in solvers}
    minima = {name: value for name, value in lowest_found(folder).items() if value > UNBOUNDED}
    have = [{problem for problem, _ in runs} for runs in stored.values()]
    shared = [one for one in problems if one.name in minima and all(one.name in names for names in have)]
    names = {one.name for one in shared}
    spent: dict[tuple[str, str, float], list[float]] = {}
    budget = max(BUDGETS)
    for solver, runs in stored.items():
        for run in runs.values():
            if run.problem in names:
                budget = min(budget, run.budget)
                for precision in precisions_of(feature):
                    needed = evaluations_to(run, minima[run.problem], precision)
                    spent.setdefault((solver, run.problem, precision), []).append(needed)
    return Cases(shared, budget, spent)


def share(cases: Cases, solver: str, precision: float, budget: float, kind: str | None = None) -> float:
    """Return the share of problems, of a kind or of all, that a solver has solved within budget times n."""
    of_kind = [one for one in cases.problems if kind in (None, one.kind)]
    solved = 0.0
    for one in of_kind:
        seeds = cases.spent[solver, one.name, precision]
        solved += sum(needed <= budget for needed in seeds) / len(seeds)
    return solved / len(of_kind) if of_kind else math.nan


def tables(cases: Cases, solvers: Sequence[str], feature: str) -> dict[str, list[list[str]]]:
    """Return the tables by what they are on: the header, and a row for each solver with shares in percent."""
    precisions = precisions_of(feature)
    budgets = [budget for budget in BUDGETS if budget <= cases.budget]
    found = {}
    for title, kind in (("all", None), ("unconstrained", UNCONSTRAINED), ("with bounds", BOUNDS)):
        count = sum(kind in (None, one.kind) for one in cases.problems)
        if not count or (kind is not None and count == len(cases.problems)):
            continue
        rows = [["solver", *(f"{budget} n" for budget in budgets)]]
        for solver in solvers:
            shares = [
                " / ".join(f"{100 * share(cases, solver, tau, budget, kind):.0f}" for tau in precisions)
                for budget in budgets
            ]
            rows.append([solver, *shares])
        found[f"{title}, {count} problems"] = rows
    return found


class Miss(NamedTuple):
    """The evaluations of ours and of the best peer on a problem."""

    problem: Listed
    ours: tuple[float, ...]
    """Evaluations divided by n, medians of all seeds, for each τ."""
    peers: tuple[float, ...]
    best: tuple[str, ...]
    loss: float
    """The sum over all τ of the logarithms of the ratios; what was not solved took twice the budget."""


def misses(cases: Cases, ours: str, peers: Sequence[str], feature: str) -> list[Miss]:
    """Return the problems, beginning with those where ours loses most."""
    found = []
    for one in cases.problems:
        mine, theirs, best, loss = [], [], [], 0.0
        for precision in precisions_of(feature):
            spent = {name: _median(cases.spent, name, one, precision) for name in (ours, *peers)}
            leader = min(peers, key=lambda name, spent=spent: spent[name])  # type: ignore[misc]
            mine.append(spent[ours])
            theirs.append(spent[leader])
            best.append(leader if math.isfinite(spent[leader]) else "")
            least, most = 1.0 / one.n, 2.0 * cases.budget
            ratio = [min(max(spent[name], least), most) for name in (ours, leader)]
            loss += math.log(ratio[0] / ratio[1])
        found.append(Miss(one, tuple(mine), tuple(theirs), tuple(best), loss))
    return sorted(found, key=lambda miss: -miss.loss)


def _median(
    spent: Mapping[tuple[str, str, float], list[float]], solver: str, one: Listed, precision: float
) -> float:
    seeds = sorted(spent[solver, one.name, precision])
    return seeds[len(seeds) // 2]
