"""Committed pages follow from the rows, are not older than what methods do, and quote what was measured."""

import re
from pathlib import Path

import pytest
from benchmarks.__main__ import SUITES
from benchmarks.adopt import adopted
from benchmarks.behaviour import behaviour, recorded
from benchmarks.pages.stamp import older
from benchmarks.solvers import our
from benchmarks.suites import peers
from benchmarks.suites.parallel import RoundsRow

import pursuit

ROOT = Path(__file__).parents[2]
OLDER = re.compile(r"\*\*Measured before these methods were changed: (.*)\.\*\*")
# Pages that wait to be measured again, with the methods that have changed since. What is not older any more
# must go from here.
WAITING = {
    "docs/comparison.md": ["adaptive-sarp", "ep-cma-4", "rp", "auto", "cr-fm-nes", "differences"],
    "docs/results/parallel/parallel.md": ["differences", "evolution"],
    "docs/results/peers/report.md": ["adaptive-sarp", "ep-cma-4", "rp", "auto", "cr-fm-nes", "differences"],
    "docs/results/rivals/agreement.md": ["l-cma", "m = n"],
}


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch):
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize("suite", SUITES)
def test_pages_and_what_others_quote_follow_from_the_stored_rows(suite):
    texts = SUITES[suite].texts(SUITES[suite].folder)
    assert texts, suite
    for path, text in texts.items():
        assert path.read_text() == text, f"{path}: `python -m benchmarks page {suite}` writes it anew."


def test_no_page_is_older_than_what_its_methods_do():
    found = {}
    for page in [Path("docs/comparison.md"), *sorted(Path("docs/results").rglob("*.md"))]:
        if changed := OLDER.search(page.read_text()):
            found[page.as_posix()] = changed[1].split(", ")
    assert found == WAITING, f"WAITING must be {found}."


def test_every_method_is_identified_by_what_it_does():
    assert set(pursuit.list_methods()) <= recorded().keys()
    assert len({behaviour(method) for method in pursuit.list_methods()}) == len(pursuit.list_methods())


def test_a_row_is_older_if_its_method_did_something_else():
    row = RoundsRow("rp", behaviour("rp"), "exp", 1e4, 100, 1, 1)
    assert older([row], our) == []
    assert older([row, row._replace(version="before")], our) == ["rp"]


def test_rows_of_a_code_that_did_the_same_are_adopted_and_those_of_lost_methods_dropped():
    rows = [
        RoundsRow(solver, version, "exp", 1e4, 100, 1, 1)
        for solver, version in (("rp", "1.0+abc"), ("rp", "other"), ("lost", "abc"), ("pycma", "abc"))
    ]
    found = list(adopted(rows, peers.named, ["abc"], None))
    assert [(row.solver, row.version) for row in found] == [
        ("rp", behaviour("rp")),
        ("rp", "other"),
        ("pycma", "abc"),
    ]
    assert list(adopted(rows[:1], peers.named, ["abc"], ["sarp"])) == rows[:1]
