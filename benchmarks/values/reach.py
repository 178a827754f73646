"""Our targets for `values`, and whether it reaches them.

``python -m benchmarks.values.reach`` makes the runs that are missing or outdated, stores their results in
``docs/results/values/reach.csv``, and writes ``reach.md`` beside it. What it says about the experiment
follows from the rows of ``python -m benchmarks.values``. ``--methods auto-values``, with the library of a
checkout that still has that method first in ``PYTHONPATH``, makes the runs of the method that `values` has
replaced.
"""

from __future__ import annotations

import argparse
import math
import statistics
from collections.abc import Iterator, Sequence
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
    BEFORE,
    EARLY,
    NOISE,
    OVERHEAD,
    ROTATED,
    SCALED,
    SHORT_MEMORY,
    TO_TARGET,
    VALUES,
    ReachRow,
    run_missing,
)
from benchmarks.values.rows import FILE, PRECISIONS, Row
from benchmarks.values.solvers import SPSA
from pursuit.experiments.common.files import locked, write_file
from pursuit.experiments.common.formatting import power, spaced, table

FOLDER = Path("docs/results/values")
CSV, REPORT = "reach.csv", "reach.md"
SEEDS = {50: 11, 100: 11, 1000: 11, 10_000: 1, 100_000: 1}
"""How many, by n: fewer where a run takes minutes."""

Key = tuple[str, float | None]
# The targets. Evaluations to 1e-9, in thousands.
ROTATED_100: dict[Key, float] = dict(zip(SMOOTH, (12.0, 13.0, 7.0, 8.0, 1.0, 1.0, 45.0), strict=True))
SHORT_100: dict[Key, float] = {("exp", 1e4): 36.0, ("exp", 1e6): 190.0}
AXES_100: dict[Key, float] = {key: 45.0 if key[0] == "rosenbrock" else 0.5 for key in SMOOTH}
ROTATED_1000: dict[Key, float] = dict(
    zip(SMOOTH, (650.0, 5000.0, 200.0, 240.0, 8.0, 12.0, 4000.0), strict=True)
)
# A run is given up after so many times the target.
PATIENCE = 3.0
# f/f0 after so many evaluations, divided by n: no worse than the method before, and better at the last.
EARLY_BUDGETS = {
    100: (0.3, 1.0, 3.0, 10.0, 30.0),
    1000: (0.3, 1.0, 3.0, 10.0, 30.0),
    10_000: (0.3, 1.0, 3.0, 10.0),
    100_000: (0.3, 1.0),
}
EARLY_PROBLEMS: tuple[Key, ...] = (("exp", 1e4), ("lin", 1e4), ("two", 1e6), ("rosenbrock", None))
# The true f at the point that is returned, by problem, n and the evaluations, divided by n.
UNDER_NOISE: dict[tuple[str, float | None, int], dict[float, float | None]] = {
    ("exp", 1e2, 100): {50.0: 1e-3, 100.0: None, 300.0: 3e-5},
    ("exp", 1e4, 100): {50.0: None, 100.0: 5.0, 300.0: 0.02},
    ("rosenbrock", None, 50): {50.0: None, 100.0: None, 300.0: 5.0},
}
# The experiment: points behind the rivals without noise, and rivals that must not be ahead with noise.
POINTS = 2.0
RIVALS = ("L-BFGS-B", "NEWUOA")
RIVALS_UNDER_NOISE = ("pycma", "CR-FM-NES", SPSA)
# Microseconds for each evaluation, no more than this one's.
LBFGSB = "scipy L-BFGS-B"
OVERHEAD_DIMENSIONS = (10_000, 100_000, 1_000_000)


def rows_of(methods: Sequence[str]) -> list[ReachRow]:
    """Return a row without a result for everything that is to be measured of these methods."""
    rows: list[ReachRow] = []
    if VALUES in methods:
        for targets, solver, axes, n in TO_TARGET_PARTS:
            for (problem, L), bound in targets.items():
                budget = PATIENCE * 1e3 * bound / n
                rows += _seeds(ReachRow(TO_TARGET, solver, problem, L, axes, n, 0, budget))
        for (problem, L, n), bounds in UNDER_NOISE.items():
            for budget in bounds:
                axes = ALONG_AXES if problem == "rosenbrock" else ROTATED
                rows += _seeds(ReachRow(NOISE, VALUES, problem, L, axes, n, 0, budget))
    for method in methods:
        for row in _early_rows(method):
            rows += [one for budget in EARLY_BUDGETS[row.n] for one in _seeds(row._replace(budget=budget))]
    if VALUES in methods:
        rows += [
            ReachRow(OVERHEAD, solver, "valley", None, "", n, 1, 0.0)
            for n in OVERHEAD_DIMENSIONS
            for solver in (VALUES, LBFGSB)
        ]
    return rows


