"""The figures of a study: which panels go where, what is said about them, and their files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib.figure

from pursuit.checks import checked_choice
from pursuit.experiments.study.figures.captions import caption_of, caption_of_distributions, title_of
from pursuit.experiments.study.figures.curves import course_of, draw_courses, frame_of
from pursuit.experiments.study.figures.distributions import budgets_of, distributions_of, draw_distributions
from pursuit.experiments.study.figures.layout import FORMATS, in_print, new_sheet, save
from pursuit.experiments.study.figures.styles import SCHEME_STYLES, Style, legend_order, style_of
from pursuit.experiments.study.results import Cell, CellResults, Figure, Results, applies
from pursuit.experiments.study.stats import MEASURES

__all__ = ["SCHEME_STYLES", "Drawn", "build_distributions", "build_figure", "draw_figures", "style_of"]

_COUNTED = {"iterations": "iterations (#ITS)", "evaluations": "function evaluations"}


class Drawn(NamedTuple):
    """A figure that was written to files."""

    name: str
    caption: str
    reading: str
    paths: tuple[Path, ...]
    """One for each format."""


def draw_figures(
    results: Results, folder: Path, measure: str = "iterations", formats: Sequence[str] = FORMATS
) -> list[Drawn]:
    """Draw the figures of a study, for each reading that has runs.

    These are the figures that the study declares, or else one for each problem, and one of runtime
    distributions. The same results give the same files, byte for byte.

    Parameters
    ----------
    results : Results
        The study.
    folder : Path
        Where to write ``<name>-<reading>.<format>``; it is made if need be.
    measure : str
        What the figures count: "iterations" or "evaluations".
    formats : sequence of str
        Any of "pdf", "svg" and "png".

    Returns
    -------
    list of Drawn
        One for each figure that has something to show.
    """
    checked_choice("measure", measure, MEASURES)
    for ending in formats:
        checked_choice("format", ending, FORMATS)
    folder.mkdir(parents=True, exist_ok=True)
    drawn = []
    for reading in dict.fromkeys(entry.cell.reading for entry in results.select()):
        for figure in results.shown_figures():
            sheet = build_figure(results, figure, reading, measure)
            if sheet is not None:
                paths = save(sheet, folder, f"{figure.name}-{reading}", formats)
                caption = caption_of(figure, _shown(results, figure, reading), measure)
                drawn.append(Drawn(figure.name, caption, reading, paths))
        sheet = build_distributions(results, reading, measure)
        paths = save(sheet, folder, f"ecdf-{reading}", formats)
        drawn.append(
            Drawn("ecdf", caption_of_distributions(results.select(reading=reading), measure), reading, paths)
        )
    return drawn


@in_print
def build_figure(
    results: Results, figure: Figure, reading: str, measure: str = "iterations"
) -> matplotlib.figure.Figure | None:
    """Return a figure of the course of median runs, or None if there are no runs to show.

    In each panel a curve shows a scheme's run with the median of iterations, down to the target. A marker at
    its foot shows the mean of the runs that reached the target, with a standard deviation to both sides;
    where it would cover another, it goes below. Values above ten times the largest at a start are cut off.

    Parameters
    ----------
    results : Results
        The study.
    figure : Figure
        Which panels to show, and where.
    reading : str
        The reading that the runs follow.
    measure : str
        What the x-axis counts: "iterations" or "evaluations".
    """
    panels = _panels(_shown(results, figure, reading))
    if not panels:
        return None
    courses = {cell: [course_of(results, entry, measure) for entry in panels[cell]] for cell in panels}
    frame = frame_of(list(courses.values()), min(cell.n for cell in panels))
    styles = _styles(results, (course.scheme for found in courses.values() for course in found))
    sheet, axes = new_sheet(
        _places(figure, list(panels)),
        styles,
        heading=f"reading: {reading}",
        labels=(_COUNTED[measure], "function value"),
    )
    for cell, found in courses.items():
        draw_courses(axes[cell], found, styles, frame)
        axes[cell].set_title(title_of(cell))
    return sheet


@in_print
def build_distributions(
    results: Results, reading: str, measure: str = "iterations"
) -> matplotlib.figure.Figure:
    """Return a figure of runtime distributions, as the COCO platform has made them common.

    A panel for each dimension shows which share of all pairs of a run and a target each scheme has reached
    within a budget, over all problems of that dimension.

    Parameters
    ----------
    results : Results
        The study.
    reading : str
        The reading that the runs follow; it must have some.
    measure : str
        What the budget counts: "iterations" or "evaluations", divided by n.
    """
    entries = results.select(reading=reading)
    dimensions = sorted({entry.cell.n for entry in entries})
    panels = {n: distributions_of(results, results.select(reading=reading, n=n), measure) for n in dimensions}
    budgets = budgets_of(list(panels.values()))
    styles = _styles(results, (entry.cell.scheme for entry in entries))
    sheet, axes = new_sheet(
        {n: divmod(place, min(2, len(panels))) for place, n in enumerate(panels)},
        styles,
        heading=f"reading: {reading}",
        labels=(f"{_COUNTED[measure]} / n", "share of runs and targets"),
    )
    for n, found in panels.items():
        draw_distributions(axes[n], found, styles, budgets)
        axes[n].set_title(f"n = {n}")
    return sheet


def _shown(results: Results, figure: Figure, reading: str) -> list[CellResults]:
    return [entry for entry in results.select(reading=reading) if applies(figure.where, entry.cell)]


def _panels(entries: Iterable[CellResults]) -> dict[Cell, list[CellResults]]:
    """Return the entries of each panel, which is known by the cell of its first one."""
    panels: dict[Any, list[CellResults]] = {}
    for entry in entries:
        panels.setdefault((entry.cell.problem, entry.cell.L, entry.cell.n), []).append(entry)
    return {found[0].cell: found for found in panels.values()}


def _places(figure: Figure, cells: Sequence[Cell]) -> dict[Cell, tuple[int, int]]:
    """Return the row and the column of each panel.

    Values come in the order in which the figure names them, else problems as they were declared and numbers
    from small to large. Panels that differ in neither rows nor columns are put side by side, and a problem
    without L stands where others have their smallest.
    """
    smallest = min((cell.L for cell in cells if cell.L is not None), default=0.0)
    standing = {cell: cell._replace(L=smallest) if cell.L is None else cell for cell in cells}
    (third,) = {"problem", "L", "n"} - {figure.rows, figure.columns}

    def rank(cell: Cell, field: str) -> int:
        values = dict.fromkeys(getattr(other, field) for other in standing.values())
        ordered = list(values) if field == "problem" else sorted(values)
        named = figure.where.get(field, ())
        ordered.sort(key=lambda value: named.index(value) if value in named else len(named))
        return ordered.index(getattr(cell, field))

    rows = {cell: rank(found, figure.rows) for cell, found in standing.items()}
    columns = {cell: (rank(found, figure.columns), rank(found, third)) for cell, found in standing.items()}
    distinct = sorted(set(columns.values()))
    return {cell: (rows[cell], distinct.index(columns[cell])) for cell in cells}


def _styles(results: Results, shown: Iterable[str]) -> dict[str, Style]:
    """Return the looks of the schemes shown, which depend on all schemes of the study."""
    schemes = [entry.cell.scheme for entry in results.cells]
    return {scheme: style_of(scheme, schemes) for scheme in legend_order(shown)}
