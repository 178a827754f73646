"""The time that a solver takes per evaluation beyond the objective's own, also in units of n normals.

The objective and the timing are those of `benchmarks.overhead`: the objective returns prepared values at
negligible cost, and the difference between the times of k and 2k evaluations cancels the time of getting
started. Each measurement draws its normals in the same process, in turns with the solver.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable
from typing import NamedTuple, NoReturn

import numpy as np

from benchmarks.peers.adapters import OUTSIDER, Fun, Solver, solver_named
from benchmarks.peers.evaluations import SIGMA0
from benchmarks.peers.isolation import Job
from benchmarks.peers.records import OverheadRow
from benchmarks.timing import converging_values, drawing_by_numpy, replaying, seconds, seconds_each
from pursuit.checks import Vector
from pursuit.counting import RunEnded
from pursuit.experiments.common.formatting import spaced

DIMENSIONS = (100, 1_000, 10_000, 100_000, 1_000_000)
_TIMEOUT = 400.0
# The fewest evaluations that are timed: several populations, which consist of 17 to 45 points.
_FEWEST = 150
# The points that are timed have together at most so many coordinates; at least so many normals are timed.
_MOST_NUMBERS = 20_000_000
_FEWEST_NORMALS = 10_000_000
# The evaluations from which the speed is estimated, and how many seconds a round should take.
_PILOT = 60
ROUND = 2.0
# Within so many evaluations no solver reaches the minimum of `valley`, unless its `lasts` says so; those that
# take n + 1 of them for each gradient do not within so many for each variable.
_VALLEY, _VALLEY_PER_VARIABLE = 20_000, 10
# Short measurements are repeated more often than asked for, up to so many times.
_MOST_ROUNDS = 50

MakeObjective = Callable[[int], Fun]
"""Makes an objective that ends the run after so many evaluations."""


class Overhead(NamedTuple):
    """A measurement, in microseconds."""

    evaluations: int
    microseconds: float
    normals: float
    own: float


def replay(most: int) -> MakeObjective:
    """Return objectives with prepared values, as of a run on its way to the minimum, no two of them equal.

    Equal values, such as all failures have in `converging_values`, would make populations stop.
    """
    values = np.array(converging_values(most, 1))
    failed = values == 1.0
    values[failed] += np.random.default_rng(2).random(np.count_nonzero(failed))
    prepared = values.tolist()
    return lambda count: replaying(itertools.chain(itertools.islice(prepared, count), _EndOfRun()))


def valley(most: int) -> MakeObjective:
    """Return objectives for solvers that prepared values lead astray.

    They are Rosenbrock's function of the first two variables.
    """

    def make(count: int) -> Fun:
        following = itertools.chain(itertools.repeat(None, count), _EndOfRun()).__next__

        def fun(x: Vector) -> float:
            following()
            a, b = float(x[0]), float(x[1])
            return 100.0 * (b - a * a) ** 2 + (1.0 - a) ** 2

        return fun

    return make


class _EndOfRun:
    """An iterator that ends the run whenever it is asked for a value."""

    def __iter__(self) -> _EndOfRun:
        return self

    def __next__(self) -> NoReturn:
        raise RunEnded


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
    with contextlib.suppress(RunEnded):
        # The limit is above `count`, so that it is the objective that ends the run.
        solver.solve(fun, x0, sigma0=SIGMA0, maxfev=2 * count, seed=1)
        # Some solvers catch the end and return: after all evaluations this call ends the run.
        fun(x0)
        raise RuntimeError(f"It quits before it has made {spaced(count)} evaluations.")


def one_measurement(name: str, n: int, rounds: int, round_seconds: float) -> Overhead:
    """Measure a solver; what a child process does."""
    solver = solver_named(name)
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
    own = _own_seconds(kind, x0, rounds)
    return Overhead(
        evaluations=times,
        microseconds=1e6 * (each["solver"] - own),
        normals=1e6 * each["normals"] / repeats,
        own=1e6 * own,
    )


def _own_seconds(
    kind: Callable[[int], MakeObjective], x0: Vector, rounds: int, calls: int = 100_000
) -> float:
    """Return the seconds that a call of the objective takes by itself."""
    make = kind(calls)

    def call_in_a_loop() -> None:
        fun = make(calls)
        for _ in itertools.repeat(None, calls):
            fun(x0)

    return min(seconds(call_in_a_loop) for _ in range(rounds)) / calls


def job(solver: Solver, n: int, rounds: int, round_seconds: float) -> Job:
    """Return the job that measures a solver in n variables."""
    return Job(one_measurement, (solver.name, n, rounds, round_seconds), _TIMEOUT)


def describe(row: OverheadRow) -> str:
    """Return a measurement in a line for people."""
    return f"Overhead of {row.solver}, n = {spaced(row.n)}: {row.microseconds:.3g} µs"
