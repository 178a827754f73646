"""With what was measured: versions, and the machine in a word."""

from __future__ import annotations

import json
import os
import platform
import time
from pathlib import Path
from typing import Any

import numba
import numpy as np
import scipy

from benchmarks.peers.adapters import SOLVERS, Solver
from pursuit.compiling.cache import code_hash

FILE = "versions.json"


def version_of(solver: Solver) -> str:
    """Return the version of a solver's package; of ours also the hash of the code, which changes sooner."""
    return f"{solver.version}+{code_hash()[:8]}" if solver.ours else solver.version


def note(folder: Path) -> None:
    """Put down in a folder what it is measured with today."""
    before = (noted(folder) or {}).get("packages", {})
    found = {
        "date": time.strftime("%Y-%m-%d"),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "Python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "numba": numba.__version__,
        # What is not installed today may have been measured before.
        "packages": {s.package: version_of(s) or before.get(s.package, "") for s in SOLVERS},
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FILE).write_text(json.dumps(found, indent=2) + "\n")


def noted(folder: Path) -> dict[str, Any] | None:
    """Return what was put down in a folder."""
    path = folder / FILE
    if not path.exists():
        return None
    found: dict[str, Any] = json.loads(path.read_text())
    return found
