"""The store of a study: one SQLite file per folder.

A finished run is written completely or not at all. Its key is its identity, number, target and cap, and the
hash of the code that made it; so runs of other code or options are kept but never used instead. Cells are the
names of runs: a folder collects the cells of all studies that were run in it.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pursuit.engine.tally import Trace
from pursuit.experiments.common.errors import StudyError
from pursuit.experiments.common.files import locked
from pursuit.experiments.study.declaration import Study
from pursuit.experiments.study.grid import Entry
from pursuit.experiments.study.results import Cell, CellResults, FigureSpec, Results, RunRecord

FILE = "study.sqlite"
# "prst" as a number, which distinguishes our files from those of other programs.
_APPLICATION = 0x70727374
_VERSION = 1
_SCHEMA = f"""
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {_VERSION};
CREATE TABLE runs (
    identity TEXT NOT NULL, target REAL NOT NULL, cap INTEGER NOT NULL, code TEXT NOT NULL,
    number INTEGER NOT NULL, nit INTEGER NOT NULL, nfev INTEGER NOT NULL, fun REAL NOT NULL,
    reason TEXT NOT NULL, seconds REAL NOT NULL, trace BLOB NOT NULL,
    PRIMARY KEY (identity, target, cap, code, number)
) WITHOUT ROWID;
CREATE TABLE cells (
    name TEXT PRIMARY KEY, problem TEXT NOT NULL, L REAL, n INTEGER NOT NULL, scheme TEXT NOT NULL,
    reading TEXT NOT NULL, position INTEGER NOT NULL, identity TEXT NOT NULL, target REAL NOT NULL,
    cap INTEGER NOT NULL, code TEXT NOT NULL, wanted INTEGER NOT NULL
);
CREATE TABLE facts (name TEXT PRIMARY KEY, content TEXT NOT NULL);
"""
_KEY = "identity, target, cap, code"
_OF_CELL = " AND ".join(f"runs.{name} = cells.{name}" for name in _KEY.split(", "))
_GIVEN = " AND ".join(f"{name} = ?" for name in _KEY.split(", "))


class Key(NamedTuple):
    """The key of a cell's runs; cells that share runs have the same."""

    identity: str
    target: float
    cap: int
    code: str


class CellProgress(NamedTuple):
    """How much of a cell is done."""

    cell: Cell
    done: int
    wanted: int
    seconds: float
    """How long its runs took together."""


def key_of(entry: Entry) -> Key:
    """Return the key of an entry's runs."""
    return Key(entry.identity, entry.recipe.target, entry.recipe.cap, entry.code)


