"""The figures of a study: built from its results, and written to files with captions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib.figure
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from pursuit.checks import Vector, checked_choice
from pursuit.experiments.common.formatting import file_name, power, shortened
from pursuit.experiments.common.plotting import FORMATS, PRINT, print_style, save
from pursuit.experiments.study.evidence import Judgement
from pursuit.experiments.study.figures import layout, panels
from pursuit.experiments.study.results import Cell, CellResults, FigureSpec, Results
from pursuit.experiments.study.stats import MEASURES, distributions_of, targets_of

# What agrees is dark, and what is not known is light: people with any kind of colour vision can tell.
_COLOURS = {
    "agrees": "#8fb3e6",
    "disagrees": "#e69f00",
    "diverges": "#b0855f",
    "undecided": "#cccccc",
    "missing": "#eeeeee",
}

_AXIS_LABELS = {"iterations": "iterations (#ITS)", "evaluations": "function evaluations"}


class DrawnFigure(NamedTuple):
    """A figure that was written to files."""

    name: str
    caption: str
    reading: str
    paths: tuple[Path, ...]
    """One for each format."""


def draw_figures(
    results: Results,
    folder: Path,
    measure: str = "iterations",
    formats: Sequence[str] = FORMATS,
    dpi: int = PRINT,
) -> list[DrawnFigure]:
    """Draw the figures of a study, for each reading that has runs.

    These are the figures that the study declares, or else one for each problem, and one of runtime
    distributions. The same results give the same files, byte for byte.

    Parameters
    ----------
    results : Results
        The study.
    folder : Path
        Where to write ``<name>-<reading>.<format>``; it is created if necessary. A name that is long or has
        unusual characters is replaced by a similar one.
    measure : str
        What the figures count: "iterations" or "evaluations".
    formats : sequence of str
        Any of "pdf", "svg" and "png".
    dpi : int
        The resolution of PNG.

    Returns
    -------
    list of DrawnFigure
        One for each figure that has something to show.
    """
    checked_choice("measure", measure, MEASURES)
    for ending in formats:
        checked_choice("format", ending, FORMATS)
    folder.mkdir(parents=True, exist_ok=True)
    drawn = []
    for reading in dict.fromkeys(entry.cell.reading for entry in results.select()):
        remark = f" Reading: {reading}." if results.names_readings else ""
        for spec in results.shown_figures():
            figure = build_figure(results, spec, reading, measure)
            if figure is not None:
                paths = save(figure, folder, f"{file_name(spec.name)}-{reading}", formats, dpi)
                shown = layout.shown_in(spec, results, reading=reading)
                caption = caption_of(spec, shown, measure, results.kept.remark if results.kept else "")
                drawn.append(DrawnFigure(spec.name, caption + remark, reading, paths))
        figure = build_distributions(results, reading, measure)
        paths = save(figure, folder, f"ecdf-{reading}", formats, dpi)
        caption = distributions_note(targets_of(results, reading), measure)
        caption += _warning(results.select(reading=reading))
        drawn.append(DrawnFigure("ecdf", caption + remark, reading, paths))
    return drawn


@print_style
def build_figure(
    results: Results, spec: FigureSpec, reading: str, measure: str = "iterations"
) -> matplotlib.figure.Figure | None:
    """Return a figure of median runs, or None if there are no traces to show.

    In each panel a curve shows a scheme's run with the median number of iterations, down to the target. In a
    strip below, a marker shows the mean of the runs that reached the target, with a standard deviation to
    both sides, if these are at least half of the runs. Values above ten times the largest at a start are cut
    off.

    Parameters
    ----------
    results : Results
        The study.
    spec : FigureSpec
        Which panels to show, and where.
    reading : str
        The reading of the paper whose runs are shown.
    measure : str
        What the x-axis counts: "iterations" or "evaluations".
    """
    cells = layout.panels_of(layout.shown_in(spec, results, reading=reading))
    if not cells:
        return None
    curves = {
        cell: [panels.curve_of(results, entry, measure) for entry in entries]
        for cell, entries in cells.items()
    }
    if not any(curve.counts.size for found in curves.values() for curve in found):
        return None
    frame = panels.frame_of(list(curves.values()), min(cell.n for cell in cells))
    styles = _styles(results, (curve.scheme for found in curves.values() for curve in found))
    figure, axes = layout.new_figure(
        layout.positions_of(spec, list(cells)),
        styles,
        heading=f"reading: {reading}",
        labels=(_AXIS_LABELS[measure], "function value"),
    )
    for cell, found in curves.items():
        panels.draw_curves(axes[cell], found, styles, frame)
        axes[cell].set_title(title_of(cell))
    return figure


@print_style
def build_distributions(
    results: Results, reading: str, measure: str = "iterations"
) -> matplotlib.figure.Figure:
    """Return a figure of runtime distributions, as they are common since COCO.

    A panel for each dimension shows which share of all pairs of a run and a target each scheme has reached
    within a budget, over all problems of that dimension.

    Parameters
    ----------
    results : Results
        The study.
    reading : str
        The reading of the paper whose runs are shown; there must be some.
    measure : str
        What the budget counts: "iterations" or "evaluations", divided by n.
    """
    entries = results.select(reading=reading)
    dimensions = sorted({entry.cell.n for entry in entries})
    reached = {n: distributions_of(results, reading, n, measure) for n in dimensions}
    budgets = panels.budgets_of(list(reached.values()))
    styles = _styles(results, (entry.cell.scheme for entry in entries))
    targets = " and targets" if targets_of(results, reading).size > 1 else ""
    figure, axes = layout.new_figure(
        {n: divmod(number, min(2, len(reached))) for number, n in enumerate(reached)},
        styles,
        heading=f"reading: {reading}",
        labels=(f"{_AXIS_LABELS[measure]} / n", f"share of runs{targets}"),
    )
    for n, found in reached.items():
        panels.draw_distributions(axes[n], found, styles, budgets)
        axes[n].set_title(f"n = {n}")
    return figure


@print_style
def build_outcomes(judgements: Sequence[Judgement]) -> matplotlib.figure.Figure:
    """Return a chart with a row for each claim and a panel for each reading."""
    readings = list(dict.fromkeys(judgement.reading for judgement in judgements))
    numbers = list(dict.fromkeys(judgement.number for judgement in judgements))
    size = (1.2 + 1.6 * len(readings), 0.75 + 0.16 * len(numbers))
    figure = matplotlib.figure.Figure(figsize=size, layout="constrained")
    (row,) = figure.subplots(1, len(readings), sharey=True, squeeze=False)
    for axes, reading in zip(row, readings, strict=True):
        for judgement in judgements:
            if judgement.reading == reading:
                _draw_bar(axes, judgement)
        axes.set(title=reading, xlim=(0.0, 1.0), xlabel="share of measurements")
        axes.grid(visible=False)
    row[0].set(ylim=(numbers[-1] + 0.6, numbers[0] - 0.6), ylabel="claim")
    row[0].set_yticks(numbers)
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


def _styles(results: Results, shown: Iterable[str]) -> dict[str, layout.Style]:
    """Return the styles of the schemes shown, which depend on all schemes of the study."""
    schemes = [entry.cell.scheme for entry in results.cells]
    return {scheme: layout.style_of(scheme, schemes) for scheme in layout.legend_order(shown)}


def title_of(cell: Cell) -> str:
    """Return the title of a panel.

    Examples
    --------
    >>> from pursuit.experiments.study.figures import title_of
    >>> from pursuit.experiments.study.results import Cell
    >>> title_of(Cell(problem="exp", L=1e4, n=20, scheme="rp", reading="fitted"))
    'exp, L = 1e4, n = 20'
    """
    condition = "" if cell.L is None else f", L = {power(cell.L)}"
    return f"{shortened(cell.problem)}{condition}, n = {cell.n}"


def caption_of(spec: FigureSpec, entries: Sequence[CellResults], measure: str, remark: str = "") -> str:
    """Return the caption of a figure that shows curves of these cells; `remark` says if of other runs."""
    targets = " or ".join(power(target) for target in sorted({entry.target for entry in entries}))
    some = any(not run.success for entry in entries for run in entry.runs)
    shares = ", with how many these are if not all, and none if less than half" if some else ""
    return (
        f"{spec.caption} Function values against {measure}: for each scheme, those of "
        f"{remark or 'the run with the median number of iterations'}. Below, in grey: mean and standard "
        f"deviation of the {measure} of the runs that reached {targets}, out of "
        f"{_span(len(entry.runs) for entry in entries)}{shares}."
    )


def distributions_note(targets: Vector, measure: str) -> str:
    """Return what runtime distributions show."""
    if targets.size == 1:
        shares, which = f"the share of runs that reached {power(targets[0])}", ""
    else:
        shares = "the share of all pairs of a run and a target that were reached"
        which = f" The {targets.size} targets lie between {power(targets.max())} and {power(targets.min())}."
    return (
        f"Runtime distributions: {shares} within so many {measure} per dimension, over all problems, each of "
        f"which counts the same.{which}"
    )


def _warning(entries: Sequence[CellResults]) -> str:
    """Return a sentence that names the schemes that were not run on all problems, if there are any."""
    covered: dict[tuple[int, str], set[Any]] = {}
    for entry in entries:
        cell = entry.cell
        covered.setdefault((cell.n, cell.scheme), set()).add((cell.problem, cell.L))
    largest = {n: set().union(*(found for (m, _), found in covered.items() if m == n)) for n, _ in covered}
    partial = {scheme for (n, scheme), found in covered.items() if found != largest[n]}
    if not partial:
        return ""
    return f" Not run on all of these problems: {', '.join(layout.legend_order(partial))}."


def _span(numbers: Iterable[int]) -> str:
    found = sorted(numbers)
    return f"{found[0]}" if found[0] == found[-1] else f"{found[0]} to {found[-1]}"
