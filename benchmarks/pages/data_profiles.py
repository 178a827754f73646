"""Data profiles as a figure: a panel for each precision, or set of problems, and a line for each method."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from pursuit.experiments.common.formatting import power
from pursuit.experiments.common.plotting import COLOURS, print_style, save

_MARKERS = "os^Dv*PX"
_POINTS = 200

Curves = Mapping[str, Mapping[Any, Callable[[float], float]]]
"""The share that a method solves within a number of evaluations divided by n, by method and then by precision
or by the title of a panel, which methods may lack."""


def draw(
    curves: Curves, span: tuple[float, float], folder: Path, name: str, budgets: tuple[int, ...] = ()
) -> None:
    """Draw profiles over a span of budgets, or at a few of them alone, into a PNG file; ours come first."""
    save(_figure(curves, span, budgets), folder, name, ["png"])


@print_style
def _figure(curves: Curves, span: tuple[float, float], budgets: tuple[int, ...]) -> Figure:
    precisions = list(dict.fromkeys(panel for shares in curves.values() for panel in shares))
    columns = len(precisions) if len(precisions) < 4 else 2
    figure = Figure(figsize=(6.4, 2.6 if len(precisions) < 4 else 4.4), layout="constrained")
    grid = figure.subplots(len(precisions) // columns, columns, sharex=True, sharey=True, squeeze=False)
    spent = np.array(budgets or np.geomspace(*span, _POINTS))
    for axes, precision in zip(grid.flat, precisions, strict=True):
        there = [(place, method) for place, method in enumerate(curves) if precision in curves[method]]
        for place, method in there:
            # Markers are shifted, so that they do not cover each other.
            every = None if budgets else (4 * place, 40)
            solved = [curves[method][precision](float(budget)) for budget in spent]
            axes.plot(spent, solved, label=method, markevery=every, **_style(place))
        title = precision if isinstance(precision, str) else f"precision {power(precision)}"
        axes.set(title=title, xscale="log", xlim=(span[0], 1.1 * span[1]))
        axes.set_ylim(-0.02, 1.02)
        if budgets:
            axes.set_xticks(budgets, [str(budget) for budget in budgets])
            axes.minorticks_off()
        else:
            axes.xaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    for axes in grid[-1]:
        axes.set_xlabel("evaluations / n")
    for axes in grid[:, 0]:
        axes.set_ylabel("problems solved")
    lines = {line.get_label(): line for axes in grid.flat for line in axes.get_lines()}
    figure.legend([lines[method] for method in curves], list(curves), loc="outside lower center", ncols=5)
    return figure


def _style(place: int) -> dict[str, Any]:
    return {
        "color": COLOURS[place % len(COLOURS)],
        "marker": _MARKERS[place % len(_MARKERS)],
        "linestyle": "-" if place < len(COLOURS) else "--",
        # Our method comes first, and is to be seen among all others.
        "linewidth": 1.2 if place else 2.0,
        "zorder": 2.0 if place else 3.0,
    }
