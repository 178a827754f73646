"""What the page and the Markdown report say alike: what was run, readings side by side, and how to cite."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from pursuit.experiments.common.formatting import brief, power, spaced
from pursuit.experiments.study.claims import Judgement, Measurement
from pursuit.experiments.study.results import Cell, CellResults, Results
from pursuit.experiments.study.stats import MEASURES, Estimate, Summary, exponent, summarize

Summaries = dict[Cell, dict[str, Summary]]
"""Of every cell that has runs, by measure."""


class Citation(NamedTuple):
    """Something to cite."""

    text: str
    bibtex: str


CITATIONS = (
    Citation(
        "The paper whose schemes were run: S. U. Stich, On Low Complexity Acceleration Techniques for "
        "Randomized Optimization, in: Parallel Problem Solving from Nature (PPSN XIII), 2014, pp. 130-140, "
        "doi:10.1007/978-3-319-10762-2_13. The extended version with the online supplement is "
        "arXiv:1406.2010.",
        """\
@inproceedings{stich2014acceleration,
  author    = {Stich, Sebastian U.},
  title     = {On Low Complexity Acceleration Techniques for Randomized Optimization},
  booktitle = {Parallel Problem Solving from Nature (PPSN XIII)},
  year      = {2014},
  pages     = {130--140},
  doi       = {10.1007/978-3-319-10762-2_13},
  note      = {Extended version: arXiv:1406.2010},
}""",
    ),
    Citation(
        "The software that ran them: The pursuit developers, pursuit, BSD-3-Clause; please name the version "
        "that made the results.",
        """\
