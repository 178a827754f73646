"""The most memory that a solver takes at a time, beyond what its process had before it was called.

The system's own count of what is allocated is the same measure for code in Python, C++ and Fortran, and has
in it what a longer run would fill. It is taken in a fresh process, after a run in few variables, which brings
in all that does not depend on n.
"""

from __future__ import annotations

import itertools
import mmap
import resource
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.peers.adapters import DENSE_LIMIT, NO_ROOM, Solver, solver_named
from benchmarks.peers.counting import ERROR
from benchmarks.peers.isolation import Failure, Job, run_alone
from benchmarks.peers.overhead import spend, start_of
from benchmarks.peers.records import MEASURED, MISSING, SKIPPED, UNDONE, MemoryRow, Table
from benchmarks.peers.versions import version_of
from pursuit.experiments.common.formatting import spaced

DIMENSIONS = (100_000, 1_000_000)
EVALUATIONS = 150
"""Three populations at least, which consist of 38 to 45 points."""
_FEW = 100
_TIMEOUT = 120.0
# Where Linux says how much memory a process has.
_STATUS = Path("/proc/self/status")


def one_measurement(name: str, n: int) -> int:
    """Return the bytes that a solver takes; what a child process does."""
    solver = solver_named(name)
    make, few = start_of(solver, _FEW)
    objective = make(EVALUATIONS)
    spend(solver, objective, few, EVALUATIONS)
    _, x0 = start_of(solver, n)
    kept = _filled_up()
    before = _most_so_far()
    spend(solver, objective, x0, EVALUATIONS)
    taken = _most_so_far() - before
    if kept is not None:
        kept.close()
    return taken


def _most_so_far() -> int:
    """Return the most bytes that the process has ever had allocated, or in use where only that is known."""
    if _STATUS.exists():
        return _status("VmPeak")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _filled_up() -> mmap.mmap | None:
    """Allocate until there is as much as ever, so that whatever comes shows in the most so far."""
    missing = _status("VmPeak") - _status("VmSize") if _STATUS.exists() else 0
    return mmap.mmap(-1, missing) if missing > 0 else None


def _status(name: str) -> int:
    """Return a number of the process's status, which is in kB, in bytes."""
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith(f"{name}:"))
    return 1024 * int(line.split()[1])


def measure_all(
    solvers: Sequence[Solver],
    dimensions: Sequence[int],
    *,
    table: Table[MemoryRow],
    say: Callable[[str], None],
) -> None:
    """Measure what the table does not have yet, one after the other."""
    for n, solver in itertools.product(dimensions, solvers):
        row = MemoryRow(solver.name, solver.package, version_of(solver), n, "", "", None)
        found = table.get(row.key)
        if found is not None and found.status not in UNDONE and found.version == row.version:
            continue
        row = _measured(solver, row)
        if row.status != MISSING or found is None:
            table.add(row)
        shown = row.detail if row.bytes is None else f"{row.bytes / 2**20:.1f} MB"
        say(f"Memory of {solver.name}, n = {spaced(n)}: {shown}")


def _measured(solver: Solver, row: MemoryRow) -> MemoryRow:
    if not solver.installed:
        return row._replace(status=MISSING, detail=f"{solver.package} is not installed.")
    if solver.dense and row.n >= DENSE_LIMIT:
        return row._replace(status=SKIPPED, detail=NO_ROOM)
    result = run_alone(Job(one_measurement, (solver.name, row.n), _TIMEOUT, fresh=True))
    if isinstance(result, Failure):
        return row._replace(status=ERROR, detail=result.text)
    return row._replace(status=MEASURED, bytes=result)
