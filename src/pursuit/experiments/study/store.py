"""The store of a study: one SQLite file per folder.

A finished run is written completely or not at all. Its key is its identity, number, target and cap, and the
hash of the code that made it; so runs of other code or options are kept but never used instead. Cells are the
names of runs: a folder collects the cells of all studies that were run in it. A run whose checksum does not
hold is never used: it is set aside, and run again.

SQLite finds damage to the structure of a file, but not to what the tables hold. So there are checksums as
well: one for each run, and one for all cells and facts together, which is a fact itself.

A cell that was run on a CPU and on a GPU is stored once for each, with runs of its own. Reading gives the
cells of one device, by default of that on which the study was run last.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pursuit.checks import checked_choice
from pursuit.experiments.common import StudyError
from pursuit.experiments.common.files import locked
from pursuit.experiments.study.declaration import Study
from pursuit.experiments.study.grid import Entry, Key
from pursuit.experiments.study.results import (
    DEVICES,
    Cell,
    CellResults,
    FigureSpec,
    Results,
    RunRecord,
    Trace,
)

FILE = "study.sqlite"
# "prst" as a number, which distinguishes our files from those of other programs.
_APPLICATION = 0x70727374
_VERSION = 2
_SCHEMA = f"""
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {_VERSION};
CREATE TABLE runs (
    identity TEXT NOT NULL, target REAL NOT NULL, cap INTEGER NOT NULL, code TEXT NOT NULL,
    number INTEGER NOT NULL, nit INTEGER NOT NULL, nfev INTEGER NOT NULL, fun REAL NOT NULL,
    reason TEXT NOT NULL, seconds REAL NOT NULL, trace BLOB NOT NULL, checksum TEXT NOT NULL,
    PRIMARY KEY (identity, target, cap, code, number)
) WITHOUT ROWID;
CREATE TABLE cells (
    name TEXT PRIMARY KEY, problem TEXT NOT NULL, L REAL, n INTEGER NOT NULL, scheme TEXT NOT NULL,
    reading TEXT NOT NULL, position INTEGER NOT NULL, identity TEXT NOT NULL, target REAL NOT NULL,
    cap INTEGER NOT NULL, code TEXT NOT NULL, wanted INTEGER NOT NULL
);
CREATE TABLE facts (name TEXT PRIMARY KEY, content TEXT NOT NULL);
CREATE TABLE damaged (name TEXT NOT NULL, content TEXT NOT NULL);
"""
_DECLARED = (
    "SELECT * FROM cells ORDER BY name",
    "SELECT * FROM facts WHERE name != 'checksum' ORDER BY name",
)
_KEY = "identity, target, cap, code"
_OF_CELL = " AND ".join(f"runs.{name} = cells.{name}" for name in _KEY.split(", "))
_GIVEN = " AND ".join(f"{name} = ?" for name in _KEY.split(", "))


# What a checksum covers: the whole run, under its key.
_RUN = f"{_KEY}, {', '.join(RunRecord._fields)}, trace"
_NUMBER = len(Key._fields)


class Store:
    """The store of a folder, opened by `open_store` for writing or by `read_store` for reading."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection

    def declare(self, study: Study, entries: Sequence[Entry], made: Mapping[str, str]) -> None:
        """Write the cells of a study."""
        figures = json.dumps([figure._asdict() for figure in study.figures])
        facts = {
            "title": study.title,
            "claims": str(study.claims),
            "figures": figures,
            "device": study.device,
            _of_device("made", study.device): json.dumps(dict(made)),
        }
        # A cell's readable name is not exact: L is rounded in it.
        names = [_of_device(str(tuple(entry.cell)), study.device) for entry in entries]
        rows = [(name, *e.cell, e.position, *e.key, e.runs) for name, e in zip(names, entries, strict=True)]
        with self._transaction():
            self._connection.executemany("REPLACE INTO facts VALUES (?, ?)", facts.items())
            self._connection.executemany(f"REPLACE INTO cells VALUES ({', '.join('?' * 12)})", rows)
            _write_declared_checksum(self._connection)

    def add(self, finished: Iterable[tuple[Key, RunRecord, Trace]]) -> None:
        """Write finished runs, all of them or none."""
        rows = [(*key, *run, _packed(trace)) for key, run, trace in finished]
        with self._transaction():
            self._connection.executemany(
                f"INSERT OR IGNORE INTO runs ({_RUN}, checksum) VALUES ({', '.join('?' * 12)})",
                [(*row, _checksum(row)) for row in rows],
            )

    def numbers(self, key: Key) -> dict[int, float]:
        """Return the numbers of the stored runs, and the seconds that each took."""
        return dict(self._query(f"SELECT number, seconds FROM runs WHERE {_GIVEN}", key))

    def unused(self) -> int:
        """Return how many runs no cell refers to, since other code, options or caps made them."""
        query = f"SELECT count(*) FROM runs WHERE NOT EXISTS (SELECT 1 FROM cells WHERE {_OF_CELL})"
        ((count,),) = self._query(query)
        return int(count)

    def damaged(self) -> list[str]:
        """Return the names of the runs whose checksums do not hold; `results` does not have them."""
        with self._transaction():
            cells = self._cells()
            return [_name(row, cells) for row, intact in self._runs() if not intact]

    def set_aside_damaged(self) -> list[str]:
        """Move damaged runs into a table of their own, so that they are run again; return their names."""
        with self._transaction():
            cells = self._cells()
            found = [row for row, intact in self._runs() if not intact]
            names = [_name(row, cells) for row in found]
            self._connection.executemany(
                "INSERT INTO damaged VALUES (?, ?)", zip(names, map(ascii, found), strict=True)
            )
            for row in found:
                self._delete(row)
        return names

    def devices(self) -> list[str]:
        """Return the devices that have cells, that on which the study was run last first."""
        with self._transaction():
            return list(dict.fromkeys([self._last_device(), *(key.device for _, key, _ in self._cells())]))

    def results(self, device: str | None = None) -> Results:
        """Return all results of a device, by default of that which ran last, without damaged runs."""
        with self._transaction():
            device = self._last_device() if device is None else checked_choice("device", device, DEVICES)
            facts = dict(self._query("SELECT name, content FROM facts"))
            cells = [found for found in self._cells() if found[1].device == device]
            found: dict[Key, list[RunRecord]] = {}
            for row, intact in self._runs():
                if intact:
                    run = RunRecord._make(row[_NUMBER:-1])
                    found.setdefault(Key._make(row[:_NUMBER]), []).append(run)

        entries = []
        for cell, key, wanted in cells:
            runs = tuple(run for run in found.get(key, ()) if run.number < wanted)
            entries.append(CellResults(cell, key.target, key.cap, wanted, key.code, runs))
        keys = {cell: key for cell, key, _ in cells}
        return Results(
            title=facts.get("title", ""),
            cells=tuple(entries),
            figures=tuple(map(FigureSpec.of, json.loads(facts.get("figures", "[]")))),
            trace=lambda cell, number: self._trace(keys[cell], number),
            made=json.loads(facts.get(_of_device("made", device), "{}")),
            # Stores that do not say so date from before studies could leave out the claims.
            judges_claims=facts.get("claims", "True") == "True",
        )

    def _trace(self, key: Key, number: int) -> Trace:
        query = f"SELECT {_RUN}, checksum FROM runs WHERE {_GIVEN} AND number = ?"
        for *row, found in self._query(query, (*key, number)):
            if found == _checksum(row):
                return _unpacked(row[-1])
        raise StudyError(f"{self.path} has no intact run {number} of that cell.")

    def _last_device(self) -> str:
        """Return the device on which the study was run last."""
        found = self._query("SELECT content FROM facts WHERE name = 'device'")
        return str(found[0][0]) if found else DEVICES[0]

    def _cells(self) -> list[tuple[Cell, Key, int]]:
        """Return all cells as declared, with the keys of their runs and how many are wanted."""
        rows = self._query(
            f"SELECT problem, L, n, scheme, reading, {_KEY}, wanted FROM cells ORDER BY position, name"
        )
        return [(Cell._make(row[:5]), Key._make(row[5:9]), row[9]) for row in rows]

    def _runs(self) -> Iterator[tuple[tuple[Any, ...], bool]]:
        """Yield all runs in the order of their keys and numbers, and whether their checksums hold."""
        rows = self._connection.execute(f"SELECT {_RUN}, checksum FROM runs ORDER BY {_KEY}, number")
        for row in rows:
            yield row[:-1], row[-1] == _checksum(row[:-1])

    def _delete(self, row: Sequence[Any]) -> None:
        """Delete a run whose key may hold anything; SQLite takes texts that are not UTF-8 as bytes."""
        key = dict(zip((*Key._fields, "number"), row, strict=False))
        conditions = (
            f"{n} IS CAST(? AS TEXT)" if isinstance(v, str) else f"{n} IS ?" for n, v in key.items()
        )
        values = [v.encode("utf-8", "surrogateescape") if isinstance(v, str) else v for v in key.values()]
        deleted = self._connection.execute(f"DELETE FROM runs WHERE {' AND '.join(conditions)}", values)
        if deleted.rowcount != 1:
            raise sqlite3.DatabaseError("a damaged run cannot be taken out")

    def _query(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        with _explained(self.path):
            return self._connection.execute(query, values).fetchall()

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        """Read and write one state of the store, whatever other processes do; all is written or nothing."""
        with _explained(self.path), self._connection:
            self._connection.execute("BEGIN")
            yield


@contextlib.contextmanager
def open_store(folder: Path) -> Iterator[Store]:
    """Open the store of a folder for writing, by one process at a time; create it if there is none."""
    with locked(folder), _connected(folder / FILE, create=True) as connection:
        yield Store(folder / FILE, connection)


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
        Its ``results()`` are the finished runs of each cell and how many are wanted, and ``damaged()`` names
        the runs that are left out because their checksums do not hold.

    Examples
    --------
    >>> import tempfile
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from pursuit.experiments.study import read_store, reproduce
    >>> with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor() as executor:
    ...     done = reproduce("quick", folder, only="problem=exp scheme=rp", runs=2, executor=executor)
    ...     with read_store(folder) as store:
    ...         [(str(entry.cell), len(entry.runs), entry.wanted) for entry in store.results().cells]
    [('exp L=1e4 n=20 rp fitted', 2, 2)]
    """
    path = Path(folder, FILE)
    if not path.is_file():
        raise StudyError(f"There is no study in {folder}: the file {FILE} is missing.")
    with _connected(path, create=False) as connection:
        yield Store(path, connection)


def _checksum(values: Iterable[Any]) -> str:
    """Return the checksum of values as SQLite returns them: texts, numbers, bytes, None, or rows of these."""
    # SQLite does not keep the sign of a zero.
    plain = [0.0 if isinstance(value, float) and value == 0.0 else value for value in values]
    return hashlib.blake2b(ascii(plain).encode(), digest_size=16).hexdigest()


def _write_declared_checksum(connection: sqlite3.Connection) -> None:
    """Write the checksum of all cells and facts, after one of them has changed."""
    connection.execute("REPLACE INTO facts VALUES ('checksum', ?)", (_declared_checksum(connection),))


@contextlib.contextmanager
def _connected(path: Path, *, create: bool) -> Iterator[sqlite3.Connection]:
    """Open a file, check it, and close it with the context; `create` makes a new one where there is none."""
    mode = "rwc" if create else "rw"
    with _explained(path):
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode={mode}", uri=True, timeout=60.0)
    # A damaged text may not be UTF-8 any more.
    connection.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
    try:
        with _explained(path):
            # In one transaction, since another process may create or change the tables meanwhile.
            connection.execute("BEGIN")
            is_new = _is_new(path, connection)
            connection.rollback()
            if is_new and create:
                connection.executescript(f"BEGIN; {_SCHEMA}")
                _write_declared_checksum(connection)
                connection.commit()
            elif is_new:
                # Another process may be about to create the tables.
                raise StudyError(f"There is no study in {path.parent} yet: the file {FILE} is empty.")
        yield connection
    finally:
        connection.close()


@contextlib.contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn errors of SQLite into sentences."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise StudyError(
            f"{path} cannot be read or written: {error}. What it held before is still there."
        ) from None
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        # The latter where a damaged name is part of SQLite's own message.
        raise StudyError(
            f"{path} is damaged or not a database: {error}. Nothing was changed; "
            "move it away to start again, or restore a copy."
        ) from None


def _is_new(path: Path, connection: sqlite3.Connection) -> bool:
    """Return whether a file is still empty; raise an error if it is not an intact store either."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if not _tables(connection) and application == 0 and version == 0:
        return True
    if application != _APPLICATION:
        raise StudyError(f"{path} is a database, but not one of a study. Nothing was changed.")
    if version != _VERSION:
        raise StudyError(
            f"{path} has version {version} of the format, but this version of pursuit knows {_VERSION}. "
            "Nothing was changed; run the study again in another folder, or read it with the version of "
            "pursuit that made it."
        )
    (state,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if state != "ok":
        raise sqlite3.DatabaseError(" ".join(state.split()))
    if _tables(connection) != _expected_tables():
        raise sqlite3.DatabaseError("its tables are not those of a study")
    found = connection.execute("SELECT content FROM facts WHERE name = 'checksum'").fetchone()
    if found != (_declared_checksum(connection),):
        raise sqlite3.DatabaseError("the checksum of its cells and facts does not hold")
    return False


def _declared_checksum(connection: sqlite3.Connection) -> str:
    return _checksum([row for query in _DECLARED for row in connection.execute(query)])


def _tables(connection: sqlite3.Connection) -> list[Any]:
    return connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name").fetchall()


@functools.cache
def _expected_tables() -> list[Any]:
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(_SCHEMA)
        return _tables(connection)


def _of_device(name: str, device: str) -> str:
    """Return the name under which something of a device is stored: those of a CPU have no addition."""
    return name if device == DEVICES[0] else f"{name} {device}"


def _name(row: Sequence[Any], cells: Sequence[tuple[Cell, Key, int]]) -> str:
    """Return the name of a run: that of the first cell that has it, and its number."""
    found = [_of_device(str(cell), key.device) for cell, key, _ in cells if key == tuple(row[:_NUMBER])]
    return f"{found[0]}, run {row[_NUMBER]!a}" if found else "a run that belongs to no cell"


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
