"""Rows of what was measured, the CSV files that keep them, and the runner that makes those that are missing.

Analysis reads the files, people read them in the repository, and a command that was interrupted resumes from
them. A row is outdated when another version made it: of a package, or of what a method of ours does.
"""

from __future__ import annotations

import csv
import functools
import gzip
import io
import itertools
import time
import typing
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from benchmarks.processes import Failure, Job, run_jobs
from benchmarks.recording import ERROR, TIME
from benchmarks.solvers import Solver
from pursuit.engine.counting import CAP
from pursuit.experiments.common.files import write_file

MISSING, SKIPPED, MEASURED = "missing", "skipped", "measured"
"""The status of a solver that is not installed, of a run that was skipped, and of a measurement."""
NOT_RUN = (MISSING, SKIPPED)
DENSE_LIMIT = 10_000
"""From this n on, solvers that keep a matrix of n times n numbers are not run."""
NO_ROOM = "It keeps a matrix of n² numbers."
Say = Callable[[str], None]
# A row is of a kind of `NamedTuple` with these fields, of which some identify it, and with results.
Row = Any
Kind = TypeVar("Kind")
# A file has one row for each combination of those of these that its rows have.
_KEY_FIELDS = (
    "part", "group", "feature", "task", "solver", "problem", "L", "rotated", "n", "lr", "seed", "budget",
)  # fmt: skip
# What people are told of a row that is made.
_RESULT_FIELDS = (
    "status", "evaluations", "gap", "microseconds", "bytes", "value", "ours", "theirs", "seconds", "detail",
)  # fmt: skip
# A process is killed after so many times its limit, since others may use the processor too, and so many
# seconds more, for imports and the last step of a slow solver.
_PATIENCE, _GRACE = 5.0, 120.0


def key_of(row: Row) -> tuple[Any, ...]:
    """Return what a row is a measurement of; a file has one row for each."""
    return tuple(getattr(row, name) for name in _KEY_FIELDS if name in row._fields)


class Table(Generic[Kind]):
    """A CSV file with rows of one kind, one for each key; a row is on disk as soon as it is added."""

    def __init__(self, path: Path, kind: type[Kind]) -> None:
        self._path = path
        self.kind = kind
        self._rows: dict[tuple[Any, ...], Any] = {key_of(row): row for row in read_rows(path, kind)}
        if path.exists():
            # Without an incomplete last line, to which the next row would be appended.
            self.write()

    @property
    def rows(self) -> list[Kind]:
        """All rows."""
        return list(self._rows.values())

    def get(self, row: Kind) -> Any:
        """Return the stored row with the same key, None if there is none."""
        return self._rows.get(key_of(row))

    def add(self, row: Kind) -> None:
        """Store a row; it replaces an older one with the same key."""
        known = self.get(row) is not None
        self._rows[key_of(row)] = row
        if known or not self._path.exists():
            self.write()
        else:
            with self._path.open("a", newline="") as file:
                file.write(_lines([typing.cast(Any, row)]))

    def write(self) -> None:
        """Write the file anew."""
        write_table(self._path, typing.cast(Any, self.kind)._fields, self._rows.values())


def read_rows(path: Path, kind: type[Kind]) -> list[Kind]:
    """Return the rows of a file, none if it does not exist, without an incomplete last line."""
    if not path.exists():
        return []
    # A line without its end was being written when the command was interrupted.
    text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
    complete = [line for line in text.splitlines(keepends=True) if line.endswith("\n")]
    return [
        kind(**{name: _value(kind, name, text) for name, text in row.items()})
        for row in csv.DictReader(complete)
    ]


def write_table(path: Path, header: Iterable[str], rows: Iterable[Iterable[Any]]) -> None:
    """Write a CSV file, compressed if its name ends in `.gz`."""
    text = _lines([header, *rows])
    # Without the time of writing, the same rows give the same bytes.
    write_file(path, gzip.compress(text.encode(), mtime=0) if path.suffix == ".gz" else text)