TO_TARGET_PARTS = (
    (ROTATED_100, VALUES, ROTATED, 100),
    (SHORT_100, SHORT_MEMORY, ROTATED, 100),
    (AXES_100, VALUES, ALONG_AXES, 100),
    (AXES_100, VALUES, SCALED, 100),
    (ROTATED_1000, VALUES, ROTATED, 1000),
)


def _seeds(row: ReachRow) -> list[ReachRow]:
    return [row._replace(seed=seed) for seed in range(1, SEEDS[row.n] + 1)]


def _early_rows(method: str) -> Iterator[ReachRow]:
    """Yield a row for each problem of the first evaluations; rotations of many variables take too long."""
    for n in EARLY_BUDGETS:
        for axes in (ROTATED, ALONG_AXES) if n < 100_000 else (ALONG_AXES,):
            for problem, L in EARLY_PROBLEMS:
                yield ReachRow(EARLY, method, problem, L, axes, n, 0, 0.0)


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


def judged(measured: float | None, bound: float | None) -> str:
    """Return a number for people, and whether it keeps to its bound."""
    if measured is None:
        return "—"
    shown = f"{measured:.3g}" if math.isfinite(measured) else "not reached"
    if bound is None:
        return shown
    return f"{shown} ({'reaches' if measured <= bound else 'MISSES'} {bound:g})"


def to_target(measured: Measured) -> str:
    """Return evaluations to the target, in thousands."""
    lines = []
    for targets, solver, axes, n in TO_TARGET_PARTS:
        cells = []
        for problem, L in SMOOTH:
            bound = targets.get((problem, L))
            found = None
            if bound is not None:
                row = ReachRow(TO_TARGET, solver, problem, L, axes, n, 0, PATIENCE * 1e3 * bound / n)
                found = measured.median(row)
            cells.append(judged(found if found is None else found / 1e3, bound))
        lines.append([f"n = {n}, {axes}" + ("" if solver == VALUES else ", 30 pairs"), *cells])
    return table(["", *map(label_of, SMOOTH)], lines)


def early(measured: Measured) -> str:
    """Return f/f0 after few evaluations, beside the method before."""
    lines = []
    for case in _early_rows(VALUES):
        cells = []
        for budget in EARLY_BUDGETS[case.n]:
            row = case._replace(budget=budget)
            cells.append(_beside(measured.median(row), measured.median(row._replace(solver=BEFORE))))
        cells += [""] * (len(EARLY_BUDGETS[100]) - len(cells))
        lines.append([spaced(case.n), case.axes, label_of((case.problem, case.L)), *cells])
    return table(["n", "", "problem", *(f"{budget:g} n" for budget in EARLY_BUDGETS[100])], lines)


def _beside(ours: float | None, before: float | None) -> str:
    if ours is None or before is None:
        return judged(ours, None)
    return f"{ours:.2g} ({'reaches' if ours <= before else 'MISSES'} {before:.2g})"


def under_noise(measured: Measured) -> str:
    """Return the true f at the points that are returned under noise."""
    lines = []
    for (problem, L, n), bounds in UNDER_NOISE.items():
        axes = ALONG_AXES if problem == "rosenbrock" else ROTATED
        noise = "values in single precision" if problem == "rosenbrock" else "noise 0.001"
        cells = [
            judged(measured.median(ReachRow(NOISE, VALUES, problem, L, axes, n, 0, budget)), bound)
            for budget, bound in bounds.items()
        ]
        lines.append([f"{label_of((problem, L))}, n = {n}, {axes}, {noise}", *cells])
    return table(["problem", "50 n", "100 n", "300 n"], lines)


