"""EP-CMA-1 beside SARP over the grid of `path.toml`, and the best settings on problems of `path-test.toml`.

All numbers are iterations of EP-CMA-1 divided by those of SARP, quotients of medians. Where most runs of
EP-CMA-1 end at the cap, the cap stands for their median: the true quotient is larger.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import matplotlib.colors
import matplotlib.figure
import numpy as np
from matplotlib.axes import Axes

from benchmarks.readings.agreement import labelled
from benchmarks.readings.measured import Label, Measurements, Place
from benchmarks.runs import write_table
from pursuit.experiments.common.formatting import power, table
from pursuit.experiments.common.plotting import print_style, save
from pursuit.experiments.study.results import CellResults
from pursuit.experiments.study.stats import ratio, summarize

_C_C = ("1/n^2", "1/(3n)", "1/n", "3/(2n)", "2/(n+2)", "1/sqrt(n)")
_C_COV = (0.02, 0.05, 0.1, 0.2, 0.4, 0.7)
_C_P = ("0", "1/n^2", "1/(12n)", "1/n", "1/12")


class PathSetting(NamedTuple):
    """A point of the grid; c_c and c_p are texts."""

    c_c: str
    c_cov: float
    c_p: str

    def label(self) -> str:
        """Return the label of EP-CMA-1 with this setting."""
        return labelled("ep-cma-1", f"{self.c_c}&{self.c_cov:g}&{self.c_p}")


GRID = tuple(PathSetting(*point) for point in itertools.product(_C_C, _C_COV, _C_P))
PAPER = {
    "the paper's, c_p = 1/12": PathSetting("2/(n+2)", 0.2, "1/12"),
    "the paper's, c_p = 1/n": PathSetting("2/(n+2)", 0.2, "1/n"),
    "the paper's, c_p = 0": PathSetting("2/(n+2)", 0.2, "0"),
}
"""The paper's own rates under the three readings."""
SCANNED_DIMENSIONS = (20, 40, 100)
# The largest quotient whose colour differs from that of larger ones.
_FARTHEST = 8.0


class Quotient(NamedTuple):
    """Iterations of EP-CMA-1 divided by SARP's; `value` is a bound where `capped`."""

    value: float
    low: float
    high: float
    capped: bool

    def __str__(self) -> str:
        return f"{'> ' if self.capped else ''}{self.value:.2f}"

    def with_interval(self) -> str:
        """Return the number with its interval."""
        high = f"{self.high:.2f}" if math.isfinite(self.high) else "∞"
        return f"{self} ({self.low:.2f} to {high})"


Quotients = Mapping[PathSetting, Mapping[Place, Quotient]]


def quotients(measurements: Measurements, *, scanned: bool) -> Quotients:
    """Return all quotients of the problems that were scanned, or of the others."""
    places = [
        place for place in measurements.places("ep-cma-1@") if (place.n in SCANNED_DIMENSIONS) == scanned
    ]
    found: dict[PathSetting, dict[Place, Quotient]] = {}
    for setting in GRID:
        for place in places:
            path = measurements.get(Label(setting.label(), "frozen"), place)
            drift = measurements.get(Label("sarp", "frozen"), place)
            if path is not None and drift is not None and math.isfinite(_median(drift)):
                found.setdefault(setting, {})[place] = _quotient(path, drift)
    return found


def _quotient(path: CellResults, drift: CellResults) -> Quotient:
    estimate = ratio(path, drift)
    if math.isfinite(estimate.value):
        return Quotient(*estimate, capped=False)
    return Quotient(path.cap / _median(drift), estimate.low, estimate.high, capped=True)


def _median(entry: CellResults) -> float:
    return summarize(entry, "iterations").median.value


def mean(row: Mapping[Place, Quotient]) -> float:
    """Return the geometric mean over all problems and dimensions."""
    return statistics.geometric_mean(quotient.value for quotient in row.values())


def worst(row: Mapping[Place, Quotient]) -> float:
    """Return the largest quotient."""
    return max(quotient.value for quotient in row.values())


def candidates(found: Quotients) -> dict[str, PathSetting]:
    """Return the settings to be tested: the paper's, and the best of the grid by two scores."""
    scores = {"the best on average": mean, "the best where it is worst": worst}
    chosen = {name: min(found, key=lambda setting: score(found[setting])) for name, score in scores.items()}
    return {name: setting for name, setting in (PAPER | chosen).items() if setting in found}


def specialists(found: Quotients) -> dict[str, PathSetting]:
    """Return the best setting of each problem."""
    problems = dict.fromkeys(place.problem for row in found.values() for place in row)
    return {
        f"the best on {problem}": min(found, key=lambda s: mean(_on(problem, found[s])))
        for problem in problems
    }


def _on(problem: str, row: Mapping[Place, Quotient]) -> dict[Place, Quotient]:
    return {place: quotient for place, quotient in row.items() if place.problem == problem}


