"""Time per evaluation around a plain Python objective, in units of NumPy's normals, and memory in vectors.

``python -m benchmarks.overhead`` prints a report in Markdown; ``--out FILE`` writes it as well. As in
`benchmarks.speed`, all times of one dimension are taken in turns.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import pursuit
from benchmarks.reporting import made_by, main, peak_vectors, seconds, seconds_each, verdict
from benchmarks.speed import DIMENSIONS
from pursuit.experiments.common.formatting import spaced, table

# The bounds to reach: time per evaluation in units of n normals by NumPy, and vectors of n beyond the start.
_LINEAR = {100: 3.0, 1_000: 1.2, 10_000: 0.7, 100_000: 0.7, 1_000_000: 0.7}
RATIOS = {
    "rp": _LINEAR,
    "sarp": _LINEAR,
    "ep-cma-4": {100: 4.0, 1_000: 1.6, 10_000: 1.2, 100_000: 1.2, 1_000_000: 1.2},
}
VECTORS = {"rp": 3, "sarp": 6}
POINTS = {"rp": 1, "sarp": 2, "ep-cma-4": 1}
OPTIONS = {"sarp": {"kappa": 1e4}}
MEMORY_DIMENSION = 10_000_000


def converging_values(iterations: int, points: int) -> list[float]:
    """Return values for an objective to return in turn, whatever it is asked: the start's and iterations'.

    Of every hundred trial steps 27 lead to a point better than all before, the rate of successes that
    adaptive steps aim at, and the others to a worse one. So step sizes stay where they are, and no run
    stalls, diverges or converges, however long it is: an iteration takes the time of one on the way to the
    minimum. Where an iteration has a second point, the one it sets out from, that is better than all
    before as well: then the best point is written anew in every iteration, which is the most that can
    happen.
    """
    rng = np.random.default_rng(1)
    hundreds = -(-iterations // 100)
    better = rng.permuted(np.tile(np.arange(100) < 27, (hundreds, 1)), axis=1).ravel()[:iterations]
    ranks = np.arange(1.0, iterations + 1.0)
    trials = np.where(better, -ranks - 0.5, 1.0)
    columns = [trials, -ranks][:points]
    values: list[float] = np.column_stack(columns).ravel().tolist()
    return [0.0, *values]


def replaying(values: Iterable[float]) -> Callable[[Any], float]:
    """Return a plain Python objective, of negligible cost at any n, that returns these values in turn."""
    following = iter(values).__next__
    return lambda x: following()


def drawing_normals(n: int) -> Callable[[int], None]:
    """Return what draws n normals by NumPy, as many times as it is told."""

    def draw_normals(k: int) -> None:
        rng = np.random.default_rng(1)
        for _ in itertools.repeat(None, k):
            rng.standard_normal(n)

    return draw_normals


def measure(n: int, rounds: int) -> dict[str, float]:
    """Return seconds per evaluation of every method, and of drawing n normals by NumPy, as 'normals'."""
    times = max(100, 20_000_000 // n)
    values = {points: converging_values(2 * times // points, points) for points in (1, 2)}
    x0 = np.zeros(n)

    def runner(method: str) -> Callable[[int], None]:
        def run(k: int) -> None:
            # The start takes an evaluation of its own.
            result = pursuit.minimize(
                replaying(values[POINTS[method]]), x0, method=method, rng=1, maxfev=k + 1,
                options=OPTIONS.get(method),
            )  # fmt: skip
            if result.nfev != k + 1:
                raise RuntimeError(f"{method} stopped after {result.nfev} evaluations: {result.message}")

        return run

    runs = {"normals": drawing_normals(n), **{method: runner(method) for method in RATIOS}}
    return seconds_each(runs, times, rounds)


def time_of_objective(rounds: int, calls: int = 200_000) -> float:
    """Return the seconds that a call of the objective takes by itself, whatever n is."""
    values, x = converging_values(calls, 1), np.zeros(2)

    def call_in_a_loop() -> None:
        objective = replaying(values)
        for _ in itertools.repeat(None, calls):
            objective(x)

    return min(seconds(call_in_a_loop) for _ in range(rounds)) / calls


def vectors_used(method: str, n: int = MEMORY_DIMENSION) -> float:
    """Return the peak of memory during a run, beyond the start, in vectors of n doubles."""
    x0 = np.zeros(n)
    values = converging_values(5, POINTS[method])

    def run(iterations: int) -> None:
        pursuit.minimize(
            replaying(values), x0, method=method, rng=1, maxiter=iterations, options=OPTIONS.get(method)
        )

    return peak_vectors(run, n)


def report(rounds: int) -> str:
    times = {n: measure(n, rounds) for n in DIMENSIONS}
    own = time_of_objective(rounds)
    ratios, micro = [], []
    for method, bounds in RATIOS.items():
        row = [verdict((best[method] - own) / best["normals"], bounds[n]) for n, best in times.items()]
        ratios.append([method, *row])
    for n, best in times.items():
        beyond = [f"{1e6 * (best[method] - own):.3g}" for method in RATIOS]
        micro.append([str(n), f"{1e6 * best['normals']:.3g}", *beyond])
    memory = [[method, verdict(round(vectors_used(method), 2), bound)] for method, bound in VECTORS.items()]
    return f"""# Overhead around a Python objective

Time per evaluation beyond the objective's own, divided by the time in which
`numpy.random.default_rng().standard_normal(n)` draws n normals. The objective is a plain Python function that
returns prepared values, such that 27 of 100 trial steps succeed. An iteration of SARP takes two evaluations,
of the others one.

{table(["method", *(f"n = {spaced(n)}" for n in DIMENSIONS)], ratios)}

The same in microseconds; the objective's own time, {1e6 * own:.3f}, is not among them:

{table(["n", "n normals", *RATIOS], micro)}

Memory beyond the start, at its peak, in vectors of n doubles,
n = {spaced(MEMORY_DIMENSION)}, rounded to two digits.

{table(["method", "vectors"], memory)}

{made_by("benchmarks.overhead")}"""


if __name__ == "__main__":
    main(__doc__, report)
