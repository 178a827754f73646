"""Export of runs and traces as CSV or Parquet."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from pursuit.engine.archive import replacing
from pursuit.experiments.common.errors import StudyError
from pursuit.experiments.study.results import CellResults, Results, RunRecord


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
    >>> from pursuit.experiments.study import read_store, reproduce
    >>> from pursuit.experiments.study.export import export
    >>> with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor() as executor:
    ...     done = reproduce("quick", folder, only="problem=exp scheme=rp", runs=1, executor=executor)
    ...     with read_store(done.folder) as store:
    ...         [path.name for path in export(store.results(), Path(folder, "runs.csv"))]
    ['runs.csv', 'runs-traces.csv']
    """
    if path.suffix not in (".csv", ".parquet"):
        raise StudyError(f"The file must end in .csv or .parquet, but {path} was given.")
    finished = [(entry, run) for entry in results.cells for run in entry.runs]
    if not finished:
        raise StudyError("There are no runs to export: none is finished.")
    traces = path.with_name(f"{path.stem}-traces{path.suffix}")
    _write(pl.concat([_run(*each) for each in finished]), path)
    _write(pl.concat([_trace(results, *each) for each in finished]), traces)
    return path, traces


def _run(entry: CellResults, run: RunRecord) -> pl.DataFrame:
    settings = {"target": entry.target, "cap": entry.cap, "code": entry.code}
    outcome = {name: value for name, value in run._asdict().items() if name != "number"}
    return _names(entry, run).with_columns(**{name: pl.lit(v) for name, v in (outcome | settings).items()})


def _trace(results: Results, entry: CellResults, run: RunRecord) -> pl.DataFrame:
    return _names(entry, run).join(pl.DataFrame(results.trace(entry.cell, run.number)._asdict()), how="cross")


def _names(entry: CellResults, run: RunRecord) -> pl.DataFrame:
    """Return one row with the names of a cell and the number of a run."""
    return pl.DataFrame([{**entry.cell._asdict(), "run": run.number}], schema_overrides={"L": pl.Float64})


def _write(frame: pl.DataFrame, path: Path) -> None:
    try:
        with replacing(path) as part, part.open("wb") as file:
            if path.suffix == ".csv":
                frame.write_csv(file)
            else:
                frame.write_parquet(file)
    except (OSError, pl.exceptions.ComputeError) as error:
        # Polars reports a full disk as either.
        raise StudyError(f"{path} cannot be written: {getattr(error, 'strerror', None) or error}.") from None
