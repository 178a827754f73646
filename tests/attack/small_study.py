"""A small study, and all that is stored of it."""

from __future__ import annotations

import contextlib
import hashlib
import io
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

from pursuit.experiments.study import read_store, reproduce

DECLARATION = """
title = "A study under attack"
schemes = ["rp", "cma", "ep-cma-2"]
runs = 8
target = 1e-9
cap = 1e6

[[problems]]
problem = "exp"
n = [4, 8]
L = 1e4
"""


def declare(folder: Path) -> Path:
    """Write the declaration into a folder, and return its path."""
    path = folder / "small.toml"
    path.write_text(DECLARATION)
    return path


class Here(Executor):
    """Executes runs in this process, one at a time."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Execute at once."""
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


def run_here(declaration: Path, folder: Path) -> list[Any]:
    """Run a study, or the rest of it, in this process; return the failures."""
    with contextlib.redirect_stderr(io.StringIO()):
        return list(reproduce(declaration, folder, executor=Here(), jobs=1).failures)


def contents(folder: Path, *, seconds: bool) -> dict[str, Any]:
    """Return what is stored of a study: title, cells and runs by their names, with or without their times."""
    with read_store(folder) as store:
        results = store.results()
        found: dict[str, Any] = {"title": results.title} if results.title else {}
        for entry in results.cells:
            found[f"cell {entry.cell}"] = entry._replace(runs=())
            for run in entry.runs:
                columns = [column.tobytes() for column in results.trace(entry.cell, run.number)]
                trace = hashlib.sha256(b"".join(columns)).hexdigest()
                found[f"run {entry.cell} {run.number}"] = (
                    run if seconds else run._replace(seconds=0.0),
                    trace,
                )
    return found
