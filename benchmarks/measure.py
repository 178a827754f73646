"""Time and memory: of compiled loops, and of solvers per evaluation, beyond the objective's own.

A solver's objective returns prepared values at negligible cost, and the difference between the times of k and
2k evaluations cancels the time of getting started. Each measurement draws its normals in the same process, in
turns with the solver. Memory is what the operating system counts as allocated, in the same way for code in
Python, C++ and Fortran, in a fresh process, after a run in few variables, which allocates all that does not
depend on n.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import mmap
import resource
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numba
import numpy as np

import pursuit
from benchmarks.solvers import OUTSIDER, Fun, Solver
from pursuit.checks import Vector
from pursuit.experiments.common.formatting import spaced

Repeat = Callable[[int], object]
"""Does something as many times as its argument says."""
Clock = Callable[[], float]

# The memory and the time per iteration of these grow like n².
_DENSE, _DENSE_LIMIT = ("cma", "r1-nes"), 1000
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


def seconds(call: Callable[[], object], clock: Clock = time.perf_counter) -> float:
    """Return the seconds of a call."""
    begin = clock()
    call()
    return clock() - begin


def seconds_each(
    runs: Mapping[str, Repeat], times: int, rounds: int, clock: Clock = time.perf_counter
) -> dict[str, float]:
    """Return the seconds per repetition of each run.

    The runs take turns and the shortest of several rounds counts, so that ratios can be trusted on a machine
    that others use too. The difference between `times` and twice as many repetitions cancels the time of
    getting started.
    """
    short, long = dict.fromkeys(runs, math.inf), dict.fromkeys(runs, math.inf)
    for _ in range(rounds):
        for name, run in runs.items():
            short[name] = min(short[name], seconds(partial(run, times), clock))
            long[name] = min(long[name], seconds(partial(run, 2 * times), clock))
    return {name: (long[name] - short[name]) / times for name in runs}


def repetitions(numbers: int, n: int) -> int:
    """Return how many iterations draw so many numbers: ten at least, and so few that no run converges."""
    return max(10, min(numbers // n, 200 * n))


def fits(method: str, n: int) -> bool:
    """Return whether a method can be timed in n variables in a reasonable time."""
    return method not in _DENSE or n <= _DENSE_LIMIT


def iterating(method: str, n: int, **limits: Any) -> Repeat:
    """Return a run of a compiled loop that makes so many iterations on `exp`, L = 1e4."""
    problem = pursuit.problems.exp(n, 1e4)
    x0 = problem.x0

    def run(k: int) -> None:
        result = pursuit.minimize(problem, x0, method=method, rng=1, maxiter=k, **limits)
        if result.nit != k:
            raise RuntimeError(f"{method} stopped after {result.nit} iterations: {result.message}")

    return run


class EndOfRun(BaseException):
    """All values are used up. It is not an `Exception`, since some solvers catch those and continue."""


def replaying(values: Iterable[float]) -> Callable[[Any], float]:
    """Return a plain Python objective, of negligible cost at any n, that returns these values in turn."""
    following = itertools.chain(values, iter(_end, None)).__next__
    return lambda x: following()


def _end() -> NoReturn:
    raise EndOfRun


def own_seconds(
    make: Callable[[int], Callable[[Any], float]], x: Any, rounds: int, calls: int = 100_000
) -> float:
    """Return the seconds that a call of an objective takes by itself."""

    def call_in_a_loop() -> None:
        fun = make(calls)
        for _ in itertools.repeat(None, calls):
            fun(x)

    return min(seconds(call_in_a_loop) for _ in range(rounds)) / calls


def peak_vectors(run: Repeat, n: int) -> float:
    """Return the peak of memory during a run of a few iterations, in vectors of n doubles."""
    run(1)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    run(5)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return (peak - before) / (8 * n)


@numba.njit
def draw(rng: Any, z: Any, times: int) -> None:
    for _ in range(times):
        for i in range(z.shape[0]):
            z[i] = rng.standard_normal()


def drawing_compiled(n: int) -> Repeat:
    """Return a compiled loop that draws n normals, so many times."""
    z = np.empty(n)
    return lambda k: draw(np.random.default_rng(1), z, k)


def drawing_by_numpy(n: int) -> Repeat:
    """Return a loop in which NumPy draws n normals, so many times."""

    def draw_normals(k: int) -> None:
        rng = np.random.default_rng(1)
        for _ in itertools.repeat(None, k):
            rng.standard_normal(n)

    return draw_normals


def rosenbrock(x: Any) -> Any:
    """Return Rosenbrock's function of a point, or of many, one a row."""
    ahead, here = x[..., 1:], x[..., :-1]
    return np.sum(100.0 * (ahead - here**2) ** 2 + (1.0 - here) ** 2, axis=-1)


