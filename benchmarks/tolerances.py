"""Whether `xtol` and `ftol` cut runs that reach their target: `python -m benchmarks.tolerances STUDY ...`.

Every cell of the studies is run once without tolerances. If it reaches the target within the time given, it
is run again with the default tolerances, and must reach it as well.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.reporting import made_by, publish, report_parser
from pursuit import Result, minimize
from pursuit.engine.stopping import Reason
from pursuit.experiments.common.formatting import table
from pursuit.experiments.study.declaration import load_study
from pursuit.experiments.study.grid import (
    Recipe,
    entries_of,
    make_method,
    make_problem,
    options_under,
    seed_of,
)


def main() -> None:
    """Run the studies and print, or write, what became of their cells."""
    parser = report_parser(__doc__)
    parser.add_argument("studies", nargs="+", metavar="STUDY", help="names or files of studies")
    parser.add_argument("--seconds", type=float, default=20.0, help="the longest that a run may take")
    arguments = parser.parse_args()
    rows = [counts_of(study, arguments.seconds) for study in arguments.studies]
    text = (
        "# Tolerances\n\n"
        "The first run of every cell that reaches its target without tolerances, within "
        f"{arguments.seconds:g} seconds, was made again with the default `xtol` and `ftol`.\n\n"
        f"{table(['study', 'cells', 'reached the target', 'cut by a tolerance'], rows)}\n\n"
        f"{made_by('benchmarks.tolerances ' + ' '.join(arguments.studies))}"
    )
    publish(text, arguments.out)


def counts_of(name: str, seconds: float) -> list[str]:
    """Return the row of a study."""
    cells = reached = cut = 0
    for entry in entries_of(load_study(name), runs=1):
        cells += 1
        if run(entry.recipe, entry.identity, maxtime=seconds, xtol=0.0, ftol=0.0).status == Reason.TARGET:
            reached += 1
            again = run(entry.recipe, entry.identity)
            if again.status != Reason.TARGET:
                cut += 1
                print(f"{entry.cell}: {again.message}")
    return [Path(name).stem, str(cells), str(reached), str(cut)]


def run(recipe: Recipe, identity: str, **limits: Any) -> Result:
    """Return the first run of a cell, within these limits."""
    problem = make_problem(recipe)
    return minimize(
        problem,
        problem.x0,
        method=make_method(recipe),
        rng=seed_of(identity, 0),
        ftarget=recipe.target,
        maxiter=recipe.cap,
        options=options_under(recipe, recipe.reading),
        **limits,
    )


if __name__ == "__main__":
    main()
