"""Our targets for `differences`, and whether it reaches them.

``python -m benchmarks.values.reach`` makes the runs that are missing or outdated, stores their results in
``docs/results/values/reach.csv``, and writes ``reach.md`` beside it. What it says about the experiment
follows from the rows of ``python -m benchmarks.values``.
"""

from __future__ import annotations

import argparse
import math
import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.peers.problems import SMOOTH
from benchmarks.peers.records import Table, read_rows
from benchmarks.reporting import made_by
from benchmarks.values.problems import REPORTING
from benchmarks.values.profiles import (
    BEST_SPSA,
    TABLE_BUDGETS,
    cases_of,
    median_error,
    profiles_of,
    solvers_of,
)
from benchmarks.values.reaching import (
    ALONG_AXES,
    DIFFERENCES,
    EARLY,
    NOISE,
    ROTATED,
    SCALED,
    TO_TARGET,
    ReachRow,
    run_missing,
)
from benchmarks.values.rows import FILE, PRECISIONS, Row
from benchmarks.values.solvers import SPSA
from pursuit.experiments.common.files import locked, write_file
from pursuit.experiments.common.formatting import power, spaced, table

FOLDER = Path("docs/results/values")
CSV, REPORT = "reach.csv", "reach.md"
SEEDS = {TO_TARGET: 21, EARLY: 11, NOISE: 11}
"""How many, by part."""

Key = tuple[str, float | None]
# The targets. Evaluations to 1e-9, in thousands, n = 100.
N = 100
_QUADRATICS = [key for key in SMOOTH if key[0] != "rosenbrock"]
TARGETS: dict[str, dict[Key, float]] = {
    ROTATED: dict(zip(SMOOTH, (11.0, 19.0, 6.6, 7.6, 0.8, 0.9, 35.0), strict=True)),
    ALONG_AXES: dict.fromkeys(_QUADRATICS, 0.31),
    SCALED: dict.fromkeys(_QUADRATICS, 0.5),
}
# The most evaluations of all seeds, divided by the fewest, on quadratics.
SPREAD = 1.5
# A run is given up after so many thousand evaluations.
PATIENCE = 150.0
# f/f0 after so many evaluations, divided by n, by problem, n and axes.
EARLY_BUDGETS = (0.3, 1.0, 3.0, 10.0)
EARLY_PROBLEMS: dict[tuple[str, float | None, int, str], dict[float, float]] = {
    ("exp", 1e4, 1000, ROTATED): {1.0: 0.13, 3.0: 0.031},
    ("two", 1e6, 1000, ROTATED): {},
    ("lin", 1e4, 1000, ALONG_AXES): {},
    ("rosenbrock", None, 1000, ALONG_AXES): {},
}
# The true f at the point that is returned, by problem, n and the evaluations, divided by n.
UNDER_NOISE: dict[tuple[str, float | None, int], dict[float, float | None]] = {
    ("exp", 1e2, 100): {50.0: 1e-3, 100.0: None, 300.0: 3e-5},
    ("exp", 1e4, 100): {50.0: None, 100.0: 5.0, 300.0: 0.02},
    ("rosenbrock", None, 50): {50.0: None, 100.0: None, 300.0: 5.0},
}
# The experiment: the percentages solved without noise, by budget and precision; and rivals under noise.
SHARES = {
    10: (93, 58, 38, 26),
    30: (97, 81, 67, 56),
    100: (98, 93, 89, 85),
    500: (98, 94, 92, 92),
}
RIVALS_UNDER_NOISE = ("pycma", "CR-FM-NES", SPSA)


def rows_of() -> list[ReachRow]:
    """Return a row without a result for everything that is to be measured."""
    cases = [_to_target_row(key, axes) for axes in TARGETS for key in SMOOTH]
    cases += [row for key in EARLY_PROBLEMS for row in _early_rows(key)]
    cases += [row for key, bounds in UNDER_NOISE.items() for row in _noise_rows(key, bounds)]
    return [row._replace(seed=seed) for row in cases for seed in range(1, SEEDS[row.part] + 1)]


