"""EP-CMA-m beside LM-CMA with the same m: the paper's claim 15, under every reading.

The paper's study does not run LM-CMA. ``python -m benchmarks.lm_cma PAPER RIVALS`` takes EP-CMA from the
tables of one report and LM-CMA, which no reading changes, from those of another, and prints a report in
Markdown; ``--out FILE`` writes it as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.pages.stamp import filled
from benchmarks.reporting import made_by, publish, report_parser
from pursuit.experiments.common.formatting import brief, table
from pursuit.experiments.study.claims import CLAIMS, judge
from pursuit.experiments.study.evidence import Judgement
from pursuit.experiments.study.report import side_by_side
from pursuit.experiments.study.report.tables import read_tables
from pursuit.experiments.study.results import Results

CLAIM = 15


def judged(paper: Results, rivals: Results) -> list[Judgement]:
    """Return the claim under each reading of the paper's study, with the runs of LM-CMA of another study."""
    readings = dict.fromkeys(entry.cell.reading for entry in paper.cells)
    others = (
        entry._replace(cell=entry.cell._replace(reading=reading))
        for entry in rivals.select()
        if entry.cell.scheme.startswith("lm-cma-")
        for reading in readings
    )
    return judge(
        paper._replace(cells=(*paper.cells, *others)), [one for one in CLAIMS if one.number == CLAIM]
    )


def report(judgements: Sequence[Judgement]) -> str:
    """Return the report on the claim."""
    readings = [one.reading for one in judgements]
    verdicts = [[one.reading, one.verdict, one.agreement] for one in judgements]
    rows = [
        [text, *(f"{one.outcome}: {brief(one.ours.value)}" if one and one.ours else "—" for one in found)]
        for (text, _), found in side_by_side(judgements).items()
    ]
    return filled(
        "lm-cma", number=CLAIM, claim=judgements[0].claim,
        verdicts=table(["reading", "verdict", "measurements"], verdicts),
        measured=table(["measured", *readings], rows), made=made_by("benchmarks.lm_cma"),
    )  # fmt: skip


def main() -> None:
    parser = report_parser(__doc__)
    parser.add_argument("folders", nargs=2, type=Path, metavar="DIR", help="the folders of the two reports")
    options = parser.parse_args()
    paper, rivals = (read_tables(folder / "tables") for folder in options.folders)
    publish(report(judged(paper, rivals)), options.out)


if __name__ == "__main__":
    main()
