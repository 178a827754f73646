"""Time per iteration in units of drawing its normals, memory in vectors, and the time to get started.

``python -m benchmarks.speed`` prints a report in Markdown; ``--out FILE`` writes it as well. All runs of one
dimension take turns.
"""

from __future__ import annotations

import subprocess
import sys

import numpy as np

import pursuit
from benchmarks.measure import drawing_compiled, fits, iterating, peak_vectors, repetitions, seconds_each
from benchmarks.pages.stamp import filled
from benchmarks.reporting import made_by, main
from pursuit.experiments.common.formatting import spaced, table
from pursuit.methods import create_scheme

DIMENSIONS = (100, 1_000, 10_000, 100_000, 1_000_000)
METHODS = ("rp", "sarp", "ep-cma-4", "cma")
# Iterations of some of these evaluate many points.
OTHERS = ("rg", "ars", "spsa", "arp", "acdm", "sep-cma", "cr-fm-nes", "r1-nes", "lm-cma", "l-cma")
_OTHERS_DIMENSIONS = DIMENSIONS[:-1]
_NUMBERS = 20_000_000


def measure(n: int, rounds: int) -> dict[str, float]:
    """Return seconds per iteration of every method, and of drawing n normals, as 'normals'."""
    runs = {method: iterating(method, n) for method in METHODS if fits(method, n)}
    return seconds_each({"normals": drawing_compiled(n), **runs}, repetitions(_NUMBERS, n), rounds)


def per_point(method: str, n: int, rounds: int) -> float:
    """Return the time of a method for a point that it evaluates, divided by that of drawing n normals."""
    result = pursuit.minimize(pursuit.problems.exp(n, 1e4), np.ones(n), method=method, rng=1, maxiter=10)
    points = (result.nfev - 1) / result.nit
    runs = {"normals": drawing_compiled(n), method: iterating(method, n, xtol=0.0, ftol=0.0)}
    taken = seconds_each(runs, repetitions(int(_NUMBERS / points), n), rounds)
    return taken[method] / points / taken["normals"]


def memory_of(method: str, n: int) -> list[str]:
    """Return the peak of memory of a run, beside the population λ and the memory m."""
    scheme = create_scheme(method, n, {}, pursuit.problems.exp(n, 1e4))
    kept = getattr(scheme, "m", "") if method in ("lm-cma", "l-cma") else ""
    vectors = peak_vectors(iterating(method, n), n)
    return [method, str(getattr(scheme, "popsize", "")), str(kept), f"{vectors:.1f}"]


_START = """
import time
begin = time.perf_counter()
import pursuit
imported = time.perf_counter()
problem = pursuit.problems.exp(100, 1e4)
pursuit.minimize(problem, problem.x0, method="{method}", rng=1, maxiter=1)
print(imported - begin, time.perf_counter() - imported)
"""


def start_up(method: str, rounds: int) -> list[str]:
    """Return the time of the import and of the first compiled run in a new process, with a warm cache."""
    command = [sys.executable, "-c", _START.format(method=method)]
    outputs = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(rounds + 1)]
    # The first fills the cache.
    times = [tuple(map(float, one.stdout.split())) for one in outputs[1:]]
    return [method, *(f"{min(column):.2f}" for column in zip(*times, strict=True))]


def report(rounds: int) -> str:
    """Return the report."""
    times = {n: measure(n, rounds) for n in DIMENSIONS}
    ratios = [
        [
            method,
            *(f"{best[method] / best['normals']:.2f}" if method in best else "" for best in times.values()),
        ]
        for method in METHODS
    ]
    micro = [
        [str(n), *(f"{1e6 * best[name]:.3g}" if name in best else "" for name in ("normals", *METHODS))]
        for n, best in times.items()
    ]
    others = [
        [m, *(f"{per_point(m, n, rounds):.2f}" if fits(m, n) else "" for n in _OTHERS_DIMENSIONS)]
        for m in OTHERS
    ]
    memory = [
        memory_of(method, _OTHERS_DIMENSIONS[-1]) for method in (*METHODS[:-1], *OTHERS) if method != "r1-nes"
    ]
    starts = [start_up(method, rounds) for method in METHODS]
    heads = ["method", *(f"n = {spaced(n)}" for n in DIMENSIONS)]
    return filled(
        "speed", ratios=table(heads, ratios), micro=table(["n", "n normals", *METHODS], micro),
        others=table(heads[:-1], others), n=spaced(_OTHERS_DIMENSIONS[-1]),
        memory=table(["method", "λ", "m", "vectors"], memory),
        starts=table(["method", "import", "first run"], starts), made=made_by("benchmarks.speed"),
    )  # fmt: skip


if __name__ == "__main__":
    main(__doc__, report)
