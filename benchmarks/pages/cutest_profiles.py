"""Which problems are solved, after how many evaluations, in the sense of Moré and Wild.

A problem is solved to τ by a point with f <= f_L + τ (f0 - f_L), where f0 is the value at the start and f_L
the lowest that any solver has found in any stored run, or that is kept from earlier ones.
(J. J. Moré and S. M. Wild, Benchmarking derivative-free optimization algorithms, SIAM J. Optim. 20, 2009.)

``python -m benchmarks.pages.cutest_profiles auto`` prints the problems on which a solver loses most to the
peers, of those with stored runs, and keeps the minima that are lower than the known ones.
"""

from __future__ import annotations

import argparse
import csv
import io
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.problems.cutest import Listed, listed
from benchmarks.problems.features import FEATURES, PLAIN
from benchmarks.runs import read_rows
from benchmarks.suites.cutest import BUDGETS, CUTEST, FILE, PEERS, Row
from pursuit.experiments.common.files import write_file

PRECISIONS = (1e-1, 1e-3, 1e-5, 1e-7)
UNBOUNDED = -1e20
"""A problem with a lower value has no minimum, and is left out."""


class Cases(NamedTuple):
    """The evaluations of solvers on the problems that all of them have run on."""

    problems: list[Listed]
    spent: dict[tuple[str, str, float], list[float]]
    """Evaluations divided by n, infinite if not solved, by solver, problem and τ; one for each seed."""


def precisions_of(feature: str) -> Sequence[float]:
    """Return the τ that are asked for."""
    return PRECISIONS[:3] if FEATURES[feature].is_inexact else PRECISIONS


def known_minima(path: Path) -> dict[str, float]:
    """Return the minima that are kept with the problems."""
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        return {row["name"]: float(row["minimum"]) for row in csv.DictReader(file)}


def lowest_found(rows: Iterable[Row], path: Path) -> dict[str, float]:
    """Return the lowest value of each problem, in all rows and among the known minima."""
    lowest = known_minima(path)
    for row in rows:
        values = [math.inf if row.start is None else row.start, *map(float, row.best.split()[-1:])]
        lowest[row.problem] = min(lowest.get(row.problem, math.inf), *values)
    return {name: value for name, value in lowest.items() if math.isfinite(value)}


def update_minima(rows: Iterable[Row], path: Path) -> int:
    """Keep the minima that are lower than the known ones; return how many there are."""
    known, lowest = known_minima(path), lowest_found(rows, path)
    text = io.StringIO()
    lines = [[name, repr(lowest[name])] for name in sorted(lowest, key=str.upper)]
    csv.writer(text, lineterminator="\n").writerows([["name", "minimum"], *lines])
    write_file(path, text.getvalue())
    return sum(value < known.get(name, math.inf) for name, value in lowest.items())


Spent = dict[tuple[str, str, str, str], tuple[Row, tuple[tuple[float, ...], ...]]]
"""A row, and the evaluations divided by n for each τ and seed, by set, feature, problem and solver."""


def spent_by(rows: Sequence[Row], path: Path) -> Spent:
    """Return what the solvers of rows have spent, given where minima are kept."""
    minima = {name: value for name, value in lowest_found(rows, path).items() if value > UNBOUNDED}
    groups: dict[tuple[str, str, str, str], list[Row]] = {}
    for row in rows:
        if row.problem in minima and row.start is not None:
            groups.setdefault((row.group, row.feature, row.problem, row.solver), []).append(row)
    return {
        key: (
            runs[0],
            tuple(
                tuple(_evaluations_to(run, minima[run.problem], tau) for run in runs) for tau in PRECISIONS
            ),
        )
        for key, runs in groups.items()
    }


def _evaluations_to(row: Row, minimum: float, precision: float) -> float:
    assert row.start is not None
    target = minimum + precision * (row.start - minimum)
    found = zip(row.at.split(), row.best.split(), strict=True)
    return next((int(at) / row.n for at, best in found if float(best) <= target), math.inf)


