"""Damaged stores of studies: what is read is right, or a sentence says what is damaged; resuming mends it."""

from __future__ import annotations

import contextlib
import functools
import io
import shutil
import sqlite3
import zlib
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from attack.batches import try_files
from attack.damage import damaged
from attack.small_study import contents, declare, run_here
from attack.tally import Tally
from pursuit.cli import main
from pursuit.experiments.common import StudyError
from pursuit.experiments.study.store import FILE

# What somebody might do to a store with another program; deleted rows are missing, and not damage.
STATEMENTS = (
    *(
        f"UPDATE OR REPLACE runs SET {{run}} = {new} WHERE number = 3"
        for new in ("{run} + 1", "'a'", "-1", "1e300", "x'00'")
    ),
    *(f"UPDATE cells SET {{cell}} = {new}" for new in ("{cell} + 1", "'a'", "-1", "1e300", "x'00'")),
    *(f"UPDATE facts SET content = {new}" for new in ("'{{'", "'[1, {{}}]'", "x'ff00'", "'1'", "''")),
    *["UPDATE runs SET trace = :blob WHERE number = 2"] * 3,
    "UPDATE runs SET reason = 'maxiter' WHERE number = 1",
    "UPDATE runs SET identity = identity || ' '",
    "UPDATE cells SET problem = 'lin', name = 'other ' || name",
    "DROP TABLE {table}",
    "DELETE FROM {table}",
    "DELETE FROM runs WHERE number = 4",
    "ALTER TABLE runs RENAME COLUMN fun TO fan",
    "PRAGMA user_version = 99",
    "PRAGMA application_id = 1",
)
BLOBS = {
    "nothing": b"",
    "bytes": bytes(10),
    "other numbers": zlib.compress(bytes(24)),
    "half a number": zlib.compress(bytes(25)),
    "1.2 GB": zlib.compress(bytes(1_200_000_000), 1),
}


class Whole(NamedTuple):
    """An undamaged store, and what it holds with and without the times of runs."""

    declaration: Path
    data: bytes
    contents: dict[str, Any]
    timeless: dict[str, Any]


def attack(seed: int, seconds: float) -> Tally:
    """Try damaged stores for so many seconds."""
    with TemporaryDirectory() as name:
        declaration, study = declare(Path(name)), Path(name, "study")
        run_here(declaration, study)
        found, timeless = contents(study, seconds=True), contents(study, seconds=False)
        whole = Whole(declaration, (study / FILE).read_bytes(), found, timeless)
        attempt = functools.partial(_attempt, whole, seed, study)
        return try_files(attempt, functools.partial(_damage, whole, seed, study), Path(name), seconds)


def _damage(whole: Whole, seed: int, study: Path, number: int) -> str:
    """Put the damaged store of a number into the folder of a study; return what was done to it."""
    random = Random(f"{seed} {number}")
    shutil.rmtree(study)
    study.mkdir()
    path = study / FILE
    if random.random() < 0.7:
        data, what = damaged(whole.data, random)
        path.write_bytes(data)
        return what
    path.write_bytes(whole.data)
    blob = random.choice(list(BLOBS))
    statement = random.choice(STATEMENTS).format(
        run=random.choice(["number", "nit", "nfev", "fun", "seconds"]),
        cell=random.choice(["wanted", "cap", "n", "L", "position"]),
        table=random.choice(["runs", "cells", "facts"]),
    )
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement, {"blob": BLOBS[blob]})
    return statement.replace(":blob", blob)


def _attempt(whole: Whole, seed: int, study: Path, number: int) -> tuple[str, str]:
    done, outcomes = _damage(whole, seed, study, number), []
    for act, step in (("results", _read), ("status", _status), ("resuming", _resume)):
        try:
            what, detail = step(whole, study)
        except StudyError as error:
            what, detail = _sentence(str(error), study)
        except BaseException as error:
            what, detail = f"{type(error).__module__}.{type(error).__name__}", repr(error)
        if detail:
            return f"{act}: {what}", f"{done} -> {act}: {what}: {detail}"
        outcomes.append(f"{act}: {what}")
    return ", ".join(outcomes), ""


def _sentence(text: str, study: Path) -> tuple[str, str]:
    return ("a sentence", "") if str(study) in text else ("a sentence that does not name the file", text)


def _read(whole: Whole, study: Path) -> tuple[str, str]:
    """Compare all that is read; something may be missing, but what is there must be right."""
    found = contents(study, seconds=True)
    wrong = [name for name in found if found[name] != whole.contents.get(name)]
    if wrong:
        return f"silently wrong {'run' if wrong[-1].startswith('run') else wrong[-1].split()[0]}", wrong[-1]
    return ("right" if len(found) == len(whole.contents) else "incomplete"), ""


def _status(whole: Whole, study: Path) -> tuple[str, str]:
    failed = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(failed):
        status = main(["status", str(study)])
    return _sentence(failed.getvalue(), study) if status else ("right", "")


def _resume(whole: Whole, study: Path) -> tuple[str, str]:
    failures = run_here(whole.declaration, study)
    if failures:
        return "failed runs", str(failures[0])
    found = contents(study, seconds=False)
    wrong = [name for name in whole.timeless if found.get(name) != whole.timeless[name]]
    return ("wrong", wrong[-1]) if wrong else ("right", "")
