"""The opening of a report on the paper's study: what a busy reader should know."""

from __future__ import annotations

import itertools
import math

from pursuit.experiments.common.formatting import brief, spaced, table
from pursuit.experiments.study.claims import VERDICTS_SO_FAR
from pursuit.experiments.study.evidence import PaperProblem
from pursuit.experiments.study.report.analysis import Analysis

VERDICT_COLUMNS = {
    "hold": ("holds", "consistent so far"),
    "in part": ("holds in part", "consistent in part so far"),
    "do not hold": ("does not hold", "contradicted so far"),
    "open": ("not decided", "not measured"),
}
"""How verdicts are put together: a claim whose runs are not all there counts as what it is so far."""


def opening_of(analysis: Analysis, picture: str) -> list[str]:
    """Return the opening as parts of Markdown; `picture` is the path of the chart of the claims."""
    if not analysis.judgements:
        return []
    best = max(analysis.readings, key=lambda reading: _fit(analysis, reading))
    return [
        "## In short",
        _what_was_run(analysis),
        table(
            ["reading", "hold", "hold in part", "do not hold", "open", "measurements that agree"],
            [_verdicts(analysis, reading) for reading in analysis.readings],
        ),
        f"![How many measurements of each claim agree with the paper]({picture})",
        *_findings(analysis, best),
    ]


def _what_was_run(analysis: Analysis) -> str:
    cells = [entry.cell for entry in analysis.results.cells]
    schemes, problems = {cell.scheme for cell in cells}, {cell.problem for cell in cells}
    dimensions = sorted({cell.n for cell in cells})
    span = " to ".join(str(n) for n in dict.fromkeys((dimensions[0], dimensions[-1])))
    runs = sum(len(entry.runs) for entry in analysis.results.cells)
    claims = len({judgement.number for judgement in analysis.judgements})
    so_far = any(judgement.verdict in VERDICTS_SO_FAR for judgement in analysis.judgements)
    note = " (a claim whose runs are not all there counts as what it is so far)" if so_far else ""
    return (
        f"{len(schemes)} schemes on {len(problems)} problems in {span} dimensions: {spaced(runs)} runs. "
        f"{claims} claims of the paper, judged under each reading of what it leaves open{note}:"
    )


def _verdicts(analysis: Analysis, reading: str) -> list[str]:
    """Return a reading, the claims with each verdict, and how many measurements agree of those made."""
    judged = [judgement for judgement in analysis.judgements if judgement.reading == reading]
    counts = [judgement.counts for judgement in judged]
    agree, made = sum(one["agrees"] for one in counts), sum(one.total() - one["missing"] for one in counts)
    columns = [
        ", ".join(str(judgement.number) for judgement in judged if judgement.verdict in verdicts) or "none"
        for verdicts in VERDICT_COLUMNS.values()
    ]
    return [reading, *columns, f"{spaced(agree)} of {spaced(made)}"]


def _fit(analysis: Analysis, reading: str) -> tuple[int, int]:
    """Return how many claims hold under a reading, and how many measurements agree."""
    judged = [judgement for judgement in analysis.judgements if judgement.reading == reading]
    holding = sum(judgement.verdict in VERDICT_COLUMNS["hold"] for judgement in judged)
    return holding, sum(judgement.counts["agrees"] for judgement in judged)


def _findings(analysis: Analysis, best: str) -> list[str]:
    """Return which reading fits, and how other schemes compare with SARP in the largest dimension."""
    n = max((cell.n for cell in analysis.summaries), default=0)
    columns = {scheme: _over_sarp(analysis, scheme, n, best) for scheme in ("rp", "cma", "ep-cma-n")}
    columns |= {
        f"ep-cma-1, {reading}": _over_sarp(analysis, "ep-cma-1", n, reading) for reading in analysis.readings
    }
    places = list(dict.fromkeys(itertools.chain(*columns.values())))
    if not places:
        return []
    rows = [
        [
            str(place),
            *(brief(found.get(place, math.nan)) for found in columns.values()),
            _growth_of_sarp(analysis, place, best),
        ]
        for place in places
    ]
    ahead = {
        name: ", ".join(str(place) for place in found if found[place] < 1.0)
        for name, found in columns.items()
    }
    paths = [
        f"on {ahead[name]} ({name.split()[-1]})" for name in columns if "ep-cma-1" in name and ahead[name]
    ]
    steep = ", and SARP's own grow faster than n where the last column is above 1"
    findings = [
        f"**Which reading fits:** `{best}`. Most claims hold under it and, of readings with equally many, "
        "most measurements agree.",
        f"**What EP-CMA-1 can do:** it needs fewer iterations than SARP {' and '.join(paths) or 'nowhere'}.",
        "**Where SARP's advantage ends:** CMA, whose iterations cost n squared, needs fewer on "
        f"{ahead['cma'] or 'none of the problems'}{steep if analysis.growths else ''}.",
    ]
    return [
        f"Median iterations divided by those of SARP, n = {n}, reading `{best}` unless another is named: ∞ "
        "where most runs did not reach the target, a dash where SARP's did not. Last, the power of n by "
        "which those of SARP grow. One of its iterations takes two evaluations.",
        table(["problem", *columns, "growth of sarp"], rows),
        "\n".join(f"- {finding}" for finding in findings[len(analysis.readings) == 1 :]),
    ]


def _over_sarp(analysis: Analysis, scheme: str, n: int, reading: str) -> dict[PaperProblem, float]:
    """Return the quotients of the medians of a scheme and of SARP, where SARP has one."""
    medians = {cell: found["iterations"].median.value for cell, found in analysis.summaries.items()}
    return {
        PaperProblem(cell.problem, cell.L): median / medians[cell._replace(scheme="sarp")]
        for cell, median in medians.items()
        if (cell.scheme, cell.n, cell.reading) == (scheme, n, reading)
        and math.isfinite(medians.get(cell._replace(scheme="sarp"), math.inf))
    }


def _growth_of_sarp(analysis: Analysis, place: PaperProblem, reading: str) -> str:
    found = [
        growth.exponents["iterations"].value
        for growth in analysis.growths
        if (growth.problem, growth.L, growth.scheme, growth.reading) == (*place, "sarp", reading)
    ]
    return brief(found[0]) if found else "—"
