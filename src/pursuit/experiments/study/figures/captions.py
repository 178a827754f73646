"""Titles of panels and captions of figures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pursuit.checks import Vector
from pursuit.experiments.common.formatting import power, shortened
from pursuit.experiments.study.figures.styles import legend_order
from pursuit.experiments.study.results import Cell, CellResults, FigureSpec


def title_of(cell: Cell) -> str:
    """Return the title of a panel.

    Examples
    --------
    >>> from pursuit.experiments.study.figures.captions import title_of
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


def caption_of_distributions(entries: Sequence[CellResults], targets: Vector, measure: str) -> str:
    """Return the caption of a figure that shows the runtime distributions of these cells."""
    return distributions_note(targets, measure) + _warning(entries)


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
    return f" Not run on all of these problems: {', '.join(legend_order(partial))}."


def _span(numbers: Iterable[int]) -> str:
    found = sorted(numbers)
    return f"{found[0]}" if found[0] == found[-1] else f"{found[0]} to {found[-1]}"
