"""The page on fine-tuning without gradients, made of the rows alone."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from matplotlib.figure import Figure

from benchmarks.pages.stamp import filled
from pursuit.experiments.common.formatting import table

FILE = "runs.csv"
TEXTS = {
    "headers": "C headers",
    "kinds": "four kinds of text",
    "low-rank": "C headers, low rank",
    "encodings": "tables of encodings",
}
KEPT_FOR_THE_END = "encodings"
OURS = "pursuit"


class Row(NamedTuple):
    """The held-out loss at the start, after a quarter and half of all forward passes, and after all."""

    task: str
    solver: str
    lr: str
    seed: str
    start: str = ""
    quarter: str = ""
    half: str = ""
    end: str = ""


def write(folder: Path, rows: Sequence[Row]) -> None:
    """Write the page and its picture, of the tasks on which ours and MeZO were run."""
    texts = {
        task: text for task, text in TEXTS.items() if ends(rows, task, OURS) and ends(rows, task, "MeZO")
    }
    if not texts:
        return
    lines = [["before", "", *(f"{median(chosen(rows, task), 'start'):.3f}" for task in texts)]]
    for _, _, solver, _, lr in sorted(
        {(row.solver != OURS, row.solver != "MeZO", row.solver, float(row.lr or 0), row.lr) for row in rows}
    ):
        found = [chosen(rows, task, solver, lr) for task in texts]
        lines.append([solver, lr, *map(_shown, found)])
    draw(folder / "learning-rates.png", rows, texts)
    losses = table(["", "learning rate", *texts.values()], lines)
    text = filled("torch", losses=losses, verdict=verdict(rows, texts))
    (folder / "torch.md").write_text(f"{text}\n")


def _shown(rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    losses = [median(rows, when) for when in ("quarter", "end")]
    shown = ", ".join("diverged" if loss == float("inf") else f"{loss:.3f}" for loss in losses)
    return f"{shown} ({len(rows)})"


def median(rows: Sequence[Row], when: str) -> float:
    """Return the median loss at a moment."""
    return statistics.median(float(getattr(row, when)) for row in rows)


def chosen(rows: Sequence[Row], task: str, solver: str = "", lr: str = "") -> list[Row]:
    """Return the rows of a task, or of one setting of one solver on it."""
    return [row for row in rows if row.task == task and (not solver or (row.solver, row.lr) == (solver, lr))]


def ends(rows: Sequence[Row], task: str, solver: str) -> dict[str, float]:
    """Return the median loss at the end for each learning rate, the lowest first."""
    rates = sorted(
        {row.lr for row in rows if (row.task, row.solver) == (task, solver)}, key=lambda lr: float(lr or 0)
    )
    return {lr: median(chosen(rows, task, solver, lr), "end") for lr in rates}


def verdict(rows: Sequence[Row], texts: dict[str, str]) -> str:
    """Return who gained how much, for each task."""
    sentences = []
    for task, text in texts.items():
        ours, theirs = ends(rows, task, OURS)[""], ends(rows, task, "MeZO")
        start = median(chosen(rows, task), "start")
        best = min(theirs, key=lambda lr: theirs[lr])
        ratio = (start - ours) / (start - theirs[best])
        kept = ", kept for the end" if task == KEPT_FOR_THE_END else ""
        sentences.append(f"- {text}{kept}: {ratio:.2f} times the gain of MeZO with its best rate, {best}.")
    return "The gain of `RandomPursuit`, which has no learning rate:\n\n" + "\n".join(sentences)


def draw(path: Path, rows: Sequence[Row], texts: dict[str, str]) -> None:
    """Draw the losses at the end against the learning rate."""
    figure = Figure(figsize=(11.0, 3.0), layout="constrained")
    panels = figure.subplots(1, len(texts), squeeze=False)
    for axes, (task, text) in zip(panels[0], texts.items(), strict=True):
        start = median(chosen(rows, task), "start")
        axes.axhline(start, color="grey", linestyle=":", label="before")
        axes.axhline(ends(rows, task, OURS)[""], color="black", label=OURS)
        for solver in sorted({row.solver for row in rows} - {OURS}):
            found = ends(rows, task, solver)
            axes.plot([float(lr) for lr in found], list(found.values()), marker=".", label=solver)
        axes.set(xscale="log", xlim=(2e-5, 2e-2), xlabel="learning rate", title=text)
        axes.set_ylim(top=start + 0.1)
    panels[0, 0].set_ylabel("loss at the end")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", fontsize="x-small")
    figure.savefig(path, dpi=90)
