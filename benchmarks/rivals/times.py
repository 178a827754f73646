"""Time per evaluation of ours and of an independent implementation, which take turns in one process."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from benchmarks.peers.overhead import evaluate, objectives_for
from benchmarks.peers.records import Table
from benchmarks.peers.versions import version_of
from benchmarks.rivals.pairs import PAIRS, TIMED, Pair
from benchmarks.timing import Repeat, seconds, seconds_each
from pursuit.checks import Vector

DIMENSIONS = (100, 1_000, 10_000)
# Several populations, and about so many seconds in a turn.
_FEWEST, _TURN = 150, 0.3


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
    kind, x0 = objectives_for(pair.ours, n)
    runs = {solver.name: _running(solver, kind, x0) for solver in (pair.ours, pair.theirs)}
    guesses = []
    for run in runs.values():
        run(_FEWEST)  # compiles and imports
        guesses.append(seconds(lambda run=run: run(_FEWEST)) / _FEWEST)  # type: ignore[misc]
    times = max(_FEWEST, int(_TURN / max(guesses)))
    each = seconds_each(runs, times, rounds)
    return TimeRow(
        solver=pair.ours.name,
        other=pair.theirs.name,
        versions=f"{version_of(pair.ours)}, {version_of(pair.theirs)}",
        n=n,
        ours=1e6 * each[pair.ours.name],
        theirs=1e6 * each[pair.theirs.name],
    )


def _running(solver, kind, x0: Vector) -> Repeat:  # type: ignore[no-untyped-def]
    def run(count: int) -> None:
        evaluate(solver, kind(count), x0, count)

    return run
