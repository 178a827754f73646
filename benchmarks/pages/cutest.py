"""The pages on the shares of problems by others solved, and the tables of evaluations behind them.

``evaluations.csv`` has the evaluations divided by n for every problem and τ; the page follows from it alone.
Where runs are stored, it is made anew for their solvers, and keeps what it has of others.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from benchmarks.pages import data_profiles
from benchmarks.pages.cutest_profiles import (
    PRECISIONS,
    Cases,
    precisions_of,
    share,
    spent_by,
    tables,
    update_minima,
)
from benchmarks.pages.stamp import stamp
from benchmarks.problems.cutest import CHOOSING, REPORTING, Listed
from benchmarks.problems.features import FEATURES, PLAIN
from benchmarks.problems.more_wild import PIECEWISE, SMOOTH
from benchmarks.runs import read_rows
from benchmarks.suites.cutest import BUDGETS, CUTEST, FILE, MORE_WILD, PEERS, Court, Row, named
from pursuit.experiments.common.files import write_file
from pursuit.experiments.common.formatting import power, table

TABLE = "evaluations.csv"
SOLVERS = (*PEERS, "auto")
FIGURE = "profiles"
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


def texts(court: Court, folder: Path) -> dict[Path, str]:
    """Return the page."""
    return {folder / f"{court.name}.md": text_of(court, read_lines(folder / TABLE), folder)}


def collect(court: Court, folder: Path) -> None:
    """Bring the table up to what is stored of runs, in the folder if it has any, and draw the figure."""
    lines = {line.key: line for line in read_lines(folder / TABLE)}
    runs = folder if (folder / FILE).exists() else court.runs
    rows = [row for row in read_rows(runs / FILE, Row) if row.solver in SOLVERS]
    for (group, feature, problem, solver), (row, spent) in spent_by(rows, court.minima).items():
        line = Line(group, feature, problem, row.n, row.kind, solver, row.version, spent)
        lines[line.key] = line
    if rows and folder == court.folder:
        update_minima(rows, court.minima)
    if rows:
        write_lines(folder / TABLE, sorted(lines.values(), key=lambda line: _place(court, line)))
    group = next(iter(_TITLES[court.name]))
    solvers, cases = cases_of(list(lines.values()), group, PLAIN)
    if cases.problems:
        curves = {
            solver: {tau: partial(share, cases, solver, tau) for tau in PRECISIONS} for solver in solvers
        }
        data_profiles.draw(curves, (0.5, BUDGETS[-1]), folder, FIGURE)


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


def _place(court: Court, line: Line) -> tuple[int, int, str, int]:
    groups, features = list(court.features), list(FEATURES)
    return (
        groups.index(line.group),
        features.index(line.feature),
        line.problem.upper(),
        SOLVERS.index(line.solver),
    )


def cases_of(lines: Sequence[Line], group: str, feature: str) -> tuple[list[str], Cases]:
    """Return the solvers that have run on all problems of a group, ours first, and what they have spent."""
    here = [line for line in lines if (line.group, line.feature) == (group, feature)]
    problems = {line.problem: Listed(line.problem, line.n, line.kind, 0.0) for line in here}
    counts = {solver: sum(line.solver == solver for line in here) for solver in reversed(SOLVERS)}
    solvers = [solver for solver, count in counts.items() if count == len(problems)]
    spent = {
        (line.solver, line.problem, tau): list(seeds)
        for line in here
        for tau, seeds in zip(PRECISIONS, line.spent, strict=True)
    }
    return solvers, Cases(list(problems.values()), spent)


def text_of(court: Court, lines: Sequence[Line], folder: Path) -> str:
    """Return the page."""
    parts = [_INTRODUCTIONS[court.name], _RULES]
    if (folder / f"{FIGURE}.png").exists():
        parts.insert(1, f"![Problems solved, by evaluations and precision]({FIGURE}.png)")
    for group, title in _TITLES[court.name].items():
        for feature in court.features[group]:
            solvers, cases = cases_of(lines, group, feature)
            if solvers and cases.problems:
                about = "" if feature == PLAIN else f", {feature}: {FEATURES[feature].about}"
                parts.append(f"## {title}{about}")
                parts.append(f"Per cent solved to τ = {' / '.join(map(power, precisions_of(feature)))}.")
                found = tables(cases, solvers, feature, by_kind=feature == PLAIN)
                for name, rows in found.items():
                    parts += [f"{name[0].upper()}{name[1:]}:", table(rows[0], rows[1:])]
    return "\n\n".join([*parts, stamp(f"make bench-{court.name}", lines, named, folder)])


_INTRODUCTIONS = {
    CUTEST.name: (
        "# The problems of CUTEst\n\n"
        "Those of S2MPJ, CUTEst in Python, without constraints or with bounds, that have 2 to 30 variables "
        "in their usual sizes, and whose 100 n values take less than a minute. Variables whose bounds are "
        "equal are left out, and so is INDEF, which has no minimum; of most features each third or sixth "
        "problem is run, or the cheapest of these. **Rules of our methods are chosen on A to L and "
        "reported on M to Z.**"
    ),
    MORE_WILD.name: (
        "# The problems of Moré and Wild\n\n"
        "22 functions and 53 problems with 2 to 12 variables: sums of squares, as they are and with noise, "
        "and sums of absolute values. **No rule of our methods was chosen on this set**, but many of its "
        "functions are in CUTEst, too."
    ),
}
_RULES = (
    "A problem is solved if f <= f_L + τ (f0 - f_L), where f0 is the value at the start and f_L the lowest "
    "that any solver has found (Moré and Wild, SIAM Journal on Optimization 20, 2009). All begin at the same "
    "point, with the same first step size, 1, and run once; pycma's and our runs depend on a seed. L-BFGS-B "
    "takes forward differences, and often stops early; NEWUOA runs where there are no bounds, BOBYQA where "
    "there are. The best true value so far counts. `evaluations.csv` has the evaluations divided by n for "
    "every problem and τ, a dash where it was not solved. Solvers that have not run on all problems are left "
    "out."
)
