"""The analysis of a study: all numbers that the page, the Markdown report and the tables show."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from pursuit.experiments.study.claims import Judgement, judge
from pursuit.experiments.study.evidence import Measurement
from pursuit.experiments.study.results import Cell, CellResults, Results
from pursuit.experiments.study.stats import MEASURES, Estimate, Summary, exponent, summarize

Summaries = dict[Cell, dict[str, Summary]]
"""Of every cell that has runs, by measure."""


class Growth(NamedTuple):
    """How the counts of a scheme on a problem grow with n."""

    problem: str
    L: float | None
    scheme: str
    reading: str
    dimensions: tuple[int, ...]
    exponents: dict[str, Estimate]
    """By measure."""


class MeasurementRow(NamedTuple):
    """A measurement under each reading; None under a reading that does not have it."""

    text: str
    paper: str
    measurements: tuple[Measurement | None, ...]


class JudgedClaim(NamedTuple):
    """A claim, judged under each reading."""

    number: int
    claim: str
    judgements: tuple[Judgement, ...]
    rows: tuple[MeasurementRow, ...]


class Analysis(NamedTuple):
    """The results of a study, and all that is computed from them."""

    results: Results
    summaries: Summaries
    growths: list[Growth]
    judgements: list[Judgement]

    @property
    def readings(self) -> list[str]:
        """The readings of the study."""
        return distinct(entry.cell.reading for entry in self.results.cells)


def analyse(results: Results) -> Analysis:
    """Return the analysis of a study."""
    return Analysis(
        results=results,
        summaries={
            entry.cell: {name: summarize(entry, name) for name in MEASURES} for entry in results.select()
        },
        growths=_growths(results),
        judgements=judge(results) if results.judges_claims else [],
    )


def claims_of(judgements: Sequence[Judgement]) -> list[JudgedClaim]:
    """Return the claims, each with its judgements under all readings.

    Examples
    --------
    >>> from pursuit.experiments.study.claims import Judgement
    >>> from pursuit.experiments.study.evidence import Measurement
    >>> from pursuit.experiments.study.report.analysis import claims_of
    >>> def judgement(reading, holds):
    ...     found = (Measurement("rp, n=20", "2", None, holds),)
    ...     return Judgement(
    ...         number=1, claim="Exact is faster.", reading=reading, measurements=found, verdict=""
    ...     )
    >>> claim, = claims_of([judgement("printed", None), judgement("fitted", True)])
    >>> [row.text for row in claim.rows], [found.holds for found in claim.rows[0].measurements]
    (['rp, n=20'], [None, True])
    """
    groups = [tuple(group) for _, group in itertools.groupby(judgements, key=lambda found: found.number)]
    return [JudgedClaim(group[0].number, group[0].claim, group, _rows(group)) for group in groups]


def distinct(values: Iterable[Any]) -> list[Any]:
    """Return the different values, in the order of their first occurrence."""
    return list(dict.fromkeys(values))


def _growths(results: Results) -> list[Growth]:
    """Return the growth with n of every scheme on every problem that was run in several dimensions."""
    groups: dict[tuple[str, float | None, str, str], list[CellResults]] = {}
    for entry in results.select():
        cell = entry.cell
        groups.setdefault((cell.problem, cell.L, cell.scheme, cell.reading), []).append(entry)
    return [
        Growth(
            problem=problem,
            L=condition,
            scheme=scheme,
            reading=reading,
            dimensions=tuple(entry.cell.n for entry in group),
            exponents={measure: exponent(group, measure) for measure in MEASURES},
        )
        for (problem, condition, scheme, reading), group in groups.items()
        if len(group) > 1
    ]


def _rows(judgements: Sequence[Judgement]) -> tuple[MeasurementRow, ...]:
    found = [{(m.text, m.paper): m for m in judgement.measurements} for judgement in judgements]
    return tuple(
        MeasurementRow(text, paper, tuple(one.get((text, paper)) for one in found))
        for text, paper in distinct(itertools.chain(*found))
    )
