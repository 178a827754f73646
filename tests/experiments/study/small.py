"""A small study that the tests really run, and ways to run the command and wait for it."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

DECLARATION = """
title = "A small study"
schemes = ["rp", "sarp", "cma", "ep-cma-2"]
runs = 3
target = 1e-6
cap = 20000

[[problems]]
problem = "exp"
n = [4, 6]
L = [10, 100]

[[problems]]
problem = "rosenbrock"
n = 4

[[exceptions]]
where = { problem = "exp", L = 100, scheme = "rp" }
runs = 2

[[exceptions]]
where = { problem = "exp", L = 100, scheme = "rp", n = 6 }
runs = 0

[[figures]]
name = "both"
caption = "Both dimensions."
rows = "n"
columns = "L"
where = { problem = "exp" }
"""
# Cells: 2 x 2 x 4 of exp but one, and 4 of rosenbrock.
CELLS = 19
RUNS = 19 * 3 - 1


def declared(folder: Path, text: str = DECLARATION) -> Path:
    """Write a declaration into a folder, and return its path."""
    path = folder / "small.toml"
    path.write_text(text)
    return path


def pursuit_command(*arguments: object) -> list[str]:
    """Return the command line of the installed command, in this Python."""
    return [sys.executable, "-W", "error", "-m", "pursuit.cli", *map(str, arguments)]


def run_pursuit(*arguments: object, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run the command, and return its output."""
    return subprocess.run(pursuit_command(*arguments), capture_output=True, text=True, check=check)


def wait_for(condition: Callable[[], object], process: subprocess.Popen[str] | None = None) -> None:
    """Wait until a condition holds; if it never does, kill the process that it depends on."""
    # Far longer than anything takes, unless it hangs.
    deadline = time.monotonic() + 300.0
    while not condition():
        if time.monotonic() > deadline:
            if process is not None:
                process.kill()
            raise AssertionError("The condition never held.")
        time.sleep(0.01)
