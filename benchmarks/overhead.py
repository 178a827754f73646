"""Time per evaluation around a plain Python objective, and memory.

``python -m benchmarks.overhead`` prints a report in Markdown; ``--out FILE`` writes it as well. The default
is measured beside L-BFGS-B (`benchmarks.default`), the paper's methods in units of NumPy's normals. As in
`benchmarks.speed`, all runs of one dimension take turns.
"""

from __future__ import annotations

import itertools

import numpy as np

from benchmarks import default
from benchmarks.reporting import made_by, main, peak_vectors, verdict
from benchmarks.speed import DIMENSIONS
from benchmarks.timing import (
    converging_values,
    drawing_by_numpy,
    evaluating,
    replaying,
    seconds,
    seconds_each,
)
from pursuit.experiments.common.formatting import spaced, table

# Our targets: time per evaluation in units of n normals by NumPy, and vectors of n beyond the start.
_LINEAR = {100: 3.0, 1_000: 1.2, 10_000: 0.7, 100_000: 0.7, 1_000_000: 0.7}
RATIOS = {
    "rp": _LINEAR,
    "sarp": _LINEAR,
    "ep-cma-4": {100: 4.0, 1_000: 1.6, 10_000: 1.2, 100_000: 1.2, 1_000_000: 1.2},
}
VECTORS = {"rp": 3, "sarp": 6}
MEMORY_DIMENSION = 10_000_000


def measure(n: int, rounds: int) -> dict[str, float]:
    """Return seconds per evaluation of every method, and of drawing n normals by NumPy, as 'normals'."""
    times = max(100, 20_000_000 // n)
    runs = {method: evaluating(method, n, 2 * times) for method in RATIOS}
    return seconds_each({"normals": drawing_by_numpy(n), **runs}, times, rounds)


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
    run = evaluating(method, n, 10)
    # An iteration of SARP takes two evaluations.
    return peak_vectors(lambda k: run(2 * k), n)


def report(rounds: int) -> str:
    beside = default.report(rounds)
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

{beside}
## The paper's methods

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