# --- time per evaluation, and memory ---------------------------------------------------------------

MakeObjective = Callable[[int], Fun]
"""Makes an objective that ends the run after so many evaluations."""


class Overhead(NamedTuple):
    """A measurement, in microseconds."""

    evaluations: int
    microseconds: float
    normals: float
    own: float


def prepared(most: int) -> MakeObjective:
    """Return objectives that return prepared values in turn, whatever the point.

    Of every hundred trial steps 27 lead to a point better than all before, the rate of successes that
    adaptive steps aim at, and the others to a worse one. So step sizes stay where they are, and no run
    stalls, diverges or converges, however long it is: an iteration takes the time of one on the way to the
    minimum. No two values are equal, since that would make populations stop.
    """
    hundreds = -(-most // 100)
    better = np.random.default_rng(1).permuted(np.tile(np.arange(100) < 27, (hundreds, 1)), axis=1)
    failed = ~better.ravel()[:most]
    values = -np.arange(1.0, most + 1.0) - 0.5
    values[failed] = 1.0 + np.random.default_rng(2).random(np.count_nonzero(failed))
    found = [0.0, *values.tolist()]
    return lambda count: replaying(itertools.islice(found, count))


def valley(count: int) -> Fun:
    """Return an objective for solvers that misbehave on prepared values: a valley of two variables."""
    following = replaying(itertools.repeat(0.0, count))

    def fun(x: Vector) -> float:
        a, b = float(x[0]), float(x[1])
        return following(x) + 100.0 * (b - a * a) ** 2 + (1.0 - a) ** 2

    return fun


def objectives_for(solver: Solver, most: int) -> MakeObjective:
    """Return the objectives that a solver gets, for at most so many evaluations."""
    return prepared(most) if solver.replayable else valley


def start_of(solver: Solver, n: int) -> Vector:
    """Return the start that a solver gets."""
    x0 = np.zeros(n)
    if not solver.replayable:
        x0[:2] = -1.2, 1.0
    return x0


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
    x0 = start_of(solver, n)

    def run(count: int) -> None:
        evaluate(solver, make, x0, count)

    make = objectives_for(solver, _PILOT)
    # The first run compiles and imports.
    run(_PILOT)
    guess = seconds(lambda: run(_PILOT)) / _PILOT
    times = max(_FEWEST, min(_MOST_NUMBERS // n, int(round_seconds / 3.0 / guess)))
    if not solver.replayable:
        times = min(times, _VALLEY_PER_VARIABLE * n if solver.memory == OUTSIDER else _VALLEY)
        times = min(times, (solver.lasts or 2 * times) // 2)
    rounds = max(rounds, min(_MOST_ROUNDS, int(round_seconds / 3.0 / (guess * times))))
    make = objectives_for(solver, 2 * times)
    # Slow solvers make few evaluations: for each of them normals are drawn several times.
    repeats = max(1, _FEWEST_NORMALS // (n * times))
    draw = drawing_by_numpy(n)
    each = seconds_each({"solver": run, "normals": lambda count: draw(repeats * count)}, times, rounds)
    own = own_seconds(objectives_for(solver, 100_000), x0, rounds)
    return Overhead(times, 1e6 * (each["solver"] - own), 1e6 * each["normals"] / repeats, 1e6 * own)


def memory_of(solver: Solver, n: int) -> int:
    """Return the peak of a solver's memory, beyond what the process had before."""
    make = objectives_for(solver, MEMORY_EVALUATIONS)
    evaluate(solver, make, start_of(solver, _FEW), MEMORY_EVALUATIONS)
    x0 = start_of(solver, n)
    filler = _fill_up_to_peak()
    before = _peak()
    evaluate(solver, make, x0, MEMORY_EVALUATIONS)
    taken = _peak() - before
    if filler is not None:
        filler.close()
    return taken


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
