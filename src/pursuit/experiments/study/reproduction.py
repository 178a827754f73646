"""A study from its declaration to its report: what the command ``pursuit reproduce`` does."""

from __future__ import annotations

import functools
import os
import platform
import time
from collections.abc import Sequence
from concurrent.futures import Executor
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
from rich.console import Console

from pursuit.experiments.common.errors import StudyError
from pursuit.experiments.common.executors import CrewMaker, dask_cluster, given, processes
from pursuit.experiments.study.declaration import load_study, parse_where
from pursuit.experiments.study.grid import Entry, entries_of
from pursuit.experiments.study.progress import watcher_for
from pursuit.experiments.study.scheduler import Failure, conduct
from pursuit.experiments.study.store import open_store, read_store
from pursuit.methods.options import READINGS


class Reproduced(NamedTuple):
    """Where a study lies, and what of it failed."""

    folder: Path
    failures: list[Failure]


def reproduce(
    source: str | Path = "quick",
    out: str | Path | None = None,
    *,
    reading: str | None = None,
    only: str = "",
    runs: int | None = None,
    jobs: int | None = None,
    executor: Executor | None = None,
    dask: str | None = None,
    console: Console | None = None,
) -> Reproduced:
    """Run what is missing of a study.

    Parameters
    ----------
    source : str or path
        ``"quick"``, ``"main"``, ``"full"``, or a TOML file, as in
        `pursuit.experiments.study.declaration`.
    out : path
        The folder that keeps the study, ``reproduced/NAME`` if not given. What it has is not run again.
    reading : str
        ``"printed"``, ``"fitted"``, ``"frozen"`` or ``"all"``; if not given, what the study says.
    only : str
        Some of the cells alone, as ``"problem=exp,lin n=20"``.
    runs : int
        At most so many runs of each cell.
    jobs : int
        How many processes work; every core if not given.
    executor : concurrent.futures.Executor
        Who executes the runs instead, `jobs` at a time.
    dask : str
        The address of a Dask scheduler that executes them instead, or ``"local"`` for one that is started.
    console : rich.console.Console
        Where to show how it goes; standard error if not given.

    Examples
    --------
    >>> import tempfile
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from pursuit.experiments.study import reproduce
    >>> with tempfile.TemporaryDirectory() as out, ThreadPoolExecutor() as executor:
    ...     done = reproduce("quick", out, only="problem=exp scheme=cma", runs=1, executor=executor)
    >>> done.failures
    []
    """
    study = load_study(source)
    chosen = list(READINGS) if reading == "all" else None if reading is None else [reading]
    entries = entries_of(study, readings=chosen, only=parse_where(only), runs=runs)
    folder = Path("reproduced", study.name) if out is None else Path(out)
    console = console or Console(stderr=True)
    make_crew = _crew_maker(jobs or os.cpu_count() or 1, executor, dask)
    with open_store(folder) as store:
        unused = store.declare(study, entries, _made(entries))
        if unused:
            console.print(
                f"{unused} runs in {store.path} were made by other code, options or caps: "
                "they are kept, not used.",
                soft_wrap=True,
            )
        return Reproduced(folder, conduct(entries, store, make_crew, watcher_for(console)))


def draw_report(folder: str | Path, against: str = "iterations") -> Path:
    """Write the report of the study in a folder, from what is stored there alone; return the page's path."""
    # Workers import this module too, and draw nothing.
    from pursuit.experiments.study.report import write_report

    with read_store(Path(folder)) as store:
        try:
            return write_report(store.results(), Path(folder), against)
        except OSError as error:
            raise StudyError(f"The report cannot be written into {folder}: {error.strerror}.") from None


def _crew_maker(jobs: int, executor: Executor | None, dask: str | None) -> CrewMaker:
    if executor is not None:
        return functools.partial(given, executor, jobs)
    if dask is not None:
        return functools.partial(dask_cluster, dask, jobs)
    return functools.partial(processes, jobs)


def _made(entries: Sequence[Entry]) -> dict[str, str]:
    """Return what a study is made with, for people."""
    return {
        "date": time.strftime("%Y-%m-%d"),
        "pursuit": version("pursuit"),
        "code": ", ".join(sorted({entry.code for entry in entries})),
        "python": platform.python_version(),
        "numba": numba.__version__,
        "numpy": np.__version__,
        "machine": platform.machine(),
    }
