"""The page on rounds and workers, and a figure of time against workers."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure

from benchmarks.pages.stamp import stamp
from benchmarks.problems.paper import SMOOTH, Task
from benchmarks.runs import read_rows
from benchmarks.suites import parallel as suite
from benchmarks.suites.parallel import CR_FM_NES, OURS, PYCMA, WORKERS, RoundsRow, TimeRow
from pursuit.experiments.common.formatting import table
from pursuit.experiments.common.plotting import print_style, save


def texts(folder: Path) -> dict[Path, str]:
    """Return the page."""
    return {folder / "parallel.md": text_of(_rows(folder), read_rows(folder / suite.TIMES, TimeRow), folder)}


def draw(folder: Path) -> None:
    """Draw the figure."""
    save(figure_of(_rows(folder)), folder / "figures", "workers", ["png"])


def _rows(folder: Path) -> list[RoundsRow]:
    known = {*OURS, PYCMA, CR_FM_NES}
    return [row for row in read_rows(folder / suite.ROUNDS, RoundsRow) if row.solver in known]


def median_of(rows: Sequence[RoundsRow], field: str, **key: object) -> float:
    """Return the median of a field over the runs with such a key, NaN if there are none."""
    found = [
        getattr(row, field) for row in rows if all(getattr(row, name) == want for name, want in key.items())
    ]
    return statistics.median(found) if found else math.nan


def text_of(rows: Sequence[RoundsRow], times: Sequence[TimeRow], folder: Path | None = None) -> str:
    """Return the page."""
    parts = [
        "# Many points at once",
        "Runs to 1e-9 on the paper's problems, rotated, with rounds of at most *batch* points: medians of "
        "all seeds. *Rounds* are divided by the number of full rounds, evaluations / batch.",
    ]
    for n in sorted({row.n for row in rows}):
        parts += [f"## n = {n}", _of_ours(rows, n)]
        if any(row.solver == PYCMA and row.n == n for row in rows):
            parts += [_beside_rivals(rows, n)]
    shown = [[row.part, str(row.n), "" if row.value is None else f"{row.value:.3g}"] for row in times]
    parts += ["## Times", table(["", "n", ""], shown)]
    return "\n\n".join([*parts, stamp("make bench-parallel", rows, suite.named, folder)])


def _of_ours(rows: Sequence[RoundsRow], n: int) -> str:
    middle = math.ceil(math.sqrt(n))
    lines = []
    for solver in OURS:
        for problem, L in SMOOTH:
            key = {"solver": solver, "problem": problem, "L": L, "n": n}
            one, some, most = (
                median_of(rows, "evaluations", budget=batch, **key) for batch in (1, middle, n)
            )
            if not math.isnan(one + some):
                full = median_of(rows, "rounds", budget=middle, **key) / (some / middle)
                ratios = map(_shown, (some / one, full, most / one))
                lines.append([solver, _named(problem, L), f"{one:.0f}", *ratios])
    batches = f"batch {middle}: times those", f"batch {middle}: rounds", f"batch {n}: times those"
    return table(["method", "problem", "evaluations, batch 1", *batches], lines)


def _beside_rivals(rows: Sequence[RoundsRow], n: int) -> str:
    middle = math.ceil(math.sqrt(n))
    lines = []
    for problem, L in SMOOTH:
        key = {"problem": problem, "L": L, "n": n, "budget": middle}
        ours = median_of(rows, "rounds", solver="differences", **key)
        line = [_named(problem, L), f"{ours:.0f}"]
        for rival in (PYCMA, CR_FM_NES):
            theirs = median_of(rows, "rounds", solver=rival, **key)
            line += [
                "not within 4 times ours" if math.isinf(theirs) else f"{theirs:.0f}",
                _shown(ours / theirs if math.isfinite(theirs) else math.nan),
            ]
        lines.append(line)
    heads = ["problem", "rounds of `differences`", PYCMA, "ours / theirs", CR_FM_NES, "ours / theirs"]
    return f"Rounds with batch {middle}, and with a population of that size:\n\n{table(heads, lines)}"


def _shown(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.2f}"


def _named(problem: str, L: float | None) -> str:
    return Task(problem, L, True, 0).label


@print_style
def figure_of(rows: Sequence[RoundsRow]) -> Figure:
    """Return a figure of how long runs take against the number of workers."""
    chosen = [("lin", 1e4), ("lin", 1e6)]
    figure = Figure(figsize=(6.4, 2.6), layout="constrained")
    panels = figure.subplots(1, len(chosen), sharex=True)
    for axes, (problem, L) in zip(panels, chosen, strict=True):
        for solver, budget in (("differences", 100), (PYCMA, 10)):
            key = (solver, problem, L, 100, budget)
            runs = [row for row in rows if (row.solver, row.problem, row.L, row.n, row.budget) == key]
            found = [[float(wave) for wave in row.waves.split()] for row in runs if row.waves]
            if found:
                times = [statistics.median(column) for column in zip(*found, strict=True)]
                axes.loglog(WORKERS, times, marker="o", label=f"{solver}, rounds of {budget}")
        axes.set(title=f"{_named(problem, L)}, rotated, n = 100", xlabel="workers")
        axes.set_xticks(WORKERS, [str(count) for count in WORKERS])
        axes.minorticks_off()
    panels[0].set_ylabel("time to 1e-9, in evaluations")
    panels[0].legend()
    return figure