def _to_target_row(key: Key, axes: str) -> ReachRow:
    return ReachRow(TO_TARGET, DIFFERENCES, *key, axes, N, 0, 1e3 * PATIENCE / N)


def _early_rows(key: tuple[str, float | None, int, str]) -> list[ReachRow]:
    problem, L, n, axes = key
    return [ReachRow(EARLY, DIFFERENCES, problem, L, axes, n, 0, budget) for budget in EARLY_BUDGETS]


def _noise_rows(key: tuple[str, float | None, int], budgets: Iterable[float]) -> list[ReachRow]:
    problem, L, n = key
    axes = ALONG_AXES if problem == "rosenbrock" else ROTATED
    return [ReachRow(NOISE, DIFFERENCES, problem, L, axes, n, 0, budget) for budget in budgets]


# --- what was measured -----------------------------------------------------------------------------


class Measured:
    """Medians over the seeds of what is stored."""

    def __init__(self, rows: Sequence[ReachRow]) -> None:
        self._results: dict[ReachRow, list[float]] = {}
        for row in rows:
            if row.result is not None:
                key = row._replace(seed=0, version="", result=None)
                self._results.setdefault(key, []).append(row.result)

    def median(self, row: ReachRow) -> float | None:
        """Return the median, None where nothing was measured."""
        found = self._results.get(row)
        return statistics.median(found) if found else None

    def spread(self, row: ReachRow) -> float | None:
        """Return the largest result divided by the smallest, None where nothing was measured."""
        found = self._results.get(row)
        return max(found) / min(found) if found else None


def judged(measured: float | None, bound: float | None) -> str:
    """Return a number for people, and whether it keeps to its bound."""
    if measured is None:
        return "—"
    shown = f"{measured:.3g}" if math.isfinite(measured) else "not reached"
    if bound is None:
        return shown
    return f"{shown} ({'reaches' if measured <= bound else 'MISSES'} {bound:g})"


def to_target(measured: Measured) -> str:
    """Return evaluations to the target, in thousands, and how far seeds differ."""
    lines = []
    for axes, targets in TARGETS.items():
        rows = {key: _to_target_row(key, axes) for key in SMOOTH}
        medians = {key: measured.median(row) for key, row in rows.items()}
        cells = [
            judged(None if found is None else found / 1e3, targets.get(key)) for key, found in medians.items()
        ]
        lines.append([axes, *cells])
        spreads = [
            judged(measured.spread(row), SPREAD if key in _QUADRATICS else None) for key, row in rows.items()
        ]
        lines.append([f"{axes}: largest / smallest", *spreads])
    return table(["", *map(label_of, SMOOTH)], lines)


def early(measured: Measured) -> str:
    """Return f/f0 after few evaluations."""
    lines = []
    for key, bounds in EARLY_PROBLEMS.items():
        problem, L, n, axes = key
        cells = [judged(measured.median(row), bounds.get(row.budget)) for row in _early_rows(key)]
        lines.append([spaced(n), axes, label_of((problem, L)), *cells])
    return table(["n", "", "problem", *(f"{budget:g} n" for budget in EARLY_BUDGETS)], lines)


def under_noise(measured: Measured) -> str:
    """Return the true f at the points that are returned under noise."""
    lines = []
    for (problem, L, n), bounds in UNDER_NOISE.items():
        rows = _noise_rows((problem, L, n), bounds)
        noise = "values in single precision" if problem == "rosenbrock" else "noise 0.001"
        cells = [judged(measured.median(row), bounds[row.budget]) for row in rows]
        lines.append([f"{label_of((problem, L))}, n = {n}, {rows[0].axes}, {noise}", *cells])
    return table(["problem", "50 n", "100 n", "300 n"], lines)


# --- the experiment --------------------------------------------------------------------------------


def shares(rows: Sequence[Row]) -> str:
    """Return the percentages of problems without noise that `differences` solves."""
    profiles = {one.solver: one.shares for one in profiles_of([row for row in rows if not row.noisy])}
    if DIFFERENCES not in profiles:
        return "Not measured."
    lines = []
    for place, precision in enumerate(PRECISIONS):
        cells = []
        for budget in TABLE_BUDGETS:
            percent, bound = 100.0 * profiles[DIFFERENCES][budget, precision], SHARES[budget][place]
            cells.append(f"{percent:.1f} ({'reaches' if percent >= bound else 'MISSES'} {bound})")
        lines.append([power(precision), *cells])
    return table(["τ", *(f"{budget} n" for budget in TABLE_BUDGETS)], lines)


