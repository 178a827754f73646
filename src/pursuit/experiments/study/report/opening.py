"""The opening of a report on the paper's study: what a busy reader should know."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from pursuit.experiments.common.formatting import brief, spaced, table
from pursuit.experiments.study.claims import Judgement
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
    best = _best_reading(analysis)
    return [
        "## In short",
        _what_was_run(analysis),
        _verdict_table(analysis),
        f"![How many measurements of each claim agree with the paper]({picture})",
        *_findings(analysis, best),
    ]


def _what_was_run(analysis: Analysis) -> str:
    cells = [entry.cell for entry in analysis.results.select()]
    runs = sum(len(entry.runs) for entry in analysis.results.cells)
    dimensions = sorted({cell.n for cell in cells})
    claims = len({judgement.number for judgement in analysis.judgements})
    partly = any(judgement.verdict.endswith("so far") for judgement in analysis.judgements)
    schemes, problems = {cell.scheme for cell in cells}, {cell.problem for cell in cells}
    return (
        f"{len(schemes)} schemes on {len(problems)} problems in "
        f"{' to '.join(str(n) for n in dict.fromkeys((dimensions[0], dimensions[-1])))} dimensions: "
        f"{spaced(runs)} runs. {claims} claims of the paper, judged under each reading of what it leaves open"
        f"{'; a claim whose runs are not all there counts as what it is so far' if partly else ''}:"
    )


def _verdict_table(analysis: Analysis) -> str:
    rows = []
    for reading in analysis.readings:
        judged = _under(analysis, reading)
        agree, total = _agreement(judged)
        columns = [
            ", ".join(str(one.number) for one in judged if one.verdict in verdicts) or "none"
            for verdicts in VERDICT_COLUMNS.values()
        ]
        rows.append([reading, *columns, f"{agree} of {total}"])
    header = ["reading", *(f"claims that {name}" if name != "open" else name for name in VERDICT_COLUMNS)]
    header[2] = "in part"
    return table([*header, "measurements that agree"], rows)


def _under(analysis: Analysis, reading: str) -> list[Judgement]:
    return [judgement for judgement in analysis.judgements if judgement.reading == reading]


def _agreement(judged: Sequence[Judgement]) -> tuple[int, int]:
    """Return how many measurements agree, and how many there are."""
    counts = [judgement.counts for judgement in judged]
    return sum(count["agrees"] for count in counts), sum(count.total() for count in counts)


def _best_reading(analysis: Analysis) -> str:
    """Return the reading under which most claims hold and, of several, most measurements agree."""

    def fit(reading: str) -> tuple[int, int]:
        judged = _under(analysis, reading)
        return sum(one.verdict in VERDICT_COLUMNS["hold"] for one in judged), _agreement(judged)[0]

    return max(analysis.readings, key=fit)


def _findings(analysis: Analysis, best: str) -> list[str]:
    """Return which reading fits, and how other schemes compare with SARP in the largest dimension."""
    n = max((cell.n for cell in analysis.summaries), default=0)
    factors = {
        scheme: _over_sarp(analysis, scheme, n, best) for scheme in ("rp", "cma", "ep-cma-1", "ep-cma-n")
    }
    places = list(dict.fromkeys(itertools.chain(*factors.values())))
    if not all(factors.values()):
        return []
    rows = [
        [str(place), *(brief(found.get(place, math.nan)) for found in factors.values())] for place in places
    ]
    ahead = [str(place) for place, factor in factors["cma"].items() if factor < 1.0]
    paths = [
        f"{_range(found)} under `{reading}`"
        for reading in sorted(analysis.readings, key=lambda reading: reading != best)
        for found in [_over_sarp(analysis, "ep-cma-1", n, reading)]
        if found
    ]
    findings = [
        f"**Which reading fits:** `{best}`. Most claims hold under it and, of readings with equally many, "
        "most measurements agree.",
        f"**What EP-CMA-1 can do:** divided by the iterations of SARP, its own are {', '.join(paths)}. An "
        "iteration of SARP takes two evaluations, and one of EP-CMA-1 takes one.",
        f"**Where SARP's advantage ends:** divided by its iterations, those of Random Pursuit are "
        f"{_range(factors['rp'])}. CMA, whose iterations cost n squared, needs fewer iterations than SARP on "
        f"{', '.join(ahead) or 'none of the problems'}.{_growth(analysis, best)}{_divergence(analysis)}",
    ]
    return [
        f"Median iterations divided by those of SARP, n = {n}, reading `{best}`; ∞ where most runs did not "
        "reach the target:",
        table(["problem", *factors], rows),
        "\n".join(f"- {finding}" for finding in findings),
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


def _range(factors: dict[PaperProblem, float]) -> str:
    """Return from which number to which quotients go, and where they are infinite."""
    finite = [factor for factor in factors.values() if math.isfinite(factor)]
    lost = [str(place) for place, factor in factors.items() if not math.isfinite(factor)]
    text = (
        " to ".join(dict.fromkeys(brief(factor) for factor in (min(finite), max(finite)))) if finite else ""
    )
    return text + (f"{' (' if text else '∞ ('}∞ on {', '.join(lost)})" if lost else "")


def _growth(analysis: Analysis, reading: str) -> str:
    """Return a sentence on where SARP's iterations grow faster than n, or ""."""
    steep = [
        f"n^{brief(growth.exponents['iterations'].value)} on {PaperProblem(growth.problem, growth.L)}"
        for growth in analysis.growths
        if (growth.scheme, growth.reading) == ("sarp", reading) and growth.exponents["iterations"].low > 1.1
    ]
    return f" SARP's iterations grow faster than n: like {', '.join(steep)}." if steep else ""


def _divergence(analysis: Analysis) -> str:
    """Return a sentence on where SARP diverges, or ""."""
    found = [
        (entry.cell.reading, str(PaperProblem(entry.cell.problem, entry.cell.L)))
        for entry in analysis.results.select(scheme="sarp")
        if entry.diverges
    ]
    groups = itertools.groupby(dict.fromkeys(found), key=lambda pair: pair[0])
    where = [f"on {', '.join(place for _, place in group)} under `{reading}`" for reading, group in groups]
    return f" SARP diverges {' and '.join(where)}." if where else ""
