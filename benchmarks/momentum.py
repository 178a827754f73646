"""Our targets for `momentum`, and whether it reaches them, on two sets of problems.

``python -m benchmarks.momentum`` makes the runs that are missing or outdated, stores their results in
``docs/results/momentum.csv``, and writes ``momentum.md`` beside it. Rules were chosen on one set, with the
targets. The other has different numbers of variables, spectra, functions and seeds, and no rule was chosen
on it. pycma and CR-FM-NES are run where they are installed.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.peers.records import Table, read_rows
from benchmarks.reporting import made_by
from benchmarks.values.problems import CHOOSING, REPORTING
from benchmarks.values.reach import Key, Measured, judged, label_of
from benchmarks.values.reaching import (
    ALONG_AXES,
    EARLY,
    NOISE,
    ROTATED,
    SCALED,
    TO_TARGET,
    ReachRow,
    run_missing,
)
from pursuit.experiments.common.files import locked, write_file
from pursuit.experiments.common.formatting import table

FOLDER = Path("docs/results")
CSV, REPORT = "momentum.csv", "momentum.md"
MOMENTUM, PLAIN = "momentum", "rp"
RIVALS = ("pycma", "CR-FM-NES")
SPHERE: Key = ("exp", 1.0)
SEEDS = 11
# A run is given up after so many evaluations, divided by n.
PATIENCE = 30_000.0
# With x_i 10^(6i/n) in place of x_i, so many times the evaluations at the most.
SCALED_FACTOR = 3.0
EARLY_BUDGETS = (10.0, 30.0, 100.0)
NOISE_BUDGETS = (50.0, 100.0, 300.0)


class Problems(NamedTuple):
    """A set of problems."""

    n: int
    first_seed: int
    targets: dict[Key, tuple[float | None, float | None]]
    """Thousands of evaluations to 1e-9, along the axes and rotated."""
    scaled: tuple[Key, ...]
    early: tuple[tuple[Key, str], ...]
    noise: dict[Key, dict[float, float]]
    """The true f at the point that is returned, by the evaluations, divided by n."""


SETS = {
    CHOOSING: Problems(
        n=100,
        first_seed=1,
        targets={
            SPHERE: (7.0, None),
            ("exp", 1e4): (20.0, 160.0),
            ("exp", 1e6): (28.0, 1250.0),
            ("lin", 1e4): (18.0, 45.0),
            ("lin", 1e6): (22.0, 70.0),
            ("two", 1e4): (25.0, 180.0),
            ("two", 1e6): (35.0, 430.0),
            ("rosenbrock", None): (150.0, 150.0),
        },
        scaled=(SPHERE, ("rosenbrock", None)),
        early=(
            (SPHERE, ALONG_AXES),
            (("exp", 1e4), ALONG_AXES),
            (("lin", 1e4), ALONG_AXES),
            (("two", 1e4), ALONG_AXES),
            (("rosenbrock", None), ALONG_AXES),
            (("logistic regression", None), ALONG_AXES),
            (("exp", 1e2), ROTATED),
            (("exp", 1e4), ROTATED),
            (("two", 1e4), ROTATED),
        ),
        noise={("exp", 1e2): {100.0: 1e-3}},
    ),
    REPORTING: Problems(
        n=60,
        first_seed=101,
        targets={
            SPHERE: (None, None),
            ("exp", 1e3): (None, None),
            ("exp", 1e5): (None, None),
            ("lin", 1e3): (None, None),
            ("two", 1e3): (None, None),
            ("two", 1e5): (None, None),
            ("paired Rosenbrock", None): (None, None),
        },
        scaled=(SPHERE, ("two", 1e3)),
        early=(
            (SPHERE, ALONG_AXES),
            (("exp", 1e3), ALONG_AXES),
            (("two", 1e5), ALONG_AXES),
            (("paired Rosenbrock", None), ALONG_AXES),
            (("Brown", None), ALONG_AXES),
            (("Poisson regression", None), ALONG_AXES),
            (("lin", 1e3), ROTATED),
            (("exp", 1e5), ROTATED),
            (("two", 1e5), ROTATED),
        ),
        noise={("lin", 1e2): {}, ("exp", 1e3): {}},
    ),
}


# --- the runs --------------------------------------------------------------------------------------


def rows_of(problems: Problems) -> Iterator[ReachRow]:
    """Yield a row without a result for everything that is to be measured on a set."""
    for row in _cases(problems):
        for seed in range(problems.first_seed, problems.first_seed + SEEDS):
            yield row._replace(seed=seed)


def _cases(problems: Problems) -> Iterator[ReachRow]:
    for key in problems.targets:
        for axes in _axes_of(problems, key):
            yield _to_target(problems, key, axes)
    for key, axes in problems.early:
        for solver in (MOMENTUM, PLAIN):
            for budget in EARLY_BUDGETS:
                yield ReachRow(EARLY, solver, *key, axes, problems.n, 0, budget)
    for key in problems.noise:
        for solver in (MOMENTUM, *RIVALS):
            for budget in NOISE_BUDGETS:
                yield ReachRow(NOISE, solver, *key, ROTATED, problems.n, 0, budget)


def _axes_of(problems: Problems, key: Key) -> Iterator[str]:
    yield ALONG_AXES
    # A sphere stays what it is, and other formulas have no rotated version.
    if key != SPHERE and (key[1] is not None or key[0] == "rosenbrock"):
        yield ROTATED
    if key in problems.scaled:
        yield SCALED


def _to_target(problems: Problems, key: Key, axes: str) -> ReachRow:
    return ReachRow(TO_TARGET, MOMENTUM, *key, axes, problems.n, 0, PATIENCE)


# --- the report ------------------------------------------------------------------------------------


def to_target(measured: Measured, problems: Problems) -> str:
    """Return evaluations to 1e-9, in thousands."""
    lines = []
    for key, (along, rotated) in problems.targets.items():
        found = {axes: measured.median(_to_target(problems, key, axes)) for axes in _axes_of(problems, key)}
        plain = found[ALONG_AXES]
        bounds = {
            ALONG_AXES: along,
            ROTATED: rotated,
            SCALED: None if plain is None else _rounded(SCALED_FACTOR * plain / 1e3),
        }
        cells = [
            judged(_thousands(found[axes]), bound) if axes in found else "" for axes, bound in bounds.items()
        ]
        lines.append([_name(key), *cells])
    return table(["problem", ALONG_AXES, ROTATED, SCALED], lines)


def _thousands(number: float | None) -> float | None:
    return None if number is None else number / 1e3


def within_budgets(measured: Measured, problems: Problems) -> str:
    """Return f/f0 after few evaluations beside `rp`, and the true f under noise beside other packages."""
    lines = []
    for key, axes in problems.early:
        cells = []
        for budget in EARLY_BUDGETS:
            row = ReachRow(EARLY, MOMENTUM, *key, axes, problems.n, 0, budget)
            bound = measured.median(row._replace(solver=PLAIN))
            cells.append(judged(measured.median(row), None if bound is None else _rounded(bound)))
        lines.append([f"{_name(key)}, {axes}", *cells])
    return table(["problem", *(f"{budget:g} n" for budget in EARLY_BUDGETS)], lines)


def under_noise(measured: Measured, problems: Problems) -> str:
    """Return the true f at the points that are returned under noise."""
    lines = []
    for key, bounds in problems.noise.items():
        for solver in (MOMENTUM, *RIVALS):
            cells = []
            for budget in NOISE_BUDGETS:
                row = ReachRow(NOISE, solver, *key, ROTATED, problems.n, 0, budget)
                others = [measured.median(row._replace(solver=rival)) for rival in RIVALS]
                best = min([bounds.get(budget, math.inf), *(one for one in others if one is not None)])
                is_bounded = solver == MOMENTUM and best < math.inf
                cells.append(judged(measured.median(row), _rounded(best) if is_bounded else None))
            lines.append([f"{_name(key)}, rotated", solver, *cells])
    return table(["problem", "", *(f"{budget:g} n" for budget in NOISE_BUDGETS)], lines)


def _rounded(bound: float) -> float:
    """Return a bound with as many digits as are shown."""
    return float(f"{bound:.3g}")


def _name(key: Key) -> str:
    return "sphere" if key == SPHERE else label_of(key)


def report(folder: Path) -> str:
    """Return the report on what is stored in a folder."""
    found = read_rows(folder / CSV, ReachRow)
    measured = Measured(found)
    codes = ", ".join(sorted({row.version for row in found if row.solver == MOMENTUM}))
    parts = []
    for name, problems in SETS.items():
        last = problems.first_seed + SEEDS - 1
        parts.append(f"""## The {name} set

