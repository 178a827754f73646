"""The pages on the shares of problems by others solved, and the tables of evaluations behind them.

A problem is solved to τ by a point with f <= f_L + τ (f0 - f_L), where f0 is the value at the start and f_L
the lowest that any solver has found in any stored run, or that is kept from earlier ones.
(J. J. Moré and S. M. Wild, Benchmarking derivative-free optimization algorithms, SIAM J. Optim. 20, 2009.)

``evaluations.csv`` has the evaluations divided by n for every problem and τ; the page follows from it alone.
Where runs are stored, it is made anew for their solvers, and keeps what it has of others.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from benchmarks.pages import profiles
from benchmarks.pages.stamp import filled, stamp
from benchmarks.problems.cutest import CHOOSING, REPORTING
from benchmarks.problems.features import FEATURES, PLAIN
from benchmarks.problems.more_wild import PIECEWISE, SMOOTH
from benchmarks.runs import read_rows, write_table
from benchmarks.suites.cutest import BUDGETS, CUTEST, FILE, MORE_WILD, PEERS, Court, Row, named
from pursuit.experiments.common.formatting import power, table

TABLE = "evaluations.csv"
SOLVERS = (*PEERS, "auto")
PRECISIONS = (1e-1, 1e-3, 1e-5, 1e-7)
FIGURE = "profiles"
# A problem with a lower value has no minimum, and is left out.
_UNBOUNDED = -1e20
# Those that are drawn come first.
_TITLES = {
    CUTEST.name: {
        REPORTING: "M to Z: where our methods are reported",
        CHOOSING: "A to L: where their rules are chosen",
    },
    MORE_WILD.name: {SMOOTH: "Sums of squares", PIECEWISE: "Sums of absolute values"},
}


class Line(NamedTuple):
    """What a solver has spent on a problem: evaluations divided by n, one for each seed, by τ."""

    group: str
    feature: str
    problem: str
    n: int
    kind: str
    solver: str
    version: str
    spent: tuple[tuple[float, ...], ...]

    @property
    def key(self) -> tuple[str, ...]:
        """What tells lines apart."""
        return self.group, self.feature, self.problem, self.solver

    def solved(self, precision: float, budget: float) -> float:
        """Return the share of seeds with which the problem is solved within a budget."""
        seeds = self.spent[PRECISIONS.index(precision)]
        return sum(needed <= budget for needed in seeds) / len(seeds)


_HEAD = ["set", *Line._fields[1:-1], *map(power, PRECISIONS)]


# --- from runs to lines ----------------------------------------------------------------------------


def known_minima(path: Path) -> dict[str, float]:
    """Return the minima that are kept with the problems."""
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        return {row["name"]: float(row["minimum"]) for row in csv.DictReader(file)}


def _lowest_found(rows: Iterable[Row], path: Path) -> dict[str, float]:
    """Return the lowest value of each problem, in all rows and among the known minima."""
    lowest = known_minima(path)
    for row in rows:
        values = [math.inf if row.start is None else row.start, *map(float, row.best.split()[-1:])]
        lowest[row.problem] = min(lowest.get(row.problem, math.inf), *values)
    return {name: value for name, value in lowest.items() if math.isfinite(value)}


def update_minima(rows: Iterable[Row], path: Path) -> int:
    """Keep the minima that are lower than the known ones; return how many there are."""
    known, lowest = known_minima(path), _lowest_found(rows, path)
    write_table(path, ["name", "minimum"], [(name, lowest[name]) for name in sorted(lowest, key=str.upper)])
    return sum(value < known.get(name, math.inf) for name, value in lowest.items())


def lines_of(rows: Sequence[Row], path: Path) -> list[Line]:
    """Return what the solvers of rows have spent, given where minima are kept."""
    minima = {name: value for name, value in _lowest_found(rows, path).items() if value > _UNBOUNDED}
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        if row.problem in minima and row.start is not None:
            groups.setdefault((row.group, row.feature, row.problem, row.solver), []).append(row)
    return [
        Line(
            *runs[0][:7],
            tuple(tuple(_spent(run, minima[run.problem], tau) for run in runs) for tau in PRECISIONS),
        )
        for runs in groups.values()
    ]


def _spent(row: Row, minimum: float, precision: float) -> float:
    assert row.start is not None
    target = minimum + precision * (row.start - minimum)
    found = zip(row.at.split(), row.best.split(), strict=True)
    return next((int(at) / row.n for at, best in found if float(best) <= target), math.inf)


def collect(court: Court, folder: Path) -> None:
    """Bring the table up to what is stored of runs, in the folder if it has any, and draw the figure."""
    lines = {line.key: line for line in read_lines(folder / TABLE)}
    runs = folder if (folder / FILE).exists() else court.runs
    rows = [row for row in read_rows(runs / FILE, Row) if row.solver in SOLVERS]
    lines |= {line.key: line for line in lines_of(rows, court.minima)}
    if rows and folder == court.folder:
        update_minima(rows, court.minima)
    if rows:
        write_lines(folder / TABLE, sorted(lines.values(), key=partial(_place, court)))
    if found := by_solver(lines.values(), next(iter(_TITLES[court.name])), PLAIN):
        curves = {
            solver: {tau: partial(profiles.share, solved(some), tau) for tau in PRECISIONS}
            for solver, some in found.items()
        }
        profiles.draw(curves, (0.5, BUDGETS[-1]), folder, FIGURE)


def _place(court: Court, line: Line) -> tuple[int, int, str, int]:
    group, feature = list(court.features).index(line.group), list(FEATURES).index(line.feature)
    return group, feature, line.problem.upper(), SOLVERS.index(line.solver)


def read_lines(path: Path) -> list[Line]:
    """Return the lines of a table, none if it does not exist."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        _, *rows = csv.reader(file)
    return [
        Line(group, feature, problem, int(n), kind, solver, version, tuple(map(_numbers, spent)))
        for group, feature, problem, n, kind, solver, version, *spent in rows
    ]


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(math.inf if one == "-" else float(one) for one in text.split())


