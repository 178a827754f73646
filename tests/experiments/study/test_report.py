"""The report's files, compared with numbers worked out by hand."""

import csv
import gzip
import json
import math
import re
import shutil
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from experiments.study import small
from experiments.study.drawn import spec, titles_of
from experiments.study.made_up import CAP, FIGURES, READINGS, made_up_results
from experiments.study.paper_study import study as paper_study
from pursuit.experiments.common.formatting import brief, table
from pursuit.experiments.study import draw_report, reproduce
from pursuit.experiments.study.figures import build_figure
from pursuit.experiments.study.report import analyse
from pursuit.experiments.study.report.document import document_of, opening_of, write_report
from pursuit.experiments.study.report.page import page_of
from pursuit.experiments.study.report.tables import read_tables
from pursuit.experiments.study.stats import distributions_of

# One process makes what these tests look at.
pytestmark = pytest.mark.xdist_group("report")


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    return write_report(made_up_results(figures=FIGURES[1:]), tmp_path_factory.mktemp("report")).parent


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def files_of(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


@pytest.fixture(scope="module")
def own_report(tmp_path_factory):
    results = made_up_results(figures=[], readings=["fitted"])._replace(judges_claims=False)
    return write_report(results, tmp_path_factory.mktemp("own")).parent


def test_an_own_study_compares_evaluations(own_report):
    text = (own_report / "report.md").read_text()
    assert "## Medians of evaluations / n" in text
    assert "Function values against evaluations" in text
    assert "iterations of the runs that" not in text
    # SARP takes two of them in an iteration: 2 * 400 + 1/5.
    medians = text.partition("<summary>n = 5, L = 1e4</summary>")[2]
    assert "| sarp | 800 " in medians
    assert '"measure": "evaluations"' in (own_report / "report.html").read_text().replace('":"', '": "')


def test_an_own_study_of_one_reading_says_nothing_of_readings(own_report):
    text = (own_report / "report.md").read_text()
    words = text.replace("-fitted.png", "").lower()
    assert "reading" not in words
    assert "fitted" not in words


def test_one_of_several_readings_names_them(tmp_path):
    write_report(made_up_results(places=[("exp", 1e4)], figures=[])._replace(judges_claims=False), tmp_path)
    text = (tmp_path / "report.md").read_text()
    assert "<summary>Reading printed, n = 5, L = 1e4</summary>" in text
    assert "<summary>Growth, reading fitted</summary>" in text
    assert "Reading: printed." in text


def test_every_file_is_where_it_belongs(report):
    names = set(files_of(report))
    tables = {"tables/summary.csv", "tables/growth.csv", "tables/claims.csv", "tables/runs.csv"}
    assert {"report.html", "report.md"} | tables <= names
    assert {name.split("/")[0] for name in names} == {"report.html", "report.md", "tables", "figures"}


def test_summary_by_hand(report):
    rows = {
        (row["problem"], row["L"], row["n"], row["scheme"], row["reading"]): row
        for row in rows_of(report / "tables" / "summary.csv")
    }
    assert len(rows) == 36
    lacking = rows["exp", "1000000.0", "10", "rp", "fitted"]
    assert (lacking["runs"], lacking["wanted"], lacking["iterations_median"]) == ("0", "3", "")
    sarp = rows["exp", "10000.0", "5", "sarp", "fitted"]
    assert (sarp["runs"], sarp["wanted"], sarp["successes"], sarp["cap"]) == ("3", "3", "3", str(5 * CAP))
    assert [float(sarp[f"iterations_{name}"]) for name in ("median", "mean", "deviation")] == [
        2000,
        2000,
        1000,
    ]
    assert [float(sarp[f"evaluations_{name}"]) for name in ("median", "mean", "deviation")] == [
        4001,
        4001,
        2000,
    ]
    assert float(sarp["iterations_median_low"]) == 1000
    assert float(sarp["iterations_median_high"]) == 3000


def test_what_is_infinite_and_what_is_missing_differ(report):
    rows = rows_of(report / "tables" / "summary.csv")
    lost = next(row for row in rows if row["problem"] == "rosenbrock" and row["successes"] == "0")
    assert (lost["scheme"], lost["reading"], lost["L"]) == ("sarp", "printed", "")
    assert float(lost["iterations_median"]) == math.inf
    assert lost["iterations_mean"] == lost["iterations_deviation"] == ""


def test_every_run_has_its_row(report):
    rows = rows_of(report / "tables" / "runs.csv")
    assert len(rows) == 36 * 3 - 5
    assert list(rows[0]) == ["problem", "L", "n", "scheme", "reading", "run", "nit", "nfev", "fun", "reason"]
    cma = next(
        row for row in rows if row["scheme"] == "cma" and row["reading"] == "printed" and row["run"] == "2"
    )
    assert (cma["nit"], cma["nfev"], float(cma["fun"]), cma["reason"]) == ("3000", "3001", 5e-10, "target")


def test_claims_have_a_row_per_reading_and_measurement(report):
    rows = rows_of(report / "tables" / "claims.csv")
    assert {(int(row["claim"]), row["reading"]) for row in rows} == {
        (number, reading) for number in range(1, 18) for reading in READINGS
    }
    # All lengths are proportional to n.
    growth = [row for row in rows if row["claim"] == "4" and row["measured"].startswith("exp L=1e4:")]
    assert [float(row["value"]) for row in growth] == pytest.approx([1.0] * 4)
    assert {row["outcome"] for row in growth} == {"agrees"}


def test_a_study_that_is_not_the_papers_shows_no_claims_and_no_empty_tables(tmp_path):
    paper = made_up_results(places=[("rosenbrock", None)], readings=["fitted"], figures=[])
    renamed = {
        entry.cell._replace(problem="bowl", scheme=f"my-{entry.cell.scheme}"): entry
        for entry in paper.cells
        if entry.cell.n == 5
    }
    own = paper._replace(
        cells=tuple(entry._replace(cell=cell) for cell, entry in renamed.items()),
        trace=lambda cell, number: paper.trace(renamed[cell].cell, number),
        judges_claims=False,
    )
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "claims.csv").write_text("of an earlier report")
    write_report(own, tmp_path)
    assert {path.name for path in (tmp_path / "tables").iterdir()} == {
        "summary.csv",
        "runs.csv",
        "curves.csv",
        "distributions.csv",
        "study.json",
    }
    text = (tmp_path / "report.md").read_text()
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == [
        "What was run",
        "Figures",
        "Medians of evaluations / n",
        "How to cite",
    ]
    assert "Stich" not in text
    page = (tmp_path / "report.html").read_text()
    (content,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page)
    data = json.loads(content)
    assert (data["claims"], data["growth"], len(data["citations"])) == ([], [], 1)


