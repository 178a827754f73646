"""Every script of the gallery runs, shows what it says, and draws one picture."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.optimize

ROOT = Path(__file__).parents[1]
EXAMPLES, PICTURES = ROOT / "examples", ROOT / "docs" / "gallery"
# Runs that use another process depend on how soon that starts; none takes nearly as long by itself.
SECONDS = 300
NEEDS = {"fine_tune": "torch", "jax_function": "jax"}


def numbers_after(words, output):
    """Return the numbers in the line of the output that begins with these words."""
    line = re.search(rf"^{re.escape(words)}(.*)$", output, flags=re.MULTILINE)
    assert line, output
    return [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?", line[1])]


def module_of(name):
    """Return an example as a module."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    return example


def check_batch_queue(output):
    before, after, _ = numbers_after("f: ", output)
    assert after < 1e-6 < before
    assert numbers_after("failed: ", output)[0] > 0


def check_compare_methods(output):
    assert re.search(r"^auto .* 5 of 5 ", output, flags=re.MULTILINE)


def check_fine_tune(output):
    before, after = numbers_after("RandomPursuit: ", output)
    assert after < min(numbers_after(f"MeZO, {rate}: ", output)[1] for rate in ("0.0003", "0.001")) < before
    # Three times the best learning rate is too much.
    assert not numbers_after("MeZO, 0.003: ", output)[1] < before


def check_hanging_simulator(output):
    assert numbers_after("misfit: ", output)[1] <= 1e-8
    assert numbers_after("killed: ", output)[0] > 0


def check_jax_function(output):
    assert abs(numbers_after("angle at the end: ", output)[0] - 1.0) < 0.01


def check_known_points(output):
    # The start is worse than every known point.
    (before, _), (after, end) = (
        (numbers_after(f"{name}: ", output)[:2]) for name in ("from the start", "with known points")
    )
    assert after < 0.9 * before
    assert end <= 1e-9


def check_million_variables(output):
    before, after, _, n = numbers_after("f: ", output)
    assert after < 2e-3 * before
    assert n == 1e6


def check_named_parameters(output):
    example = module_of("named_parameters")

    def residuals(x):
        return example.curve(dict(zip(example.TRUE, [*x[:3], x[3:]], strict=True))) - example.MEASURED

    best = scipy.optimize.least_squares(residuals, [2.0, 0.3, 2.5, *np.zeros(5)])
    assert numbers_after("misfit: ", output)[1] == pytest.approx(2.0 * best.cost, abs=1e-4)
    assert numbers_after("frequency: ", output)[0] == pytest.approx(best.x[2], abs=1e-3)


def check_noisy_simulator(output):
    before, after, best = numbers_after("true costs: ", output)
    # Near bounds, and with noise that grows with the cost, a thousand days do not lead all the way.
    assert after < 1.6 * best < 0.8 * before


def check_own_method(output):
    assert numbers_after("AxisPursuit: ", output)[1] < numbers_after("rp: ", output)[1]


def check_own_study(output):
    assert numbers_after("axes, ", output)[1] < numbers_after("rp, ", output)[1]


def check_plot_a_run(output):
    assert numbers_after("evolution: ", output)[1] <= 1e-3 < numbers_after("differences: ", output)[1]


def check_resumed_run(output):
    assert "the same, bit for bit: True" in output
    (in_checkpoint,) = numbers_after("killed: True, with ", output)
    assert 1 < in_checkpoint < numbers_after("resumed: ", output)[1]


def check_standard_errors(output):
    lines = re.findall(r"^\w+: (\S+) ± (\S+), in truth (\S+)$", output, flags=re.MULTILINE)
    assert len(lines) == 4
    for value, error, truth in lines:
        assert abs(float(value) - float(truth)) < 3.0 * float(error)


def check_within_bounds(output):
    example = module_of("within_bounds")
    # The rope is a quadratic function, whose minimum another solver finds from its gradient.
    n = example.GROUND.size
    tension = 2.0 * n * (2.0 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1))
    bounds = scipy.optimize.Bounds(example.GROUND, np.inf)
    settings = {
        "method": "L-BFGS-B",
        "bounds": bounds,
        "options": {"maxiter": 10_000, "ftol": 0.0, "gtol": 1e-9},
    }
    best = scipy.optimize.minimize(example.energy, example.GROUND, jac=lambda x: tension @ x, **settings)
    assert numbers_after("energy: ", output)[1] == pytest.approx(best.fun, rel=1e-5)
    assert numbers_after("points on the ground: ", output)[1] == 0


CHECKS = {
    name.removeprefix("check_"): check for name, check in globals().items() if name.startswith("check_")
}


def test_every_example_is_checked_and_stands_in_the_gallery():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == CHECKS.keys()
    assert {path.stem for path in PICTURES.glob("*.png")} == CHECKS.keys()
    gallery = (ROOT / "docs" / "gallery.md").read_text()
    for name in CHECKS:
        assert f"![](gallery/{name}.png)" in gallery
        assert f"```{{literalinclude}} ../examples/{name}.py" in gallery


@pytest.mark.long
@pytest.mark.parametrize("name", CHECKS)
def test_example(name, tmp_path):
    if name in NEEDS:
        pytest.importorskip(
            NEEDS[name], reason=f"examples/{name}.py needs {NEEDS[name]}, which is not installed"
        )
    command = [sys.executable, "-W", "error", EXAMPLES / f"{name}.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stderr
    # A study says on standard error what it does.
    assert done.stderr == "" or name == "own_study"
    assert [path.name for path in tmp_path.iterdir()] == [f"{name}.png"]
    CHECKS[name](done.stdout)


@pytest.mark.long
def test_the_study_of_the_documentation_is_the_one_that_can_be_run(tmp_path):
    page = (EXAMPLES.parent / "docs" / "study.md").read_text()
    (shown,) = re.findall(r"^```toml\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)
    study = EXAMPLES / "own_study.toml"
    heading, _, declared = study.read_text().partition("\n")
    assert heading == "# A study of one's own: pursuit reproduce examples/own_study.toml"
    assert shown == declared
    command = [sys.executable, "-W", "error", "-m", "pursuit.cli", "reproduce", study, "--out", tmp_path]
    done = subprocess.run(
        [*command, "--runs", "2", "--jobs", "1"], capture_output=True, text=True, timeout=SECONDS
    )
    assert done.returncode == 0, done.stderr
    report = (tmp_path / "report.md").read_text()
    assert report.startswith("# A method of our own beside the paper's\n")
    assert "| runs | 18 of 18 wanted |" in report
    assert "| ended by | target 18 |" in report
    assert "claim" not in report
