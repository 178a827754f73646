"""The figures: data profiles, a panel for each precision and a line for each method."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from benchmarks.pages.profiles import (
    TABLE_BUDGETS,
    cases_of,
    profiles_of,
    share_by_evaluations,
    solvers_of,
)
from benchmarks.suites.values import BUDGETS, NOISY_PRECISIONS, PRECISIONS, SPSA, Row
from pursuit.experiments.common.formatting import power
from pursuit.experiments.common.plotting import COLOURS, label_powers, print_style, save

_MARKERS = "os^Dv*PX"
_POINTS = 200


def titles(rows: Sequence[Row], group: str) -> dict[str, str]:
    """Return the titles of the figures on the rows of a set, by the names of their files."""
    kinds = {"smooth": "without", "noisy": "with"}
    there = {"noisy" if row.noisy else "smooth" for row in rows}
    return {
        f"{group}-{kind}.png": f"Problems solved, {word} noise"
        for kind, word in kinds.items()
        if kind in there
    }


def draw(rows: Sequence[Row], folder: Path, group: str) -> None:
    """Draw the profiles of a set."""
    for file in titles(rows, group):
        noisy = file.endswith("-noisy.png")
        figure = (_noisy if noisy else _smooth)([row for row in rows if row.noisy == noisy])
        save(figure, folder, file.removesuffix(".png"), ["png"])


@print_style
def _smooth(rows: Sequence[Row]) -> Figure:
    spent = np.geomspace(BUDGETS[0], BUDGETS[-1], _POINTS)
    solvers = [name for name in solvers_of(rows) if not name.startswith(SPSA)]
    found = {name: cases_of(rows, name) for name in solvers}

    def panel(axes: Axes, precision: float) -> None:
        for place, (name, cases) in enumerate(found.items()):
            shares = [share_by_evaluations(cases, one, precision) for one in spent]
            # Markers are shifted, so that they do not cover each other.
            axes.plot(spent, shares, label=name, markevery=(4 * place, 40), **_style(place))

    return _figure(PRECISIONS, panel, BUDGETS[0])


@print_style
def _noisy(rows: Sequence[Row]) -> Figure:
    profiles = profiles_of(rows, NOISY_PRECISIONS)

    def panel(axes: Axes, precision: float) -> None:
        for place, profile in enumerate(profiles):
            shares = [profile.shares[budget, precision] for budget in TABLE_BUDGETS]
            axes.plot(TABLE_BUDGETS, shares, label=profile.solver, **_style(place))

    return _figure(NOISY_PRECISIONS, panel, TABLE_BUDGETS[0] / 1.3)


def _style(place: int) -> dict[str, Any]:
    return {
        "color": COLOURS[place % len(COLOURS)],
        "marker": _MARKERS[place % len(_MARKERS)],
        "linestyle": "-" if place < len(COLOURS) else "--",
        # Our method comes first, and is to be seen among all others.
        "linewidth": 1.2 if place else 2.0,
        "zorder": 2.0 if place else 3.0,
    }


def _figure(precisions: Sequence[float], panel: Callable[[Axes, float], None], first: float) -> Figure:
    figure = Figure(figsize=(6.4, 2.6 if len(precisions) < 4 else 4.4), layout="constrained")
    columns = len(precisions) if len(precisions) < 4 else 2
    grid = figure.subplots(len(precisions) // columns, columns, sharex=True, sharey=True, squeeze=False)
    for axes, precision in zip(grid.flat, precisions, strict=True):
        panel(axes, precision)
        axes.set(title=f"precision {power(precision)}", xscale="log", xlim=(first, 1.1 * BUDGETS[-1]))
        axes.set_ylim(-0.02, 1.02)
        if first < TABLE_BUDGETS[0] / 2.0:
            label_powers(axes.xaxis, first, BUDGETS[-1], 8)
        else:
            axes.set_xticks(TABLE_BUDGETS, [str(budget) for budget in TABLE_BUDGETS])
            axes.minorticks_off()
        axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    for axes in grid[-1]:
        axes.set_xlabel("evaluations / n")
    for axes in grid[:, 0]:
        axes.set_ylabel("problems solved")
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5)
    return figure
