"""Data profiles: the share of problems that a method solves to a precision, against evaluations divided by n.

Every problem counts the same, by the share of its runs that solve it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from pursuit.experiments.common.formatting import power
from pursuit.experiments.common.plotting import COLOURS, print_style, save

Case = Callable[[float, float], float]
"""The share of runs that solve a problem, to a precision within a budget of evaluations divided by n."""
Curves = Mapping[str, Mapping[Any, Callable[[float], float]]]
"""The share that a method solves within a budget, by method and then by precision or by the title of a panel,
which methods may lack."""
_MARKERS = "os^Dv*PX"
_POINTS = 200


def share(cases: Sequence[Case], precision: float, budget: float) -> float:
    """Return the share of problems that a method solves."""
    return sum(case(precision, budget) for case in cases) / len(cases) if cases else 0.0


def percentages(cases: Sequence[Case], places: Iterable[tuple[float, float]]) -> str:
    """Return shares in per cent, at several precisions and budgets."""
    return " / ".join(f"{100.0 * share(cases, *place):.0f}" for place in places)


@print_style
def draw(
    curves: Curves, span: tuple[float, float], folder: Path, name: str, budgets: tuple[int, ...] = ()
) -> None:
    """Draw profiles over a span of budgets, or at a few of them alone, into a PNG file; ours come first."""
    panels = list(dict.fromkeys(panel for shares in curves.values() for panel in shares))
    columns = len(panels) if len(panels) < 4 else 2
    figure = Figure(figsize=(6.4, 2.6 if len(panels) < 4 else 4.4), layout="constrained")
    grid = figure.subplots(len(panels) // columns, columns, sharex=True, sharey=True, squeeze=False)
    spent = np.array(budgets or np.geomspace(*span, _POINTS))
    lines = {}
    for axes, panel in zip(grid.flat, panels, strict=True):
        for place, (method, shares) in enumerate(curves.items()):
            if panel in shares:
                # Markers are shifted, so that they do not cover each other.
                every = None if budgets else (4 * place, 40)
                solved = [shares[panel](float(budget)) for budget in spent]
                (lines[method],) = axes.plot(spent, solved, markevery=every, **_style(place))
        title = panel if isinstance(panel, str) else f"precision {power(panel)}"
        axes.set(title=title, xscale="log", xlim=(span[0], 1.1 * span[1]), ylim=(-0.02, 1.02))
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
    figure.legend([lines[method] for method in curves], list(curves), loc="outside lower center", ncols=5)
    save(figure, folder, name, ["png"])


def _style(place: int) -> dict[str, Any]:
    return {
        "color": COLOURS[place % len(COLOURS)],
        "marker": _MARKERS[place % len(_MARKERS)],
        "linestyle": "-" if place < len(COLOURS) else "--",
        # Our method comes first, and is to be seen among all others.
        "linewidth": 1.2 if place else 2.0,
        "zorder": 2.0 if place else 3.0,
    }
