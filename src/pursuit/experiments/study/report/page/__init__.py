"""The report as a self-contained HTML page.

The page is a small program, `report.js`, that draws everything from one object. This module makes that
object, and puts it into the page together with the program, its style and plotly.js.
"""

from __future__ import annotations

import html
import json
import math
from collections.abc import Sequence
from importlib import resources
from string import Template
from typing import Any

import numpy as np
import plotly.offline

from pursuit.experiments.study import report, stats
from pursuit.experiments.study.claims import RULES
from pursuit.experiments.study.evidence import Judgement
from pursuit.experiments.study.figures import distributions_note, title_of
from pursuit.experiments.study.figures.layout import legend_order, panels_of, positions_of, shown_in, style_of
from pursuit.experiments.study.report import Analysis, Summaries
from pursuit.experiments.study.results import CellResults, Results

_DIGITS = 6
_MOST_POINTS = 400
# Plotly's names of Matplotlib's lines and markers.
_DASHES = {"-": "solid", "--": "dash", "-.": "dashdot", ":": "dot"}
_NAMES = (
    "circle diamond square cross x star triangle-up triangle-down triangle-left triangle-right pentagon "
    "diamond-tall hexagon octagon"
)
_SYMBOLS = dict(zip("oDsPX*^v<>pdh8", _NAMES.split(), strict=True))


def page_of(found: Analysis, measure: str) -> str:
    """Return the page; its figures show `measure` at first."""
    results, summaries = found.results, found.summaries
    content = {
        "measure": measure,
        "readings": found.readings,
        "schemes": _schemes(results),
        "facts": report.facts(results),
        "made": list(results.made.items()),
        "missing": [
            {**entry.cell._asdict(), "runs": len(entry.runs), "wanted": entry.wanted}
            for entry in report.missing(results)
        ],
        "claims": [_claim(claim) for claim in report.claims_of(found.judgements)],
        **_figures(results, summaries),
        "ecdf": _distributions(results),
        "growth": found.growths,
        "summary": [_row(entry, summaries[entry.cell]) for entry in results.select()],
        "citations": report.citations(results),
    }
    text = json.dumps(_plain(content), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Template(_part("report.html")).substitute(
        title=html.escape(results.title),
        rules=html.escape(RULES),
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
    if isinstance(entry, dict) or hasattr(entry, "_asdict"):
        fields = entry if isinstance(entry, dict) else entry._asdict()
        return {key: _plain(value) for key, value in fields.items()}
    if isinstance(entry, (list, tuple, np.ndarray)):
        return [_plain(value) for value in (entry.tolist() if isinstance(entry, np.ndarray) else entry)]
    if not isinstance(entry, float):
        return entry
    if math.isfinite(entry):
        return float(f"{entry:.{_DIGITS}g}")
    return None if math.isnan(entry) else "∞" if entry > 0 else "-∞"


def _schemes(results: Results) -> list[dict[str, str]]:
    """Return the styles of the schemes, by plotly's names."""
    names = [entry.cell.scheme for entry in results.cells]
    styles = {name: style_of(name, names) for name in legend_order(names)}
    return [
        {"name": name, "colour": style.colour, "dash": _DASHES[style.line], "symbol": _SYMBOLS[style.marker]}
        for name, style in styles.items()
    ]


def _claim(claim: Sequence[Judgement]) -> dict[str, Any]:
    return {
        "number": claim[0].number,
        "claim": claim[0].claim,
        "judgements": [
            {"reading": one.reading, "verdict": one.verdict, "agreement": one.agreement} for one in claim
        ],
        "lines": [
            {
                "text": text,
                "paper": paper,
                "ours": [one and {"ours": one.ours, "outcome": one.outcome} for one in found],
            }
            for (text, paper), found in report.side_by_side(claim).items()
        ],
    }


def _figures(results: Results, summaries: Summaries) -> dict[str, Any]:
    """Return the panels of all readings, and the figures with the numbers of their panels, row by row."""
    panels = panels_of(results.select())
    numbers = {cell: number for number, cell in enumerate(panels)}
    figures = []
    for spec in results.shown_figures():
        places = {
            place: numbers[cell]
            for cell, place in positions_of(spec, list(panels_of(shown_in(spec, results)))).items()
        }
        if places:
            rows, columns = (range(1 + max(place[i] for place in places)) for i in (0, 1))
            # Where a row has no panel, there is None.
            grid = [[places.get((row, column)) for column in columns] for row in rows]
            figures.append({"name": spec.name, "caption": spec.caption, "rows": grid})
    return {
        "panels": [
            {
                "title": title_of(cell),
                "n": cell.n,
                "target": entries[0].target,
                "curves": [_curve(results, entry, summaries[entry.cell]) for entry in entries],
            }
            for cell, entries in panels.items()
        ],
        "figures": figures,
    }


def _curve(results: Results, entry: CellResults, summary: dict[str, stats.Summary]) -> dict[str, Any]:
    run = stats.median_run(entry)
    nit, nfev, fun = stats.thinned(results.trace(entry.cell, run.number), _MOST_POINTS)
    return {
        "scheme": entry.cell.scheme,
        "reading": entry.cell.reading,
        "run": run.number,
        "seconds": run.seconds,
        "runs": len(entry.runs),
        "successes": summary[stats.MEASURES[0]].successes,
        "averages": {
            measure: {"mean": found.shown_mean, "deviation": found.deviation}
            for measure, found in summary.items()
        },
        "iterations": nit,
        "evaluations": nfev,
        "fun": fun,
    }


def _distributions(results: Results) -> dict[str, Any]:
    """Return the runtime distributions: a panel per n, a curve per scheme and reading over all problems."""
    panels = []
    for n in sorted({entry.cell.n for entry in results.select()}):
        curves = []
        for reading in dict.fromkeys(entry.cell.reading for entry in results.select(n=n)):
            both = (stats.distributions_of(results, reading, n, measure) for measure in stats.MEASURES)
            for found in zip(*both, strict=True):
                group = results.select(n=n, reading=reading, scheme=found[0].scheme)
                curve = {"scheme": found[0].scheme, "reading": reading, "problems": len(group)}
                curve["runs"] = sum(len(entry.runs) for entry in group)
                for measure, one in zip(stats.MEASURES, found, strict=True):
                    curve[measure] = {"budgets": one.budgets, "fractions": one.shares}
                curves.append(curve)
        panels.append({"title": f"n = {n}", "curves": curves})
    note = distributions_note(stats.TARGETS, "iterations or evaluations")
    return {"note": note, "panels": panels}


def _row(entry: CellResults, summary: dict[str, stats.Summary]) -> dict[str, Any]:
    """Return a cell's row of the table of numbers; counts are divided by n."""
    row: dict[str, Any] = entry.cell._asdict()
    row |= {"runs": len(entry.runs), "successes": summary[stats.MEASURES[0]].successes}
    for measure, found in summary.items():
        counts = {**found.median._asdict(), "mean": found.mean, "deviation": found.deviation}
        row[measure] = {name: count / entry.cell.n for name, count in counts.items()}
    return row
