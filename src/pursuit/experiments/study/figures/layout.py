"""Sheets of panels with a common legend, made for print, and their files."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import matplotlib.figure
import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from pursuit.experiments.study.figures.styles import Style

Key = TypeVar("Key")

# In inches. Two panels side by side fill the width of the paper's text, and five rows fit onto its page.
_PANEL_WIDTH, _PANEL_HEIGHTS, _PAGE_HEIGHT = 2.4, (1.4, 1.75), 7.0
_LEGEND_WIDTH, _LEGEND_LINE = 1.0, 0.16
_PRINT = {
    "font.size": 7.0,
    "axes.titlesize": "medium",
    "axes.labelsize": "medium",
    "xtick.labelsize": "medium",
    "ytick.labelsize": "medium",
    "legend.fontsize": "medium",
    "legend.title_fontsize": "medium",
    "legend.frameon": False,
    "legend.handlelength": 2.6,
    "legend.columnspacing": 1.4,
    "axes.linewidth": 0.5,
    "axes.titlepad": 3.0,
    "axes.labelpad": 2.0,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "0.9",
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.0,
    "lines.markersize": 4.0,
    "lines.markeredgewidth": 0.3,
    "xtick.major.width": 0.5,
    "ytick.major.width": 0.5,
    "xtick.major.size": 2.0,
    "ytick.major.size": 2.0,
    "figure.constrained_layout.h_pad": 0.02,
    "figure.constrained_layout.w_pad": 0.02,
    "savefig.dpi": 300,
    "pdf.fonttype": 42,
    # Names inside of the file come from this text instead of chance.
    "svg.hashsalt": "pursuit",
}
# Without the time of writing, which Matplotlib would add.
_METADATA: dict[str, dict[str, Any]] = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}

FORMATS = tuple(_METADATA)
in_print = matplotlib.style.context(_PRINT, after_reset=True)
"""Decorates what draws: the user's own settings of Matplotlib neither matter nor change."""


def new_sheet(
    places: Mapping[Key, tuple[int, int]],
    styles: Mapping[str, Style],
    *,
    heading: str,
    labels: tuple[str, str],
) -> tuple[matplotlib.figure.Figure, dict[Key, Axes]]:
    """Return a sheet, and its panels by their keys.

    Parameters
    ----------
    places : mapping
        The row and the column of each panel. Places that no panel takes are left blank.
    styles : mapping
        The schemes that the legend names, and how they look.
    heading : str
        The legend's.
    labels : tuple of str
        Those of the two axes, which all panels share.
    """
    rows, columns = (1 + max(place[i] for place in places.values()) for i in (0, 1))
    height = rows * float(np.clip(_PAGE_HEIGHT / rows, *_PANEL_HEIGHTS))
    size = _size_with_legend(_PANEL_WIDTH * columns, height, columns, len(styles))
    sheet = matplotlib.figure.Figure(figsize=size, layout="constrained")
    grid = sheet.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    blank = _blank_out(grid, set(places.values()))
    _label_outer(grid, set(places.values()), labels)
    _add_legend(sheet, blank, columns, styles, heading)
    return sheet, {key: grid[place] for key, place in places.items()}


def label_powers(axis: Axis, first: float, last: float, most: int) -> None:
    """Label a logarithmic axis at powers of ten from `first` to `last`, not many more than `most` of them."""
    low, high = math.ceil(math.log10(first) - 1e-9), math.floor(math.log10(last) + 1e-9)
    stride = max(1, round((high - low) / most))
    axis.set_major_locator(FixedLocator([10.0**exponent for exponent in range(low, high + 1, stride)]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"1e{round(math.log10(value))}"))
    axis.set_minor_locator(NullLocator())


@in_print
def save(
    sheet: matplotlib.figure.Figure, folder: Path, name: str, formats: Sequence[str]
) -> tuple[Path, ...]:
    """Write a sheet in each of the formats, and return the paths of the files."""
    # One layout serves all formats.
    sheet.draw_without_rendering()
    sheet.set_layout_engine("none")
    paths = tuple(folder / f"{name}.{ending}" for ending in formats)
    for path, ending in zip(paths, formats, strict=True):
        sheet.savefig(path, format=ending, metadata=_METADATA[ending])
    return paths


def _size_with_legend(width: float, height: float, columns: int, entries: int) -> tuple[float, float]:
    """Return the width and the height of a sheet whose panels take so much of it."""
    if columns == 1:
        return width + _LEGEND_WIDTH, max(height, _LEGEND_LINE * (entries + 1))
    return width, height + _LEGEND_LINE * (1 + math.ceil(entries / _entries_per_line(columns)))


def _blank_out(grid: Any, taken: Collection[tuple[int, int]]) -> list[Axes]:
    """Hide the panels of a grid that nobody takes, and return them."""
    blank = [grid[place] for place in np.ndindex(grid.shape) if place not in taken]
    for axes in blank:
        axes.set_axis_off()
    return blank


def _label_outer(grid: Any, taken: Collection[tuple[int, int]], labels: tuple[str, str]) -> None:
    """Label the lowest panel of each column and the first one of each row."""
    for column in {column for _, column in taken}:
        lowest = grid[max(row for row, other in taken if other == column), column]
        lowest.set_xlabel(labels[0])
        lowest.tick_params(labelbottom=True)
    for row in {row for row, _ in taken}:
        first = grid[row, min(column for other, column in taken if other == row)]
        first.set_ylabel(labels[1])
        first.tick_params(labelleft=True)


def _add_legend(
    sheet: matplotlib.figure.Figure,
    blank: Sequence[Axes],
    columns: int,
    styles: Mapping[str, Style],
    heading: str,
) -> None:
    """Name the schemes in a blank panel if there is one, else beside a single column, else below."""
    handles = [
        Line2D([], [], color=style.colour, linestyle=style.line, marker=style.marker, label=scheme)
        for scheme, style in styles.items()
    ]
    if blank:
        blank[0].legend(handles=handles, title=heading, loc="center", ncols=2)
    elif columns == 1:
        sheet.legend(handles=handles, title=heading, loc="outside right upper")
    else:
        per_line = _entries_per_line(columns)
        sheet.legend(handles=handles, title=heading, loc="outside lower center", ncols=per_line)


def _entries_per_line(columns: int) -> int:
    """Return how many schemes a legend below so many columns names side by side."""
    return max(1, round(2.5 * columns))
