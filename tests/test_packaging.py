"""What is said about the package in several places agrees."""

import re
import tomllib
from pathlib import Path

import pytest

import pursuit

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
RECIPE = (ROOT / "conda" / "recipe.yaml").read_text()
PAPER = (ROOT / "paper" / "paper.md").read_text()
BIBLIOGRAPHY = (ROOT / "paper" / "paper.bib").read_text()


def test_the_version_is_the_same_everywhere():
    citation = (ROOT / "CITATION.cff").read_text()
    assert re.findall(r"^version: (\S+)$", citation, re.MULTILINE) == [pursuit.__version__]
    assert re.findall(r'^  version: "(\S+)"$', RECIPE, re.MULTILINE) == [pursuit.__version__]


def test_the_recipe_asks_for_what_the_package_needs():
    wanted = re.search(r"^  run:\n((?:    - .*\n)+)", RECIPE, re.MULTILINE)[1].split("\n")
    found = {line.removeprefix("    - ").replace(" ", "") for line in wanted if "python" not in line} - {""}
    assert found == set(PROJECT["dependencies"])
    oldest = re.search(r'python_min: "(.*)"', RECIPE)[1]
    assert PROJECT["requires-python"] == f">={oldest}"
    assert f"Programming Language :: Python :: {oldest}" in PROJECT["classifiers"]
    assert PROJECT["scripts"] == {"pursuit": re.search(r"- pursuit = (\S+)", RECIPE)[1]}


def test_numba_is_tested_from_the_oldest_that_may_be_installed():
    (oldest,) = re.findall(r"numba==([\d.]+)\.\*", (ROOT / "Makefile").read_text())
    assert PROJECT["optional-dependencies"]["compiled"] == [f"numba>={oldest}"]
    assert re.findall(r"numba >=([\d.]+)", RECIPE) == [oldest]


def test_the_article_has_what_a_submission_needs():
    sections = re.findall(r"^# (.*)$", PAPER, re.MULTILINE)
    assert sections == [
        "Summary",
        "Statement of need",
        "State of the field",
        "Software design",
        "Research impact statement",
        "AI usage disclosure",
        "Acknowledgements",
        "References",
    ]
    assert 750 <= len(PAPER.partition("# Summary")[2].split()) <= 1750


def test_the_article_cites_all_its_references_and_each_has_a_doi():
    entries = re.findall(r"^@\w+\{(\w+),\n(.*?)^\}", BIBLIOGRAPHY, re.MULTILINE | re.DOTALL)
    body = PAPER.partition("# Summary")[2]
    assert set(re.findall(r"@(\w+)", body)) == {key for key, _ in entries}
    assert all(re.search(r"^  doi +=", content, re.MULTILINE) for _, content in entries)


@pytest.mark.xdist_group("together")
def test_tests_of_a_group_are_run_by_one_process(request):
    """Otherwise each of several processes compiles every method. pytest-xdist adds the group to the name."""
    if not getattr(request.config.option, "loadgroup", False):
        pytest.skip("tests are not grouped")
    assert request.node.nodeid.endswith("@together")
