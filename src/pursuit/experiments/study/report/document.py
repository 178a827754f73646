"""The report and its files: a page, tables, figures, and Markdown with an opening for busy readers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from pursuit.checks import checked_choice
from pursuit.experiments.common.files import write_file
from pursuit.experiments.common.formatting import brief, escaped, folded, power, spaced, table
from pursuit.experiments.common.plotting import FORMATS, PRINT, SCREEN, save
from pursuit.experiments.study import report
from pursuit.experiments.study.claims import RULES
from pursuit.experiments.study.evidence import VERDICTS_SO_FAR, Measurement, PaperProblem
from pursuit.experiments.study.figures import DrawnFigure, build_outcomes, draw_figures
from pursuit.experiments.study.report.page import page_of
from pursuit.experiments.study.report.tables import write_tables
from pursuit.experiments.study.results import Cell, Results
from pursuit.experiments.study.stats import MEASURES, Estimate, Summary, with_distributions

VERDICT_COLUMNS = {
    "hold": ("holds", "consistent so far"),
    "in part": ("holds in part", "consistent in part so far"),
    "do not hold": ("does not hold", "contradicted so far"),
    "open": ("not decided", "not measured"),
}
"""How verdicts are put together: a claim whose runs are not all there counts as what it is so far."""


def write_report(results: Results, folder: Path, measure: str | None = None) -> Path:
    """Write the report of a study, and return the path of its page.

    Only `report.html` depends on how long runs took, and only it, `report.md` and `tables/study.json` say
    what the study was made with; all other files follow from the results of the runs, byte for byte.

    Parameters
    ----------
    results : Results
        The study. One that comes from the tables of a report has no page, and figures as PNG only.
    folder : Path
        Where to write `report.html`, `report.md`, `figures/` and `tables/`, over files of these names. Tables
        without rows are not written, nor those that the results come from.
    measure : str
        "iterations" or "evaluations": what figures and the tables of `report.md` show; by default iterations
        for the paper's studies, and evaluations for others.

    Returns
    -------
    Path
        That of `report.html`, or else of `report.md`.
    """
    measure = results.usual_measure if measure is None else checked_choice("measure", measure, MEASURES)
    formats, dpi = (FORMATS, PRINT) if results.kept is None else (("png",), SCREEN)
    results = with_distributions(results)
    drawn = draw_figures(results, folder / "figures", measure, formats, dpi)
    analysis = report.analyse(results)
    picture = ""
    if analysis.judgements:
        paths = save(build_outcomes(analysis.judgements), folder / "figures", "claims", formats, dpi)
        picture = _shown(paths, folder)
    write_tables(analysis, folder / "tables")
    pictures = [(figure, _shown(figure.paths, folder)) for figure in drawn]
    document, page = folder / "report.md", folder / "report.html"
    write_file(document, document_of(analysis, picture, pictures, measure))
    if results.kept is not None:
        return document
    write_file(page, page_of(analysis, measure))
    return page


def _shown(paths: Sequence[Path], folder: Path) -> str:
    """Return the path of a figure that Markdown can show, relative to the report."""
    return next(path for path in paths if path.suffix == ".png").relative_to(folder).as_posix()


def document_of(
    analysis: report.Analysis, picture: str, pictures: Sequence[tuple[DrawnFigure, str]], measure: str
) -> str:
    """Return the report with tables of `measure`; `picture` is the chart of the claims.

    Long tables are folded: a browser shows their titles, and opens them one by one.
    """
    results = analysis.results
    parts = [
        f"# {escaped(results.title)}",
        *opening_of(analysis, picture),
        "## What was run",
        table(["what", "which"], _escaped(report.facts(results))),
        *_missing(results),
        folded("Made with", table(["what", "which"], _escaped(results.made.items()))),
        *_claims(analysis),
        *_figures(pictures, results),
        *_medians(analysis, measure),
        *_growth(analysis, measure),
        "## How to cite",
        *(
            "{text}\n\n```bibtex\n{bibtex}\n```".format_map(citation)
            for citation in report.citations(results)
        ),
    ]
    return "\n\n".join(parts) + "\n"


def _escaped(rows: Iterable[tuple[str, str]]) -> list[list[str]]:
    return [[escaped(text) for text in row] for row in rows]


def _missing(results: Results) -> list[str]:
    """Return what is not there: runs that were wanted, and cells that the study does not declare."""
    rows = [
        [escaped(results.name_of(entry.cell)), str(len(entry.runs)), str(entry.wanted)]
        for entry in report.missing(results)
    ]
    short = f"Cells that have fewer runs than wanted: {len(rows)}"
    parts = [folded(short, table(["cell", "runs", "wanted"], rows))] if rows else []
    if others := [[escaped(results.name_of(cell))] for cell in report.left_out(results)]:
        text = f"The declaration of the study says why.\n\n{table(['cell'], others)}"
        parts.append(folded(f"Cells that the study leaves out: {len(others)}", text))
    return parts


def _claims(analysis: report.Analysis) -> list[str]:
    claims = report.claims_of(analysis.judgements)
    if not claims:
        return []
    verdicts, parts = [], []
    for claim in claims:
        texts = [f"**{one.verdict}** ({one.agreement})" if one.agreement else one.verdict for one in claim]
        verdicts.append([str(claim[0].number), claim[0].claim, *texts])
        rows = [[*what, *map(_ours, found)] for what, found in report.side_by_side(claim).items()]
        header = ["measured", "paper", *(f"ours, {reading}" for reading in analysis.readings)]
        parts.append(folded(f"Claim {claim[0].number}: {len(rows)} measurements", table(header, rows)))
    return [
        "## The paper's claims",
        table(["", "claim", *analysis.readings], verdicts),
        RULES,
        "What is measured for each claim, with 95 % bootstrap intervals: ✓ agrees with the paper, "
        "✗ disagrees, ↗ diverges.",
        *parts,
    ]


def _ours(found: Measurement | None) -> str:
    if found is not None and found.diverges:
        return "↗"
    if found is None or found.ours is None:
        return "—"
    return {True: "✓ ", False: "✗ ", None: ""}[found.holds] + _estimate(found.ours)


def _estimate(found: Estimate) -> str:
    return f"{brief(found.value)} [{brief(found.low)}, {brief(found.high)}]"


def _figures(pictures: Sequence[tuple[DrawnFigure, str]], results: Results) -> list[str]:
    shown = [
        f"![{escaped(figure.name)}{f', {figure.reading}' if results.names_readings else ''}]({path})\n\n"
        f"**{escaped(figure.name)}.** {escaped(figure.caption)}"
        for figure, path in pictures
    ]
    return ["## Figures", *shown] if shown else []


def _medians(analysis: report.Analysis, measure: str) -> list[str]:
    """Return tables of schemes by problems, one for each reading, n and L, if there are any."""
    groups: dict[tuple[str, int, float | None], dict[tuple[str, str], str]] = {}
    for cell, found in analysis.summaries.items():
        texts = groups.setdefault((cell.reading, cell.n, cell.L), {})
        texts[cell.scheme, escaped(cell.problem)] = _median(cell, found[measure])
    explanation = (
        "In brackets the 95 % bootstrap interval; in parentheses how many runs reached the target, if not "
        "all did: the others count as infinite. A cell diverges where most of its runs do."
    )
    parts = [f"## Medians of {measure} / n", explanation]

    def place(group: tuple[str, int, float | None]) -> tuple[int, int, float]:
        reading, n, condition = group
        return analysis.readings.index(reading), n, math.inf if condition is None else condition

    for group in sorted(groups, key=place):
        reading, n, condition = group
        where = f"n = {n}" if condition is None else f"n = {n}, L = {power(condition)}"
        title = f"Reading {reading}, {where}" if analysis.results.names_readings else where
        parts.append(folded(title, _by_scheme(groups[group], "—")))
    return parts if groups else []


def _median(cell: Cell, found: Summary) -> str:
    if 2 * found.diverged > found.runs:
        return f"diverges ({found.diverged} of {found.runs})"
    reached = "" if found.successes == found.runs else f" ({found.successes} of {found.runs})"
    return _estimate(Estimate._make(count / cell.n for count in found.median)) + reached


def _growth(analysis: report.Analysis, measure: str) -> list[str]:
    """Return tables of schemes by problems, one for each reading."""
    groups: dict[str, dict[tuple[str, str], str]] = {}
    for growth in analysis.growths:
        problem = escaped(growth.problem if growth.L is None else f"{growth.problem}, L = {power(growth.L)}")
        exponent = _estimate(growth.exponents[measure])
        groups.setdefault(growth.reading, {})[growth.scheme, problem] = exponent
    explanation = (
        f"The power of n with which the median of {measure} grows, by least squares on logarithms over all "
        "dimensions that were run: 1 where the cost per variable is constant."
    )
    tables = [
        folded(
            f"Growth, reading {reading}" if analysis.results.names_readings else "Growth",
            _by_scheme(texts, ""),
        )
        for reading, texts in groups.items()
    ]
    return ["## Growth with n", explanation, *tables] if tables else []


def _by_scheme(texts: Mapping[tuple[str, str], str], missing: str) -> str:
    """Return a table of texts, which has a row for each scheme and a column for each problem."""
    schemes, problems = (
        report.distinct(scheme for scheme, _ in texts),
        report.distinct(problem for _, problem in texts),
    )
    rows = [[escaped(scheme), *(texts.get((scheme, one), missing) for one in problems)] for scheme in schemes]
    return table(["scheme", *problems], rows)


def opening_of(analysis: report.Analysis, picture: str) -> list[str]:
    """Return the opening as parts of Markdown; `picture` is the path of the chart of the claims."""
    if not analysis.judgements:
        return []
    best = max(analysis.readings, key=lambda reading: _fit(analysis, reading))
    return [
        "## In short",
        _what_was_run(analysis),
        table(
            ["reading", "hold", "hold in part", "do not hold", "open", "measurements that agree"],
            [_verdicts_under(analysis, reading) for reading in analysis.readings],
        ),
        f"![How many measurements of each claim agree with the paper]({picture})",
        *_findings(analysis, best),
    ]


def _what_was_run(analysis: report.Analysis) -> str:
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


def _verdicts_under(analysis: report.Analysis, reading: str) -> list[str]:
    """Return a reading, the claims with each verdict, and how many measurements agree of those made."""
    judged = [judgement for judgement in analysis.judgements if judgement.reading == reading]
    counts = [judgement.counts for judgement in judged]
    agree, made = sum(one["agrees"] for one in counts), sum(one.total() - one["missing"] for one in counts)
    columns = [
        ", ".join(str(judgement.number) for judgement in judged if judgement.verdict in verdicts) or "none"
        for verdicts in VERDICT_COLUMNS.values()
    ]
    return [reading, *columns, f"{spaced(agree)} of {spaced(made)}"]


def _fit(analysis: report.Analysis, reading: str) -> tuple[int, int]:
    """Return how many claims hold under a reading, and how many measurements agree."""
    judged = [judgement for judgement in analysis.judgements if judgement.reading == reading]
    holding = sum(judgement.verdict in VERDICT_COLUMNS["hold"] for judgement in judged)
    return holding, sum(judgement.counts["agrees"] for judgement in judged)


def _findings(analysis: report.Analysis, best: str) -> list[str]:
    """Return which reading fits, and how other schemes compare with SARP in the largest dimension."""
    n = max((cell.n for cell in analysis.summaries), default=0)
    paths = {reading: _over_sarp(analysis, "ep-cma-1", n, reading) for reading in analysis.readings}
    columns = {scheme: _over_sarp(analysis, scheme, n, best) for scheme in ("rp", "cma", "ep-cma-n")}
    columns |= {f"ep-cma-1, {reading}": found for reading, found in paths.items()}
    growths = {
        PaperProblem(growth.problem, growth.L): growth.exponents["iterations"].value
        for growth in analysis.growths
        if (growth.scheme, growth.reading) == ("sarp", best)
    }
    places = list(dict.fromkeys(itertools.chain(*columns.values())))
    if not places:
        return []
    rows = [
        [str(place), *(brief(found.get(place, math.nan)) for found in (*columns.values(), growths))]
        for place in places
    ]
    can = [
        f"on {ahead} ({reading})" for reading, found in paths.items() if (ahead := _listed(found, _is_ahead))
    ]
    slower = [factor for factor in paths[best].values() if 1.0 <= factor < math.inf]
    cannot = f" Under `{best}` it otherwise needs {_range(slower)} times as many" if slower else ""
    missed = _listed(paths[best], math.isinf)
    cannot += f", and misses the target on {missed}." if cannot and missed else "." if cannot else ""
    steep = ", and SARP's own grow faster than n where the last column is above 1"
    findings = [
        f"**Which reading fits:** `{best}`. Most claims hold under it and, of readings with equally many, "
        "most measurements agree.",
        f"**What EP-CMA-1 can do:** it needs fewer iterations than SARP {' and '.join(can) or 'nowhere'}."
        f"{cannot}",
        "**Where SARP's advantage ends:** CMA, whose iterations cost n squared, needs fewer on "
        f"{_listed(columns['cma'], _is_ahead) or 'none of the problems'}{steep if analysis.growths else ''}.",
    ]
    return [
        f"Median iterations divided by those of SARP, n = {n}, reading `{best}` unless another is named: ∞ "
        "where most runs did not reach the target, a dash where SARP's did not. Last, the power of n by "
        "which those of SARP grow. One of its iterations takes two evaluations.",
        table(["problem", *columns, "growth of sarp"], rows),
        "\n".join(f"- {finding}" for finding in findings[len(analysis.readings) == 1 :]),
    ]


def _listed(found: Mapping[PaperProblem, float], fits: Callable[[float], bool]) -> str:
    """Return the problems whose numbers fit."""
    return ", ".join(str(place) for place, number in found.items() if fits(number))


def _is_ahead(factor: float) -> bool:
    return factor < 1.0


def _range(numbers: Sequence[float]) -> str:
    ends = dict.fromkeys(brief(end) for end in (min(numbers), max(numbers)))
    return " to ".join(ends)


def _over_sarp(analysis: report.Analysis, scheme: str, n: int, reading: str) -> dict[PaperProblem, float]:
    """Return the quotients of the medians of a scheme and of SARP, where SARP has one."""
    medians = {cell: found["iterations"].median.value for cell, found in analysis.summaries.items()}
    return {
        PaperProblem(cell.problem, cell.L): median / medians[cell._replace(scheme="sarp")]
        for cell, median in medians.items()
        if (cell.scheme, cell.n, cell.reading) == (scheme, n, reading)
        and math.isfinite(medians.get(cell._replace(scheme="sarp"), math.inf))
    }
