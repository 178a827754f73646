"""The figure and the sentence of the README: the default beside the tools that people reach for."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.pages.peers import Measurements, Summaries, summaries_of
from benchmarks.suites.peers import DEFAULT, PRECISE
from pursuit.experiments.common.plotting import COLOURS, label_powers, print_style, save

_OURS = "auto"
# Each with a name for people who do not know the packages.
SHOWN = {
    _OURS: "pursuit (auto)",
    "pycma": "CMA-ES (pycma)",
    "pypop7 LMCMA": "LM-CMA (pypop7)",
    "fcmaes CR-FM-NES": "CR-FM-NES (fcmaes)",
    PRECISE: "L-BFGS-B (scipy)",
}
_MARKERS = "osD^v"
_N = 100


def rotated_problems(measured: Measurements) -> Summaries:
    """Return the runs on the rotated problems of the figure."""
    return summaries_of(measured.evaluations, n=_N, rotated=True)


def sentence(measured: Measurements) -> str:
    """Return how the default compares with the others of the figure, in a sentence or two."""
    ratios = []
    unreached = dict.fromkeys(SHOWN, 0)
    for row in rotated_problems(measured).values():
        others = [row[name].evaluations for name in SHOWN if name != _OURS and name in row]
        ratios.append(min(others) / row[_OURS].evaluations)
        for name in SHOWN:
            unreached[name] += name not in row or math.isinf(row[name].evaluations)
    ahead = sum(ratio > 1.0 for ratio in ratios)
    text = (
        f"On {ahead} of the paper's {len(ratios)} problems in {_N} variables, rotated, the default needs "
        f"the fewest evaluations;\nthe best of the others needs {min(ratios):.1f} to {max(ratios):.0f} "
        "times as many."
    )
    plain = [row[DEFAULT] for row in rotated_problems(measured).values() if DEFAULT in row]
    reached = sum(math.isfinite(found.evaluations) for found in plain)
    text += (
        "\nL-BFGS-B has three-point differences, 50 pairs of vectors and tolerances of 0; its default "
        f"settings\nreach 1e-9 on {reached or 'none'} of them."
    )
    never = [label for name, label in SHOWN.items() if unreached[name] == len(ratios)]
    return f"{text} {' and '.join(never)} reaches 1e-9 on none." if never else text


@print_style
def figure_of(measured: Measurements) -> Figure:
    """Return the figure: evaluations to 1e-9 for each problem, and time per evaluation against n."""
    figure = Figure(figsize=(7.6, 3.0), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[1.25, 1.0])
    _draw_evaluations(left, rotated_problems(measured))
    _draw_times(right, measured)
    figure.legend(*right.get_legend_handles_labels(), loc="outside lower center", ncols=len(SHOWN))
    return figure


def _draw_evaluations(axes: Axes, found: Summaries) -> None:
    tasks = list(reversed(found))
    points: dict[str, list[tuple[float, int]]] = {solver: [] for solver in SHOWN}
    for height, task in enumerate(tasks):
        for solver in SHOWN:
            if solver in found[task] and math.isfinite(found[task][solver].evaluations):
                points[solver].append((found[task][solver].evaluations, height))
    _draw(axes, points, linestyle="none")
    axes.set_xscale("log")
    label_powers(axes.xaxis, *axes.get_xlim(), 5)
    axes.set_yticks(range(len(tasks)), [task.label for task in tasks])
    axes.set(xlabel="evaluations to 1e-9", title=f"Evaluations, {_N} variables, rotated")


def _draw_times(axes: Axes, measured: Measurements) -> None:
    rows = sorted((row.n, row.microseconds, row.solver) for row in measured.overhead if row.microseconds)
    _draw(axes, {name: [(n, time) for n, time, solver in rows if solver == name] for name in SHOWN})
    axes.set(xscale="log", yscale="log", xlabel="variables", ylabel="microseconds")
    axes.set_title("Time per evaluation, without f's own")
    label_powers(axes.xaxis, *axes.get_xlim(), 8)
    label_powers(axes.yaxis, *axes.get_ylim(), 8)


def _draw(axes: Axes, points: dict[str, Any], **style: Any) -> None:
    for number, (solver, found) in enumerate(points.items()):
        if found:
            axes.plot(
                *zip(*found, strict=True), color=COLOURS[number], label=SHOWN[solver],
                marker=_MARKERS[number], markersize=5.0 if solver == _OURS else 3.6,
                linewidth=1.6 if solver == _OURS else 0.9, **style,
            )  # fmt: skip


def draw(measured: Measurements, folder: Path) -> None:
    """Draw the figure into a folder, if all of it was measured."""
    if measured.overhead and rotated_problems(measured):
        save(figure_of(measured), folder, "front", ["png"])
