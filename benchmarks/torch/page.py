"""The page on fine-tuning without gradients, made of the rows alone."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

TEXTS = {
    "headers": "C headers",
    "kinds": "four kinds of text",
    "low-rank": "C headers, low rank",
    "encodings": "tables of encodings",
}
KEPT_FOR_THE_END = "encodings"
OURS = "pursuit"


def write(folder: Path, rows: list[Any]) -> None:
    """Write the page and its picture."""
    runs: dict[tuple[str, str], dict[str, list[Any]]] = {}
    for row in rows:
        by_task = runs.setdefault((row.solver, row.lr), {})
        by_task.setdefault(row.task, []).append(row)
    settings = sorted(runs, key=lambda key: (key[0] != OURS, key[0] != "MeZO", key[0], float(key[1] or 0)))
    heads = ["", "learning rate", *TEXTS.values()]
    lines = [heads, ["---"] * len(heads)]
    lines.append(
        ["before", "", *(median([row for row in rows if row.task == task], "start") for task in TEXTS)]
    )
    for solver, lr in settings:
        cells = []
        for task in TEXTS:
            found = runs[solver, lr].get(task, [])
            cells.append(
                f"{median(found, 'quarter')}, {median(found, 'end')} ({len(found)})" if found else ""
            )
        lines.append([solver, lr, *cells])
    draw(folder / "learning-rates.png", runs)
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    (folder / "torch.md").write_text(f"""# Fine-tuning without gradients

A transformer over bytes with 34 560 parameters, trained on sources of Python, is fine-tuned with 2 000
forward passes of 16 texts of 32 bytes: to predict C headers, by all its parameters or by a low-rank part of
each linear layer; to tell four kinds of text apart by a new head and all parameters; and to predict tables of
encodings, on which no rule was chosen. A step with gradients counts as three passes. Equal seeds have equal
minibatches. All ran on a CPU; nothing larger has been measured.

The median loss on text held out, after a quarter of the passes and after all, and the number of seeds:

{table}

{verdict(rows)}

![The loss at the end against the learning rate](learning-rates.png)

Made by `python -m benchmarks.torch` from the rows in `runs.csv`.
""")


def median(rows: list[Any], when: str) -> str:
    """Return the median loss at a moment."""
    value = statistics.median(float(getattr(row, when)) for row in rows)
    return "diverged" if value == float("inf") else f"{value:.3f}"


def ends(rows: list[Any], task: str, solver: str) -> dict[str, list[float]]:
    """Return the losses at the end, by learning rate."""
    found: dict[str, list[float]] = {}
    for row in rows:
        if (row.task, row.solver) == (task, solver):
            found.setdefault(row.lr, []).append(float(row.end))
    return found


def verdict(rows: list[Any]) -> str:
    """Return who gained how much, for each task."""
    sentences = []
    for task, text in TEXTS.items():
        ours, theirs = ends(rows, task, OURS), ends(rows, task, "MeZO")
        start = statistics.median(float(row.start) for row in rows if row.task == task)
        gains = {lr: start - statistics.median(found) for lr, found in theirs.items()}
        best = max(gains, key=lambda lr: gains[lr])
        ratio = (start - statistics.median(ours[""])) / gains[best]
        kept = ", kept for the end" if task == KEPT_FOR_THE_END else ""
        sentences.append(
            f"- {text}{kept}: {ratio:.2f} times the gain of MeZO with its best learning rate, {best}."
        )
    return "The gain of `RandomPursuit`, which has no learning rate:\n\n" + "\n".join(sentences)


def draw(path: Path, runs: dict[tuple[str, str], dict[str, list[Any]]]) -> None:
    """Draw the losses at the end against the learning rate."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot as plt

    figure, panels = plt.subplots(1, len(TEXTS), figsize=(11.0, 3.0), layout="constrained")
    for axes, (task, text) in zip(panels, TEXTS.items(), strict=True):
        for solver in sorted({name for name, _ in runs}, key=lambda name: (name != OURS, name)):
            points = [
                (float(lr or 0), statistics.median(float(row.end) for row in by_task[task]))
                for (name, lr), by_task in sorted(runs.items(), key=lambda item: float(item[0][1] or 0))
                if name == solver and task in by_task
            ]
            start = statistics.median(float(row.start) for row in runs[OURS, ""][task])
            if solver == OURS:
                axes.axhline(points[0][1], color="black", label=solver)
                continue
            axes.plot(*zip(*points, strict=True), marker=".", label=solver)
        axes.axhline(start, color="grey", linestyle=":", label="before")
        axes.set(xscale="log", xlabel="learning rate", title=text)
        axes.set_ylim(top=start + 0.1)
    panels[0].set_ylabel("loss at the end")
    panels[-1].legend(fontsize="x-small")
    figure.savefig(path, dpi=90)
    plt.close(figure)
