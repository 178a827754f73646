"""What was run, what is missing, and how to cite it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from pursuit.experiments.common.formatting import brief, power, spaced
from pursuit.experiments.study.evidence import PAPER_SCHEMES
from pursuit.experiments.study.report.analysis import distinct
from pursuit.experiments.study.results import CellResults, Results


class Citation(NamedTuple):
    """A reference, as text and as BibTeX."""

    text: str
    bibtex: str


_PAPER, _SOFTWARE = (
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
        "The software: The pursuit developers, pursuit, BSD-3-Clause; please name the version "
        "that made the results.",
        """\
@software{pursuit,
  author  = {{The pursuit developers}},
  title   = {pursuit},
  license = {BSD-3-Clause},
}""",
    ),
)


def citations(results: Results) -> list[Citation]:
    """Return what to cite: the paper, if any of its schemes was run, and the software."""
    is_from_paper = any(entry.cell.scheme in PAPER_SCHEMES for entry in results.cells)
    return [_PAPER, _SOFTWARE] if is_from_paper else [_SOFTWARE]


def missing(results: Results) -> list[CellResults]:
    """Return the cells that have fewer runs than were declared."""
    return [entry for entry in results.cells if len(entry.runs) < entry.wanted]


def facts(results: Results) -> list[tuple[str, str]]:
    """Return what was run, as pairs of a name and its value.

    Examples
    --------
    >>> from pursuit.experiments.study.report.facts import facts
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
    ends = Counter(run.reason for run in runs)
    readings = [("readings", _listed(distinct(cell.reading for cell in cells)))]
    return [
        ("problems", _problems(results)),
        ("dimensions n", _listed(sorted({cell.n for cell in cells}))),
        ("schemes", _listed(distinct(cell.scheme for cell in cells))),
        *(readings if results.names_readings else []),
        ("target", "f ≤ " + _listed(distinct(power(entry.target) for entry in results.cells))),
        (
            "cap",
            _listed(distinct(brief(entry.cap / entry.cell.n) for entry in results.cells)) + " iterations / n",
        ),
        ("cells", f"{spaced(len(cells))}, {_completeness(results)}"),
        ("runs", f"{spaced(len(runs))} of {spaced(sum(entry.wanted for entry in results.cells))} wanted"),
        ("ended by", _listed(f"{reason} {spaced(count)}" for reason, count in ends.most_common())),
    ]


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


def _listed(values: Iterable[Any]) -> str:
    return ", ".join(str(value) for value in values)
