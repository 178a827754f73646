"""EP-CMA-1 beside SARP over the grid of `path.toml`, and the best settings on problems of `path-test.toml`.

All numbers are iterations of EP-CMA-1 divided by those of SARP, quotients of medians. Where most runs of
EP-CMA-1 end at the cap, the cap stands for their median: the true quotient is larger.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import matplotlib.colors
import matplotlib.figure
import numpy as np
from matplotlib.axes import Axes

from benchmarks.readings.declare import PATH_C_C, PATH_C_COV, PATH_C_P, PATH_GRID, PathSetting
from benchmarks.readings.measured import Label, Measurements, Place
from pursuit.experiments.common.formatting import power, table
from pursuit.experiments.common.plotting import print_style
from pursuit.experiments.study.results import CellResults
from pursuit.experiments.study.stats import ratio, summarize

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
    for setting in PATH_GRID:
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
    return math.exp(sum(math.log(quotient.value) for quotient in row.values()) / len(row))


def worst(row: Mapping[Place, Quotient]) -> float:
    """Return the largest quotient."""
    return max(quotient.value for quotient in row.values())


def best(found: Quotients, score: Callable[[Mapping[Place, Quotient]], float]) -> PathSetting:
    """Return the setting with the lowest score; of equal ones, the first of the grid."""
    return min(found, key=lambda setting: score(found[setting]))


def candidates(found: Quotients) -> dict[str, PathSetting]:
    """Return the settings to be tested: the paper's, and the best of the grid by two scores."""
    chosen = {"the best on average": best(found, mean), "the best where it is worst": best(found, worst)}
    return {name: setting for name, setting in (PAPER | chosen).items() if setting in found}


def specialists(found: Quotients) -> dict[str, PathSetting]:
    """Return the best setting of each problem."""
    chosen = {}
    for problem in dict.fromkeys(place.problem for row in found.values() for place in row):
        scores = {setting: mean(_on(problem, row)) for setting, row in found.items()}
        chosen[f"the best on {problem}"] = min(scores, key=scores.__getitem__)
    return chosen


def _on(problem: str, row: Mapping[Place, Quotient]) -> dict[Place, Quotient]:
    return {place: quotient for place, quotient in row.items() if place.problem == problem}


def candidate_table(found: Quotients, chosen: Mapping[str, PathSetting], *, intervals: bool) -> str:
    """Return a table with a row for each place and a column for each setting."""
    names = [name for name, setting in chosen.items() if setting in found]
    rows = [found[chosen[name]] for name in names]
    places = list(dict.fromkeys(place for row in rows for place in row))

    def shown(quotient: Quotient | None) -> str:
        return "—" if quotient is None else quotient.with_interval() if intervals else str(quotient)

    lines = [[_named(place), *(shown(row.get(place)) for row in rows)] for place in places]
    lines.append(["geometric mean", *(f"{mean(row):.2f}" for row in rows)])
    lines.append(["largest", *(f"{worst(row):.2f}" for row in rows)])
    lines.append(["below 1", *(f"{sum(q.value < 1.0 for q in r.values())} of {len(r)}" for r in rows)])
    return table(["", *names], lines)


def _named(place: Place) -> str:
    condition = "" if place.L is None else f", L = {power(place.L)}"
    return f"{place.problem}{condition}, n = {place.n}"


@print_style
def map_figure(found: Quotients, n: int) -> matplotlib.figure.Figure:
    """Return a map for every problem and c_p in n dimensions, with c_c upwards and c_cov to the right."""
    places = list(dict.fromkeys(place for row in found.values() for place in row if place.n == n))
    figure = matplotlib.figure.Figure(figsize=(7.2, 1.5 * len(places) + 0.5), layout="constrained")
    grid = figure.subplots(len(places), len(PATH_C_P), squeeze=False, sharex=True, sharey=True)
    for line, place in zip(grid, places, strict=True):
        for axes, c_p in zip(line, PATH_C_P, strict=True):
            image = _draw_map(axes, found, place, c_p)
    for axes, c_p in zip(grid[0], PATH_C_P, strict=True):
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
    values = np.full((len(PATH_C_C), len(PATH_C_COV)), math.nan)
    for row, c_c in enumerate(PATH_C_C):
        for column, c_cov in enumerate(PATH_C_COV):
            quotient = found.get(PathSetting(c_c, c_cov, c_p), {}).get(place)
            if quotient is not None:
                values[row, column] = quotient.value
                text = f"{'>' if quotient.capped else ''}{quotient.value:.2g}"
                dark = abs(math.log(quotient.value)) > math.log(_FARTHEST) / 2.0
                colour = "white" if dark else "black"
                axes.text(column, row, text, ha="center", va="center", color=colour, fontsize=3.5)
    scale = matplotlib.colors.LogNorm(1.0 / _FARTHEST, _FARTHEST)
    image = axes.imshow(values, origin="lower", aspect="auto", cmap="PuOr_r", norm=scale)
    axes.set_xticks(range(len(PATH_C_COV)), [f"{c_cov:g}" for c_cov in PATH_C_COV])
    axes.set_yticks(range(len(PATH_C_C)), list(PATH_C_C))
    axes.tick_params(labelsize=5.0)
    axes.grid(visible=False)
    return image


def setting_table(chosen: Mapping[str, PathSetting]) -> str:
    """Return which setting is meant by each name."""
    rows: Sequence[Sequence[str]] = [
        [name, setting.c_c, f"{setting.c_cov:g}", setting.c_p] for name, setting in chosen.items()
    ]
    return table(["", "c_c", "c_cov", "c_p"], rows)
