"""The report as a self-contained HTML page.

The page is a small program, `report.js`, that draws everything from one object. This module makes that
object, and puts it into the page together with the program, its style and plotly.js.
"""

from __future__ import annotations

import html
import json
import math
from collections.abc import Mapping, Sequence
from importlib import resources
from string import Template
from typing import Any

import numpy as np
import plotly.offline
from numpy.typing import NDArray

from pursuit.experiments.study.evidence import Measurement
from pursuit.experiments.study.figures.captions import distributions_note, title_of
from pursuit.experiments.study.figures.styles import legend_order, style_of
from pursuit.experiments.study.panels import panels_of, positions_of, shown_in
from pursuit.experiments.study.report.analysis import Analysis, JudgedClaim, Summaries, claims_of
from pursuit.experiments.study.report.facts import citations, facts, missing
from pursuit.experiments.study.results import Cell, CellResults, FigureSpec, Results
from pursuit.experiments.study.stats import MEASURES, Summary, ecdf, median_run, targets_of, thinned

_DIGITS = 6
_MOST_POINTS = 400
# Plotly's names of Matplotlib's lines and markers.
_DASHES = {"-": "solid", "--": "dash", "-.": "dashdot", ":": "dot"}
_SYMBOLS = {
    "o": "circle",
    "D": "diamond",
    "^": "triangle-up",
    "v": "triangle-down",
    "<": "triangle-left",
    ">": "triangle-right",
    "s": "square",
    "P": "cross",
    "X": "x",
    "*": "star",
    "p": "pentagon",
    "d": "diamond-tall",
    "h": "hexagon",
    "8": "octagon",
}


