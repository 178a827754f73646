"""The report as Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from pursuit.experiments.common.formatting import brief, escaped, folded, power, table
from pursuit.experiments.study.evidence import Measurement
from pursuit.experiments.study.figures import DrawnFigure
from pursuit.experiments.study.report.analysis import (
    Analysis,
    Growth,
    JudgedClaim,
    Summaries,
    claims_of,
    distinct,
)
from pursuit.experiments.study.report.facts import citations, facts, missing
from pursuit.experiments.study.report.opening import opening_of
from pursuit.experiments.study.results import Cell, Results
from pursuit.experiments.study.stats import Estimate


def document_of(
    analysis: Analysis, picture: str, pictures: Sequence[tuple[DrawnFigure, str]], measure: str
) -> str:
    """Return the report with tables of `measure`; `picture` is the chart of the claims.

    Long tables are folded: a browser shows their titles, and opens them one by one.
    """
    results, readings = analysis.results, analysis.readings
    claims = claims_of(analysis.judgements)
    parts = [
        f"# {escaped(results.title)}",
        *opening_of(analysis, picture),
        "## What was run",
        table(["what", "which"], _escaped(facts(results))),
        *_missing(results),
        folded("Made with", table(["what", "which"], _escaped(results.made.items()))),
        *_claims(claims, readings),
        *_figures(pictures, results),
        *_median_tables(analysis.summaries, measure, results),
        *_growth_tables(analysis.growths, measure, results),
        "## How to cite",
        *(f"{citation.text}\n\n```bibtex\n{citation.bibtex}\n```" for citation in citations(results)),
    ]
    return "\n\n".join(parts) + "\n"


def _escaped(rows: Iterable[tuple[str, str]]) -> list[list[str]]:
    return [[escaped(text) for text in row] for row in rows]


def _missing(results: Results) -> list[str]:
    rows = [
        [escaped(results.name_of(entry.cell)), str(len(entry.runs)), str(entry.wanted)]
        for entry in missing(results)
    ]
    title = f"Cells that have fewer runs than wanted: {len(rows)}"
    return [folded(title, table(["cell", "runs", "wanted"], rows))] if rows else []


def _claims(claims: Sequence[JudgedClaim], readings: Sequence[str]) -> list[str]:
    if not claims:
        return []
    return [
        "## The paper's claims",
        table(["", "claim", *readings], [_verdicts(claim) for claim in claims]),
        "What is measured for each claim, with 95 % bootstrap intervals: ✓ agrees with the paper, "
        "✗ disagrees, ↗ diverges.",
        *(_measurements(claim, readings) for claim in claims),
    ]


def _figures(pictures: Sequence[tuple[DrawnFigure, str]], results: Results) -> list[str]:
    shown = [
        f"![{escaped(figure.name)}{f', {figure.reading}' if results.names_readings else ''}]({path})\n\n"
        f"**{escaped(figure.name)}.** {escaped(figure.caption)}"
        for figure, path in pictures
    ]
    return ["## Figures", *shown] if shown else []


def _verdicts(claim: JudgedClaim) -> list[str]:
    found = [(judgement.verdict, judgement.agreement) for judgement in claim.judgements]
    verdicts = [f"**{verdict}** ({share})" if share else verdict for verdict, share in found]
    return [str(claim.number), claim.claim, *verdicts]


def _measurements(claim: JudgedClaim, readings: Sequence[str]) -> str:
    rows = [[row.text, row.paper, *map(_ours, row.measurements)] for row in claim.rows]
    header = ["measured", "paper", *(f"ours, {reading}" for reading in readings)]
    return folded(f"Claim {claim.number}: {len(rows)} measurements", table(header, rows))


def _ours(found: Measurement | None) -> str:
    if found is not None and found.diverges:
        return "↗"
    if found is None or found.ours is None:
        return "—"
    mark = {True: "✓ ", False: "✗ ", None: ""}[found.holds]
    return mark + _estimate(found.ours)


def _estimate(found: Estimate) -> str:
    return f"{brief(found.value)} [{brief(found.low)}, {brief(found.high)}]"


def _median_tables(summaries: Summaries, measure: str, results: Results) -> list[str]:
    """Return tables of schemes by problems, one for each reading, n and L, if there are any."""
    groups: dict[tuple[str, int, float | None], list[Cell]] = {}
    for cell in summaries:
        groups.setdefault((cell.reading, cell.n, cell.L), []).append(cell)
    readings = distinct(cell.reading for cell in summaries)

    def place(group: tuple[str, int, float | None]) -> tuple[int, int, float]:
        reading, n, condition = group
        return readings.index(reading), n, math.inf if condition is None else condition

    parts = []
    for key in sorted(groups, key=place):
        reading, n, condition = key
        cells = {(cell.scheme, cell.problem): cell for cell in groups[key]}
        problems = distinct(cell.problem for cell in groups[key])
        rows = [
            [
                escaped(scheme),
                *(_median(summaries, cells.get((scheme, problem)), measure) for problem in problems),
            ]
            for scheme in distinct(cell.scheme for cell in groups[key])
        ]
        where = f"n = {n}" if condition is None else f"n = {n}, L = {power(condition)}"
        title = f"Reading {reading}, {where}" if results.names_readings else where
        parts.append(folded(title, table(["scheme", *map(escaped, problems)], rows)))
    if not parts:
        return []
    explanation = (
        "In brackets the 95 % bootstrap interval; in parentheses how many runs reached the target, if not "
        "all did: the others count as infinite. A cell diverges where most of its runs do."
    )
    return [f"## Medians of {measure} / n", explanation, *parts]


def _median(summaries: Summaries, cell: Cell | None, measure: str) -> str:
    if cell is None:
        return "—"
    found = summaries[cell][measure]
    if 2 * found.diverged > found.runs:
        return f"diverges ({found.diverged} of {found.runs})"
    reached = "" if found.successes == found.runs else f" ({found.successes} of {found.runs})"
    return _estimate(Estimate._make(count / cell.n for count in found.median)) + reached


def _growth_tables(growths: Sequence[Growth], measure: str, results: Results) -> list[str]:
    """Return tables of schemes by problems, one for each reading."""
    parts = []
    for reading in distinct(growth.reading for growth in growths):
        chosen = [growth for growth in growths if growth.reading == reading]
        found = {(growth.scheme, growth.problem, growth.L): growth for growth in chosen}
        columns = distinct((growth.problem, growth.L) for growth in chosen)
        header = [escaped(name if L is None else f"{name}, L = {power(L)}") for name, L in columns]
        rows = [
            [escaped(scheme), *(_exponent(found.get((scheme, *column)), measure) for column in columns)]
            for scheme in distinct(growth.scheme for growth in chosen)
        ]
        title = f"Growth, reading {reading}" if results.names_readings else "Growth"
        parts.append(folded(title, table(["scheme", *header], rows)))
    if not parts:
        return []
    explanation = (
        f"The power of n with which the median of {measure} grows, by least squares on logarithms over all "
        "dimensions that were run: 1 where the cost per variable is constant."
    )
    return ["## Growth with n", explanation, *parts]


def _exponent(growth: Growth | None, measure: str) -> str:
    return "" if growth is None else _estimate(growth.exponents[measure])
