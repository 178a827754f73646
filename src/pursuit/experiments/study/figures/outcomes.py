"""The picture of the claims: how many measurements of each agree with the paper, reading by reading."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.figure
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from pursuit.experiments.common.plotting import print_style
from pursuit.experiments.study.claims import Judgement

# What agrees is dark, and what is not known is light: people with any kind of colour vision can tell.
_COLOURS = {
    "agrees": "#8fb3e6",
    "disagrees": "#e69f00",
    "diverges": "#b0855f",
    "undecided": "#cccccc",
    "missing": "#eeeeee",
}


@print_style
def build_outcomes(judgements: Sequence[Judgement]) -> matplotlib.figure.Figure:
    """Return a chart with a row for each claim and a panel for each reading."""
    readings = list(dict.fromkeys(judgement.reading for judgement in judgements))
    numbers = list(dict.fromkeys(judgement.number for judgement in judgements))
    size = (1.2 + 1.6 * len(readings), 0.75 + 0.16 * len(numbers))
    figure = matplotlib.figure.Figure(figsize=size, layout="constrained")
    (panels,) = figure.subplots(1, len(readings), sharey=True, squeeze=False)
    for axes, reading in zip(panels, readings, strict=True):
        for judgement in judgements:
            if judgement.reading == reading:
                _draw_bar(axes, judgement)
        axes.set(title=reading, xlim=(0.0, 1.0), xlabel="share of measurements")
        axes.grid(visible=False)
    panels[0].set(ylim=(numbers[-1] + 0.6, numbers[0] - 0.6), ylabel="claim")
    panels[0].set_yticks(numbers)
    handles = [Patch(color=colour, label=outcome) for outcome, colour in _COLOURS.items()]
    # Three entries fit below one panel.
    columns = min(len(handles), 3 * len(readings))
    figure.legend(handles=handles, loc="outside lower center", ncols=columns, handlelength=1.2)
    return figure


def _draw_bar(axes: Axes, judgement: Judgement) -> None:
    counts, left = judgement.counts, 0.0
    for outcome, colour in _COLOURS.items():
        share = counts[outcome] / counts.total()
        axes.barh(judgement.number, share, left=left, height=0.8, color=colour)
        left += share
    text = f"{counts['agrees']} of {counts.total()}"
    axes.text(0.02, judgement.number, text, va="center", fontsize="x-small")
