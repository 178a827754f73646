"""The time that a solver takes per evaluation beyond the objective's own, and the peak of its memory.

The objective returns prepared values at negligible cost, and the difference between the times of k and 2k
evaluations cancels the time of getting started. Each measurement draws its normals in the same process, in
turns with the solver. Memory is what the operating system counts as allocated, in the same way for code in
Python, C++ and Fortran, in a fresh process, after a run in few variables, which allocates all that does not
depend on n.
"""

from __future__ import annotations

import contextlib
import itertools
import mmap
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.measure import (
    EndOfRun,
    converging_values,
    drawing_by_numpy,
    own_seconds,
    replaying,
    seconds,
    seconds_each,
)
from benchmarks.solvers import OUTSIDER, Fun, Solver
from pursuit.checks import Vector
from pursuit.experiments.common.formatting import spaced

MEMORY_EVALUATIONS = 150
"""At least three populations, which consist of 38 to 45 points."""
_FEW = 100
# The fewest evaluations that are timed: several populations, which consist of 17 to 45 points.
_FEWEST = 150
# The points that are timed have together at most so many coordinates; at least so many normals are timed.
_MOST_NUMBERS, _FEWEST_NORMALS = 20_000_000, 10_000_000
# The evaluations from which the speed is estimated, how many rounds there are, and how many seconds one
# should take. Short measurements are repeated more often, up to so many times.
_PILOT, _ROUNDS, _ROUND_SECONDS, _MOST_ROUNDS = 60, 3, 2.0, 50
# Within so many evaluations no solver reaches the minimum of `valley`, unless its `lasts` says so; those that
# take n + 1 of them for each gradient do not within so many for each variable.
_VALLEY, _VALLEY_PER_VARIABLE = 20_000, 10
# Where Linux reports the memory of a process.
_STATUS = Path("/proc/self/status")

MakeObjective = Callable[[int], Fun]
"""Makes an objective that ends the run after so many evaluations."""


class Overhead(NamedTuple):
    """A measurement, in microseconds."""

    evaluations: int
    microseconds: float
    normals: float
    own: float


class Memory(NamedTuple):
    """A measurement."""

    bytes: int


def replay(most: int) -> MakeObjective:
    """Return objectives with prepared values, as of a run on its way to the minimum, no two of them equal.

    Equal values, such as all failures have in `converging_values`, would make populations stop.
    """
    values = np.array(converging_values(most))
    failed = values == 1.0
    values[failed] += np.random.default_rng(2).random(np.count_nonzero(failed))
    prepared = values.tolist()
    return lambda count: replaying(itertools.islice(prepared, count))


def valley(most: int) -> MakeObjective:
    """Return objectives for solvers that prepared values lead astray: a valley of two variables."""

    def make(count: int) -> Fun:
        following = replaying(itertools.repeat(0.0, count))

        def fun(x: Vector) -> float:
            following(x)
            a, b = float(x[0]), float(x[1])
            return 100.0 * (b - a * a) ** 2 + (1.0 - a) ** 2

        return fun

    return make


def objectives_for(solver: Solver, n: int) -> tuple[Callable[[int], MakeObjective], Vector]:
    """Return the kind of objectives that a solver gets, `replay` or `valley`, and its start."""
    x0 = np.zeros(n)
    if solver.replayable:
        return replay, x0
    x0[:2] = -1.2, 1.0
    return valley, x0


def evaluate(solver: Solver, make: MakeObjective, x0: Vector, count: int) -> None:
    """Let a solver make so many evaluations."""
    fun = make(count)
    with contextlib.suppress(EndOfRun):
        # The limit is above `count`, so that it is the objective that ends the run.
        solver.solve(fun, x0, sigma0=1.0, maxfev=2 * count, seed=1)
        # Some solvers catch the end and return: after all evaluations this call ends the run.
        fun(x0)
        raise RuntimeError(f"It quits before it has made {spaced(count)} evaluations.")


def overhead_of(
    solver: Solver, n: int, rounds: int = _ROUNDS, round_seconds: float = _ROUND_SECONDS
) -> Overhead:
    """Return the time of a solver per evaluation."""
    kind, x0 = objectives_for(solver, n)

    def run(count: int) -> None:
        evaluate(solver, make, x0, count)

    make = kind(_PILOT)
    # The first run compiles and imports.
    run(_PILOT)
    guess = seconds(lambda: run(_PILOT)) / _PILOT
    times = max(_FEWEST, min(_MOST_NUMBERS // n, int(round_seconds / 3.0 / guess)))
    if not solver.replayable:
        times = min(times, _VALLEY_PER_VARIABLE * n if solver.memory == OUTSIDER else _VALLEY)
        times = min(times, (solver.lasts or 2 * times) // 2)
    rounds = max(rounds, min(_MOST_ROUNDS, int(round_seconds / 3.0 / (guess * times))))
    make = kind(2 * times)
    # Slow solvers make few evaluations: for each of them normals are drawn several times.
    repeats = max(1, _FEWEST_NORMALS // (n * times))
    draw = drawing_by_numpy(n)
    each = seconds_each({"solver": run, "normals": lambda count: draw(repeats * count)}, times, rounds)
    own = own_seconds(kind(100_000), x0, rounds)
    return Overhead(times, 1e6 * (each["solver"] - own), 1e6 * each["normals"] / repeats, 1e6 * own)


def memory_of(solver: Solver, n: int) -> Memory:
    """Return the peak of a solver's memory, beyond what the process had before."""
    kind, few = objectives_for(solver, _FEW)
    make = kind(MEMORY_EVALUATIONS)
    evaluate(solver, make, few, MEMORY_EVALUATIONS)
    _, x0 = objectives_for(solver, n)
    filler = _fill_up_to_peak()
    before = _peak()
    evaluate(solver, make, x0, MEMORY_EVALUATIONS)
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
