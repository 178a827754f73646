"""The look of figures: the style of each scheme, which cells share a panel, where it is, and the legend."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeVar

import matplotlib.figure
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from pursuit.experiments.common.formatting import shortened
from pursuit.experiments.study.results import Cell, CellResults, FigureSpec, Results, applies

Key = TypeVar("Key")


class Style(NamedTuple):
    """The line style of a scheme, in Matplotlib's notation."""

    colour: str
    """As "#rrggbb"."""
    line: Literal["-", "--", "-.", ":"]
    marker: str


# A scheme with exact line search is dashed, in the colour of the scheme without. EP-CMA goes from light green
# to dark blue as its memory grows. People with any kind of colour vision can distinguish all colours, and the
# lightest is dark enough for thin lines on paper.
SCHEME_STYLES: dict[str, Style] = {
    "rp": Style("#000000", "-", "o"),
    "rp-exact": Style("#000000", "--", "D"),
    "sarp": Style("#d55e00", "-", "^"),
    "sarp-exact": Style("#d55e00", "--", "v"),
    "cma": Style("#aa3377", "-", "s"),
    "ep-cma-1": Style("#79bd62", "-", "<"),
    "ep-cma-2": Style("#2baaa5", "-", ">"),
    "ep-cma-4": Style("#1f87c4", "-", "P"),
    "ep-cma-sqrt": Style("#2b55ae", "-", "X"),
    "ep-cma-n": Style("#241a6b", "-", "*"),
}
"""The styles of the paper's ten schemes, in the order of legends."""

# Other schemes have lines that are neither solid nor dashed.
_OTHER_COLOURS = ("#e69f00", "#7a5230", "#777777", "#cc79a7")
_OTHER_LINES: tuple[Literal["-.", ":"], ...] = ("-.", ":")
_OTHER_MARKERS = ("p", "d", "h", "8")


def style_of(scheme: str, schemes: Iterable[str]) -> Style:
    """Return the style of a scheme, which is the same in all figures of a study.

    Parameters
    ----------
    scheme : str
        Its name.
    schemes : iterable of str
        The names of all schemes of the study. Those that are not the paper's take the remaining colours in
        this order.

    Returns
    -------
    Style
        Its colour, line and marker.

    Examples
    --------
    >>> from pursuit.experiments.study.figures.layout import style_of
    >>> style_of("sarp-exact", ["sarp-exact"])
    Style(colour='#d55e00', line='--', marker='v')
    >>> style_of("mine", ["rp", "mine"]) == style_of("mine", ["mine", "another"])
    True
    """
    if scheme in SCHEME_STYLES:
        return SCHEME_STYLES[scheme]
    others = [name for name in dict.fromkeys([*schemes, scheme]) if name not in SCHEME_STYLES]
    turn, place = divmod(others.index(scheme), len(_OTHER_COLOURS))
    return Style(
        _OTHER_COLOURS[place],
        _OTHER_LINES[turn % len(_OTHER_LINES)],
        _OTHER_MARKERS[(place + turn) % len(_OTHER_MARKERS)],
    )


def legend_order(schemes: Iterable[str]) -> list[str]:
    """Return the different names among `schemes`: the paper's in its order, then the others as given."""
    found = dict.fromkeys(schemes)
    return [name for name in SCHEME_STYLES if name in found] + [n for n in found if n not in SCHEME_STYLES]


# In inches. Two panels side by side fill the width of the paper's text, and five rows fit onto its page.
_PANEL_WIDTH, _PANEL_HEIGHTS, _PAGE_HEIGHT = 2.4, (1.4, 1.75), 7.0
_LEGEND_WIDTH, _LEGEND_LINE = 1.0, 0.16
# Names of up to this many letters fit into a legend of that width; longer ones need this much per letter.
_USUAL_LETTERS, _LETTER_WIDTH, _MOST_LETTERS = 12, 0.1, 32


Panels = dict[Cell, list[CellResults]]
"""The cells of each panel, by the first of them."""


def panels_of(entries: Iterable[CellResults]) -> Panels:
    """Return the panels of cells: one for each problem, L and n."""
    panels: dict[Any, list[CellResults]] = {}
    for entry in entries:
        panels.setdefault((entry.cell.problem, entry.cell.L, entry.cell.n), []).append(entry)
    return {found[0].cell: found for found in panels.values()}


def shown_in(spec: FigureSpec, results: Results, **wanted: Any) -> list[CellResults]:
    """Return the cells with runs that a figure shows, among those that `Results.select` finds."""
    return [
        entry
        for entry in results.select(**wanted)
        if applies(spec.where, entry.cell) and entry.cell.scheme not in spec.without
    ]


