"""Damaged stores of studies: what is read is right, or a sentence says what is damaged; resuming mends it."""

from __future__ import annotations

import contextlib
import functools
import io
import sqlite3
import time
import zlib
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from benchmarks.attack.batches import try_batch
from benchmarks.attack.damage import DAMAGES
from benchmarks.attack.small_study import contents, declare, run_here
from benchmarks.attack.tally import Tally
from pursuit.cli import main
from pursuit.experiments.common.errors import StudyError
from pursuit.experiments.study.store import FILE

# What somebody might do to a store with another program; deleted rows are missing, and not damage.
STATEMENTS = (
    "UPDATE runs SET {number} = {number} + 1 WHERE number = 3",
    "UPDATE runs SET {number} = 'text' WHERE number = 3",
    "UPDATE runs SET {number} = -1 WHERE number = 3",
    "UPDATE runs SET {number} = 1e300 WHERE number = 3",
    "UPDATE runs SET {number} = x'00' WHERE number = 3",
    "UPDATE runs SET trace = {blob} WHERE number = 2",
    "UPDATE runs SET reason = 'maxiter' WHERE number = 1",
    "UPDATE runs SET identity = identity || ' '",
    "UPDATE cells SET {count} = {count} + 1",
    "UPDATE cells SET {count} = 'text'",
    "UPDATE cells SET problem = 'lin', name = 'other ' || name",
    "UPDATE facts SET content = '{{'",
    "UPDATE facts SET content = '[1, {{}}]'",
    "UPDATE facts SET content = x'ff00'",
    "DROP TABLE {table}",
    "ALTER TABLE runs RENAME COLUMN fun TO fan",
    "PRAGMA user_version = 99",
    "PRAGMA application_id = 1",
    "DELETE FROM {table}",
    "DELETE FROM runs WHERE number = 4",
)
BLOBS = {
    "nothing": b"",
    "bytes": b"\x00" * 10,
    "other numbers": zlib.compress(bytes(24)),
    "half a number": zlib.compress(bytes(25)),
    "1.2 GB": zlib.compress(bytes(1_200_000_000), 1),
}


class Whole(NamedTuple):
    """An undamaged store."""

    declaration: Path
    data: bytes
    contents: dict[str, Any]
    """All that is stored, with the times of runs."""
    timeless: dict[str, Any]


def attack(seed: int, seconds: float) -> Tally:
    """Try damaged stores for so many seconds."""
    tally = Tally()
    with TemporaryDirectory() as name:
        folder = Path(name)
        declaration, study = declare(folder), folder / "whole"
        run_here(declaration, study)
        whole = Whole(
            declaration,
            (study / FILE).read_bytes(),
            contents(study, seconds=True),
            contents(study, seconds=False),
        )
        attempt = functools.partial(_attempt, whole, folder / "study", seed)
        describe = functools.partial(_describe, whole, folder / "study", seed)
        end, number = time.monotonic() + seconds, 0
        while time.monotonic() < end:
            number = try_batch(number, attempt, describe, tally, folder)
    return tally


def _damage(whole: Whole, study: Path, seed: int, number: int) -> str:
    """Put a damaged store into the folder of a study; return what was done to it."""
    random = Random(f"{seed} {number}")
    study.mkdir(exist_ok=True)
    for path in study.iterdir():
        path.unlink()
    path = study / FILE
    if random.random() < 0.7:
        data, what = random.choice(DAMAGES)(whole.data, random)
        path.write_bytes(data)
        return what
    path.write_bytes(whole.data)
    blob = random.choice(list(BLOBS))
    statement = random.choice(STATEMENTS).format(
        number=random.choice(["number", "nit", "nfev", "fun", "seconds"]),
        count=random.choice(["wanted", "cap", "n", "L", "position"]),
        table=random.choice(["runs", "cells", "facts"]),
        blob="?",
    )
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement, [BLOBS[blob]] if "?" in statement else [])
    return statement.replace("?", blob)


def _describe(whole: Whole, study: Path, seed: int, number: int) -> str:
    return _damage(whole, study, seed, number)


def _attempt(whole: Whole, study: Path, seed: int, number: int) -> tuple[str, str, bool]:
    done = _damage(whole, study, seed, number)
    for act, step in (("results", _read), ("status", _status), ("resuming", _resume)):
        try:
            what, is_violation = step(whole, study)
        except StudyError as error:
            named = str(study) in str(error)
            what, is_violation = (
                ("a sentence", False) if named else (f"a sentence without the file's name: {error}", True)
            )
        except BaseException as error:
            what, is_violation = f"{type(error).__name__}: {error}", True
        if is_violation:
            return f"{act}: {what.split(': ')[0]}", f"{done} -> {act}: {what}", True
    return f"resumed: {what}", "", False


def _read(whole: Whole, study: Path) -> tuple[str, bool]:
    """Compare all that is read; something may be missing, but what is there must be right."""
    found = contents(study, seconds=True)
    missing = {name for name in whole.contents if name not in found}
    wrong = [
        name
        for name in found | whole.contents
        if name not in missing and found.get(name) != whole.contents.get(name)
    ]
    if wrong:
        kinds = sorted({name.split()[0] for name in wrong})
        return f"silently wrong {', '.join(kinds)}: {wrong[0]}", True
    return ("something is missing" if missing else "the same"), False


def _status(whole: Whole, study: Path) -> tuple[str, bool]:
    said, failed = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(failed):
        status = main(["status", str(study)])
    if status and str(study) not in failed.getvalue():
        return f"a sentence without the file's name: {failed.getvalue()}", True
    return "a status", False


def _resume(whole: Whole, study: Path) -> tuple[str, bool]:
    failures = run_here(whole.declaration, study)
    if failures:
        return f"failed runs: {failures[0]}", True
    found = contents(study, seconds=False)
    wrong = [name for name in whole.timeless if found.get(name) != whole.timeless[name]]
    return (f"wrong after resuming: {wrong[0]}", True) if wrong else ("the same study", False)