def test_growth_by_hand(report):
    """All lengths are proportional to n; a scheme that always fails has no growth to speak of."""
    rows = rows_of(report / "tables" / "growth.csv")
    assert {row["dimensions"] for row in rows} == {"5 10"}
    sarp = next(
        row for row in rows if (row["problem"], row["scheme"], row["reading"]) == ("exp", "sarp", "fitted")
    )
    assert float(sarp["iterations_exponent"]) == pytest.approx(1.0)
    assert float(sarp["evaluations_exponent"]) == pytest.approx(math.log2(8001 / 4001))
    assert float(sarp["iterations_exponent_low"]) < 1.0 < float(sarp["iterations_exponent_high"])
    lost = next(
        row
        for row in rows
        if (row["problem"], row["scheme"], row["reading"]) == ("rosenbrock", "sarp", "printed")
    )
    assert lost["iterations_exponent"] == ""
    assert re.search(r"^## Growth with n$", (report / "report.md").read_text(), re.MULTILINE)


def test_markdown_tells_what_was_run_and_what_is_missing(report):
    text = (report / "report.md").read_text()
    assert text.startswith("# Made up \\</script\\>\\<script\\>window.broken = true\\</script\\> \\& small\n")
    assert "| runs | 103 of 108 wanted |" in text
    assert "| exp L=1e6 n=10 rp fitted | 0 | 3 |" in text
    assert "| date | 2014-09-13 |" in text
    assert "arXiv:1406.2010" in text


