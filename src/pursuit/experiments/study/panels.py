"""Panels of figures: which cells share one, and where a figure puts it. Print and the page share it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pursuit.experiments.study.results import Cell, CellResults, FigureSpec, Results, applies

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
    >>> from pursuit.experiments.study.panels import positions_of
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
