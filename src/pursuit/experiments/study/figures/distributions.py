"""A panel of runtime distributions: the share of runs and targets that each scheme reaches in a budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MultipleLocator

from pursuit.experiments.common.plotting import label_powers
from pursuit.experiments.study.figures.styles import Style
from pursuit.experiments.study.results import Distribution


def budgets_of(panels: Sequence[Sequence[Distribution]]) -> tuple[float, float]:
    """Return the first and the last budget of all panels: 1, which is n iterations, and the largest."""
    largest = [found.budgets[-1] for panel in panels for found in panel if found.budgets.size]
    return 1.0, 1.3 * max([10.0, *largest])


def draw_distributions(
    axes: Axes,
    distributions: Sequence[Distribution],
    styles: Mapping[str, Style],
    budgets: tuple[float, float],
) -> None:
    """Draw the distributions between two budgets; after its last step a curve stays constant."""
    for place, found in enumerate(sorted(distributions, key=lambda one: list(styles).index(one.scheme))):
        style = styles[found.scheme]
        axes.plot(
            np.clip([budgets[0], *found.budgets, budgets[1]], *budgets),
            [0.0, *found.shares, *(found.shares[-1:] if found.shares.size else [0.0])],
            style.line + style.marker,
            color=style.colour,
            drawstyle="steps-post",
            # Markers of different schemes are at different places.
            markevery=(0.04 * (place + 1), 0.4),
            label=found.scheme,
        )
    axes.set(xscale="log", xlim=budgets, ylim=(-0.02, 1.02))
    label_powers(axes.xaxis, *budgets, 8)
    axes.yaxis.set_major_locator(MultipleLocator(0.25))
