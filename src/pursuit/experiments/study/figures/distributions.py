"""A panel of runtime distributions: the share of runs and targets that each scheme reaches in a budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MultipleLocator
from numpy.typing import NDArray

from pursuit.checks import Vector
from pursuit.experiments.common.plotting import label_powers
from pursuit.experiments.study.figures.styles import Style, legend_order
from pursuit.experiments.study.results import CellResults, Results
from pursuit.experiments.study.stats import ecdf, targets_of

# Steps that are closer than this cannot be seen in print.
_STEPS_PER_DECADE = 100


class Distribution(NamedTuple):
    """What a panel shows of the cells of a scheme."""

    scheme: str
    budgets: Vector
    """Iterations or evaluations divided by n."""
    shares: Vector


def distributions_of(results: Results, entries: Sequence[CellResults], measure: str) -> list[Distribution]:
    """Return the runtime distribution of each scheme over its cells among `entries`."""
    found = []
    for scheme in legend_order(entry.cell.scheme for entry in entries):
        own = [entry for entry in entries if entry.cell.scheme == scheme]
        budgets, shares = ecdf(results, own, targets_of(results), measure)
        kept = _ends_of_steps(budgets)
        found.append(Distribution(scheme, budgets[kept], shares[kept]))
    return found


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
    for place, found in enumerate(distributions):
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


def _ends_of_steps(budgets: Vector) -> NDArray[np.bool_]:
    """Return which of the sorted budgets to keep: the last of each group that is too close to see."""
    with np.errstate(divide="ignore"):
        steps = np.floor(_STEPS_PER_DECADE * np.log10(budgets))
    return np.append(steps[1:] != steps[:-1], True)[: budgets.size]
