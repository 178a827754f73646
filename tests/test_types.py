"""What type checkers see of the package: all of it, and the fields of a result one by one."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SNIPPET = """
from typing import assert_type

import numpy as np
from numpy.typing import NDArray

import pursuit


def sphere(x: NDArray[np.float64]) -> float:
    return float(x @ x)


result = pursuit.minimize(sphere, [1.0, 2.0], rng=1, trace=True)
assert_type(result.x, NDArray[np.float64])
assert_type(result.fun, float)
assert_type(result.nfev, int)
assert_type(result.success, bool)
assert_type(result.message, str)
assert_type(result.noise, float | None)
assert_type(result.trace.nfev, NDArray[np.int64])
assert_type(result.trace.sigma, NDArray[np.float64])
assert_type(result.stages[0].method, str)
assert_type(pursuit.minimize_many(sphere, [1.0, 2.0], seeds=3).best.x, NDArray[np.float64])
assert_type(pursuit.compare(sphere, [1.0, 2.0]).rows[0].nfev, float)
assert_type(pursuit.Optimizer([1.0, 2.0]).result.x, NDArray[np.float64])
result.funn
"""
# Checkers ask the first Python on the path where packages are.
ENVIRONMENT = {**os.environ, "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])}
pytestmark = pytest.mark.long
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="pyright needs node on the PATH")


def complaints_of(folder, *command):
    (folder / "snippet.py").write_text(SNIPPET)
    done = subprocess.run(
        [sys.executable, "-m", *command, "snippet.py"],
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    return [line for line in done.stdout.splitlines() if "error" in line and "snippet.py:" in line]


@pytest.mark.parametrize(
    "command", [("mypy", "--strict"), pytest.param(("pyright",), marks=needs_node)], ids=["mypy", "pyright"]
)
def test_a_checker_knows_the_fields_of_a_result_and_finds_a_misspelt_one(command, tmp_path):
    (only,) = complaints_of(tmp_path, *command)
    assert 'attribute "funn"' in only


@needs_node
def test_every_public_name_has_a_type(tmp_path):
    command = [
        sys.executable,
        "-m",
        "pyright",
        "--outputjson",
        "--ignoreexternal",
        "--verifytypes",
        "pursuit",
    ]
    done = subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    found = json.loads(done.stdout)["typeCompleteness"]
    # The base class of pursuit.torch is PyTorch's, which is not installed where types are checked.
    symbols = [symbol for symbol in found["symbols"] if not symbol["name"].startswith("pursuit.torch.")]
    incomplete = [symbol["name"] for symbol in symbols if not symbol["isTypeKnown"]]
    assert found["exportedSymbolCounts"]["withKnownType"] > 1000
    assert incomplete == []
