"""The versions with which something was measured, the date and the kind of machine."""

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
from pursuit.experiments.common.files import write_file

FILE = "versions.json"


def version_of(solver: Solver) -> str:
    """Return the version of a solver that can run, else nothing; the hash of the code follows for ours."""
    return f"{solver.version}+{code_hash()[:8]}" if solver.ours and solver.installed else solver.version


def write_versions(folder: Path) -> None:
    """Write into a folder with which versions it is measured today."""
    before = (read_versions(folder) or {}).get("packages", {})
    found = {
        "date": time.strftime("%Y-%m-%d"),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "Python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "numba": numba.__version__,
        # What is not installed today may have been measured earlier.
        "packages": {s.package: version_of(s) or before.get(s.package, "") for s in SOLVERS},
    }
    write_file(folder / FILE, json.dumps(found, indent=2) + "\n")


def read_versions(folder: Path) -> dict[str, Any] | None:
    """Return the versions with which a folder was measured."""
    path = folder / FILE
    if not path.exists():
        return None
    found: dict[str, Any] = json.loads(path.read_text())
    return found
