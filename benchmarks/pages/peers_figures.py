"""The figures: overhead against n, and evaluations of every solver on every rotated problem."""

from __future__ import annotations

import math
from pathlib import Path
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from benchmarks.pages import front
from benchmarks.pages.peers import Measurements, RunSummary, Summaries, summaries_of
from benchmarks.solvers import LINEAR, QUADRATIC, Solver
from benchmarks.suites.peers import SOLVERS
from pursuit.experiments.common.formatting import spaced
from pursuit.experiments.common.plotting import COLOURS, label_powers, print_style, save


class KindStyle(NamedTuple):
    """The style of a kind of solvers."""

    colour: str
    marker: str
    label: str


_OURS = KindStyle(COLOURS[1], "o", "ours")
_OF_OTHERS = KindStyle(COLOURS[3], "v", "ours, of methods of others")
_LINEAR = KindStyle(COLOURS[0], "s", "peers, linear memory")
_QUADRATIC = KindStyle(COLOURS[7], "D", "peers, quadratic memory")
_OUTSIDER = KindStyle(COLOURS[2], "^", "outsiders")
_KINDS = (_OURS, _OF_OTHERS, _LINEAR, _QUADRATIC, _OUTSIDER)
# In the figure of overhead, solvers of one kind differ by these.
_MARKERS = "osD^v<>PX*h"
_LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 3)))


def style_of(solver: Solver) -> KindStyle:
    """Return the style of a solver's kind."""
    if solver.ours:
        return _OF_OTHERS if solver.of_others else _OURS
    return {LINEAR: _LINEAR, QUADRATIC: _QUADRATIC}.get(solver.memory, _OUTSIDER)


def titles(measured: Measurements) -> dict[str, str]:
    """Return the titles of the figures by the names of their files."""
    found = {}
    if any(row.microseconds is not None for row in measured.overhead):
        found["overhead.png"] = "Overhead per evaluation against n"
    for n in sorted({row.n for row in measured.evaluations if row.rotated}):
        found[f"evaluations-{n}.png"] = f"Evaluations to the target on rotated problems, n = {spaced(n)}"
    return found


def draw(measured: Measurements, folder: Path) -> None:
    """Draw measurements into a folder."""
    names = titles(measured)
    for file, title in names.items():
        _, _, n = file.removesuffix(".png").partition("-")
        found = summaries_of(measured.evaluations, n=int(n), rotated=True) if n else {}
        save(
            _evaluations(found, title) if n else _overhead(measured),
            folder,
            file.removesuffix(".png"),
            ["png"],
        )
    if names.keys() >= {"overhead.png", "evaluations-100.png"}:
        front.draw(measured, folder)


@print_style
def _overhead(measured: Measurements) -> Figure:
    """Return a figure of the time divided by that of n normals, with a line for each solver."""
    figure = Figure(figsize=(6.0, 3.6), layout="constrained")
    axes = figure.subplots()
    count = dict.fromkeys(_KINDS, 0)
    for solver in SOLVERS:
        rows = [row for row in measured.overhead if row.solver == solver.name]
        points = [(row.n, row.microseconds / row.normals) for row in rows if row.microseconds and row.normals]
        if points:
            style = style_of(solver)
            number = count[style]
            count[style] += 1
            axes.plot(
                *zip(*sorted(points), strict=True),
                color=style.colour,
                label=solver.name,
                linestyle=_LINES[number % len(_LINES)],
                linewidth=1.5 if solver.ours else 0.9,
                marker=_MARKERS[number % len(_MARKERS)],
            )
    axes.set(xscale="log", yscale="log", xlabel="n", ylabel="time per evaluation / time to draw n normals")
    label_powers(axes.xaxis, *axes.get_xlim(), 8)
    label_powers(axes.yaxis, *axes.get_ylim(), 8)
    figure.legend(loc="outside right upper")
    return figure


@print_style
def _evaluations(found: Summaries, title: str) -> Figure:
    """Return a figure with a panel for each problem, and in it a marker for each solver."""
    solvers = [s for s in reversed(SOLVERS) if any(s.name in row for row in found.values())]
    columns = min(4, len(found))
    rows = math.ceil(len(found) / columns)
    size = 1.6 + 1.4 * columns, 0.6 + rows * (0.13 * len(solvers) + 0.4)
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    counts = [one.evaluations for row in found.values() for one in row.values()]
    edge = 3.0 * max(filter(math.isfinite, counts), default=1.0)
    for axes, (task, row) in zip(grid.flat, found.items(), strict=False):
        _draw_panel(axes, solvers, row, edge)
        axes.set_title(task.label)
    first, last = grid[0, 0].get_xlim()
    label_powers(grid[0, 0].xaxis, first, last, 4)
    for axes in grid.flat[len(found) :]:
        axes.set_axis_off()
    for axes in grid.flat[max(0, len(found) - columns) : len(found)]:
        # The lowest of its column, also where a blank panel is below.
        axes.tick_params(labelbottom=True)
    for axes in grid[:, 0]:
        axes.set_yticks(range(len(solvers)), [solver.name for solver in solvers])
    figure.suptitle(f"{title} (fewer are better)", fontsize="medium")
    handles = [
        Line2D([], [], color=kind.colour, marker=kind.marker, linestyle="none", label=kind.label)
        for kind in _KINDS
    ]
    handles.append(Line2D([], [], color="black", marker="x", linestyle="none", label="not reached"))
    figure.legend(handles=handles, loc="outside lower center", ncols=3)
    return figure


def _draw_panel(axes: Axes, solvers: list[Solver], row: dict[str, RunSummary], edge: float) -> None:
    """Draw the evaluations on one problem; what did not reach the target is drawn at the right edge."""
    for height, solver in enumerate(solvers):
        if solver.name in row:
            style, spent = style_of(solver), row[solver.name].evaluations
            reached = math.isfinite(spent)
            axes.plot(
                spent if reached else edge,
                height,
                color=style.colour,
                linestyle="none",
                marker=style.marker if reached else "x",
                markersize=4.0 if solver.ours else 3.2,
                # The style's thin edges would make crosses faint.
                markeredgewidth=None if reached else 0.9,
            )
    axes.set_xscale("log")
    axes.axvline(edge / 1.8, color="0.6", linewidth=0.6)
