"""The SQLite file of a store: its tables, and what is checked whenever it is opened.

SQLite finds damage to the structure of a file, but not to what the tables hold. So there are checksums as
well: one for each run, and one for all cells and facts together, which is a fact itself.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pursuit.experiments.common.errors import StudyError

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


def checksum(values: Iterable[Any]) -> str:
    """Return the checksum of values as SQLite returns them: texts, numbers, bytes, None, or rows of these.

    Examples
    --------
    >>> from pursuit.experiments.study.database import checksum
    >>> checksum(["rp", 5]) == checksum(("rp", 5)), checksum(["rp", 5]) == checksum(["rp", 5.0])
    (True, False)
    """
    # SQLite does not keep the sign of a zero.
    plain = [0.0 if isinstance(value, float) and value == 0.0 else value for value in values]
    return hashlib.blake2b(ascii(plain).encode(), digest_size=16).hexdigest()


def write_declared_checksum(connection: sqlite3.Connection) -> None:
    """Write the checksum of all cells and facts, after one of them has changed."""
    connection.execute("REPLACE INTO facts VALUES ('checksum', ?)", (_declared_checksum(connection),))


@contextlib.contextmanager
def connected(path: Path, *, create: bool) -> Iterator[sqlite3.Connection]:
    """Open a file, check it, and close it with the context; `create` makes a new one where there is none."""
    mode = "rwc" if create else "rw"
    with explained(path):
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode={mode}", uri=True, timeout=60.0)
    # A damaged text may not be UTF-8 any more.
    connection.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
    try:
        with explained(path):
            # In one transaction, since another process may create or change the tables meanwhile.
            connection.execute("BEGIN")
            is_new = _is_new(path, connection)
            connection.rollback()
            if is_new and create:
                connection.executescript(f"BEGIN; {_SCHEMA}")
                write_declared_checksum(connection)
                connection.commit()
            elif is_new:
                # Another process may be about to create the tables.
                raise StudyError(f"There is no study in {path.parent} yet: the file {FILE} is empty.")
        yield connection
    finally:
        connection.close()


@contextlib.contextmanager
def explained(path: Path) -> Iterator[None]:
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
    return checksum([row for query in _DECLARED for row in connection.execute(query)])


def _tables(connection: sqlite3.Connection) -> list[Any]:
    return connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name").fetchall()


@functools.cache
def _expected_tables() -> list[Any]:
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(_SCHEMA)
        return _tables(connection)