def _lines(rows: Iterable[Iterable[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _value(kind: Any, name: str, text: str) -> Any:
    expected = _types(kind)[name]
    if expected is str:
        return text
    if text == "":
        return None
    if expected in (bool, bool | None):
        return text == "True"
    return int(text) if expected in (int, int | None) else float(text)


@functools.cache
def _types(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind)


# --- what is to be made ----------------------------------------------------------------------------


class Wanted(NamedTuple):
    """What the command line asks for."""

    solvers: Sequence[str] = ()
    """Instead of those of the suite, if any."""
    seeds: int | None = None
    """How many, instead of the suite's own."""
    maxtime: float | None = None
    """The limit of processor time for a run, instead of the suite's own."""
    quick: bool = False
    """Whether a few minutes must do."""

    def seeds_of(self, usual: int) -> range:
        """Return the seeds, given how many a suite has of its own."""
        return range(1, 1 + (self.seeds or (1 if self.quick else usual)))


class Skip(NamedTuple):
    """Why a run is not made."""

    status: str
    detail: str
    evaluations: int | None = None
    """A number that it would have exceeded: what a cap allowed a run that predicts the result."""


def cannot_run(solver: Solver, n: int) -> Skip | None:
    """Return why a solver is not run in n variables, None if it is."""
    if not solver.installed:
        return Skip(MISSING, f"{solver.package} is not installed.")
    if solver.dense and n >= DENSE_LIMIT:
        return Skip(SKIPPED, NO_ROOM)
    if n > solver.most:
        return Skip(SKIPPED, f"It is not run with more than {solver.most:g} variables.")
    return None


class Part(NamedTuple):
    """The rows of one file, and how they are made."""

    file: str
    kind: Any
    """The `NamedTuple` of a row."""
    plan: Callable[[Wanted], Iterable[Row]]
    """Returns a row without a result for everything that is to be measured."""
    work: Callable[[Row], Row]
    """Returns a row with its result; what a child process does."""
    named: Callable[[str], Solver]
    """Returns the solver of a row by its name."""
    alone: bool = False
    """Whether nothing may run at the same time, since time is measured."""
    fresh: bool = False
    """Whether the process must not share memory with another, and return what it frees to the system."""
    seconds: float = 300.0
    """How long a process may take if its row has no ``maxtime``."""
    stage: Callable[[Row], Any] = lambda row: 0
    """The order of the runs: results of one stage may let runs of later stages be skipped."""
    skip: Callable[[Row, Table[Any]], Skip | None] = lambda row, table: None
    """Returns why a run need not be made, if stored rows predict its result."""
    prepare: Callable[[list[Row], Table[Any], int], list[Row]] = lambda rows, table, jobs: rows
    """Fills in what a run needs to know."""
    preload: tuple[str, ...] = ()
    """Modules that take long to import."""


def run_missing(
    part: Part,
    rows: Iterable[Row],
    table: Table[Any],
    *,
    jobs: int = 1,
    keep: bool = False,
    again: bool = False,
    say: Say = print,
) -> None:
    """Make all rows that the table does not have yet, in processes of their own.

    Parameters
    ----------
    part : Part
        How rows are made.
    rows : iterable
        Rows without results.
    table : Table
        Where rows are read and written.
    jobs : int
        How many processes run at a time, where time is not measured.
    keep, again : bool
        Whether rows of other versions are as good, and whether stored rows are made anew.
    say : callable
        Shows progress.
    """
    for _, stage in itertools.groupby(sorted(rows, key=part.stage), key=part.stage):
        todo = [row for row in stage if again or _is_outdated(table.get(row), row, keep)]
        todo = part.prepare([row for row in todo if _can_run(row, part, table)], table, jobs)
        if todo:
            say(f"{len(todo)} runs of {part.file}.")
        done = {Job(part.work, (row,), _timeout(part, row), part.fresh): row for row in todo}
        begin = time.monotonic()
        for count, (job, result) in enumerate(
            run_jobs(list(done), 1 if part.alone else jobs, part.preload), 1
        ):
            row = _failed(done[job], result) if isinstance(result, Failure) else result
            table.add(row)
            left = (time.monotonic() - begin) / count * (len(todo) - count)
            say(f"{_described(row)}  ({count} of {len(todo)}, about {left / 60:.0f} minutes more)")


def _timeout(part: Part, row: Row) -> float:
    return _PATIENCE * float(getattr(row, "maxtime", part.seconds)) + _GRACE


def _failed(row: Row, failure: Failure) -> Row:
    fields = {"status": ERROR, "detail": failure.text, "message": failure.text}
    return row._replace(**{name: value for name, value in fields.items() if name in row._fields})


def _is_outdated(found: Row | None, row: Row, keep: bool) -> bool:
    """Return whether there is no result, another version's, or one that may take longer now."""
    if found is None or getattr(found, "status", "") in NOT_RUN:
        return True
    if not keep and found.version != row.version:
        return True
    limits = {TIME: "maxtime", CAP: "maxfev"}
    limit = limits.get(getattr(found, "status", ""), "")
    return bool(getattr(found, limit, 0.0) < getattr(row, limit, 0.0)) if limit else False


def _can_run(row: Row, part: Part, table: Table[Any]) -> bool:
    """Return whether a row can be made; if not, store why."""
    solver = part.named(getattr(row, "solver", ""))
    reason = cannot_run(solver, getattr(row, "n", 1)) or part.skip(row, table)
    if reason is None:
        return True
    found = table.get(row)
    if "status" not in part.kind._fields:
        return False
    # A result from a machine on which the solver was installed is better than none.
    if found is None or getattr(found, "status", "") in NOT_RUN or reason.status == SKIPPED:
        changes = {name: value for name, value in reason._asdict().items() if name in part.kind._fields}
        table.add(row._replace(**changes))
    return False


def _described(row: Row) -> str:
    """Return a row for people: what it is of, and what has come of it."""
    keys = ", ".join(f"{entry}" for entry in key_of(row) if entry not in (None, ""))
    results = [
        f"{name} {value:.6g}" if isinstance(value, float) else f"{name} {value}"
        for name in _RESULT_FIELDS
        if (value := getattr(row, name, None)) not in (None, "")
    ]
    return f"{keys}: {', '.join(results)}"
