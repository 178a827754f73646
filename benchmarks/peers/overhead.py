"""The time that a solver takes per evaluation beyond the objective's own, also in units of n normals.

As in `benchmarks.overhead`, whose objective this is: it returns prepared values at no cost to speak of, and
what k and 2k evaluations take differs by k of them, so that getting started does not count. Each measurement
draws its normals in the same process, in turns with the solver.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Sequence
from typing import NamedTuple, NoReturn, Protocol

import numpy as np

from benchmarks.overhead import converging_values, drawing_normals, replaying
from benchmarks.peers.adapters import DENSE_LIMIT, NO_ROOM, OUTSIDER, Fun, Solver, solver_named
from benchmarks.peers.counting import ERROR, Ended
from benchmarks.peers.evaluations import SIGMA0
from benchmarks.peers.isolation import Failure, Job, run_alone
from benchmarks.peers.records import MEASURED, MISSING, SKIPPED, UNDONE, OverheadRow, Table
from benchmarks.peers.versions import version_of
from benchmarks.reporting import seconds, seconds_each
from pursuit.checks import Vector
from pursuit.experiments.common.formatting import spaced

DIMENSIONS = (100, 1_000, 10_000, 100_000, 1_000_000)
_TIMEOUT = 400.0
# At least so many evaluations are timed: some populations, which consist of 17 to 45 points.
_FEWEST = 150
_MOST_NUMBERS = 20_000_000
_FEWEST_NORMALS = 10_000_000
# The evaluations from which the speed is guessed, and the seconds that one round shall take or more.
_PILOT = 60
ROUND = 2.0
# The evaluations in which a solver does not get to the bottom of the valley, and one with n + 1 of them for
# each gradient does not either.
_VALLEY, _VALLEY_PER_VARIABLE = 20_000, 10
# What is over sooner is measured more often, but not for ever.
_MOST_ROUNDS = 50


class Overhead(NamedTuple):
    """A measurement, in microseconds."""

    evaluations: int
    microseconds: float
    normals: float
    own: float


class Objective(Protocol):
    """What makes an objective for so many evaluations, after which it ends the run."""

    def __call__(self, count: int) -> Fun:
        """Return the objective."""


def replay(most: int) -> Objective:
    """Return objectives of prepared values, as of a run on its way to the minimum, no two of them equal.

    Equal values, such as all failures have in `converging_values`, would make populations stop.
    """
    values = np.array(converging_values(most, 1))
    failed = values == 1.0
    values[failed] += np.random.default_rng(2).random(np.count_nonzero(failed))
    prepared = values.tolist()
    return lambda count: replaying(itertools.chain(itertools.islice(prepared, count), _TheEnd()))


def valley(most: int) -> Objective:
    """Return objectives that mean something, for solvers which made-up values lead astray.

    It is Rosenbrock's function of the first two variables.
    """

    def objective(count: int) -> Fun:
        following = itertools.chain(itertools.repeat(None, count), _TheEnd()).__next__

        def fun(x: Vector) -> float:
            following()
            a, b = float(x[0]), float(x[1])
            return 100.0 * (b - a * a) ** 2 + (1.0 - a) ** 2

        return fun

    return objective


class _TheEnd:
    """What comes after the last value, however often one asks for it."""

    def __iter__(self) -> _TheEnd:
        return self

    def __next__(self) -> NoReturn:
        raise Ended


def start_of(solver: Solver, n: int) -> tuple[Callable[[int], Objective], Vector]:
    """Return what makes the objectives for a solver, and its start."""
    x0 = np.zeros(n)
    if solver.replayable:
        return replay, x0
    x0[:2] = -1.2, 1.0
    return valley, x0


def spend(solver: Solver, objective: Objective, x0: Vector, count: int) -> None:
    """Let a solver make so many evaluations."""
    fun = objective(count)
    with contextlib.suppress(Ended):
        # More than the objective has, so that it is the objective that ends the run.
        solver.solve(fun, x0, sigma0=SIGMA0, maxfev=2 * count, seed=1)
        # One that keeps the end to itself and returns has done its work all the same.
        fun(x0)
        raise RuntimeError(f"It quits before it has made {spaced(count)} evaluations.")


def one_measurement(name: str, n: int, rounds: int, round_seconds: float) -> Overhead:
    """Measure a solver; what a child process does."""
    solver = solver_named(name)
    make, x0 = start_of(solver, n)

    def run(count: int) -> None:
        spend(solver, objective, x0, count)

    objective = make(_PILOT)
    # The first run compiles and imports.
    run(_PILOT)
    guess = seconds(lambda: run(_PILOT)) / _PILOT
    times = max(_FEWEST, min(_MOST_NUMBERS // n, int(round_seconds / 3.0 / guess)))
    if not solver.replayable:
        times = min(times, _VALLEY_PER_VARIABLE * n if solver.memory == OUTSIDER else _VALLEY)
    rounds = max(rounds, min(_MOST_ROUNDS, int(round_seconds / 3.0 / (guess * times))))
    objective = make(2 * times)
    # Slow solvers make few evaluations: normals are drawn so many times for each of them as can be timed.
    repeats = max(1, _FEWEST_NORMALS // (n * times))
    draw = drawing_normals(n)
    each = seconds_each({"solver": run, "normals": lambda count: draw(repeats * count)}, times, rounds)
    own = _own_seconds(make, x0, rounds)
    return Overhead(times, 1e6 * (each["solver"] - own), 1e6 * each["normals"] / repeats, 1e6 * own)


def _own_seconds(make: Callable[[int], Objective], x0: Vector, rounds: int, calls: int = 100_000) -> float:
    """Return the seconds that a call of the objective takes by itself."""
    objective = make(calls)

    def call_in_a_loop() -> None:
        fun = objective(calls)
        for _ in itertools.repeat(None, calls):
            fun(x0)

    return min(seconds(call_in_a_loop) for _ in range(rounds)) / calls


def measure_all(
    solvers: Sequence[Solver],
    dimensions: Sequence[int],
    *,
    table: Table[OverheadRow],
    rounds: int,
    round_seconds: float,
    say: Callable[[str], None],
) -> None:
    """Measure what the table does not have yet, one after the other."""
    for n, solver in itertools.product(dimensions, solvers):
        row = OverheadRow(solver.name, solver.package, version_of(solver), n, "", "", None, None, None, None)
        found = table.get(row.key)
        if found is not None and found.status not in UNDONE and found.version == row.version:
            continue
        row = _measured(solver, row, rounds, round_seconds)
        if row.status != MISSING or found is None:
            table.add(row)
        shown = row.detail if row.microseconds is None else f"{row.microseconds:.3g} µs"
        say(f"Overhead of {solver.name}, n = {n}: {shown}")


def _measured(solver: Solver, row: OverheadRow, rounds: int, round_seconds: float) -> OverheadRow:
    if not solver.installed:
        return row._replace(status=MISSING, detail=f"{solver.package} is not installed.")
    if solver.dense and row.n >= DENSE_LIMIT:
        return row._replace(status=SKIPPED, detail=NO_ROOM)
    result = run_alone(Job(one_measurement, (solver.name, row.n, rounds, round_seconds), _TIMEOUT))
    if isinstance(result, Failure):
        return row._replace(status=ERROR, detail=result.text)
    return row._replace(status=MEASURED, **result._asdict())
