"""A log of a run in a file: `Log`."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pursuit.checks import checked_flag, shown
from pursuit.engine.archive import replacing
from pursuit.problems.structure import flat_of
from pursuit.reporting.plain import plain

_FIELDS = ("nit", "nfev", "fun", "fun_is_estimate", "fun_error", "sigma", "noise", "nfaulty")
"""The fields of a result that are numbers, and change from iteration to iteration."""


def numbers_of(result: Any) -> dict[str, Any]:
    """Return the numbers of a result; None stands for what is not known."""
    return {name: plain(result[name]) for name in _FIELDS}


class Log:
    """A callback that writes a line to a file after every iteration.

    Every line is written whole, so that the file can be read during the run and is sound if that is killed.
    If the run is resumed from a checkpoint, its log goes on from there; otherwise the file is begun anew.

    Parameters
    ----------
    path : path
        The file, a table if its name ends in ``.csv``, and lines of JSON if in ``.jsonl``. Its columns are
        `nit`, `nfev`, `fun`, `fun_is_estimate`, `fun_error`, `sigma`, `noise` and `nfaulty`.
    x : bool
        Whether to write the best point as well, as one list of numbers.

    Examples
    --------
    >>> import json, os, tempfile, pursuit
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "run.jsonl")
    ...     result = pursuit.minimize(lambda x: x @ x, [1.0, 2.0], rng=1, callback=pursuit.Log(path))
    ...     with open(path) as file:
    ...         last = [json.loads(line) for line in file][-1]
    >>> last["nit"] == result.nit, last["fun"] == result.fun
    (True, True)
    """

    def __init__(self, path: str | os.PathLike[str], *, x: bool = False) -> None:
        self._path, self._has_x = Path(path), checked_flag("x", x)
        if self._path.suffix not in (".csv", ".jsonl"):
            raise ValueError(f"The name of a log must end in .csv or .jsonl, but {shown(path)} was given.")
        self._latest: int | None = None
        """The iteration of the last line; None before the first."""

    def __call__(self, intermediate_result: Any) -> None:
        """Write a line."""
        record = numbers_of(intermediate_result)
        if self._has_x:
            record["x"] = plain(flat_of(intermediate_result.x))
        if self._latest is None or record["nit"] <= self._latest:
            self._begin(record)
        with self._path.open("ab", buffering=0) as file:
            # Without a buffer, one call of the system writes a whole line at the end of the file.
            file.write(self._line(record))
        self._latest = record["nit"]

    def _begin(self, record: dict[str, Any]) -> None:
        """Keep what the file has of the iterations before this one, and nothing else."""
        kept = [line for nit, line in self._lines() if nit < record["nit"]] if self._path.exists() else []
        head = self._row(list(record)) if self._path.suffix == ".csv" else b""
        with replacing(self._path) as part:
            part.write_bytes(b"".join([head, *kept]))

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the lines of the file and their iterations, as far as these rise."""
        latest = 0
        for line in self._path.read_bytes().splitlines(keepends=True):
            try:
                text = line.decode()
                nit = json.loads(text)["nit"] if self._path.suffix == ".jsonl" else int(text.split(",")[0])
            except (ValueError, LookupError, TypeError):
                # The head of a table, or half a line from a disk that was full.
                continue
            if nit > latest and line.endswith(b"\n"):
                latest = nit
                yield nit, line

    def _line(self, record: dict[str, Any]) -> bytes:
        if self._path.suffix == ".jsonl":
            return json.dumps(record).encode() + b"\n"
        cells = [" ".join(map(str, cell)) if isinstance(cell, list) else cell for cell in record.values()]
        return self._row(cells)

    def _row(self, cells: list[Any]) -> bytes:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerow(cells)
        return text.getvalue().encode()
