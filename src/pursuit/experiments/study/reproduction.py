"""A study from its declaration to its report: what the command ``pursuit reproduce`` does."""

from __future__ import annotations

import contextlib
import functools
import os
import platform
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console

from pursuit.checks import checked_choice, checked_count
from pursuit.engine.archive import replacing
from pursuit.experiments.common import StudyError, executors
from pursuit.experiments.common.files import locked, remove_leftovers
from pursuit.experiments.study.declaration import Study, load_study, parse_where
from pursuit.experiments.study.gpu_scheduler import check_gpu, execute_on_gpu
from pursuit.experiments.study.grid import Entry, entries_of
from pursuit.experiments.study.results import DEVICES, Results
from pursuit.experiments.study.scheduler import Progress, RunFailure, execute_missing, show
from pursuit.experiments.study.store import Store, open_store, read_store
from pursuit.methods.paper import READINGS
from pursuit.optional import version_of

# Reports are written while a study runs, but only one at a time.
_REPORT_LOCK = ".report.lock"
_NO_REPORT = "The report cannot be written into"


class Reproduced(NamedTuple):
    """The folder of a study, and the runs that failed."""

    folder: Path
    failures: list[RunFailure]


def reproduce(
    source: str | Path = "quick",
    out: str | Path | None = None,
    *,
    reading: str | None = None,
    only: str = "",
    runs: int | None = None,
    jobs: int | None = None,
    executor: Executor | str | None = None,
    device: str | None = None,
) -> Reproduced:
    """Execute the runs of a study that are not finished yet, and show the progress on standard error.

    Parameters
    ----------
    source : str or path
        ``"quick"``, ``"main"``, ``"full"``, ``"rivals"``, or a TOML file as for `load_study`.
    out : path
        The folder of the study, by default ``reproduced/NAME``. Runs that it has are not executed again.
    reading : str
        ``"printed"``, ``"fitted"``, ``"frozen"`` or ``"all"``, by default what the study declares.
    only : str
        Selects cells, such as ``"problem=exp,lin n=20"``.
    runs : int
        The maximum number of runs of each cell.
    jobs : int
        The number of processes, by default one per core. For a GPU they only compile.
    executor : concurrent.futures.Executor or str
        What executes the runs instead, `jobs` at a time; a string is the address of a Dask scheduler, or
        ``"local"`` to start a Dask cluster of `jobs` processes. Not for a GPU.
    device : str
        ``"cpu"`` or ``"gpu"``, by default what the study declares. Runs on a GPU have other random numbers
        than runs on a CPU, so both are stored side by side.

    Returns
    -------
    Reproduced
        The folder, and what failed.

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
    make_pool, study = _pool_maker(executor, jobs), load_study(source)
    if device is not None:
        study = study._replace(device=checked_choice("device", device, DEVICES))
    if study.device == "gpu" and executor is not None:
        raise StudyError(
            "A study runs either on the GPU of this machine or by an executor, but both were given."
        )
    gpu = check_gpu() if study.device == "gpu" else None
    entries = _chosen(study, reading, only, runs)
    with open_store(Path("reproduced", study.name) if out is None else Path(out)) as store:
        progress = _declared(study, entries, store, _made(entries, gpu))
        if gpu is not None:
            failures = execute_on_gpu(entries, store, jobs, progress)
        else:
            failures = execute_missing(entries, store, make_pool, progress)
        return Reproduced(store.path.parent, failures)


def draw_report(
    folder: str | Path,
    against: str | None = None,
    device: str | None = None,
    publish: str | Path | None = None,
) -> Path:
    """Write the report of a study from its stored runs, or from the tables of an earlier report.

    Parameters
    ----------
    folder : path
        The folder of the study; ``report.html``, ``report.md``, ``figures`` and ``tables`` are written there.
        A folder that has the tables of a report alone gets ``report.md`` and figures from what they keep.
    against : str
        ``"iterations"`` or ``"evaluations"``: what the figures show function values against, and the tables
        of the report. By default iterations for the paper's studies and evaluations for your own.
    device : str
        ``"cpu"`` or ``"gpu"``: whose runs to report, by default those of the device that ran last.
    publish : path
        A folder for a small report, instead: packed tables, and the ``report.md`` and figures as PNG that
        follow from these.

    Returns
    -------
    Path
        That of ``report.html``, or of ``report.md`` where there is no page.

    Examples
    --------
    >>> import tempfile
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from pursuit.experiments.study import draw_report, reproduce
    >>> with tempfile.TemporaryDirectory() as out, ThreadPoolExecutor() as executor:
    ...     done = reproduce("quick", out, only="problem=exp scheme=cma", runs=1, executor=executor)
    ...     draw_report(done.folder).name
    'report.html'
    """
    # Matplotlib takes long to import, and the worker processes, which import this module, never draw.
    from pursuit.experiments.study.report import analyse
    from pursuit.experiments.study.report.document import write_report
    from pursuit.experiments.study.report.tables import has_tables_alone, read_tables, write_tables

    with contextlib.ExitStack() as stack:
        if has_tables_alone(folder):
            results = read_tables(Path(folder, "tables"))
        else:
            results = stack.enter_context(read_store(folder)).results(device)
        target = Path(publish or folder)
        stack.enter_context(locked(target, _REPORT_LOCK, _NO_REPORT))
        try:
            remove_leftovers(*_report_folders(target))
            if publish is not None:
                write_tables(analyse(results), target / "tables", packed=True)
                results = read_tables(target / "tables")
            return write_report(results, target, against)
        except OSError as error:
            raise StudyError(f"{_NO_REPORT} {target}: {error.strerror or error}.") from None


def export(results: Results, path: Path) -> tuple[Path, Path]:
    """Write all runs into a file, and all traces into a second one beside it.

    Parameters
    ----------
    results : Results
        The study.
    path : Path
        The file of the runs, whose name ends with .csv or .parquet. That of the traces has ``-traces`` before
        the ending, and each of its rows names the cell and the run.

    Returns
    -------
    tuple of Path
        The files of the runs and of the traces.

    Examples
    --------
    >>> import tempfile
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from pathlib import Path
    >>> from pursuit.experiments.study import export, read_store, reproduce
    >>> with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor() as executor:
    ...     done = reproduce("quick", folder, only="problem=exp scheme=rp", runs=1, executor=executor)
    ...     with read_store(done.folder) as store:
    ...         [path.name for path in export(store.results(), Path(folder, "runs.csv"))]
    ['runs.csv', 'runs-traces.csv']
    """
    import polars as pl

    if path.suffix not in (".csv", ".parquet"):
        raise StudyError(f"The file must end in .csv or .parquet, but {path} was given.")
    finished = [
        (entry, run, {**entry.cell._asdict(), "run": run.number})
        for entry in results.cells
        for run in entry.runs
    ]
    if not finished:
        raise StudyError("There are no runs to export: none is finished.")
    types = {"L": pl.Float64}
    rows = [
        {**name, **run._asdict(), "target": entry.target, "cap": entry.cap, "code": entry.code}
        for entry, run, name in finished
    ]
    traces = [
        pl.DataFrame([name], schema_overrides=types).join(
            pl.DataFrame(results.trace(entry.cell, run.number)._asdict()), how="cross"
        )
        for entry, run, name in finished
    ]
    runs = pl.DataFrame(rows, schema_overrides=types, infer_schema_length=None).drop("number")
    written = path, path.with_name(f"{path.stem}-traces{path.suffix}")
    for file, frame in zip(written, (runs, pl.concat(traces)), strict=True):
        try:
            with replacing(file) as part, part.open("wb") as content:
                (frame.write_csv if file.suffix == ".csv" else frame.write_parquet)(content)
        except (OSError, pl.exceptions.ComputeError) as error:
            # Polars reports a full disk as either.
            reason = getattr(error, "strerror", None) or error
            raise StudyError(f"{file} cannot be written: {reason}.") from None
    return written


def _pool_maker(executor: Executor | str | None, jobs: int | None) -> executors.PoolMaker:
    jobs = (os.cpu_count() or 1) if jobs is None else checked_count("jobs", jobs, at_least=1)
    if executor is None:
        return functools.partial(executors.processes, jobs)
    if isinstance(executor, str):
        executors.check_address(executor)
        return functools.partial(executors.dask_cluster, executor, jobs)
    return functools.partial(executors.existing, executor, jobs)


def _chosen(study: Study, reading: str | None, only: str, runs: int | None) -> list[Entry]:
    """Return the cells of a study that are wanted."""
    if reading is not None:
        checked_choice("reading", reading, (*READINGS, "all"))
    if runs is not None:
        checked_count("runs", runs, at_least=1)
    readings = list(READINGS) if reading == "all" else None if reading is None else [reading]
    return entries_of(study, readings=readings, only=parse_where(only), runs=runs)


def _declared(study: Study, entries: Sequence[Entry], store: Store, made: Mapping[str, str]) -> Progress:
    """Write a study into its store, say what is found there, and return what shows the progress."""
    console = Console(stderr=True)
    store.declare(study, entries, made)
    for name in store.set_aside_damaged():
        show(console, f"A damaged run in {store.path} is set aside, to be run again: {name}.")
    if unused := store.unused():
        kept = f"{unused} runs in {store.path} were made with other code, options or caps"
        show(console, f"{kept}; they are kept, not used.")
    _remove_leftovers(store.path.parent)
    return Progress(console)


def _report_folders(folder: Path) -> tuple[Path, ...]:
    """Return the folders in which a report has files."""
    return folder, folder / "figures", folder / "tables"


def _remove_leftovers(folder: Path) -> None:
    """Remove what a killed process has left of a report, unless another is writing one now."""
    with contextlib.suppress(StudyError), locked(folder, _REPORT_LOCK):
        remove_leftovers(*_report_folders(folder))


def _made(entries: Sequence[Entry], gpu: Any) -> dict[str, str]:
    """Return what a study is made with, for readers; `gpu` is None if a CPU executes it."""
    made = {
        "date": time.strftime("%Y-%m-%d"),
        "pursuit": version("pursuit"),
        "code": ", ".join(sorted({entry.key.code for entry in entries})),
        "python": platform.python_version(),
        "numba": version_of("numba") or "none",
        "numpy": np.__version__,
        "machine": platform.machine(),
        "device": "cpu" if gpu is None else f"gpu, {gpu.name}",
    }
    if gpu is not None and (found := version_of("numba-cuda")):
        made["numba-cuda"] = found
    return made