def overhead(measured: Measured) -> str:
    """Return the time for each evaluation."""
    lines = []
    for n in OVERHEAD_DIMENSIONS:
        row = ReachRow(OVERHEAD, VALUES, "valley", None, "", n, 0, 0.0)
        ours, theirs = measured.median(row), measured.median(row._replace(solver=LBFGSB))
        if ours is not None and theirs is not None:
            lines.append([spaced(n), f"{ours:.3g}", f"{theirs:.3g}", judged(ours / theirs, 1.0)])
    return table(["n", "`values`, µs", "L-BFGS-B, µs", "ratio"], lines) if lines else "Not measured."


# --- the experiment --------------------------------------------------------------------------------


def shares(rows: Sequence[Row]) -> str:
    """Return by how many points `values` is ahead of its rivals without noise."""
    profiles = {one.solver: one.shares for one in profiles_of([row for row in rows if not row.noisy])}
    if not {VALUES, *RIVALS} <= profiles.keys():
        return "Not measured."
    lines = []
    for precision in PRECISIONS:
        cells = []
        for budget in TABLE_BUDGETS:
            place = budget, precision
            best = max(profiles[rival][place] for rival in RIVALS)
            points = 100.0 * (profiles[VALUES][place] - best)
            cells.append(f"{points:+.1f} ({'reaches' if points >= -POINTS else 'MISSES'} {-POINTS:g})")
        lines.append([power(precision), *cells])
    return table(["τ", *(f"{budget} n" for budget in TABLE_BUDGETS)], lines)


def behind(rows: Sequence[Row]) -> str:
    """Return the errors of `values` under noise, as multiples of the smallest of its rivals'."""
    noisy = [row for row in rows if row.noisy]
    cases = {solver: cases_of(noisy, solver) for solver in solvers_of(noisy)}
    rivals = [solver for solver in cases if solver.startswith(RIVALS_UNDER_NOISE)]
    lines = []
    for key in cases.get(VALUES, {}):
        cells = []
        for budget in TABLE_BUDGETS:
            ours = median_error(cases[VALUES], key, budget)
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
    codes = ", ".join(
        f"{solver} {' and '.join(sorted({row.version for row in found if row.solver == solver}))}"
        for solver in dict.fromkeys(row.solver for row in found)
        if solver != LBFGSB
    )
    counts = ", ".join(f"{count} for n = {spaced(n)}" for n, count in SEEDS.items())
    return f"""# What `values` reaches

Medians over the seeds: {counts}. Rotated problems are those of the
[comparison](../peers/report.md) with other libraries. Code: {codes}.

## Evaluations to 1e-9

In thousands. A run is given up after {PATIENCE:g} times the target. Badly scaled problems are those along the
axes in variables of which x_i 10^(6i/n) are the usual ones.

{to_target(measured)}

## The first evaluations

The smallest f/f0 within so many evaluations, beside that of `auto-values`, the method before.

{early(measured)}

## Noise

The true f at the point that is returned, each budget in a run of its own.

{under_noise(measured)}

## The experiment, without noise

The share of the [problems on which no rule was chosen](reporting.md) that `values` solves, in points more
than the better of {" and ".join(RIVALS)}:

{shares(experiment)}

## The experiment, with noise

The error of `values` as a multiple of the smallest one of pycma, CR-FM-NES and {BEST_SPSA}:

{behind(experiment)}

## Time

Microseconds for each evaluation of a Python function, beyond the function's own. Nothing else
must run meanwhile.

{overhead(measured)}

{made_by("benchmarks.values.reach")}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--methods", nargs="+", choices=(VALUES, BEFORE), default=[VALUES], metavar="NAME")
    parser.add_argument("--parts", nargs="+", default=[TO_TARGET, EARLY, NOISE, OVERHEAD], metavar="PART")
    parser.add_argument("--least", type=int, default=1, metavar="N", help="only so many variables or more")
    parser.add_argument("--most", type=int, default=1_000_000, metavar="N", help="only so many or fewer")
    parser.add_argument("--keep", action="store_true", help="keep rows that other versions have made")
    parser.add_argument("--report", action="store_true", help="only write what follows from the stored runs")
    parser.add_argument("--out", type=Path, default=FOLDER, metavar="DIR")
    options = parser.parse_args()
    if not options.report:
        wanted = [
            row
            for row in rows_of(options.methods)
            if row.part in options.parts and options.least <= row.n <= options.most
        ]
        with locked(options.out, "reach-lock"):
            run_missing(wanted, Table(options.out / CSV, ReachRow), _say, keep=options.keep)
    write_file(options.out / REPORT, report(options.out))


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    main()
