"""The report of a study: a page, the same as Markdown, its figures, and its numbers as CSV files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pursuit.checks import checked_choice
from pursuit.experiments.common.files import write_file
from pursuit.experiments.common.plotting import FORMATS, PRINT, SCREEN, save
from pursuit.experiments.study.figures import build_outcomes, draw_figures
from pursuit.experiments.study.report.analysis import analyse
from pursuit.experiments.study.report.document import document_of
from pursuit.experiments.study.report.page import page_of
from pursuit.experiments.study.report.tables import write_tables
from pursuit.experiments.study.results import Results
from pursuit.experiments.study.stats import MEASURES, with_distributions


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
    analysis = analyse(results)
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
