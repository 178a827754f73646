"""The README and the pages are true: their code runs and prints what they show, and commands exist."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pursuit.cli import main

ROOT = Path(__file__).parents[1]
TEXTS = {
    path.relative_to(ROOT).as_posix(): path.read_text()
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
}
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
# What a block of code prints stands in a block right after it.
PRINTED = re.compile(r"^```python\n[^`]*?^```\n\n```text\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMANDS = sorted(set(re.findall(r"^ *\$ (.*?)(?: +#.*)?$", "\n".join(TEXTS.values()), re.MULTILINE)))
FOLDERS = ("src", "tests", "benchmarks", "examples", "docs")
PAGES = [name for name, text in TEXTS.items() if BLOCK.search(text)]


NUMBER = re.compile(r"-?\b\d+(?:\.\d*)?(?:e[+-]?\d+)?")


def steady(text):
    """Return what a page prints without times, which differ from run to run."""
    text = re.sub(r"^time +.*$", "time", text, flags=re.MULTILINE)
    return re.sub(r" +seconds$| +[\d.e-]+$", "", text, flags=re.MULTILINE) if "seconds" in text else text


def words_and_numbers(text):
    """Return a text without its numbers and without its layout, and the numbers."""
    return NUMBER.sub("#", text).split(), [float(number) for number in NUMBER.findall(text)]


def is_shown(shown, printed):
    """Say whether a text is printed, but for what depends on the processor.

    BLAS rounds as it is fastest there, so runs differ in their last bits, then in how many evaluations they
    take, by a few per cent, and in values and steps near a minimum, which are small.
    """
    words, numbers = words_and_numbers(shown)
    lines = printed.splitlines()
    for first in range(len(lines)):
        others, found = words_and_numbers("\n".join(lines[first : first + len(shown.splitlines())]))
        if words == others and np.allclose(numbers, found, rtol=0.2, atol=1e-4):
            return True
    return False


# These would only wait for the compiler.
INTERPRETED = ("docs/checkpoints.md", "docs/compare.md")


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=[pytest.mark.interpreted] if page in INTERPRETED else []) for page in PAGES],
)
def test_the_code_of_a_page_runs_and_prints_what_it_shows(page, tmp_path):
    script = tmp_path / "page.py"
    script.write_text("\n".join(BLOCK.findall(TEXTS[page])))
    done = subprocess.run(
        [sys.executable, "-W", "error", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    for shown in PRINTED.findall(TEXTS[page]):
        printed = steady(done.stdout) if "seconds" not in shown else steady(done.stdout + "seconds")
        assert is_shown(steady(shown), printed), printed


@pytest.mark.parametrize("command", [command for command in COMMANDS if command.startswith("pursuit ")])
def test_a_command_that_a_page_shows_takes_these_options(command, capsys):
    words = command.split()[1:]
    with pytest.raises(SystemExit) as ended:
        main([words[0], "--help"])
    assert ended.value.code == 0
    known = capsys.readouterr().out
    assert all(re.search(rf"{word}\b", known) for word in words if word.startswith("--"))


def test_targets_of_make_that_pages_name_exist():
    makefile = (ROOT / "Makefile").read_text()
    named = set(re.findall(r"(?:\$ |`)make ([a-z-]+)", "\n".join(TEXTS.values())))
    assert {"test", "reproduce", "docs", "gallery"} <= named
    assert [
        name for name in named if not re.search(rf"^(?!\.PHONY).*\b{name}\b.*:", makefile, re.MULTILINE)
    ] == []


def test_what_the_readme_links_to_exists():
    links = re.findall(r"\]\((?!http)([^)#]+)", TEXTS["README.md"])
    assert len(links) > 15
    assert [link for link in links if not (ROOT / link).exists()] == []


@pytest.mark.parametrize(
    "page", ["docs/architecture.md", "docs/extending.md", "docs/study.md", "CONTRIBUTING.md"]
)
def test_modules_that_pages_name_exist(page):
    known = [f"/{path.relative_to(ROOT)}" for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    named = set(re.findall(r"\w[\w/]*\.py\b", TEXTS[page]))
    assert named
    assert [name for name in named if not any(path.endswith(f"/{name}") for path in known)] == []


def test_pages_keep_our_own_targets_to_the_benchmarks():
    for name, text in TEXTS.items():
        assert not re.search(r"\b(MISSES|reaches) [\d.]+\b|\bthe bound was\b", text), name
