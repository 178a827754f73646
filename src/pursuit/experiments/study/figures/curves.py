"""A panel of courses: for each scheme f against the iterations or evaluations of the median run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.transforms import offset_copy

from pursuit.checks import Vector
from pursuit.experiments.study.figures.layout import label_powers
from pursuit.experiments.study.figures.styles import Style
from pursuit.experiments.study.results import CellResults, Results
from pursuit.experiments.study.stats import median_run, summarize

# The share of the x-axis that a marker takes.
_MARKER_WIDTH = 0.04
# By how many points a marker goes down that would cover another, the most often, and what share of a panel's
# height that is.
_LEVEL = 4.0
_MOST_LEVELS = 7
_SHARE_OF_LEVEL = 0.052


class Course(NamedTuple):
    """What a panel shows of a cell: its median run, and mean and deviation of the runs that arrived."""

    scheme: str
    counts: Vector
    """Iterations or evaluations."""
    values: Vector
    """f, not below the target."""
    start: float
    """f before the first iteration."""
    target: float
    mean: float
    """NaN if no run reached the target."""
    low: float
    """The mean less the standard deviation, which is taken as 0 for a single run."""
    high: float


class Frame(NamedTuple):
    """The axes that all panels of a figure share."""

    x: tuple[float, float]
    y: tuple[float, float]
    scale: str
    """That of the y-axis."""
    floor: float
    """The lowest target; what is below it has no values."""


def course_of(results: Results, entry: CellResults, measure: str) -> Course:
    """Return what a panel shows of a cell."""
    trace = results.trace(entry.cell, median_run(entry).number)
    counts = trace.nit if measure == "iterations" else trace.nfev
    summary = summarize(entry, measure)
    deviation = 0.0 if math.isnan(summary.deviation) else summary.deviation
    # On a logarithmic axis iteration 0 stands at 1.
    mean, low, high = np.maximum([summary.mean, summary.mean - deviation, summary.mean + deviation], 1.0)
    return Course(
        scheme=entry.cell.scheme,
        counts=np.maximum(counts, 1.0),
        values=np.maximum(trace.fun, entry.target),
        start=float(trace.fun[0]),
        target=entry.target,
        mean=float(mean),
        low=float(low),
        high=float(high),
    )


def frame_of(panels: Sequence[Sequence[Course]], n: int) -> Frame:
    """Return a frame that shows panels of `n` or more dimensions from where something happens in them.

    A run that diverges leaves it: it ends at ten times the largest value at a start, or at that value where
    the target has no logarithm.
    """
    courses = [course for panel in panels for course in panel]
    right = 1.3 * max(max(course.counts[-1], np.nan_to_num(course.high)) for course in courses)
    left = min(10.0 ** math.floor(math.log10(n)), right / 10.0)
    deepest = max(max(_levels(panel, (left, right)).values(), default=0) for panel in panels)
    below = _SHARE_OF_LEVEL * (deepest + 1)
    room = below / (1.0 - below)
    floor = min(course.target for course in courses)
    starts = [course.start for course in courses if math.isfinite(course.start)]
    if floor > 0.0:
        top = 10.0 * max([floor, *starts])
        return Frame((left, right), (floor * (floor / top) ** room, top), "log", floor)
    top = max([floor + 1.0, *starts])
    return Frame((left, right), (floor - room * (top - floor), top), "linear", floor)


def draw_courses(axes: Axes, courses: Sequence[Course], styles: Mapping[str, Style], frame: Frame) -> None:
    """Draw the courses, and a marker for mean and standard deviation at the target, or below another one."""
    levels = _levels(courses, frame.x)
    axes.axhline(courses[0].target, color="0.6", linewidth=0.5, zorder=1.0)
    for course in courses:
        style = styles[course.scheme]
        axes.plot(course.counts, course.values, style.line, color=style.colour, label=course.scheme)
        if course.scheme in levels:
            down = -_LEVEL * levels[course.scheme]
            axes.errorbar(
                course.mean,
                course.target,
                xerr=[[course.mean - course.low], [course.high - course.mean]],
                fmt=style.marker,
                color=style.colour,
                label=f"{course.scheme}, mean and standard deviation",
                transform=offset_copy(axes.transData, axes.get_figure(root=True), y=down, units="points"),
                zorder=3.0,
            )
    axes.set(xscale="log", yscale=frame.scale, xlim=frame.x, ylim=frame.y)
    label_powers(axes.xaxis, *frame.x, 8)
    if frame.scale == "log":
        label_powers(axes.yaxis, frame.floor, frame.y[1], 6)


def _levels(courses: Sequence[Course], x: tuple[float, float]) -> dict[str, int]:
    """Return by how many levels each scheme's marker goes down so that none covers another, if there is room.

    Schemes of which no run arrived have no marker.
    """
    margin = 0.5 * _MARKER_WIDTH * math.log10(x[1] / x[0])
    spans = {}
    for course in courses:
        if not math.isnan(course.mean):
            low, mean, high = np.log10([course.low, course.mean, course.high])
            spans[course.scheme] = (min(low, mean - margin), max(high, mean + margin))
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
