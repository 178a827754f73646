"""What was measured, in CSV files with a row for each measurement.

Analysis reads the files, people read them in the repository, and a command that was interrupted resumes from
them. The store of a study, which keeps traces as binary data, would be a second copy of the same rows.
"""

from __future__ import annotations

import csv
import functools
import io
import typing
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from benchmarks.peers.problems import Task
from pursuit.experiments.common.files import write_file

MISSING, SKIPPED, MEASURED = "missing", "skipped", "measured"
"""The status of a solver that is not installed, of a run that was skipped, and of a measurement."""
NOT_RUN = (MISSING, SKIPPED)


class RunRow(NamedTuple):
    """One run of a solver on a problem."""

    solver: str
    package: str
    version: str
    problem: str
    L: float | None
    rotated: bool
    n: int
    seed: int
    status: str
    detail: str
    evaluations: int | None
    """Of a run that was skipped, a number that it would have exceeded, if one is known."""
    seconds: float | None
    best: float | None
    maxfev: int
    maxtime: float

    @property
    def task(self) -> Task:
        """What the solver was to minimise."""
        return Task(self.problem, self.L, self.rotated, self.n)


class OverheadRow(NamedTuple):
    """The time of a solver per evaluation."""

    solver: str
    package: str
    version: str
    n: int
    status: str = ""
    detail: str = ""
    evaluations: int | None = None
    """How many of them were timed."""
    microseconds: float | None = None
    """Without the objective's own."""
    normals: float | None = None
    """The microseconds in which NumPy draws n normals."""
    own: float | None = None
    """The microseconds of the objective."""


class MemoryRow(NamedTuple):
    """The peak of a solver's memory, beyond what the process had before."""

    solver: str
    package: str
    version: str
    n: int
    status: str = ""
    detail: str = ""
    bytes: int | None = None


Row = TypeVar("Row", bound=NamedTuple)
# A file has one row for each combination of those of these that its rows have.
_KEY_FIELDS = ("part", "solver", "problem", "L", "axes", "rotated", "n", "seed", "budget")


def key_of(row: NamedTuple) -> tuple[Any, ...]:
    """Return what a row is a measurement of; a file has one row for each."""
    return tuple(getattr(row, name) for name in _KEY_FIELDS if name in row._fields)


class Table(Generic[Row]):
    """A CSV file with rows of one kind, one for each key; a row is on disk as soon as it is added."""

    def __init__(self, path: Path, kind: type[Row]) -> None:
        self._path = path
        self.kind: type[Row] = kind
        self._rows: dict[tuple[Any, ...], Row] = {key_of(row): row for row in read_rows(path, kind)}
        if path.exists():
            # Without an incomplete last line, to which the next row would be appended.
            self._write()

    def get(self, row: Row) -> Row | None:
        """Return the stored row with the same key, if there is one."""
        return self._rows.get(key_of(row))

    def add(self, row: Row) -> None:
        """Store a row; it replaces an older one with the same key."""
        known = self.get(row) is not None
        self._rows[key_of(row)] = row
        if known or not self._path.exists():
            self._write()
        else:
            with self._path.open("a", newline="") as file:
                file.write(_lines([row]))

    def _write(self) -> None:
        write_file(self._path, _lines([self.kind._fields, *self._rows.values()]))


def read_rows(path: Path, kind: type[Row]) -> list[Row]:
    """Return the rows of a file, none if it does not exist, without an incomplete last line."""
    if not path.exists():
        return []
    # A line without its end was being written when the command was interrupted.
    complete = [line for line in path.read_text().splitlines(keepends=True) if line.endswith("\n")]
    return [
        kind(*(_value(kind, name, text) for name, text in zip(kind._fields, fields, strict=True)))
        for fields in list(csv.reader(complete))[1:]
    ]


def _lines(rows: Iterable[Iterable[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([["" if value is None else str(value) for value in row] for row in rows])
    return text.getvalue()


def _value(kind: Any, name: str, text: str) -> Any:
    expected = _types(kind)[name]
    if expected is str:
        return text
    if expected is bool:
        return text == "True"
    if text == "":
        return None
    return int(text) if expected in (int, int | None) else float(text)


@functools.cache
def _types(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind)