n = {problems.n}, seeds {problems.first_seed} to {last}. Evaluations to 1e-9, in thousands:

{to_target(measured, problems)}

The smallest f/f0 within few evaluations, beside that of `{PLAIN}`:

{within_budgets(measured, problems)}

The true f at the point that is returned, with noise of standard deviation 1e-3, beside the best of
{" and ".join(RIVALS)} and the target:

{under_noise(measured, problems)}
""")
    both = "\n".join(parts)
    return f"""# What `momentum` reaches

Medians of {SEEDS} seeds. Rules were chosen on the first set and with its targets, and none on the second.
Badly scaled problems have x_i 10^(6i/n) in place of x_i, and may take {SCALED_FACTOR:g} times as many
evaluations. Code: {codes}.

{both}
{made_by("benchmarks.momentum")}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sets", nargs="+", choices=tuple(SETS), default=tuple(SETS), metavar="SET")
    parser.add_argument("--parts", nargs="+", default=[TO_TARGET, EARLY, NOISE], metavar="PART")
    parser.add_argument("--report", action="store_true", help="only write what follows from the stored runs")
    parser.add_argument("--out", type=Path, default=FOLDER, metavar="DIR")
    options = parser.parse_args()
    if not options.report:
        wanted = [row for name in options.sets for row in rows_of(SETS[name]) if row.part in options.parts]
        with locked(options.out, "momentum-lock"):
            run_missing(wanted, Table(options.out / CSV, ReachRow), lambda line: print(line, flush=True))
    write_file(options.out / REPORT, report(options.out))


if __name__ == "__main__":
    main()
