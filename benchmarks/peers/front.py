"""The figure and the sentence of the README: the default beside the tools that people reach for.

``python -m benchmarks.peers.front`` draws ``front.png`` from the stored measurements, and prints what the
README says of it.
"""

from __future__ import annotations

import math
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.peers.adapters import DEFAULT, PRECISE
from benchmarks.peers.measurements import Measurements, Summaries, load, summaries_of
from benchmarks.peers.problems import Task
from pursuit.experiments.common.plotting import COLOURS, label_powers, print_style, save

FOLDER = Path("docs/results/peers")
NAME = "front"
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
    found = summaries_of(measured.evaluations)
    return {task: row for task, row in found.items() if task.rotated and task.n == _N}


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
        f"fewer\nevaluations than any of these: {min(ratios):.1f} to {max(ratios):.0f} times fewer than "
        "the best."
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
    for number, (solver, label) in enumerate(SHOWN.items()):
        points = [
            (found[task][solver].evaluations, height)
            for height, task in enumerate(tasks)
            if solver in found[task] and math.isfinite(found[task][solver].evaluations)
        ]
        axes.plot(
            *zip(*points, strict=True), color=COLOURS[number], label=label, linestyle="none",
            marker=_MARKERS[number], markersize=5.0 if solver == _OURS else 3.6,
        )  # fmt: skip
    axes.set_xscale("log")
    label_powers(axes.xaxis, *axes.get_xlim(), 5)
    axes.set_yticks(range(len(tasks)), [_label(task) for task in tasks])
    axes.set(xlabel="evaluations to 1e-9", title=f"Evaluations, {_N} variables, rotated")


def _draw_times(axes: Axes, measured: Measurements) -> None:
    for number, (solver, label) in enumerate(SHOWN.items()):
        points = sorted(
            (row.n, row.microseconds)
            for row in measured.overhead
            if row.solver == solver and row.microseconds is not None
        )
        if points:
            axes.plot(
                *zip(*points, strict=True), color=COLOURS[number], label=label, marker=_MARKERS[number],
                markersize=5.0 if solver == _OURS else 3.6, linewidth=1.6 if solver == _OURS else 0.9,
            )  # fmt: skip
    axes.set(xscale="log", yscale="log", xlabel="variables", ylabel="microseconds")
    axes.set_title("Time per evaluation, without f's own")
    label_powers(axes.xaxis, *axes.get_xlim(), 8)
    label_powers(axes.yaxis, *axes.get_ylim(), 8)


def _label(task: Task) -> str:
    return task.label.partition(", rotated")[0]


def main() -> None:
    measured = load(FOLDER)
    save(figure_of(measured), FOLDER, NAME, ["png"])
    print(sentence(measured))


if __name__ == "__main__":
    main()
