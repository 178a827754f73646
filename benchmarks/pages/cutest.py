"""The page on the shares of problems of CUTEst solved, and the table of evaluations behind it.

``evaluations.csv`` has the evaluations divided by n for every problem and τ; the page follows from it alone.
Where runs are stored, it is made anew for their solvers, and keeps what it has of others.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.pages.cutest_profiles import BUDGETS, PRECISIONS, Cases, precisions_of, spent_by, tables
from benchmarks.pages.stamp import stamp
from benchmarks.problems.cutest import NOISE, SETS, Listed
from benchmarks.runs import read_rows
from benchmarks.suites.cutest import FEATURES, FILE, NOISY, PEERS, RUNS_FOLDER, Row, named
from pursuit.experiments.common.files import write_file
from pursuit.experiments.common.formatting import power, table

TABLE = "evaluations.csv"
SOLVERS = (*PEERS, "auto")
_TITLES = {
    "choosing": "A to L: where the rules of our methods are chosen",
    "reporting": "M to Z: where they are reported",
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


def texts(folder: Path, solvers: Sequence[str] = SOLVERS) -> dict[Path, str]:
    """Return the page."""
    return {folder / "cutest.md": text_of(read_lines(folder / TABLE), solvers)}


def collect(folder: Path, runs: Path = RUNS_FOLDER, solvers: Sequence[str] = SOLVERS) -> None:
    """Bring the table up to what is stored of runs."""
    lines = {line.key: line for line in read_lines(folder / TABLE)}
    rows = [row for row in read_rows(runs / FILE, Row) if row.solver in solvers]
    for (group, feature, problem, solver), (row, spent) in spent_by(rows).items():
        line = Line(group, feature, problem, row.n, row.kind, solver, row.version, spent)
        lines[line.key] = line
    if rows:
        write_lines(folder / TABLE, sorted(lines.values(), key=lambda line: _place(line, solvers)))


def read_lines(path: Path) -> list[Line]:
    """Return the lines of a table, none if it does not exist."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return [
        Line(
            row["set"], row["feature"], row["problem"], int(row["n"]), row["kind"], row["solver"],
            row.get("version", ""), tuple(_numbers(row[power(tau)]) for tau in PRECISIONS),
        )
        for row in rows
    ]  # fmt: skip


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(math.inf if one == "-" else float(one) for one in text.split())


def write_lines(path: Path, lines: Sequence[Line]) -> None:
    """Write lines into a table."""
    head = ["set", "feature", "problem", "n", "kind", "solver", "version", *map(power, PRECISIONS)]
    text = io.StringIO()
    shown = [
        [
            *line[:-1],
            *(" ".join(f"{one:.4g}" if math.isfinite(one) else "-" for one in seeds) for seeds in line.spent),
        ]
        for line in lines
    ]
    csv.writer(text, lineterminator="\n").writerows([head, *shown])
    write_file(path, text.getvalue())


def _place(line: Line, solvers: Sequence[str]) -> tuple[int, int, str, int]:
    solver = solvers.index(line.solver) if line.solver in solvers else len(solvers)
    return SETS.index(line.group), FEATURES.index(line.feature), line.problem.upper(), solver


def cases_of(lines: Sequence[Line], group: str, feature: str, solvers: Sequence[str]) -> Cases:
    """Return the evaluations of solvers on the problems of a set that all of them have run on."""
    here = [
        line for line in lines if (line.group, line.feature) == (group, feature) and line.solver in solvers
    ]
    found = {(line.problem, line.solver): line for line in here}
    shared = [
        Listed(line.problem, line.n, line.kind, 0.0)
        for line in here
        if line.solver == solvers[0] and all((line.problem, solver) in found for solver in solvers)
    ]
    spent = {
        (line.solver, line.problem, tau): list(seeds)
        for line in here
        for tau, seeds in zip(PRECISIONS, line.spent, strict=True)
    }
    return Cases(shared, spent)


def text_of(lines: Sequence[Line], solvers: Sequence[str]) -> str:
    """Return the page."""
    parts = ["# The problems of CUTEst", _INTRODUCTION]
    for group in _TITLES:
        for feature in FEATURES:
            cases = cases_of(lines, group, feature, solvers)
            if not cases.problems:
                continue
            noise = f", with noise of {NOISE:g} f(x)" if feature == NOISY else ""
            parts.append(f"## {_TITLES[group]}{noise}")
            parts.append(f"Per cent solved to τ = {' / '.join(map(power, precisions_of(feature)))}.")
            for title, rows in tables(cases, solvers, feature).items():
                parts += [f"{title[0].upper()}{title[1:]}:", table(rows[0], rows[1:])]
    shown = [line for line in lines if line.solver in solvers]
    return "\n\n".join([*parts, stamp("make bench-cutest", shown, named)])


_INTRODUCTION = (
    "The share of problems, in per cent, that a solver solves: f <= f_L + τ (f0 - f_L), where f0 is the "
    "value at the start and f_L the lowest that any solver has found (Moré and Wild, SIAM Journal on "
    "Optimization 20, 2009). The problems are those of S2MPJ, CUTEst in Python, without constraints or "
    "with bounds, that have 2 to 30 variables in their usual sizes, and whose 100 n values take less "
    "than a minute. Variables whose bounds are equal are left out, and so is INDEF, which has no "
    "minimum; with noise, each third problem is run. **Rules of our methods are chosen on A to L "
    "and reported on M to Z.**\n\n"
    "All begin at the same point, with the same first step size, 1, and run once; pycma's and our runs "
    "depend on a seed. L-BFGS-B takes forward differences, and often stops early; NEWUOA runs "
    "where there are no bounds, BOBYQA where there are. The best true value so far "
    f"counts, after {' n, '.join(map(str, BUDGETS))} n evaluations. `evaluations.csv` "
    "has the evaluations divided by n for every problem and τ, a dash where it was not solved."
)
