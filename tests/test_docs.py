"""The README and the pages are true: their code runs and prints what they show, and commands exist."""

import re
import subprocess
import sys
from pathlib import Path

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
PAGES = [name for name, text in TEXTS.items() if BLOCK.search(text)]


def steady(text):
    """Return what a page prints without times, which differ from run to run."""
    text = re.sub(r"^time +.*$", "time", text, flags=re.MULTILINE)
    return re.sub(r" +seconds$| +[\d.e-]+$", "", text, flags=re.MULTILINE) if "seconds" in text else text


@pytest.mark.parametrize("page", PAGES)
def test_the_code_of_a_page_runs_and_prints_what_it_shows(page, tmp_path):
    script = tmp_path / "page.py"
    script.write_text("\n".join(BLOCK.findall(TEXTS[page])))
    done = subprocess.run(
        [sys.executable, "-W", "error", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    for shown in PRINTED.findall(TEXTS[page]):
        printed = steady(done.stdout) if "seconds" not in shown else steady(done.stdout + "seconds")
        assert steady(shown) in printed


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
    assert [name for name in named if not re.search(rf"^{name}:", makefile, re.MULTILINE)] == []


def test_what_the_readme_links_to_exists():
    links = re.findall(r"\]\((?!http)([^)#]+)", TEXTS["README.md"])
    assert len(links) > 15
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_pages_keep_our_own_targets_to_the_benchmarks():
    for name, text in TEXTS.items():
        assert not re.search(r"\b(MISSES|reaches) [\d.]+\b|\bthe bound was\b", text), name
