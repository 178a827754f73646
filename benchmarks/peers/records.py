"""What was measured, row by row in CSV files: analysis reads them, and a killed command resumes from them."""

from __future__ import annotations

import csv
import functools
import typing
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

MISSING, SKIPPED, MEASURED = "missing", "skipped", "measured"
"""A solver that is not installed, one that was not run for a reason, and a measurement that was made."""
UNDONE = (MISSING, SKIPPED)


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
    """Of a run that was spared, those that it would have needed more of, for all that is known."""
    seconds: float | None
    best: float | None
    maxfev: int
    maxtime: float

    @property
    def key(self) -> tuple[Any, ...]:
        """What this is a row of: there is one for each in a file."""
        return self.solver, self.problem, self.L, self.rotated, self.n, self.seed


class OverheadRow(NamedTuple):
    """The time of a solver per evaluation."""

    solver: str
    package: str
    version: str
    n: int
    status: str
    detail: str
    evaluations: int | None
    """How many of them were timed."""
    microseconds: float | None
    """Beyond the objective's own."""
    normals: float | None
    """The microseconds in which NumPy draws n normals."""
    own: float | None
    """The microseconds of the objective."""

    @property
    def key(self) -> tuple[Any, ...]:
        """What this is a row of: there is one for each in a file."""
        return self.solver, self.n


class MemoryRow(NamedTuple):
    """The most memory that a solver takes at a time, beyond what the process had before."""

    solver: str
    package: str
    version: str
    n: int
    status: str
    detail: str
    bytes: int | None

    @property
    def key(self) -> tuple[Any, ...]:
        """What this is a row of: there is one for each in a file."""
        return self.solver, self.n


Row = TypeVar("Row", RunRow, OverheadRow, MemoryRow)


class Table(Generic[Row]):
    """A CSV file of rows of one kind, one for each key; each is on disk as soon as it is added."""

    def __init__(self, path: Path, kind: type[Row]) -> None:
        self._path = path
        self._kind: type[Row] = kind
        self._rows: dict[tuple[Any, ...], Row] = {row.key: row for row in read_rows(path, kind)}
        if path.exists():
            # Without a line that was cut off, to which the next would be added.
            self._write()

    def get(self, key: tuple[Any, ...]) -> Row | None:
        """Return the row of a key, if there is one."""
        return self._rows.get(key)

    def add(self, row: Row) -> None:
        """Put down a row, in place of an older one of the same key."""
        known = row.key in self._rows
        self._rows[row.key] = row
        if known or not self._path.exists():
            self._write()
        else:
            with self._path.open("a", newline="") as file:
                csv.writer(file, lineterminator="\n").writerow(_texts(row))

    def _write(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        beside = self._path.with_suffix(".new")
        with beside.open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(self._kind._fields)
            writer.writerows(_texts(row) for row in self._rows.values())
        beside.replace(self._path)


def read_rows(path: Path, kind: type[Row]) -> list[Row]:
    """Return the rows of a file, none if it does not exist, without one that was cut off by a kill."""
    if not path.exists():
        return []
    # A line without its end is one that was being written.
    lines = list(
        csv.reader(line for line in path.read_text().splitlines(keepends=True) if line.endswith("\n"))
    )
    return [
        kind(*(_value(kind, name, text) for name, text in zip(kind._fields, line, strict=True)))
        for line in lines[1:]
    ]


def _texts(row: Iterable[Any]) -> list[str]:
    return ["" if value is None else str(value) for value in row]


def _value(kind: Any, name: str, text: str) -> Any:
    wanted = _types(kind)[name]
    if wanted is str:
        return text
    if wanted is bool:
        return text == "True"
    if text == "":
        return None
    return int(text) if wanted in (int, int | None) else float(text)


@functools.cache
def _types(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind)