def positions_of(spec: FigureSpec, cells: Sequence[Cell]) -> dict[Cell, tuple[int, int]]:
    """Return the row and the column of each panel.

    Values are ordered as the figure names them; otherwise problems as declared, and numbers from small to
    large. Panels that differ neither in the rows' field nor in the columns' are placed side by side. A
    problem without L takes the place of the smallest L of the others.

    Examples
    --------
    >>> from pursuit.experiments.study.figures.layout import positions_of
    >>> from pursuit.experiments.study.results import Cell, FigureSpec
    >>> spec = FigureSpec(name="f", caption="", rows="problem", columns="n", where={"n": (80, 20)})
    >>> cells = [
    ...     Cell(problem=problem, L=1e4, n=n, scheme="rp", reading="fitted")
    ...     for problem in ("exp", "lin")
    ...     for n in (20, 80)
    ... ]
    >>> list(positions_of(spec, cells).values())
    [(0, 1), (0, 0), (1, 1), (1, 0)]
    """
    smallest = min((cell.L for cell in cells if cell.L is not None), default=0.0)
    placed = {cell: cell._replace(L=smallest) if cell.L is None else cell for cell in cells}
    (third,) = {"problem", "L", "n"} - {spec.rows, spec.columns}

    def rank(cell: Cell, field: str) -> int:
        values = dict.fromkeys(getattr(other, field) for other in placed.values())
        ordered = list(values) if field == "problem" else sorted(values)
        named = spec.where.get(field, ())
        ordered.sort(key=lambda value: named.index(value) if value in named else len(named))
        return ordered.index(getattr(cell, field))

    rows = {cell: rank(found, spec.rows) for cell, found in placed.items()}
    columns = {cell: (rank(found, spec.columns), rank(found, third)) for cell, found in placed.items()}
    distinct = sorted(set(columns.values()))
    return {cell: (rows[cell], distinct.index(columns[cell])) for cell in cells}


def new_figure(
    positions: Mapping[Key, tuple[int, int]],
    styles: Mapping[str, Style],
    *,
    heading: str,
    labels: tuple[str, str],
) -> tuple[matplotlib.figure.Figure, dict[Key, Axes]]:
    """Return an empty figure, and its panels by their keys.

    Parameters
    ----------
    positions : mapping
        The row and the column of each panel. Positions without a panel stay blank.
    styles : mapping
        The schemes in the legend, and their styles.
    heading : str
        The title of the legend.
    labels : tuple of str
        The labels of the x-axis and the y-axis, which all panels share.
    """
    rows, columns = (1 + max(position[i] for position in positions.values()) for i in (0, 1))
    height = rows * float(np.clip(_PAGE_HEIGHT / rows, *_PANEL_HEIGHTS))
    size = _size_with_legend(_PANEL_WIDTH * columns, height, columns, styles)
    figure = matplotlib.figure.Figure(figsize=size, layout="constrained")
    grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    blank = _blank_out(grid, set(positions.values()))
    _label_outer(grid, set(positions.values()), labels)
    _add_legend(figure, blank, columns, styles, heading)
    return figure, {key: grid[position] for key, position in positions.items()}


def _size_with_legend(
    width: float, height: float, columns: int, schemes: Collection[str]
) -> tuple[float, float]:
    """Return the size of a figure whose panels have this width and height, with room for the legend."""
    if columns == 1:
        wide = _LEGEND_WIDTH + _LETTER_WIDTH * _unusual_letters(schemes)
        return width + wide, max(height, _LEGEND_LINE * (len(schemes) + 1))
    return width, height + _LEGEND_LINE * (1 + math.ceil(len(schemes) / _entries_per_line(columns, schemes)))


def _blank_out(grid: Any, taken: Collection[tuple[int, int]]) -> list[Axes]:
    """Hide the unused panels of a grid, and return them."""
    blank = [grid[position] for position in np.ndindex(grid.shape) if position not in taken]
    for axes in blank:
        axes.set_axis_off()
    return blank


def _label_outer(grid: Any, taken: Collection[tuple[int, int]], labels: tuple[str, str]) -> None:
    """Label the axes of the lowest panel of each column and of the first of each row."""
    for column in {column for _, column in taken}:
        lowest = grid[max(row for row, other in taken if other == column), column]
        lowest.set_xlabel(labels[0])
        lowest.tick_params(labelbottom=True)
    for row in {row for row, _ in taken}:
        first = grid[row, min(column for other, column in taken if other == row)]
        first.set_ylabel(labels[1])
        first.tick_params(labelleft=True)


def _add_legend(
    figure: matplotlib.figure.Figure,
    blank: Sequence[Axes],
    columns: int,
    styles: Mapping[str, Style],
    heading: str,
) -> None:
    """Put the legend into a blank panel if there is one, else beside a single column, else below."""
    handles = [
        Line2D([], [], color=style.colour, linestyle=style.line, marker=style.marker, label=_label(scheme))
        for scheme, style in styles.items()
    ]
    if blank:
        per_line = 1 if _unusual_letters(styles) else 2
        blank[0].legend(handles=handles, title=heading, loc="center", ncols=per_line)
    elif columns == 1:
        figure.legend(handles=handles, title=heading, loc="outside right upper")
    else:
        per_line = _entries_per_line(columns, styles)
        figure.legend(handles=handles, title=heading, loc="outside lower center", ncols=per_line)


def _entries_per_line(columns: int, schemes: Iterable[str]) -> int:
    """Return how many schemes a line of the legend below the columns has."""
    longer = _unusual_letters(schemes)
    if not longer:
        return max(1, round(2.5 * columns))
    return max(1, int(_PANEL_WIDTH * columns / (_LEGEND_WIDTH + _LETTER_WIDTH * longer)))


def _unusual_letters(schemes: Iterable[str]) -> int:
    """Return by how many letters the longest name exceeds the usual."""
    return max(0, max(len(_label(scheme)) for scheme in schemes) - _USUAL_LETTERS)


def _label(scheme: str) -> str:
    return shortened(scheme, _MOST_LETTERS)