def write_lines(path: Path, lines: Iterable[Line]) -> None:
    """Write lines into a table."""

    def shown(seeds: Iterable[float]) -> str:
        return " ".join(f"{one:.4g}" if math.isfinite(one) else "-" for one in seeds)

    write_table(path, _HEAD, ([*line[:-1], *map(shown, line.spent)] for line in lines))


# --- the page --------------------------------------------------------------------------------------


def by_solver(lines: Iterable[Line], group: str, feature: str) -> dict[str, list[Line]]:
    """Return the lines of the solvers that have run on all problems of a group, ours first."""
    here = [line for line in lines if (line.group, line.feature) == (group, feature)]
    count = len({line.problem for line in here})
    found = {solver: [line for line in here if line.solver == solver] for solver in reversed(SOLVERS)}
    return {solver: some for solver, some in found.items() if some and len(some) == count}


def solved(lines: Iterable[Line]) -> list[profiles.Case]:
    """Return the problems of lines."""
    return [line.solved for line in lines]


def precisions_of(feature: str) -> Sequence[float]:
    """Return the τ that are asked for."""
    return PRECISIONS[:3] if FEATURES[feature].is_inexact else PRECISIONS


def texts(court: Court, folder: Path) -> dict[Path, str]:
    """Return the page."""
    return {folder / f"{court.name}.md": text_of(court, read_lines(folder / TABLE), folder)}


def text_of(court: Court, lines: Sequence[Line], folder: Path) -> str:
    """Return the page."""
    parts = [filled(court.name), filled("solved")]
    if (folder / f"{FIGURE}.png").exists():
        parts.insert(1, f"![Problems solved, by evaluations and precision]({FIGURE}.png)")
    for group, title in _TITLES[court.name].items():
        for feature in court.features[group]:
            if found := by_solver(lines, group, feature):
                about = "" if feature == PLAIN else f", {feature}: {FEATURES[feature].about}"
                parts.append(f"## {title}{about}")
                parts.append(f"Per cent solved to τ = {' / '.join(map(power, precisions_of(feature)))}.")
                parts += _tables(found, feature)
    return "\n\n".join([*parts, stamp(f"make bench-{court.name}", lines, named, folder)])


def _tables(found: dict[str, list[Line]], feature: str) -> list[str]:
    """Return a table of the shares on all problems and, of plain ones, on each kind."""
    kinds = sorted({line.kind for lines in found.values() for line in lines}, reverse=True)
    parts = []
    for kind in [None, *(kinds if feature == PLAIN and len(kinds) > 1 else [])]:
        some = {solver: [one for one in lines if kind in (None, one.kind)] for solver, lines in found.items()}
        places = [[(tau, budget) for tau in precisions_of(feature)] for budget in BUDGETS]
        rows = [
            [solver, *(profiles.percentages(solved(lines), one) for one in places)]
            for solver, lines in some.items()
        ]
        count = len(next(iter(some.values())))
        parts.append(f"{(kind or 'all').capitalize()}, {count} problems:")
        parts.append(table(["solver", *(f"{budget} n" for budget in BUDGETS)], rows))
    return parts
