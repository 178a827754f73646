"""Which scheme is best where: on which problem, with how many variables, and for which budget.

``python -m benchmarks.pages.best STUDY ...`` reads the stores of studies, on a CPU and on a GPU, and writes
what is needed of them into ``values.csv.gz``, from which the figure is drawn.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import matplotlib.figure
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch

from benchmarks.runs import key_of, read_rows, write_table
from benchmarks.suites.rivals import FOLDER
from pursuit.experiments.common.formatting import power
from pursuit.experiments.common.plotting import print_style, save
from pursuit.experiments.study.results import CellResults, Results
from pursuit.experiments.study.stats import counts
from pursuit.experiments.study.store import read_store

BUDGETS = (10, 100, 1_000, 10_000, 100_000)
"""Evaluations divided by n."""
EXACT = ("rp-exact", "sarp-exact", "arp", "acdm")
"""The schemes that are told the minimum along a line, which costs them one evaluation."""
VALUES, FIGURE = "values.csv.gz", "best"
# Matplotlib's colours for up to twenty categories; the other half are lighter shades.
_COLOURS = "tab20"


class BestRow(NamedTuple):
    """What the runs of a scheme have come to within a budget."""

    problem: str
    L: float | None
    n: int
    solver: str
    device: str
    budget: int
    runs: int
    value: float
    """The median of the smallest values within the budget."""
    evaluations: float
    """The median of the evaluations to the target, infinite if that is above the budget."""

    @property
    def place(self) -> tuple[float, float]:
        """What rows are ordered by: the evaluations to the target, or the value if it is not reached."""
        return self.evaluations, self.value


def write(folder: Path) -> None:
    """Draw the figure from the rows of a folder."""
    if rows := read_rows(folder / VALUES, BestRow):
        save(build(rows), folder, FIGURE, ["png"])


def main() -> None:
    """Read studies, and draw the figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("studies", nargs="*", type=Path, metavar="STUDY", help="the folder of a study")
    parser.add_argument("--out", type=Path, default=FOLDER, metavar="DIR")
    options = parser.parse_args()
    path = options.out / VALUES
    rows = {key_of(row): row for row in (*read_rows(path, BestRow), *rows_of(options.studies))}
    write_table(path, BestRow._fields, rows.values())
    write(options.out)


def rows_of(folders: Sequence[Path]) -> Iterator[BestRow]:
    """Return the rows of all cells whose runs are complete."""
    for folder in folders:
        with read_store(folder) as store:
            for device in store.devices():
                results = store.results(device)
                for entry in results.select():
                    if len(entry.runs) >= entry.wanted:
                        yield from _rows_of_cell(results, entry, device)


def _rows_of_cell(results: Results, entry: CellResults, device: str) -> Iterator[BestRow]:
    """Return a row for each budget that the runs were given, or that half of them did not need."""
    cell = entry.cell
    given = min((run.nfev for run in entry.runs if run.reason == "maxiter"), default=math.inf)
    traces = [results.trace(cell, run.number) for run in entry.runs]
    reached = float(np.median(counts(entry, "evaluations")))
    for budget in BUDGETS:
        most = budget * cell.n
        if given < most < reached:
            continue
        value = float(np.median([trace.fun[trace.nfev <= most].min() for trace in traces]))
        yield BestRow(
            problem=cell.problem, L=cell.L, n=cell.n, solver=cell.scheme, device=device, budget=budget,
            runs=len(entry.runs), value=value, evaluations=reached if reached <= most else math.inf,
        )  # fmt: skip


def best_of(rows: Iterable[BestRow]) -> dict[tuple[str, float | None, int, int], BestRow]:
    """Return the best row for each problem, L, n and budget."""
    best: dict[tuple[str, float | None, int, int], BestRow] = {}
    for row in rows:
        key = (row.problem, row.L, row.n, row.budget)
        if key not in best or row.place < best[key].place:
            best[key] = row
    return best


@print_style
def build(rows: Sequence[BestRow]) -> matplotlib.figure.Figure:
    """Return the figure: a column for each budget; above all schemes, below without exact line search."""
    kinds = {
        "all schemes": best_of(rows),
        "without exact line search": best_of(row for row in rows if row.solver not in EXACT),
    }
    schemes = list(dict.fromkeys(row.solver for best in kinds.values() for row in best.values()))
    colours = ListedColormap(matplotlib.colormaps[_COLOURS].colors[: len(schemes)])  # type: ignore[attr-defined]
    figure = matplotlib.figure.Figure(figsize=(7.2, 4.2), layout="constrained")
    grid = figure.subplots(len(kinds), len(BUDGETS), sharex=True, sharey=True)
    for panels, (kind, best) in zip(grid, kinds.items(), strict=True):
        for axes, budget in zip(panels, BUDGETS, strict=True):
            _draw(axes, {key[:3]: row for key, row in best.items() if key[3] == budget}, schemes, colours)
            axes.set_title(f"{budget} n evaluations")
        panels[0].set_ylabel(kind)
    for axes in grid[-1]:
        axes.set_xlabel("n")
    figure.legend(
        handles=[Patch(color=colours(k), label=scheme) for k, scheme in enumerate(schemes)],
        loc="outside right upper",
    )
    return figure


def _draw(
    axes: Axes,
    best: Mapping[tuple[str, float | None, int], BestRow],
    schemes: Sequence[str],
    colours: ListedColormap,
) -> None:
    """Draw a panel: problems as rows, dimensions as columns, a dot where the target is reached."""
    problems = list(dict.fromkeys((problem, condition) for problem, condition, _ in best))
    dimensions = sorted({n for _, _, n in best})
    places = np.full((len(problems), len(dimensions)), np.nan)
    for (problem, condition, n), row in best.items():
        i, j = problems.index((problem, condition)), dimensions.index(n)
        places[i, j] = schemes.index(row.solver)
        if row.evaluations < math.inf:
            axes.plot(j, i, "k.", markersize=2.0)
    axes.imshow(places, cmap=colours, vmin=-0.5, vmax=len(schemes) - 0.5, aspect="auto")
    axes.set_xticks(range(len(dimensions)), [str(n) for n in dimensions], rotation=90)
    axes.set_yticks(range(len(problems)), [_title(*problem) for problem in problems])
    axes.grid(False)


def _title(problem: str, condition: float | None) -> str:
    return problem if condition is None else f"{problem}, L = {power(condition)}"


if __name__ == "__main__":
    main()
