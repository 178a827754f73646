"""The peak of a solver's memory, beyond what its process had before the call.

The operating system counts what is allocated, in the same way for code in Python, C++ and Fortran, and
including what only a longer run would fill. It is measured in a fresh process, after a run in few variables,
which allocates all that does not depend on n.
"""

from __future__ import annotations

import mmap
import resource
import sys
from pathlib import Path
from typing import NamedTuple

from benchmarks.peers.adapters import Solver, solver_named
from benchmarks.peers.isolation import Job
from benchmarks.peers.overhead import evaluate, objectives_for
from benchmarks.peers.records import MemoryRow
from pursuit.experiments.common.formatting import spaced

DIMENSIONS = (100_000, 1_000_000)
EVALUATIONS = 150
"""At least three populations, which consist of 38 to 45 points."""
_FEW = 100
_TIMEOUT = 120.0
# Where Linux reports the memory of a process.
_STATUS = Path("/proc/self/status")


class Memory(NamedTuple):
    """A measurement."""

    bytes: int


def one_measurement(name: str, n: int) -> Memory:
    """Measure a solver; what a child process does."""
    solver = solver_named(name)
    kind, few = objectives_for(solver, _FEW)
    make = kind(EVALUATIONS)
    evaluate(solver, make, few, EVALUATIONS)
    _, x0 = objectives_for(solver, n)
    filler = _fill_up_to_peak()
    before = _peak()
    evaluate(solver, make, x0, EVALUATIONS)
    taken = _peak() - before
    if filler is not None:
        filler.close()
    return Memory(taken)


def _peak() -> int:
    """Return the most bytes that the process has ever had allocated, or in use where only that is known."""
    if _STATUS.exists():
        return _status("VmPeak")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _fill_up_to_peak() -> mmap.mmap | None:
    """Allocate as much as the process had at its peak, so that any further allocation raises the peak."""
    missing = _status("VmPeak") - _status("VmSize") if _STATUS.exists() else 0
    return mmap.mmap(-1, missing) if missing > 0 else None


def _status(name: str) -> int:
    """Return an entry of the process's status, which is in kB, in bytes."""
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith(f"{name}:"))
    return 1024 * int(line.split()[1])


def job(solver: Solver, n: int) -> Job:
    """Return the job that measures a solver in n variables."""
    return Job(one_measurement, (solver.name, n), _TIMEOUT, fresh=True)


def describe(row: MemoryRow) -> str:
    """Return a measurement in a line for people."""
    return f"Memory of {row.solver}, n = {spaced(row.n)}: {(row.bytes or 0) / 2**20:.1f} MB"
