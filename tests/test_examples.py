"""Every script in examples/ runs, shows what it says, and leaves nothing behind."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
# Runs that use another process depend on how soon that starts; none takes nearly as long by itself.
SECONDS = 300


def numbers_after(words, output):
    """Return the numbers in the line of the output that begins with these words."""
    line = re.search(rf"^{re.escape(words)}(.*)$", output, flags=re.MULTILINE)
    assert line, output
    return [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?", line[1])]


def check_million_variables(output):
    before, after, _ = numbers_after("f: ", output)
    assert after < before
    assert re.search(r"^\d+ evaluations/s of 1000000 variables each$", output, flags=re.MULTILINE)


def check_noisy_simulator(output):
    before, after = numbers_after("true costs: ", output)
    assert after < 0.8 * before
    assert "`callback` raised `StopIteration`." in output


def check_own_scheme(output):
    assert numbers_after("AxisPursuit: ", output)[1] < numbers_after("rp: ", output)[1]


def check_process_pool(output):
    assert "the same point: True" in output
    assert numbers_after("side by side: ", output)[0] < numbers_after("at the start: ", output)[0]


def check_resumed_run(output):
    assert "the same, bit for bit: True" in output
    (in_checkpoint,) = numbers_after("killed: True, with ", output)
    assert 1 < in_checkpoint < numbers_after("resumed: ", output)[1]


CHECKS = {
    "million_variables": check_million_variables,
    "noisy_simulator": check_noisy_simulator,
    "own_scheme": check_own_scheme,
    "process_pool": check_process_pool,
    "resumed_run": check_resumed_run,
}


def test_every_example_is_checked():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == CHECKS.keys()


@pytest.mark.parametrize("name", CHECKS)
def test_example(name, tmp_path):
    command = [sys.executable, "-W", "error", EXAMPLES / f"{name}.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert list(tmp_path.iterdir()) == []
    CHECKS[name](done.stdout)


def test_the_study_of_the_documentation_is_the_one_that_can_be_run(tmp_path):
    page = (EXAMPLES.parent / "docs" / "study.md").read_text()
    (shown,) = re.findall(r"^```toml\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)
    study = EXAMPLES / "own_study" / "mine.toml"
    heading, _, declared = study.read_text().partition("\n")
    assert heading == "# A study of one's own: pursuit reproduce examples/own_study/mine.toml"
    assert shown == declared
    command = [sys.executable, "-W", "error", "-m", "pursuit.cli", "reproduce", study, "--out", tmp_path]
    done = subprocess.run(
        [*command, "--runs", "2", "--jobs", "1"], capture_output=True, text=True, timeout=SECONDS
    )
    assert done.returncode == 0, done.stderr
    report = (tmp_path / "report.md").read_text()
    assert report.startswith("# My scheme beside SARP\n")
    assert "| runs | 36 of 36 wanted |" in report
    assert "| ended by | target 36 |" in report
    assert "claim" not in report