def test_what_a_report_says_to_be_missing_follows_from_the_results():
    results = paper_study()
    whole = "\n".join(document_of(analyse(results), "", [], "iterations").splitlines())
    for word in ("fewer runs", "leaves out", "not all there", "so far"):
        assert word not in whole
    first, second, *others = results.cells
    part = results._replace(cells=(first._replace(wanted=9), *others))
    text = document_of(analyse(part), "", [], "iterations")
    short = f"wanted: 1</summary>\n\n| cell | runs | wanted |\n| --- | --- | --- |\n| {first.cell} | 1 | 9 |"
    assert f"Cells that have fewer runs than {short}" in text
    assert "Cells that the study leaves out: 1</summary>" in text
    assert f"declaration of the study says why.\n\n| cell |\n| --- |\n| {second.cell} |" in text
    assert "a claim whose runs are not all there counts as what it is so far" in text


def test_a_published_report_is_small_and_follows_from_its_tables(tmp_path):
    with ThreadPoolExecutor() as executor:
        reproduce(
            small.declared(tmp_path),
            tmp_path / "runs",
            only="problem=exp n=4 scheme=rp,cma",
            runs=2,
            executor=executor,
        )
    draw_report(tmp_path / "runs")
    before = files_of(tmp_path / "runs")
    page = draw_report(tmp_path / "runs", publish=tmp_path / "published")
    assert page == tmp_path / "published" / "report.md"
    published = files_of(tmp_path / "published")
    kinds = {name.rpartition(".")[2] for name in published if not name.endswith(".lock")}
    assert kinds == {"md", "png", "json", "gz"}
    for name in ("runs", "summary", "curves", "distributions"):
        assert gzip.decompress(published[f"tables/{name}.csv.gz"]) == before[f"tables/{name}.csv"]
    assert published["report.md"] == before["report.md"]
    draw_report(tmp_path / "published")
    assert files_of(tmp_path / "published") == published
    assert files_of(tmp_path / "runs") == before


def test_markdown_has_a_table_of_medians_for_each_reading_n_and_condition(report):
    text = (report / "report.md").read_text()
    medians = text.partition("## Medians of iterations / n")[2]
    assert medians.count("\n<details><summary>Reading") == 12
    assert "<summary>Reading printed, n = 10, L = 1e4</summary>\n\n| scheme | exp |" in medians
    assert "| sarp | 400 [200, 600] |" in medians.partition("<summary>Reading fitted, n = 5, L = 1e4")[2]
    assert "| sarp | diverges (3 of 3) |" in medians.partition("<summary>Reading printed, n = 10<")[2]


def test_the_report_opens_with_what_a_busy_reader_should_know(report):
    opening, *rest = (report / "report.md").read_text().split("\n## ")[1:]
    assert opening.startswith(
        "In short\n\n3 schemes on 2 problems in 5 to 10 dimensions: 103 runs. 17 claims "
    )
    assert "![How many measurements of each claim agree with the paper](figures/claims.png)" in opening
    assert (report / "figures" / "claims.png").read_bytes().startswith(b"\x89PNG")
    assert "<details>" not in opening
    # Long tables are folded: no table with measurements is open.
    folded = "".join(part.partition("</details>")[0] for part in "\n## ".join(rest).split("<details>")[1:])
    assert folded.count("| measured | paper |") == 17


def test_verdicts_are_put_together_by_reading():
    opening = "\n".join(opening_of(analyse(paper_study(readings=("printed", "fitted"))), "claims.png"))
    every = ", ".join(map(str, range(1, 18)))
    assert f"| fitted | {every} | none | none | none |" in opening
    assert "| lin L=1e6 | 10 | 0.0208 | 0.0208 | 0.0417 | 0.0417 | 1 |" in opening
    assert "than SARP on lin L=1e4, lin L=1e6 (printed) and on lin L=1e4, lin L=1e6 (fitted)." in opening
    assert "CMA, whose iterations cost n squared, needs fewer on exp L=1e4, exp L=1e6, lin L=1e4," in opening


def test_tables_alone_are_enough_to_write_the_report_again(report, tmp_path):
    """But for the page; runtime distributions have all their targets."""
    (tmp_path / "second").mkdir()
    shutil.copytree(report / "tables", tmp_path / "second" / "tables")
    for name in ("runs", "claims"):
        table = tmp_path / "second" / "tables" / f"{name}.csv"
        table.with_name(f"{name}.csv.gz").write_bytes(gzip.compress(table.read_bytes(), mtime=0))
        table.unlink()
    assert draw_report(tmp_path / "second") == tmp_path / "second" / "report.md"
    first, second = files_of(report), files_of(tmp_path / "second")
    for name in (f"tables/{name}.csv" for name in ("summary", "growth", "curves", "rates", "distributions")):
        assert first[name] == second[name], name
    # What was packed stays packed.
    assert "tables/claims.csv" not in second
    assert second["tables/claims.csv.gz"] == gzip.compress(first["tables/claims.csv"], mtime=0)
    assert first["report.md"] == second["report.md"]
    assert b"The 56 targets lie between 100 and 1e-9." in second["report.md"]
    assert {name for name in second if name.endswith(".png")} == {
        name for name in first if name.endswith(".png")
    }