def behind(rows: Sequence[Row]) -> str:
    """Return the errors of `differences` under noise, as multiples of the smallest of its rivals'."""
    noisy = [row for row in rows if row.noisy]
    cases = {solver: cases_of(noisy, solver) for solver in solvers_of(noisy)}
    rivals = [solver for solver in cases if solver.startswith(RIVALS_UNDER_NOISE)]
    lines = []
    for key in cases.get(DIFFERENCES, {}):
        cells = []
        for budget in TABLE_BUDGETS:
            ours = median_error(cases[DIFFERENCES], key, budget)
            found = {solver: median_error(cases[solver], key, budget) for solver in rivals}
            errors = {solver: error for solver, error in found.items() if error is not None}
            if ours is None or not errors:
                cells.append("—")
                continue
            best = min(errors, key=lambda solver: errors[solver])
            ratio = _ratio(ours, errors[best])
            cells.append(f"{ratio:.2g} (reaches 1)" if ratio <= 1.0 else f"{ratio:.2g} (MISSES 1, {best})")
        lines.append([key.problem, str(key.n), *cells])
    return table(["problem", "n", *(f"{budget} n" for budget in TABLE_BUDGETS)], lines)


def _ratio(ours: float, theirs: float) -> float:
    # An error may be 0, or below 0 by rounding, where the minimum is found.
    return max(ours, 1e-16) / max(theirs, 1e-16)


def label_of(key: Key) -> str:
    """Return the name of a problem, and its condition number."""
    problem, L = key
    return problem if L is None else f"{problem}, L = {power(L)}"


def report(folder: Path) -> str:
    """Return the report on what is stored in a folder."""
    found = read_rows(folder / CSV, ReachRow)
    measured = Measured(found)
    experiment = [row for row in read_rows(folder / FILE, Row) if row.group == REPORTING]
    codes = ", ".join(sorted({row.version for row in found}))
    earlier = ", ".join(sorted({row.version for row in experiment if row.solver == DIFFERENCES}))
    return f"""# What `differences` reaches

Rotated problems are those of the [comparison](../peers/report.md) with other libraries. Code: {codes}.

## Evaluations to 1e-9

In thousands, n = {N}: medians of {SEEDS[TO_TARGET]} seeds, and the largest number divided by the smallest. A
run is given up after {PATIENCE:g} thousand. Badly scaled problems are those along the axes with x_i 10^(6i/n)
in place of x_i.

{to_target(measured)}

## The first evaluations

The smallest f/f0 within so many evaluations, medians of {SEEDS[EARLY]} seeds.

{early(measured)}

## Noise

The true f at the point that is returned, each budget in a run of its own, medians of {SEEDS[NOISE]} seeds.

{under_noise(measured)}

## The experiment, without noise

The percentage of the [problems on which no rule was chosen](reporting.md) that `differences` solves, in runs of the
code {earlier}:

{shares(experiment)}

## The experiment, with noise

The error of `differences` as a multiple of the smallest one of pycma, CR-FM-NES and {BEST_SPSA}:

{behind(experiment)}

{made_by("benchmarks.values.reach")}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--parts", nargs="+", default=list(SEEDS), metavar="PART", help=", ".join(SEEDS))
    parser.add_argument("--keep", action="store_true", help="keep rows that other versions have made")
    parser.add_argument("--report", action="store_true", help="only write what follows from the stored runs")
    parser.add_argument("--out", type=Path, default=FOLDER, metavar="DIR")
    options = parser.parse_args()
    if not options.report:
        wanted = [row for row in rows_of() if row.part in options.parts]
        with locked(options.out, "reach-lock"):
            run_missing(wanted, Table(options.out / CSV, ReachRow), _say, keep=options.keep)
    write_file(options.out / REPORT, report(options.out))


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    main()
