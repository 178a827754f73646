"""The figures: overhead against n, and evaluations of every solver on every rotated problem."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib.figure
import matplotlib.style
from matplotlib.lines import Line2D

from benchmarks.peers.adapters import LINEAR, QUADRATIC, SOLVERS, Solver
from benchmarks.peers.measured import Measured, Outcome, outcomes
from benchmarks.peers.problems import Task
from pursuit.experiments.common.formatting import spaced


class Look(NamedTuple):
    """How a kind of solvers is drawn: colours that stay apart for everybody, and a sign of their own."""

    colour: str
    marker: str
    words: str


_OURS = Look("#d55e00", "o", "ours")
_LINEAR = Look("#0072b2", "s", "peers, linear memory")
_QUADRATIC = Look("#777777", "D", "peers, quadratic memory")
_OUTSIDER = Look("#009e73", "^", "outsiders")
_LOOKS = (_OURS, _LINEAR, _QUADRATIC, _OUTSIDER)
_PRINT = {
    "font.size": 8.0, "axes.grid": True, "axes.axisbelow": True, "grid.color": "0.9",
    "axes.titlesize": "medium", "legend.frameon": False, "savefig.dpi": 150,
}  # fmt: skip
# Lines of one kind are told apart by these.
_MARKERS = "osD^v<>PX*h"
_LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 3)))


def look_of(solver: Solver) -> Look:
    """Return how a solver is drawn."""
    if solver.ours:
        return _OURS
    return {LINEAR: _LINEAR, QUADRATIC: _QUADRATIC}.get(solver.memory, _OUTSIDER)


@matplotlib.style.context(_PRINT, after_reset=True)
def draw(measured: Measured, folder: Path) -> dict[str, str]:
    """Draw what was measured into a folder; return the titles of the figures by the names of their files."""
    made = {}
    if any(row.microseconds is not None for row in measured.overhead):
        made["overhead.png"] = _overhead(measured), "Overhead per evaluation against n"
    found = {task: row for task, row in outcomes(measured.evaluations).items() if task.rotated}
    for n in dict.fromkeys(task.n for task in found):
        part = {task: row for task, row in found.items() if task.n == n}
        title = f"Evaluations to the target on rotated problems, n = {spaced(n)}"
        made[f"evaluations-{n}.png"] = _evaluations(part, title), title
    for name, (figure, _) in made.items():
        figure.savefig(folder / name)
    return {name: title for name, (_, title) in made.items()}


def _overhead(measured: Measured) -> Any:
    """Return a figure of time by that of n normals, a line for each solver, named at its side."""
    figure = matplotlib.figure.Figure(figsize=(7.0, 4.6), layout="constrained")
    axes = figure.subplots()
    seen: dict[Look, int] = {}
    for solver in SOLVERS:
        rows = [row for row in measured.overhead if row.solver == solver.name]
        points = [(row.n, row.microseconds / row.normals) for row in rows if row.microseconds and row.normals]
        if points:
            look = look_of(solver)
            number = seen[look] = seen.get(look, -1) + 1
            axes.plot(
                *zip(*sorted(points), strict=True), color=look.colour, label=solver.name,
                linestyle=_LINES[number % len(_LINES)], linewidth=1.8 if solver.ours else 1.0,
                marker=_MARKERS[number % len(_MARKERS)], markersize=4.0,
            )  # fmt: skip
    axes.set(xscale="log", yscale="log", xlabel="n", ylabel="time per evaluation / time to draw n normals")
    figure.legend(loc="outside right upper")
    return figure


def _evaluations(found: dict[Task, dict[str, Outcome]], title: str) -> Any:
    """Return a figure with a panel for each problem, and in it a dot for each solver."""
    solvers = [s for s in reversed(SOLVERS) if any(s.name in row for row in found.values())]
    columns = min(4, len(found))
    rows = math.ceil(len(found) / columns)
    figure = matplotlib.figure.Figure(
        figsize=(2.0 + 1.9 * columns, 0.8 + rows * (0.17 * len(solvers) + 0.6)), layout="constrained"
    )
    grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    counts = [
        one.evaluations for row in found.values() for one in row.values() if math.isfinite(one.evaluations)
    ]
    edge = 3.0 * max(counts, default=1.0)
    for axes, (task, row) in zip(grid.flat, found.items(), strict=False):
        for height, solver in enumerate(solvers):
            if solver.name in row:
                look, spent = look_of(solver), row[solver.name].evaluations
                reached = math.isfinite(spent)
                axes.plot(
                    spent if reached else edge, height, color=look.colour, linestyle="none",
                    marker=look.marker if reached else "x", markersize=5.0 if solver.ours else 4.0,
                )  # fmt: skip
        axes.set_title(task.label)
        axes.set_xscale("log")
        axes.axvline(edge / 1.8, color="0.6", linewidth=0.6)
    for axes in grid.flat[len(found) :]:
        axes.set_axis_off()
    for axes in grid[:, 0]:
        axes.set_yticks(range(len(solvers)), [solver.name for solver in solvers])
    figure.suptitle(f"{title} (fewer are better)", fontsize="medium")
    handles = [
        Line2D([], [], color=k.colour, marker=k.marker, linestyle="none", label=k.words) for k in _LOOKS
    ]
    handles.append(Line2D([], [], color="black", marker="x", linestyle="none", label="not reached"))
    figure.legend(handles=handles, loc="outside lower center", ncols=5)
    return figure
