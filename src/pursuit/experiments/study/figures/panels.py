"""What panels show of each scheme: f of its median run, or how many of the targets it reaches, and when."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MultipleLocator
from matplotlib.transforms import offset_copy

from pursuit.checks import Vector
from pursuit.experiments.common.plotting import label_powers
from pursuit.experiments.study.figures.layout import Style
from pursuit.experiments.study.results import CellResults, Distribution, Results
from pursuit.experiments.study.stats import summarize, trace_of_median

# The width of a marker, as a fraction of the x-axis.
_MARKER_WIDTH = 0.04
# Markers are below all values, each on the first of several levels where it covers no other. A level has so
# many points, which are this fraction of a panel's height.
_LEVEL = 4.0
_SHARE_OF_LEVEL = 0.052
_MOST_LEVELS = 7
_STRIP = "0.94"
_SHARE: Any = {"ha": "right", "va": "center", "fontsize": "x-small"}
# Matplotlib's own arithmetic fails near the largest number.
_HIGHEST = 1e200


class Curve(NamedTuple):
    """What a panel shows of a cell: its median run, and the mean of the runs that reached the target."""

    scheme: str
    counts: Vector
    """Iterations or evaluations."""
    values: Vector
    """f, not below the target."""
    start: float
    """f before the first iteration."""
    target: float
    mean: float
    """NaN if less than half of the runs reached the target."""
    low: float
    """The mean minus the standard deviation, which is taken as 0 for a single run."""
    high: float
    share: str
    """How many of the runs reached the target, if not all."""


class Frame(NamedTuple):
    """The axes that all panels of a figure share."""

    x: tuple[float, float]
    y: tuple[float, float]
    scale: str
    """That of the y-axis."""
    floor: float
    """The lowest target, below which there is a grey strip with markers and no values."""


def curve_of(results: Results, entry: CellResults, measure: str) -> Curve:
    """Return what a panel shows of a cell; without a trace, that is no curve."""
    trace = trace_of_median(results, entry)
    counts = trace.nit if measure == "iterations" else trace.nfev
    summary = summarize(entry, measure)
    deviation = 0.0 if math.isnan(summary.deviation) else summary.deviation
    # A logarithmic axis shows iteration 0 at 1.
    mean, low, high = np.maximum(summary.shown_mean + np.array([0.0, -deviation, deviation]), 1.0)
    return Curve(
        scheme=entry.cell.scheme,
        counts=np.maximum(counts, 1.0),
        values=np.where(np.isinf(trace.fun), trace.fun, np.clip(trace.fun, entry.target, _HIGHEST)),
        start=float(trace.fun[0]) if trace.fun.size else math.nan,
        target=entry.target,
        mean=float(mean),
        low=float(low),
        high=float(high),
        share="" if summary.successes == summary.runs else f"{summary.successes} of {summary.runs}",
    )


def frame_of(panels: Sequence[Sequence[Curve]], n: int) -> Frame:
    """Return the frame of panels of at least `n` dimensions; the first iterations are left out.

    The y-axis ends at ten times the largest value at a start, or at that value if the target has no
    logarithm: a run that diverges leaves the frame.
    """
    curves = [curve for panel in panels for curve in panel]
    right = 1.3 * max(max(*curve.counts[-1:], 1.0, np.nan_to_num(curve.high)) for curve in curves)
    left = min(10.0 ** math.floor(math.log10(n)), right / 10.0)
    deepest = max(max(_levels(panel, (left, right)).values(), default=0) for panel in panels)
    below = _SHARE_OF_LEVEL * (deepest + 2)
    room = below / (1.0 - below)
    floor = min(curve.target for curve in curves)
    starts = [min(curve.start, _HIGHEST) for curve in curves if math.isfinite(curve.start)]
    if floor > 0.0:
        top = 10.0 * max([floor, *starts])
        return Frame((left, right), (floor * (floor / top) ** room, top), "log", floor)
    top = max([floor + max(1.0, 1e-3 * abs(floor)), *starts])
    return Frame((left, right), (floor - room * (top - floor), top), "linear", floor)


def draw_curves(axes: Axes, curves: Sequence[Curve], styles: Mapping[str, Style], frame: Frame) -> None:
    """Draw the curves, and markers for mean and standard deviation in a strip below them."""
    levels = _levels(curves, frame.x)
    axes.axhline(curves[0].target, color="0.6", linewidth=0.5, zorder=1.0)
    axes.axhspan(frame.y[0], frame.floor, color=_STRIP, linewidth=0.0, zorder=0.5)
    for curve in curves:
        style = styles[curve.scheme]
        axes.plot(curve.counts, curve.values, style.line, color=style.colour, label=curve.scheme)
        if curve.scheme in levels:
            down = -_LEVEL * (levels[curve.scheme] + 1)
            place = offset_copy(axes.transData, axes.get_figure(root=True), y=down, units="points")
            axes.errorbar(
                curve.mean,
                frame.floor,
                xerr=[[curve.mean - curve.low], [curve.high - curve.mean]],
                fmt=style.marker,
                color=style.colour,
                label=f"{curve.scheme}, mean and standard deviation",
                transform=place,
                zorder=3.0,
            )
            axes.text(
                curve.low / 1.1, frame.floor, curve.share, color=style.colour, transform=place, **_SHARE
            )
    axes.set(xscale="log", yscale=frame.scale, xlim=frame.x, ylim=frame.y)
    label_powers(axes.xaxis, *frame.x, 8)
    if frame.scale == "log":
        label_powers(axes.yaxis, frame.floor, frame.y[1], 6)


def _levels(curves: Sequence[Curve], x: tuple[float, float]) -> dict[str, int]:
    """Return on which level each scheme's marker is, so that none covers another if that is possible.

    Schemes of which less than half of the runs reached the target have no marker.
    """
    margin = 0.5 * _MARKER_WIDTH * math.log10(x[1] / x[0])
    spans = {}
    for curve in curves:
        if not math.isnan(curve.mean):
            low, mean, high = np.log10([curve.low, curve.mean, curve.high])
            spans[curve.scheme] = (min(low, mean - margin), max(high, mean + margin))
    levels: dict[str, int] = {}
    # Where the last marker of each level ends.
    ends: list[float] = []
    for scheme in sorted(spans, key=lambda scheme: spans[scheme]):
        begin, end = spans[scheme]
        level = next((i for i, taken in enumerate(ends) if taken < begin), len(ends))
        if level == _MOST_LEVELS:
            level = ends.index(min(ends))
        ends[level : level + 1] = [end]
        levels[scheme] = level
    return levels


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