@software{pursuit,
  author  = {{The pursuit developers}},
  title   = {pursuit},
  license = {BSD-3-Clause},
}""",
    ),
)


def distinct(values: Iterable[Any]) -> list[Any]:
    """Return the values in the order in which they come first."""
    return list(dict.fromkeys(values))


def summaries_of(results: Results) -> Summaries:
    """Return the summaries of all cells that have runs."""
    return {entry.cell: {name: summarize(entry, name) for name in MEASURES} for entry in results.select()}


class Growth(NamedTuple):
    """How the counts of a scheme on a problem grow with n."""

    problem: str
    L: float | None
    scheme: str
    reading: str
    dimensions: tuple[int, ...]
    exponents: dict[str, Estimate]
    """By measure."""


def growths_of(results: Results) -> list[Growth]:
    """Return the growth with n of all that was run in several dimensions."""
    groups: dict[tuple[str, float | None, str, str], list[CellResults]] = {}
    for entry in results.select():
        cell = entry.cell
        groups.setdefault((cell.problem, cell.L, cell.scheme, cell.reading), []).append(entry)
    return [
        Growth(
            *key,
            tuple(entry.cell.n for entry in group),
            {measure: exponent(group, measure) for measure in MEASURES},
        )
        for key, group in groups.items()
        if len(group) > 1
    ]


def missing(results: Results) -> list[CellResults]:
    """Return the cells that have fewer runs than were declared."""
    return [entry for entry in results.cells if len(entry.runs) < entry.wanted]


def facts(results: Results) -> list[tuple[str, str]]:
    """Return what was run, as pairs of a name and a text.

    Examples
    --------
    >>> from pursuit.experiments.study.results import Cell, CellResults, Results, Run
    >>> run = Run(0, 500, 501, 1e-10, "target", 0.1)
    >>> entry = CellResults(Cell("exp", 1e4, 20, "rp", "fitted"), 1e-9, 20_000, 2, "c0de", (run,))
    >>> for name, text in facts(Results("", (entry,), (), lambda cell, number: None, {})):
    ...     print(f"{name}: {text}")
    problems: exp (L = 1e4)
    dimensions n: 20
    schemes: rp
    readings: fitted
    target: f ≤ 1e-9
    cap: 1 000 iterations / n
    cells: 1, of which 1 have fewer runs than wanted
    runs: 1 of 2 wanted
    ended by: target 1
    code: c0de
    """
    cells = [entry.cell for entry in results.cells]
    runs = [run for entry in results.cells for run in entry.runs]
    ends = Counter(run.reason for run in runs)
    return [
        ("problems", _problems(results)),
        ("dimensions n", _listed(sorted({cell.n for cell in cells}))),
        ("schemes", _listed(distinct(cell.scheme for cell in cells))),
        ("readings", _listed(distinct(cell.reading for cell in cells))),
        ("target", "f ≤ " + _listed(distinct(power(entry.target) for entry in results.cells))),
        (
            "cap",
            _listed(distinct(brief(entry.cap / entry.cell.n) for entry in results.cells)) + " iterations / n",
        ),
        ("cells", f"{spaced(len(cells))}, {_completeness(results)}"),
        ("runs", f"{spaced(len(runs))} of {spaced(sum(entry.wanted for entry in results.cells))} wanted"),
        ("ended by", _listed(f"{reason} {spaced(count)}" for reason, count in ends.most_common())),
        ("code", _codes(results)),
    ]


class Line(NamedTuple):
    """Something that was measured, with what came out under each reading."""

    text: str
    paper: str
    measurements: tuple[Measurement | None, ...]


class Claim(NamedTuple):
    """A claim with what was found under all readings, side by side."""

    number: int
    claim: str
    judgements: tuple[Judgement, ...]
    lines: tuple[Line, ...]


def claims_of(judgements: Sequence[Judgement]) -> list[Claim]:
    """Return the claims, each with its judgements under all readings.

    Examples
    --------
    >>> from pursuit.experiments.study.claims import Judgement, Measurement
    >>> judgements = [
    ...     Judgement(1, "Exact is faster.", reading, (Measurement("rp, n=20", "2", None, holds),), "")
    ...     for reading, holds in [("printed", None), ("fitted", True)]
    ... ]
    >>> claim, = claims_of(judgements)
    >>> [line.text for line in claim.lines], [found.holds for found in claim.lines[0].measurements]
    (['rp, n=20'], [None, True])
    """
    groups = [tuple(group) for _, group in itertools.groupby(judgements, key=lambda found: found.number)]
    return [Claim(group[0].number, group[0].claim, group, _lines(group)) for group in groups]


def agreement(judgement: Judgement) -> str:
    """Return how many of the measurements agree with the claim, among those that decide anything."""
    decided = [found.holds for found in judgement.measurements if found.holds is not None]
    undecided = len(judgement.measurements) - len(decided)
    if not decided:
        return ""
    return f"{sum(decided)} of {len(decided)} agree" + (f", {undecided} undecided" if undecided else "")


def _lines(judgements: Sequence[Judgement]) -> tuple[Line, ...]:
    found = [{(m.text, m.paper): m for m in judgement.measurements} for judgement in judgements]
    return tuple(
        Line(text, paper, tuple(one.get((text, paper)) for one in found))
        for text, paper in distinct(itertools.chain(*found))
    )


def _problems(results: Results) -> str:
    conditions: dict[str, list[str]] = {}
    for cell in (entry.cell for entry in results.cells):
        found = conditions.setdefault(cell.problem, [])
        if cell.L is not None and power(cell.L) not in found:
            found.append(power(cell.L))
    return _listed(
        f"{problem} (L = {_listed(found)})" if found else problem for problem, found in conditions.items()
    )


def _completeness(results: Results) -> str:
    short = len(missing(results))
    return f"of which {spaced(short)} have fewer runs than wanted" if short else "all of them complete"


def _codes(results: Results) -> str:
    codes = Counter(entry.code for entry in results.cells)
    if len(codes) == 1:
        return next(iter(codes))
    return _listed(f"{code} ({spaced(count)} cells)" for code, count in codes.most_common())


def _listed(values: Iterable[Any]) -> str:
    return ", ".join(str(value) for value in values)
