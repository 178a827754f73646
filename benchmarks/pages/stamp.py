"""What a page says of where it comes from: the command, the versions, and what has changed since."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numba
import numpy as np
import scipy

from benchmarks.runs import NOT_RUN
from benchmarks.solvers import Solver
from pursuit.experiments.common.files import write_file

_FILE = "made.json"
_TEXTS = Path(__file__).with_name("texts")
Named = Callable[[str], Solver]


def filled(name: str, /, **parts: object) -> str:
    """Return the text of that name, with these parts in their places."""
    return (_TEXTS / f"{name}.md").read_text().removesuffix("\n").format(**parts)


def write_made(folder: Path) -> None:
    """Write into a folder when something was measured last, on what, and with which versions."""
    found = {
        "date": time.strftime("%Y-%m-%d"),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "Python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "numba": numba.__version__,
    }
    write_file(folder / _FILE, json.dumps(found, indent=2) + "\n")


def older(rows: Iterable[Any], named: Named) -> list[str]:
    """Return our methods of which a row was measured before what they do has changed."""
    found = dict[str, None]()
    for row in rows:
        is_run = getattr(row, "status", "") not in NOT_RUN
        # A row of two solvers has both versions.
        if is_run and named(row.solver).ours and row.version.split(",")[0] != named(row.solver).version:
            found[row.solver] = None
    return list(found)


def stamp(command: str, rows: Iterable[Any], named: Named, folder: Path | None = None) -> str:
    """Return the last lines of a page on rows of solvers."""
    rows = list(rows)
    versions = dict[str, dict[str, None]]()
    for row in rows:
        if getattr(row, "status", "") not in NOT_RUN:
            versions.setdefault(row.solver, {})[row.version] = None
    shown = ", ".join(f"{solver} {' and '.join(found)}" for solver, found in versions.items())
    text = f"Made by `{command}`{_made(folder)}. Versions (of ours, a hash of what the method does): {shown}."
    if changed := older(rows, named):
        text += f" **Measured before these methods were changed: {', '.join(changed)}.**"
    return f"{text}\n"


def _made(folder: Path | None) -> str:
    if folder is None or not (folder / _FILE).exists():
        return ""
    found = json.loads((folder / _FILE).read_text())
    rest = ", ".join(f"{name} {found[name]}" for name in ("Python", "numpy", "scipy", "numba"))
    return f", last on {found['date']}: {found['machine']}, {rest}"
