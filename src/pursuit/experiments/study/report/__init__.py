"""The report of a study. Here is what its page, document and tables show: what was run, and all numbers."""

from __future__ import annotations

import itertools
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib import resources
from typing import Any, NamedTuple

from pursuit.experiments.common.formatting import brief, power, spaced
from pursuit.experiments.study.claims import judge
from pursuit.experiments.study.evidence import PAPER_SCHEMES, Judgement, Measurement
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


def claims_of(judgements: Sequence[Judgement]) -> list[list[Judgement]]:
    """Return the judgements of each claim, under all readings."""
    return [list(group) for _, group in itertools.groupby(judgements, key=lambda found: found.number)]


def side_by_side(claim: Sequence[Judgement]) -> dict[tuple[str, str], list[Measurement | None]]:
    """Return each measurement of a claim under all readings; None under one that does not have it.

    Examples
    --------
    >>> from pursuit.experiments.study.evidence import Judgement
    >>> from pursuit.experiments.study.evidence import Measurement
    >>> from pursuit.experiments.study.report import side_by_side
    >>> def judgement(reading, holds):
    ...     found = (Measurement("rp, n=20", "2", None, holds),)
    ...     return Judgement(
    ...         number=1, claim="Exact is faster.", reading=reading, measurements=found, verdict=""
    ...     )
    >>> rows = side_by_side([judgement("printed", None), judgement("fitted", True)])
    >>> {what: [found.holds for found in row] for what, row in rows.items()}
    {('rp, n=20', '2'): [None, True]}
    """
    found = [{(one.text, one.paper): one for one in judgement.measurements} for judgement in claim]
    return {what: [one.get(what) for one in found] for what in distinct(itertools.chain(*found))}


def citations(results: Results) -> list[dict[str, str]]:
    """Return what to cite, as text and BibTeX: the paper, if any of its schemes was run, and the software."""
    file = resources.files("pursuit.experiments.study.report") / "citations.toml"
    both = tomllib.loads(file.read_text(encoding="utf-8"))
    is_from_paper = any(entry.cell.scheme in PAPER_SCHEMES for entry in results.cells)
    return [both["paper"], both["software"]] if is_from_paper else [both["software"]]


def missing(results: Results) -> list[CellResults]:
    """Return the cells that have fewer runs than were declared."""
    return [entry for entry in results.cells if len(entry.runs) < entry.wanted]


def left_out(results: Results) -> list[Cell]:
    """Return the combinations of problems, schemes and readings that the study does not declare."""
    cells = [entry.cell for entry in results.cells]
    schemes, readings = distinct(cell.scheme for cell in cells), distinct(cell.reading for cell in cells)
    places = distinct(cell[:3] for cell in cells)
    return [
        cell
        for (problem, condition, n), scheme, reading in itertools.product(places, schemes, readings)
        if (cell := Cell(problem, condition, n, scheme, reading)) not in cells
    ]


def facts(results: Results) -> list[tuple[str, str]]:
    """Return what was run, as pairs of a name and its value.

    Examples
    --------
    >>> from pursuit.experiments.study.report import facts
    >>> from pursuit.experiments.study.results import Cell, CellResults, Results, RunRecord
    >>> cell = Cell(problem="exp", L=1e4, n=20, scheme="rp", reading="fitted")
    >>> run = RunRecord(number=0, nit=500, nfev=501, fun=1e-10, reason="target", seconds=0.1)
    >>> entry = CellResults(cell=cell, target=1e-9, cap=20_000, wanted=2, code="c0de", runs=(run,))
    >>> results = Results(title="", cells=(entry,), figures=(), trace=lambda cell, number: None, made={})
    >>> for name, text in facts(results):
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
    """
    cells = [entry.cell for entry in results.cells]
    runs = [run for entry in results.cells for run in entry.runs]
    ends = Counter(run.reason for run in runs).most_common()
    short = len(missing(results))
    complete = f"of which {spaced(short)} have fewer runs than wanted" if short else "all of them complete"
    caps = (brief(entry.cap / entry.cell.n) for entry in results.cells)
    readings = [("readings", _listed(cell.reading for cell in cells))] if results.names_readings else []
    return [
        (
            "problems",
            _listed(_with_conditions(name, cells) for name in distinct(cell.problem for cell in cells)),
        ),
        ("dimensions n", _listed(sorted(cell.n for cell in cells))),
        ("schemes", _listed(cell.scheme for cell in cells)),
        *readings,
        ("target", "f ≤ " + _listed(power(entry.target) for entry in results.cells)),
        ("cap", _listed(caps) + " iterations / n"),
        ("cells", f"{spaced(len(cells))}, {complete}"),
        ("runs", f"{spaced(len(runs))} of {spaced(sum(entry.wanted for entry in results.cells))} wanted"),
        ("ended by", _listed(f"{reason} {spaced(count)}" for reason, count in ends)),
    ]


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
            *what,
            tuple(entry.cell.n for entry in group),
            {measure: exponent(group, measure) for measure in MEASURES},
        )
        for what, group in groups.items()
        if len(group) > 1
    ]


def _with_conditions(problem: str, cells: Sequence[Cell]) -> str:
    found = _listed(power(cell.L) for cell in cells if cell.problem == problem and cell.L is not None)
    return f"{problem} (L = {found})" if found else problem


def _listed(values: Iterable[Any]) -> str:
    return ", ".join(map(str, distinct(values)))
