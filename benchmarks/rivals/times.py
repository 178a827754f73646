"""Time per evaluation of ours and of an independent implementation, which take turns in one process.

The objective is |x|^2, on which none of them is done within the evaluations that are timed. Time is processor
time, so that other work on the machine does not matter, and the difference between k and 2k evaluations
cancels the time of getting started.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from benchmarks.peers.adapters import Fun, Solver
from benchmarks.peers.overhead import evaluate
from benchmarks.peers.records import Table
from benchmarks.peers.versions import version_of
from benchmarks.rivals.pairs import PAIRS, TIMED, Pair
from benchmarks.timing import Repeat
from pursuit.checks import Vector
from pursuit.counting import RunEnded

DIMENSIONS = (100, 1_000, 10_000)
# Several populations, about so many seconds in a turn, and not so many that a solver could end by itself.
_FEWEST, _TURN, _MOST = 150, 0.3, 5_000


class TimeRow(NamedTuple):
    """The time per evaluation of a pair, in microseconds, that of the objective included."""

    solver: str
    """Ours."""
    other: str
    versions: str
    n: int
    ours: float
    theirs: float


def measure(table: Table[TimeRow], rounds: int, say: Callable[[str], None]) -> None:
    """Measure all pairs that can run here."""
    for n in DIMENSIONS:
        for pair in PAIRS:
            if pair.ours.name in TIMED and pair.theirs.installed:
                row = one_measurement(pair, n, rounds)
                table.add(row)
                say(f"{row.solver}, n = {n}: {row.ours:.3g} µs, {row.other}: {row.theirs:.3g} µs")


def one_measurement(pair: Pair, n: int, rounds: int) -> TimeRow:
    """Return the times of a pair."""
    runs = {solver.name: _running(solver, np.ones(n)) for solver in (pair.ours, pair.theirs)}
    for run in runs.values():
        run(_FEWEST)  # compiles and imports
    slowest = max(_seconds(run, _FEWEST) for run in runs.values()) / _FEWEST
    times = min(_MOST, max(_FEWEST, int(_TURN / slowest)))
    short, long = dict.fromkeys(runs, math.inf), dict.fromkeys(runs, math.inf)
    for _ in range(rounds):
        for name, run in runs.items():
            short[name] = min(short[name], _seconds(run, times))
            long[name] = min(long[name], _seconds(run, 2 * times))
    each = {name: (long[name] - short[name]) / times for name in runs}
    return TimeRow(
        solver=pair.ours.name,
        other=pair.theirs.name,
        versions=f"{version_of(pair.ours)}, {version_of(pair.theirs)}",
        n=n,
        ours=1e6 * each[pair.ours.name],
        theirs=1e6 * each[pair.theirs.name],
    )


def _seconds(run: Repeat, count: int) -> float:
    begin = time.process_time()
    run(count)
    return time.process_time() - begin


def _running(solver: Solver, x0: Vector) -> Repeat:
    return lambda count: evaluate(solver, _sphere, x0, count)


def _sphere(count: int) -> Fun:
    left = iter(range(count))

    def fun(x: Vector) -> float:
        if next(left, None) is None:
            raise RunEnded
        return float(x @ x)

    return fun
