"""The report of a study: a page, the same as Markdown, its figures, and its numbers as CSV files."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from pursuit.checks import checked_choice
from pursuit.experiments.study.claims import judge
from pursuit.experiments.study.figures import Drawn, draw_figures
from pursuit.experiments.study.report.document import document_of
from pursuit.experiments.study.report.overview import growths_of, summaries_of
from pursuit.experiments.study.report.page import page_of
from pursuit.experiments.study.report.tables import Row, claim_rows, growth_rows, run_rows, summary_rows
from pursuit.experiments.study.results import Results
from pursuit.experiments.study.stats import MEASURES


def write_report(results: Results, folder: Path, measure: str = "iterations") -> Path:
    """Write the report of a study, and return the path of its page.

    Only `report.html` depends on how long runs took, and only it and `report.md` tell what the study was
    made with; all other files follow from the results of the runs, byte for byte.

    Parameters
    ----------
    results : Results
        The study.
    folder : Path
        Where to write `report.html`, `report.md`, `figures/` and `tables/`, over files of these names.
    measure : str
        "iterations" or "evaluations": what figures and the tables of `report.md` show.

    Returns
    -------
    Path
        That of `report.html`.
    """
    checked_choice("measure", measure, MEASURES)
    folder.mkdir(parents=True, exist_ok=True)
    drawn = draw_figures(results, folder / "figures", measure)
    summaries = summaries_of(results)
    growths = growths_of(results)
    judgements = judge(results)
    _write_csv(folder / "tables" / "summary.csv", summary_rows(results, summaries))
    _write_csv(folder / "tables" / "growth.csv", growth_rows(growths))
    _write_csv(folder / "tables" / "claims.csv", claim_rows(judgements))
    _write_csv(folder / "tables" / "runs.csv", run_rows(results))
    pictures = [(figure, _picture(figure, folder)) for figure in drawn]
    _write(folder / "report.md", document_of(results, summaries, growths, judgements, pictures, measure))
    page = folder / "report.html"
    _write(page, page_of(results, summaries, growths, judgements, measure))
    return page


def _picture(figure: Drawn, folder: Path) -> str:
    """Return the way from the report to a figure that Markdown can show."""
    return next(path for path in figure.paths if path.suffix == ".png").relative_to(folder).as_posix()


def _write(path: Path, text: str) -> None:
    """Write a file beside its place and move it there, so that nobody ever finds half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    part.write_text(text, encoding="utf-8", newline="\n")
    part.replace(path)


def _write_csv(path: Path, rows: Sequence[Row]) -> None:
    """Write rows under the names of the first; a missing number is an empty field, an infinite one `inf`."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(rows[0] if rows else ())
    for row in rows:
        writer.writerow("" if value is None or value != value else value for value in row.values())
    _write(path, text.getvalue())