def test_distributions_from_tables_are_those_of_the_traces(report):
    results, again = made_up_results(), read_tables(report / "tables")
    for measure in ("iterations", "evaluations"):
        for n in (5, 10):
            drawn = distributions_of(results, "printed", n, measure)
            kept = distributions_of(again, "printed", n, measure)
            assert [one.scheme for one in kept] == [one.scheme for one in drawn] == ["rp", "sarp", "cma"]
            for one, other in zip(kept, drawn, strict=True):
                np.testing.assert_allclose(one.budgets, other.budgets, rtol=1e-2)
                np.testing.assert_allclose(one.shares, other.shares, rtol=1e-2)


def test_markdown_shows_every_figure_as_a_file_beside_it(report):
    links = [line.partition("](")[2].rstrip(")") for line in (report / "report.md").read_text().splitlines()
             if line.startswith("![")]  # fmt: skip
    assert links
    assert all((report / link).read_bytes().startswith(b"\x89PNG") for link in links)


def test_all_but_the_page_follows_from_the_runs_alone(tmp_path):
    rosenbrock = {"places": [("rosenbrock", None)], "readings": ["fitted"], "figures": FIGURES[1:]}
    (tmp_path / "first").mkdir()
    (tmp_path / "first" / "report.md").write_text("older")
    for folder, seconds in (("first", 1.0), ("second", 3.0)):
        results = made_up_results(**rosenbrock, seconds=seconds)
        write_report(results, tmp_path / folder, measure="evaluations")
    first, second = files_of(tmp_path / "first"), files_of(tmp_path / "second")
    assert first.keys() == second.keys()
    assert {name for name in first if first[name] != second[name]} == {"report.html"}
    assert "| sarp | 800 [400, 1 200] |" in first["report.md"].decode()


def test_the_page_needs_no_figures_and_no_other_files():
    results = made_up_results(figures=[])
    page = page_of(analyse(results), "iterations")
    assert not re.search(r"<(script|img|link|iframe)[^>]*(src|href)=[\"'](?!data:)", page)
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page)
    data = json.loads(text, parse_constant=pytest.fail)
    # One figure for each problem: a row for each n, a column for each L.
    assert [figure["rows"] for figure in data["figures"]] == [[[0, 2], [1, 3]], [[4], [5]]]
    assert all(len(curve["fun"]) <= 400 for panel in data["panels"] for curve in panel["curves"])


def test_the_page_arranges_panels_as_print_does():
    """Values are ordered as the figure names them, and a problem without L is where the smallest L is."""
    figures = [
        spec("problem", "n", {"problem": ("rosenbrock", "exp"), "n": (10, 5), "L": (1e4,)}, name="named"),
        spec("L", "problem", {"n": (5,)}, name="mixed"),
    ]
    results = made_up_results(figures=figures, readings=["fitted"])
    page = page_of(analyse(results), "iterations")
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page)
    data = json.loads(text)
    for figure, declared in zip(data["figures"], figures, strict=True):
        titles = [[None if i is None else data["panels"][i]["title"] for i in row] for row in figure["rows"]]
        assert titles == titles_of(build_figure(results, declared, "fitted"))
    assert data["figures"][1]["rows"][1][1] is None


def test_a_measure_that_does_not_exist(tmp_path):
    with pytest.raises(ValueError, match="iterations, evaluations"):
        write_report(made_up_results(), tmp_path, measure="seconds")


def test_numbers_and_tables_of_markdown():
    assert [brief(number) for number in (999.4, 999.6, 0.012345, -math.inf)] == [
        "999",
        "1 000",
        "0.0123",
        "-∞",
    ]
    assert table(["a|b"], [["c"]]) == "| a\\|b |\n| --- |\n| c |"