class Store:
    """The store of a folder, opened by `open_store` for writing or by `read_store` for reading."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection

    def is_empty(self) -> bool:
        """Return whether there are no tables yet."""
        ((tables,),) = self._query("SELECT count(*) FROM sqlite_master")
        return not tables

    def create_if_empty(self) -> None:
        """Create the tables of a new store."""
        if self.is_empty():
            with _explained(self.path):
                self._connection.executescript(f"BEGIN; {_SCHEMA} COMMIT;")

    def declare(self, study: Study, entries: Sequence[Entry], made: Mapping[str, str]) -> int:
        """Write the cells of a study; return how many runs in the store no cell refers to any more."""
        figures = json.dumps([figure._asdict() for figure in study.figures])
        facts = {"title": study.title, "figures": figures, "made": json.dumps(dict(made))}
        rows = [
            (str(e.cell), *e.cell, e.position, e.identity, e.recipe.target, e.recipe.cap, e.code, e.runs)
            for e in entries
        ]
        with self._transaction():
            self._connection.executemany("REPLACE INTO facts VALUES (?, ?)", facts.items())
            self._connection.executemany(f"REPLACE INTO cells VALUES ({', '.join('?' * 12)})", rows)
        return self.unused()

    def add(self, finished: Iterable[tuple[Key, RunRecord, Trace]]) -> None:
        """Write finished runs, all of them or none."""
        rows = [(*key, *run, _packed(trace)) for key, run, trace in finished]
        columns = f"{_KEY}, {', '.join(RunRecord._fields)}, trace"
        with self._transaction():
            self._connection.executemany(
                f"INSERT OR IGNORE INTO runs ({columns}) VALUES ({', '.join('?' * 11)})", rows
            )

    def numbers(self, key: Key) -> dict[int, float]:
        """Return the numbers of the stored runs, and the seconds that each took."""
        return dict(self._query(f"SELECT number, seconds FROM runs WHERE {_GIVEN}", key))

    def unused(self) -> int:
        """Return how many runs no cell refers to, since other code, options or caps made them."""
        query = f"SELECT count(*) FROM runs WHERE NOT EXISTS (SELECT 1 FROM cells WHERE {_OF_CELL})"
        ((count,),) = self._query(query)
        return int(count)

    def progress(self) -> list[CellProgress]:
        """Return how much of each cell is done."""
        return [
            CellProgress(entry.cell, len(entry.runs), entry.wanted, sum(run.seconds for run in entry.runs))
            for entry in self.results().cells
        ]

    def results(self) -> Results:
        """Return all results."""
        facts = dict(self._query("SELECT name, content FROM facts"))
        cells = self._query(
            f"SELECT problem, L, n, scheme, reading, {_KEY}, wanted FROM cells ORDER BY position, name"
        )
        keys = {Cell._make(row[:5]): Key._make(row[5:9]) for row in cells}
        wanted = {Cell._make(row[:5]): row[9] for row in cells}
        found: dict[Key, list[RunRecord]] = {}
        for row in self._query(f"SELECT {_KEY}, {', '.join(RunRecord._fields)} FROM runs ORDER BY number"):
            found.setdefault(Key._make(row[:4]), []).append(RunRecord._make(row[4:]))

        def trace(cell: Cell, number: int) -> Trace:
            return self._trace(keys[cell], number)

        return Results(
            title=facts.get("title", ""),
            cells=tuple(
                CellResults(
                    cell=cell,
                    target=key.target,
                    cap=key.cap,
                    wanted=wanted[cell],
                    code=key.code,
                    runs=tuple(run for run in found.get(key, ()) if run.number < wanted[cell]),
                )
                for cell, key in keys.items()
            ),
            figures=tuple(_figure(content) for content in json.loads(facts.get("figures", "[]"))),
            trace=trace,
            made=json.loads(facts.get("made", "{}")),
        )

    def _trace(self, key: Key, number: int) -> Trace:
        ((packed,),) = self._query(f"SELECT trace FROM runs WHERE {_GIVEN} AND number = ?", (*key, number))
        return _unpacked(packed)

    def _query(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        with _explained(self.path):
            return self._connection.execute(query, values).fetchall()

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        with _explained(self.path), self._connection:
            yield


@contextlib.contextmanager
def open_store(folder: Path) -> Iterator[Store]:
    """Open the store of a folder for writing, by one process at a time; create it if there is none."""
    with locked(folder), _connected(folder / FILE, "rwc") as store:
        store.create_if_empty()
        yield store


@contextlib.contextmanager
def read_store(folder: str | Path) -> Iterator[Store]:
    """Open the store of a folder for reading, also while another process writes to it.

    Parameters
    ----------
    folder : path
        The folder of a study, as given to `reproduce`.

    Yields
    ------
    Store
        Its ``results()`` are those of the runs, ``progress()`` says how many of each cell are done.

    Examples
    --------
    >>> import tempfile
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from pursuit.experiments.study import read_store, reproduce
    >>> with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor() as executor:
    ...     done = reproduce("quick", folder, only="problem=exp scheme=rp", runs=2, executor=executor)
    ...     with read_store(folder) as store:
    ...         [(str(entry.cell), entry.done) for entry in store.progress()]
    [('exp L=1e4 n=20 rp fitted', 2)]
    """
    folder = Path(folder)
    if not (folder / FILE).is_file():
        raise StudyError(f"There is no study in {folder}: the file {FILE} is missing.")
    with _connected(folder / FILE, "rw") as store:
        # A reader must not create the tables, which another process may be about to do.
        if store.is_empty():
            raise StudyError(f"There is no study in {folder} yet: the file {FILE} is empty.")
        yield store


@contextlib.contextmanager
def _connected(path: Path, mode: str) -> Iterator[Store]:
    with _explained(path):
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode={mode}", uri=True, timeout=60.0)
    try:
        with _explained(path):
            _check(path, connection)
        yield Store(path, connection)
    finally:
        connection.close()


def _check(path: Path, connection: sqlite3.Connection) -> None:
    """Raise an error if a file is neither a store nor empty."""
    # In one transaction, since another process may create the tables meanwhile.
    connection.execute("BEGIN")
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    connection.rollback()
    if application == 0 and version == 0 and tables == 0:
        return
    if application != _APPLICATION:
        raise StudyError(f"{path} is a database, but not one of a study. Nothing was changed.")
    if version != _VERSION:
        raise StudyError(
            f"{path} has version {version} of the format, but this version of pursuit knows {_VERSION}. "
            "Nothing was changed."
        )
    (state,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if state != "ok":
        raise sqlite3.DatabaseError(state)


@contextlib.contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn errors of SQLite into sentences."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise StudyError(
            f"{path} cannot be read or written: {error}. What it held before is still there."
        ) from None
    except sqlite3.DatabaseError as error:
        raise StudyError(
            f"{path} is damaged or not a database: {error}. Nothing was changed; "
            "move it away to start again, or restore a copy."
        ) from None


def _figure(content: dict[str, Any]) -> FigureSpec:
    where = {field: tuple(values) for field, values in content["where"].items()}
    return FigureSpec(**{**content, "where": where})


def _packed(trace: Trace) -> bytes:
    """Return a trace as bytes; counts are stored as differences, which compress well."""
    columns = (np.diff(trace.nit, prepend=0), np.diff(trace.nfev, prepend=0))
    return zlib.compress(
        b"".join([*(c.astype("<i8").tobytes() for c in columns), trace.fun.astype("<f8").tobytes()])
    )


def _unpacked(packed: bytes) -> Trace:
    words = np.frombuffer(zlib.decompress(packed), dtype="<i8").reshape(3, -1)
    return Trace(
        np.cumsum(words[0]).astype(np.int64),
        np.cumsum(words[1]).astype(np.int64),
        words[2].view("<f8").astype(float),
    )
