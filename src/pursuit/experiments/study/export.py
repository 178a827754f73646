"""Runs and traces of a study for other programs, as CSV or Parquet."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from pursuit.experiments.common.errors import StudyError
from pursuit.experiments.study.results import CellResults, Results, Run


def export(results: Results, path: Path) -> tuple[Path, Path]:
    """Write all runs to `path` and all traces to a file beside it; return both paths.

    The format, CSV or Parquet, is that of the name's ending. Each row of the traces names its cell and run.
    """
    if path.suffix not in (".csv", ".parquet"):
        raise StudyError(f"The file must end in .csv or .parquet, but {path} was given.")
    finished = [(entry, run) for entry in results.cells for run in entry.runs]
    if not finished:
        raise StudyError("There are no runs to export: none is finished.")
    beside = path.with_name(f"{path.stem}-traces{path.suffix}")
    _write(pl.concat([_run(*each) for each in finished]), path)
    _write(pl.concat([_trace(results, *each) for each in finished]), beside)
    return path, beside


def _run(entry: CellResults, run: Run) -> pl.DataFrame:
    settings = {"target": entry.target, "cap": entry.cap, "code": entry.code}
    outcome = {name: value for name, value in run._asdict().items() if name != "number"}
    return _names(entry, run).with_columns(**{name: pl.lit(v) for name, v in (outcome | settings).items()})


def _trace(results: Results, entry: CellResults, run: Run) -> pl.DataFrame:
    return _names(entry, run).join(pl.DataFrame(results.trace(entry.cell, run.number)._asdict()), how="cross")


def _names(entry: CellResults, run: Run) -> pl.DataFrame:
    """Return one row that says which run of which cell it is."""
    return pl.DataFrame([{**entry.cell._asdict(), "run": run.number}], schema_overrides={"L": pl.Float64})


def _write(frame: pl.DataFrame, path: Path) -> None:
    try:
        if path.suffix == ".csv":
            frame.write_csv(path)
        else:
            frame.write_parquet(path)
    except OSError as error:
        raise StudyError(f"{path} cannot be written: {error}.") from None