def page(measurements: Measurements, out: Path) -> list[str]:
    """Return the parts of the page, and draw its maps; none where neither scheme was measured."""
    scanned, others = (quotients(measurements, scanned=scanned) for scanned in (True, False))
    if not scanned:
        return []
    chosen = candidates(scanned)
    shown = chosen | specialists(scanned)
    parts = [
        "# EP-CMA-1 beside SARP",
        "Iterations of EP-CMA-1 divided by those of SARP, quotients of medians; below 1, EP-CMA-1 is faster. "
        'After ">", most runs of EP-CMA-1 ended at the cap. An iteration of SARP takes two evaluations, and '
        "one of EP-CMA-1 takes one.",
        "## The settings",
        table(
            ["", *PathSetting._fields],
            [[name, one.c_c, f"{one.c_cov:g}", one.c_p] for name, one in shown.items()],
        ),
        "## On the problems that were scanned",
        candidate_table(scanned, shown, intervals=False),
    ]
    for n in sorted({place.n for row in scanned.values() for place in row}):
        save(map_figure(scanned, n), out, f"path-{n}", ["png"])
        parts.append(f"![EP-CMA-1 divided by SARP, n = {n}](path-{n}.png)")
    if others:
        parts += [
            "## On other problems",
            "The settings were chosen by the table above alone. Intervals are at 95 %.",
            candidate_table(others, chosen, intervals=True),
        ]
    lines = [
        [*place, *setting, *quotient]
        for found in (scanned, others)
        for setting, row in found.items()
        for place, quotient in row.items()
    ]
    header = [*Place._fields, *PathSetting._fields, "quotient", "low", "high", "capped"]
    write_table(out / "path.csv.gz", header, lines)
    return parts


def candidate_table(found: Quotients, chosen: Mapping[str, PathSetting], *, intervals: bool) -> str:
    """Return a table with a row for each place and a column for each setting."""
    rows = {name: found[setting] for name, setting in chosen.items() if setting in found}
    places = dict.fromkeys(place for row in rows.values() for place in row)

    def shown(quotient: Quotient | None) -> str:
        return "—" if quotient is None else quotient.with_interval() if intervals else str(quotient)

    lines = []
    for place in places:
        condition = "" if place.L is None else f", L = {power(place.L)}"
        where = f"{place.problem}{condition}, n = {place.n}"
        lines.append([where, *(shown(row.get(place)) for row in rows.values())])
    lines.append(["geometric mean", *(f"{mean(row):.2f}" for row in rows.values())])
    lines.append(["largest", *(f"{worst(row):.2f}" for row in rows.values())])
    below = [f"{sum(one.value < 1.0 for one in row.values())} of {len(row)}" for row in rows.values()]
    return table(["", *rows], [*lines, ["below 1", *below]])


@print_style
def map_figure(found: Quotients, n: int) -> matplotlib.figure.Figure:
    """Return a map for every problem and c_p in n dimensions, with c_c upwards and c_cov to the right."""
    places = list(dict.fromkeys(place for row in found.values() for place in row if place.n == n))
    figure = matplotlib.figure.Figure(figsize=(7.2, 1.5 * len(places) + 0.5), layout="constrained")
    grid = figure.subplots(len(places), len(_C_P), squeeze=False, sharex=True, sharey=True)
    for line, place in zip(grid, places, strict=True):
        for axes, c_p in zip(line, _C_P, strict=True):
            image = _draw_map(axes, found, place, c_p)
    for axes, c_p in zip(grid[0], _C_P, strict=True):
        axes.set_title(f"c_p = {c_p}")
    for line, place in zip(grid, places, strict=True):
        line[0].set_ylabel(f"{place.problem}\nc_c")
    for axes in grid[-1]:
        axes.set_xlabel("c_cov")
    bar = figure.colorbar(image, ax=grid, aspect=60, pad=0.01, extend="both")
    bar.set_label("#ITS of EP-CMA-1 divided by those of SARP")
    bar.set_ticks([1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8], labels=["1/8", "1/4", "1/2", "1", "2", "4", "8"])
    bar.minorticks_off()
    return figure


def _draw_map(axes: Axes, found: Quotients, place: Place, c_p: str) -> matplotlib.image.AxesImage:
    values = np.full((len(_C_C), len(_C_COV)), math.nan)
    for row, c_c in enumerate(_C_C):
        for column, c_cov in enumerate(_C_COV):
            quotient = found.get(PathSetting(c_c, c_cov, c_p), {}).get(place)
            if quotient is not None:
                values[row, column] = quotient.value
                text = f"{'>' if quotient.capped else ''}{quotient.value:.2g}"
                dark = abs(math.log(quotient.value)) > math.log(_FARTHEST) / 2.0
                colour = "white" if dark else "black"
                axes.text(column, row, text, ha="center", va="center", color=colour, fontsize=3.5)
    scale = matplotlib.colors.LogNorm(1.0 / _FARTHEST, _FARTHEST)
    image = axes.imshow(values, origin="lower", aspect="auto", cmap="PuOr_r", norm=scale)
    axes.set_xticks(range(len(_C_COV)), [f"{c_cov:g}" for c_cov in _C_COV])
    axes.set_yticks(range(len(_C_C)), list(_C_C))
    axes.tick_params(labelsize=5.0)
    axes.grid(visible=False)
    return image