def page_of(analysis: Analysis, measure: str) -> str:
    """Return the page; its figures show `measure` at first."""
    results, summaries = analysis.results, analysis.summaries
    content = {
        "measure": measure,
        "readings": analysis.readings,
        "schemes": _schemes(results),
        "facts": facts(results),
        "made": list(results.made.items()),
        "missing": [
            {**entry.cell._asdict(), "runs": len(entry.runs), "wanted": entry.wanted}
            for entry in missing(results)
        ],
        "claims": [_claim(claim) for claim in claims_of(analysis.judgements)],
        **_figures(results, summaries),
        "ecdf": _distributions(results),
        "growth": [
            {**growth._asdict(), "exponents": {name: e._asdict() for name, e in growth.exponents.items()}}
            for growth in analysis.growths
        ],
        "summary": [_row(entry, summaries[entry.cell]) for entry in results.select()],
        "citations": [citation._asdict() for citation in citations(results)],
    }
    text = json.dumps(_plain(content), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Template(_part("report.html")).substitute(
        title=html.escape(results.title),
        style=_part("report.css"),
        script=_part("report.js"),
        plotly=plotly.offline.get_plotlyjs(),
        # Without this character no text can end the script element or open a comment.
        data=text.replace("<", "\\u003c"),
    )


def _part(name: str) -> str:
    return (resources.files("pursuit.experiments.study.report.page") / name).read_text(encoding="utf-8")


def _plain(entry: Any) -> Any:
    """Return an entry in the types of JSON: numbers are rounded, infinite ones a text, missing ones null."""
    if isinstance(entry, dict):
        return {key: _plain(value) for key, value in entry.items()}
    if isinstance(entry, (list, tuple)):
        return [_plain(value) for value in entry]
    if isinstance(entry, np.ndarray):
        return _plain(entry.tolist())
    if not isinstance(entry, float):
        return entry
    if math.isnan(entry):
        return None
    if math.isinf(entry):
        return "∞" if entry > 0 else "-∞"
    return float(f"{entry:.{_DIGITS}g}")


def _schemes(results: Results) -> list[dict[str, str]]:
    """Return the styles of the schemes, by plotly's names."""
    names = [entry.cell.scheme for entry in results.cells]
    styles = {name: style_of(name, names) for name in legend_order(names)}
    return [
        {"name": name, "colour": style.colour, "dash": _DASHES[style.line], "symbol": _SYMBOLS[style.marker]}
        for name, style in styles.items()
    ]


def _claim(claim: JudgedClaim) -> dict[str, Any]:
    return {
        "number": claim.number,
        "claim": claim.claim,
        "judgements": [
            {"reading": found.reading, "verdict": found.verdict, "agreement": found.agreement}
            for found in claim.judgements
        ],
        "lines": [
            {
                "text": row.text,
                "paper": row.paper,
                "ours": [_measured(found) for found in row.measurements],
            }
            for row in claim.rows
        ],
    }


def _measured(found: Measurement | None) -> dict[str, Any] | None:
    return found and {"ours": found.ours and found.ours._asdict(), "outcome": found.outcome}


def _figures(results: Results, summaries: Summaries) -> dict[str, Any]:
    """Return the panels of all readings, and the figures with the numbers of their panels."""
    panels = panels_of(results.select())
    numbers = {cell: number for number, cell in enumerate(panels)}
    shown = [
        {"name": spec.name, "caption": spec.caption, "rows": _rows(spec, results, numbers)}
        for spec in results.shown_figures()
    ]
    return {
        "panels": [_panel(results, entries, summaries) for entries in panels.values()],
        "figures": [figure for figure in shown if figure["rows"]],
    }


def _rows(spec: FigureSpec, results: Results, numbers: Mapping[Cell, int]) -> list[list[int | None]]:
    """Return the numbers of a figure's panels, row by row; None where a row has no panel."""
    positions = positions_of(spec, list(panels_of(shown_in(spec, results))))
    if not positions:
        return []
    rows, columns = (1 + max(position[i] for position in positions.values()) for i in (0, 1))
    grid: list[list[int | None]] = [[None] * columns for _ in range(rows)]
    for cell, (row, column) in positions.items():
        grid[row][column] = numbers[cell]
    return grid


def _panel(results: Results, entries: Sequence[CellResults], summaries: Summaries) -> dict[str, Any]:
    cell = entries[0].cell
    return {
        "title": title_of(cell),
        "n": cell.n,
        "target": entries[0].target,
        "curves": [_curve(results, entry, summaries[entry.cell]) for entry in entries],
    }


def _curve(results: Results, entry: CellResults, summary: dict[str, Summary]) -> dict[str, Any]:
    run = median_run(entry)
    trace = thinned(results.trace(entry.cell, run.number), _MOST_POINTS)
    return {
        "scheme": entry.cell.scheme,
        "reading": entry.cell.reading,
        "run": run.number,
        "seconds": run.seconds,
        "runs": len(entry.runs),
        "successes": summary[MEASURES[0]].successes,
        "averages": {
            measure: {
                # The mean of a few runs says nothing of the cell.
                "mean": found.mean if 2 * found.successes >= found.runs else math.nan,
                "deviation": found.deviation,
            }
            for measure, found in summary.items()
        },
        "iterations": trace.nit,
        "evaluations": trace.nfev,
        "fun": trace.fun,
    }


def _chosen(points: int) -> NDArray[np.intp]:
    """Return which points of a curve to show: the first, the last and some between."""
    return np.linspace(0, points - 1, min(points, _MOST_POINTS)).round().astype(np.intp)


def _distributions(results: Results) -> dict[str, Any]:
    """Return the runtime distributions: a panel per n, a curve per scheme and reading over all problems."""
    panels = []
    for n in sorted({entry.cell.n for entry in results.select()}):
        groups: dict[tuple[str, str], list[CellResults]] = {}
        for entry in results.select(n=n):
            groups.setdefault((entry.cell.scheme, entry.cell.reading), []).append(entry)
        panels.append(
            {"title": f"n = {n}", "curves": [_distribution(results, group) for group in groups.values()]}
        )
    return {
        "note": distributions_note(targets_of(results), "iterations or evaluations"),
        "panels": panels,
    }


def _distribution(results: Results, group: Sequence[CellResults]) -> dict[str, Any]:
    curve: dict[str, Any] = {
        "scheme": group[0].cell.scheme,
        "reading": group[0].cell.reading,
        "problems": len(group),
        "runs": sum(len(entry.runs) for entry in group),
    }
    for measure in MEASURES:
        budgets, fractions = ecdf(results, group, targets_of(results), measure)
        chosen = _chosen(budgets.size)
        curve[measure] = {"budgets": budgets[chosen], "fractions": fractions[chosen]}
    return curve


def _row(entry: CellResults, summary: dict[str, Summary]) -> dict[str, Any]:
    """Return a cell's row of the table of numbers; counts are divided by n."""
    row: dict[str, Any] = entry.cell._asdict()
    row |= {"runs": len(entry.runs), "successes": summary[MEASURES[0]].successes}
    for measure, found in summary.items():
        counts = {**found.median._asdict(), "mean": found.mean, "deviation": found.deviation}
        row[measure] = {name: count / entry.cell.n for name, count in counts.items()}
    return row