def share(cases: Cases, solver: str, precision: float, budget: float, kind: str | None = None) -> float:
    """Return the share of problems, of a kind or of all, that a solver has solved within budget times n."""
    of_kind = [one for one in cases.problems if kind in (None, one.kind)]
    solved = 0.0
    for one in of_kind:
        seeds = cases.spent[solver, one.name, precision]
        solved += sum(needed <= budget for needed in seeds) / len(seeds)
    return solved / len(of_kind) if of_kind else math.nan


def tables(
    cases: Cases, solvers: Sequence[str], feature: str, *, by_kind: bool
) -> dict[str, list[list[str]]]:
    """Return the tables by what they are on: the header, and a row for each solver with shares in percent."""
    found = {}
    kinds = sorted({one.kind for one in cases.problems}, reverse=True)
    for kind in [None, *(kinds if by_kind and len(kinds) > 1 else [])]:
        count = sum(kind in (None, one.kind) for one in cases.problems)
        rows = [["solver", *(f"{budget} n" for budget in BUDGETS)]]
        for solver in solvers:
            shares = [
                [share(cases, solver, tau, budget, kind) for tau in precisions_of(feature)]
                for budget in BUDGETS
            ]
            rows.append([solver, *(" / ".join(f"{100 * one:.0f}" for one in some) for some in shares)])
        found[f"{kind or 'all'}, {count} problems"] = rows
    return found


class Miss(NamedTuple):
    """The evaluations of ours and of the best peer on a problem."""

    problem: str
    ours: tuple[float, ...]
    """Evaluations divided by n, medians of all seeds, for each τ."""
    peers: tuple[float, ...]
    best: tuple[str, ...]
    loss: float
    """The sum over all τ of the logarithms of the ratios; what was not solved took twice the budget."""


def misses(spent: Spent, ours: str, feature: str, peers: Sequence[str] = PEERS) -> list[Miss]:
    """Return the problems, beginning with those where ours loses most."""
    found = []
    for (group, which, problem, solver), (row, mine) in spent.items():
        theirs = [(peer, spent.get((group, which, problem, peer))) for peer in peers]
        if (solver, which) != (ours, feature) or any(one is None for _, one in theirs):
            continue
        medians = _medians(mine)
        columns = {peer: _medians(one[1]) for peer, one in theirs if one is not None}
        best = tuple(min(peers, key=lambda peer, k=k: columns[peer][k]) for k in range(len(PRECISIONS)))  # type: ignore[misc]
        lowest = tuple(columns[peer][k] for k, peer in enumerate(best))
        limits = 1.0 / row.n, 2.0 * BUDGETS[-1]
        ratios = [
            _within(one, *limits) / _within(other, *limits)
            for one, other in zip(medians, lowest, strict=True)
        ]
        found.append(Miss(problem, medians, lowest, best, sum(map(math.log, ratios))))
    return sorted(found, key=lambda miss: -miss.loss)


def _medians(spent: tuple[tuple[float, ...], ...]) -> tuple[float, ...]:
    return tuple(sorted(seeds)[len(seeds) // 2] for seeds in spent)


def _within(value: float, least: float, most: float) -> float:
    return min(max(value, least), most)


def main() -> None:
    """Print where a solver loses, and keep lower minima."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("solver", metavar="SOLVER")
    parser.add_argument("--feature", choices=FEATURES, default=PLAIN)
    parser.add_argument("--set", default="choosing", dest="group", help="of the problems that are shown")
    parser.add_argument("--most", type=int, default=30, metavar="K", help="how many problems")
    parser.add_argument("--runs", type=Path, default=CUTEST.runs, metavar="DIR")
    options = parser.parse_args()
    rows = read_rows(options.runs / FILE, Row)
    print(f"{update_minima(rows, CUTEST.minima)} minima are lower than those that were known.")
    names = {one.name for one in listed(options.group)}
    print(f"Evaluations / n to each τ of {options.solver} | of the best peer, and which it is; worst first")
    spent = spent_by(rows, CUTEST.minima)
    shown = [miss for miss in misses(spent, options.solver, options.feature) if miss.problem in names]
    for miss in shown[: options.most]:
        ours, peers = ("".join(f"{number:8.1f}" for number in numbers) for numbers in (miss.ours, miss.peers))
        print(f"{miss.loss:6.2f} {miss.problem:<14}{ours} |{peers}  {' '.join(dict.fromkeys(miss.best))}")


if __name__ == "__main__":
    main()
