"""Timing, and the work that the benchmarks of speed time, through the library's public functions alone."""

from __future__ import annotations

import itertools
import math
import time
import tracemalloc
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn

import numba
import numpy as np

import pursuit

Repeat = Callable[[int], object]
"""Does something as many times as its argument says."""

# The memory and the time per iteration of these grow like n².
_DENSE, _DENSE_LIMIT = ("cma", "r1-nes"), 1000


def seconds(call: Callable[[], object]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def processor_seconds(call: Callable[[], object]) -> float:
    begin = time.process_time()
    call()
    return time.process_time() - begin


def seconds_each(
    runs: Mapping[str, Repeat], times: int, rounds: int, clock: Callable[..., float] = seconds
) -> dict[str, float]:
    """Return the seconds per repetition of each run.

    The runs take turns and the shortest of several rounds counts, so that ratios can be trusted on a machine
    that others use too. The difference between `times` and twice as many repetitions cancels the time of
    getting started.
    """
    short, long = dict.fromkeys(runs, math.inf), dict.fromkeys(runs, math.inf)
    for _ in range(rounds):
        for name, run in runs.items():
            short[name] = min(short[name], clock(lambda run=run: run(times)))
            long[name] = min(long[name], clock(lambda run=run: run(2 * times)))
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


def converging_values(iterations: int) -> list[float]:
    """Return values for an objective to return in turn, whatever the point: the start's and iterations'.

    Of every hundred trial steps 27 lead to a point better than all before, the rate of successes that
    adaptive steps aim at, and the others to a worse one. So step sizes stay where they are, and no run
    stalls, diverges or converges, however long it is: an iteration takes the time of one on the way to the
    minimum.
    """
    rng = np.random.default_rng(1)
    hundreds = -(-iterations // 100)
    better = rng.permuted(np.tile(np.arange(100) < 27, (hundreds, 1)), axis=1).ravel()[:iterations]
    trials: list[float] = np.where(better, -np.arange(1.0, iterations + 1.0) - 0.5, 1.0).tolist()
    return [0.0, *trials]


class EndOfRun(BaseException):
    """All values are used up. It is not an `Exception`, since some solvers catch those and continue."""


def replaying(values: Iterable[float]) -> Callable[[Any], float]:
    """Return a plain Python objective, of negligible cost at any n, that returns these values in turn."""
    following = itertools.chain(values, _Ending()).__next__
    return lambda x: following()


class _Ending:
    """An iterator that ends the run whenever it is asked for a value."""

    def __iter__(self) -> _Ending:
        return self

    def __next__(self) -> NoReturn:
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
