"""One truth: what public pages say of claims, schemes, runs and panels is what the committed tables have."""

import csv
import gzip
import re
from collections import Counter
from pathlib import Path

import pytest
from benchmarks.lm_cma import judged, report
from benchmarks.readings.measured import FOLDER

from pursuit.experiments.study.claims import CLAIMS
from pursuit.experiments.study.declaration import load_study
from pursuit.experiments.study.report import left_out
from pursuit.experiments.study.report.document import VERDICT_COLUMNS
from pursuit.experiments.study.report.tables import read_tables

ROOT = Path(__file__).parents[3]
RESULTS = ROOT / "docs" / "results"
PAGES = [
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "paper/paper.md")),
    *(ROOT / "docs").glob("*.md"),
]
WORDS = [
    *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
]
NUMBER = rf"\b({'|'.join(WORDS)}|\d[\d ]*\d|\d)"


def text_of(page):
    """Return a page in one line."""
    return " ".join(page.read_text().split())


def value_of(text):
    return WORDS.index(text) + 1 if text in WORDS else int(text.replace(" ", ""))


def rows_of(*path):
    found = RESULTS.joinpath(*path)
    packed = found.with_name(f"{found.name}.gz")
    with gzip.open(packed, "rt", newline="") if packed.exists() else found.open(newline="") as file:
        return list(csv.DictReader(file))


def numbers_before(what):
    """Return every number that stands before a word on a public page, with the page's name."""
    pattern = re.compile(rf"{NUMBER}(?:\*\*)? {what}", re.IGNORECASE)
    return [
        (page.name, value_of(found.lower())) for page in PAGES for found in pattern.findall(text_of(page))
    ]


@pytest.fixture(scope="module")
def claims():
    return rows_of("paper", "tables", "claims.csv")


def test_pages_speak_of_as_many_claims_as_there_are(claims):
    total = len({row["claim"] for row in claims})
    assert total == len(CLAIMS)
    scan = {row["claim"] for row in rows_of("readings", "claims.csv") if int(row["measured"])}
    special = {"claims that the scan decides": len(scan), "claims, those about its data": 12}
    for what, number in special.items():
        assert {found for _, found in numbers_before(what)} <= {number}
    others = numbers_before("claims(?! that the scan decides|, those about its data)")
    assert others
    assert {found for _, found in others} == {total}, others


def test_the_verdicts_that_a_page_names_are_those_of_the_report(claims):
    verdicts = {int(row["claim"]): row["verdict"] for row in claims if row["reading"] == "fitted"}

    def listed(column):
        return [number for number, verdict in verdicts.items() if verdict in VERDICT_COLUMNS[column]]

    pattern = r"Under `fitted` claims ([\d, and]+) hold, (\w+) hold in part, and ([\d, and]+) do not"
    ((hold, part, fail),) = re.findall(pattern, text_of(ROOT / "docs" / "reading.md"))
    assert [int(number) for number in re.findall(r"\d+", hold)] == listed("hold")
    assert value_of(part) == len(listed("in part"))
    assert [int(number) for number in re.findall(r"\d+", fail)] == listed("do not hold")


def test_the_claim_beside_lm_cma_is_that_of_the_tables():
    paper, rivals = (
        read_tables(RESULTS.joinpath(*path, "tables")) for path in (["paper"], ["rivals", "cpu"])
    )
    text = report(judged(paper, rivals)).partition("\n\nMade by")[0]
    assert (RESULTS / "rivals" / "lm-cma.md").read_text().startswith(text)
    verdicts = dict(re.findall(r"^\| (\w+) \| (holds[ \w]*|does not hold) \|", text, re.MULTILINE))
    pattern = r"it (holds[ \w]*) under `(\w+)` and `(\w+)`, and (holds[ \w]*) under `(\w+)`"
    ((first, one, two, second, three),) = re.findall(pattern, text_of(ROOT / "docs" / "reading.md"))
    assert verdicts == {one: first, two: first, three: second}


def test_pages_speak_of_as_many_schemes_runs_and_panels_as_there_are():
    studies = {
        name: rows_of(*name.split("/"), "tables", "summary.csv")
        for name in ("paper", "quick", "rivals/gpu", "large", "devices")
    }
    schemes = {len({row["scheme"] for row in rows}) for rows in studies.values()}
    assert {found for _, found in numbers_before("schemes")} <= schemes, numbers_before("schemes")

    paper = studies["paper"]
    panels = {(row["problem"], row["L"], row["n"]) for row in paper}
    results = text_of(RESULTS.with_suffix(".md"))
    assert re.findall(r"every panel of the paper and its appendix, (\d+) of them", results) == [
        str(len(panels))
    ]
    done, wanted = (sum(int(row[name]) for row in paper) for name in ("runs", "wanted"))
    assert done == wanted
    absent = Counter(cell.reading for cell in left_out(read_tables(RESULTS / "paper" / "tables")))
    pattern = rf"but for {NUMBER} settings of one scheme"
    (settings,) = re.findall(pattern, text_of(ROOT / "paper" / "paper.md"))
    assert value_of(settings) == absent["printed"] - absent["frozen"]
    assert absent["frozen"] == absent["fitted"] == 1
    assert [value_of(found) for found in re.findall(rf"all of its {NUMBER} runs", results)] == [wanted]

    with gzip.open(RESULTS / "readings" / "runs.csv.gz", "rt", newline="") as file:
        scanned = [(row["scheme"], row["reading"]) for row in csv.DictReader(file)]
    of_claims = declared_in("sarp", "constants", "constants-long", "structure")
    with gzip.open(RESULTS / "devices" / "tables" / "runs.csv.gz", "rt", newline="") as file:
        on_cpu = sum(1 for _ in csv.DictReader(file))
    known = {done, wanted, sum(int(row["runs"]) for row in studies["rivals/gpu"]), on_cpu}
    known |= {round(len(scanned), -3), round(sum(each in of_claims for each in scanned), -3)}
    # Shorter counts are of single cells, or of runs that were made for one sentence.
    large = {(page, found) for page, found in numbers_before("runs") if found > 10_000}
    assert large
    assert {found for _, found in large} <= known, (large, known)


def declared_in(*names):
    """Return the labels of schemes, with their readings, that some studies of the readings have."""
    studies = [load_study(FOLDER / f"{name}.toml") for name in names]
    return {
        (scheme.label, reading) for study in studies for scheme in study.schemes for reading in study.readings
    }
