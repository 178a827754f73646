"""The attacks run, count what they do, and report it; `make attack` gives them the time to find something."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (TESTS, TESTS.parent)))}
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the attacks need Linux")


def attacked(attack, out, minutes):
    """Return the exit status of an attack, its row in the report, and the report."""
    command = [sys.executable, "-m", "attack", "--only", attack, "--minutes", str(minutes)]
    done = subprocess.run(
        [*command, "--jobs", "1", "--out", str(out)], capture_output=True, text=True, env=ENVIRONMENT
    )
    text = out.read_text()
    (row,) = [line for line in text.splitlines() if line.startswith("| ") and line.count(" | ") == 4][2:]
    return done.returncode, [entry.strip() for entry in row.strip("|").split(" | ")], text


@pytest.mark.long
@pytest.mark.parametrize("attack", ["studies", "checkpoints", "stores", "problems", "load", "faults"])
def test_a_short_attack_finds_nothing(attack, tmp_path):
    status, (_, tried, happened, violations, _), text = attacked(attack, tmp_path / "attack.md", 0.02)
    assert int(tried.replace(" ", "")) > 0
    assert happened
    assert (status, violations) == (0, "0"), text


@pytest.mark.long
def test_wrong_successes_are_counted(tmp_path):
    """Some random problems have one, which `python -m attack.success` lists; the attack itself goes on."""
    status, (_, tried, _, violations, _), text = attacked("success", tmp_path / "attack.md", 0.02)
    assert int(tried.replace(" ", "")) > 0
    assert "the attack itself failed" not in text
    assert status == int(violations != "0")


@pytest.mark.long
def test_killed_runs_are_resumed_bit_for_bit(tmp_path):
    _, (_, tried, happened, _, _), text = attacked("kills", tmp_path / "attack.md", 0.03)
    assert int(tried.replace(" ", "")) > 0
    assert "runs equal to an unbroken one" in happened
    for wrong in ("another result", "resuming failed", "hang after a kill", "the attack itself failed"):
        assert wrong not in text


def test_an_unknown_attack_is_refused():
    command = [sys.executable, "-m", "attack", "--only", "kills,floods"]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT)
    assert done.returncode == 2
    assert "--only must name some of kills, studies" in done.stderr
