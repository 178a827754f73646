"""The report of a study: a page, the same as Markdown, its figures, and its numbers as CSV files."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from pursuit.checks import checked_choice
from pursuit.experiments.common.files import write_file
from pursuit.experiments.study.figures import DrawnFigure, draw_figures
from pursuit.experiments.study.report.analysis import analyse
from pursuit.experiments.study.report.document import document_of
from pursuit.experiments.study.report.page import page_of
from pursuit.experiments.study.report.tables import Row, claim_rows, growth_rows, run_rows, summary_rows
from pursuit.experiments.study.results import Results
from pursuit.experiments.study.stats import MEASURES


def write_report(results: Results, folder: Path, measure: str | None = None) -> Path:
    """Write the report of a study, and return the path of its page.

    Only `report.html` depends on how long runs took, and only it and `report.md` say what the study was made
    with; all other files follow from the results of the runs, byte for byte.

    Parameters
    ----------
    results : Results
        The study.
    folder : Path
        Where to write `report.html`, `report.md`, `figures/` and `tables/`, over files of these names. Tables
        without rows are not written.
    measure : str
        "iterations" or "evaluations": what figures and the tables of `report.md` show; by default iterations
        for the paper's studies, and evaluations for others.

    Returns
    -------
    Path
        That of `report.html`.
    """
    measure = results.usual_measure if measure is None else checked_choice("measure", measure, MEASURES)
    folder.mkdir(parents=True, exist_ok=True)
    drawn = draw_figures(results, folder / "figures", measure)
    analysis = analyse(results)
    for name, rows in (
        ("summary", summary_rows(analysis)),
        ("growth", growth_rows(analysis.growths)),
        ("claims", claim_rows(analysis.judgements)),
        ("runs", run_rows(results)),
    ):
        path = folder / "tables" / f"{name}.csv"
        if rows:
            write_file(path, _csv(rows))
        else:
            path.unlink(missing_ok=True)
    pictures = [(figure, _picture(figure, folder)) for figure in drawn]
    write_file(folder / "report.md", document_of(analysis, pictures, measure))
    page = folder / "report.html"
    write_file(page, page_of(analysis, measure))
    return page


def _picture(figure: DrawnFigure, folder: Path) -> str:
    """Return the path of a figure that Markdown can show, relative to the report."""
    return next(path for path in figure.paths if path.suffix == ".png").relative_to(folder).as_posix()


def _csv(rows: Sequence[Row]) -> str:
    """Return rows under the names of the first; a missing number is an empty field, an infinite one `inf`."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(rows[0])
    for row in rows:
        writer.writerow("" if value is None or value != value else value for value in row.values())
    return text.getvalue()
