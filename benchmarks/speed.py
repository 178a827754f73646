"""Time per iteration in units of drawing its normals, memory in vectors, and the time to get started.

``python -m benchmarks.speed`` prints a report in Markdown; ``--out FILE`` writes it as well. All runs of one
dimension take turns.
"""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np

import pursuit
from benchmarks.operations import WORK, operations, seconds_needed, work_of
from benchmarks.reporting import made_by, main, peak_vectors, verdict
from benchmarks.timing import draw, drawing_compiled, fits, iterating, repetitions, seconds, seconds_each
from pursuit.compiling.cache import compiled
from pursuit.compiling.vectors import SERIAL
from pursuit.engine.iteration import Bench, Buffers, iterate, open_loop
from pursuit.engine.stopping import Reason
from pursuit.engine.tally import UNLIMITED, Limits, start_tally
from pursuit.experiments.common.formatting import spaced, table
from pursuit.methods import create_scheme

DIMENSIONS = (100, 1_000, 10_000, 100_000, 1_000_000)
METHODS = ("rp", "sarp", "ep-cma-4", "cma")
# Our targets: time per iteration in units of n normals, vectors of n beyond the start, the exponent of n in
# the time per iteration, and seconds to import the package and to make the first iteration.
RATIOS = {
    "rp": {100: 1.6, 10_000: 1.3, 1_000_000: 2.0},
    "sarp": {100: 2.5, 10_000: 2.0, 1_000_000: 4.0},
    "ep-cma-4": {100: 2.5, 10_000: 2.5, 1_000_000: 5.0},
    "cma": {100: 12.0},
}
OTHERS = ("rg", "ars", "spsa", "arp", "acdm", "sep-cma", "cr-fm-nes", "lm-cma", "l-cma")
VECTORS = {"rp": 3, "sarp": 6, "ep-cma-1": 7, "ep-cma-4": 10}
EXPONENT = 1.15
# Time per iteration in units of the vector operations that a method must do.
OVERHEAD = 1.5
# Iterations of some evaluate many points, and the largest of them hold many vectors.
WORK_DIMENSIONS = (100, 1_000, 10_000, 100_000)
IMPORT_SECONDS, FIRST_RUN_SECONDS = 1.0, 0.5


def measure(n: int, rounds: int) -> dict[str, float]:
    """Return seconds per iteration of every method, and of drawing n normals, as 'normals'."""
    runs = {method: iterating(method, n) for method in METHODS if fits(method, n)}
    return seconds_each({"normals": drawing_compiled(n), **runs}, repetitions(20_000_000, n), rounds)


def overheads(n: int, rounds: int) -> dict[str, float]:
    """Return the time per iteration of linear methods, divided by that of what they must do."""
    return {method: overhead(method, n, rounds) for method in WORK if fits(method, n)}


def overhead(method: str, n: int, rounds: int) -> float:
    """Return that of one method; it takes turns with the operations."""
    work = work_of(method, n)
    times = repetitions(int(20_000_000 / work.values), n)
    runs = {**operations(n), method: iterating(method, n, xtol=0.0, ftol=0.0)}
    taken = seconds_each(runs, times, rounds)
    return taken[method] / seconds_needed(work, taken)


def vectors_used(method: str, n: int = 1_000_000) -> float:
    """Return the peak of memory during a run, beyond problem and start, in vectors of n doubles."""
    return peak_vectors(iterating(method, n), n)


def memory_of_others(n: int) -> list[list[str]]:
    """Return the memory of methods by others, beside their population lambda and their memory m."""
    rows = []
    for method in OTHERS:
        scheme = create_scheme(method, n, {}, pursuit.problems.exp(n, 1e4))
        points = getattr(scheme, "popsize", "")
        kept = getattr(scheme, "m", "") if method in ("lm-cma", "l-cma") else ""
        rows.append([method, str(points), str(kept), f"{vectors_used(method, n):.1f}"])
    return rows


def trace_cost(rounds: int) -> float:
    """Return by what part tracing lengthens an iteration where it weighs most, in two dimensions."""
    problem = pursuit.problems.exp(2, 1e4)
    scheme = create_scheme("rp", 2, {}, problem)
    limits = Limits(target=-1.0, iterations=UNLIMITED, evaluations=UNLIMITED, patience=UNLIMITED)
    best, loop = dict.fromkeys((1, UNLIMITED), math.inf), compiled(iterate)
    for _ in range(rounds):
        for due in best:
            x0, rng = problem.x0, np.random.default_rng(1)
            tally, trace = start_tally(problem(x0), 1.0)
            buffers = Buffers(rng.standard_normal((1, 2)), np.empty((1, 2)), np.empty(1))
            state = scheme.init(x0, problem(x0), 1.0)
            bench = Bench(SERIAL, scheme, problem, state.arrays, trace, limits, buffers)
            session = compiled(open_loop)(state.numbers, tally._replace(due=due), Reason.RUNNING)
            around = session, bench, problem, rng
            loop(*around, 1)
            taken = seconds(lambda around=around: loop(*around, 2_000_000))  # type: ignore[misc]
            best[due] = min(best[due], taken)
    return best[1] / best[UNLIMITED] - 1


START = """
import time
begin = time.perf_counter()
import pursuit
imported = time.perf_counter()
problem = pursuit.problems.exp(100, 1e4)
pursuit.minimize(problem, problem.x0, method="{method}", rng=1, maxiter=1)
print(imported - begin, time.perf_counter() - imported)
"""


def start_up(method: str, rounds: int = 5) -> tuple[float, float]:
    """Return the time of the import and of the first compiled run in a new process, with a warm cache."""
    pairs = []
    for _ in range(rounds + 1):
        command = [sys.executable, "-c", START.format(method=method)]
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        pairs.append(tuple(map(float, out.split())))
    return min(pair[0] for pair in pairs[1:]), min(pair[1] for pair in pairs[1:])


def generators() -> list[list[str]]:
    """Return nanoseconds per normal of NumPy's bit generators, in a compiled loop and by NumPy itself."""
    rows = []
    z = np.empty(1000)
    for name in ("PCG64", "PCG64DXSM", "SFC64", "Philox", "MT19937"):
        rng = np.random.Generator(getattr(np.random, name)(1))
        draw(rng, z, 10)
        by_numba = min(seconds(lambda rng=rng: draw(rng, z, 2000)) for _ in range(5)) / 2e6  # type: ignore[misc]

        def by_numpy(rng: np.random.Generator = rng) -> None:
            for _ in range(2000):
                rng.standard_normal(out=z)

        plain = min(seconds(by_numpy) for _ in range(5)) / 2e6
        rows.append([name, f"{1e9 * by_numba:.1f}", f"{1e9 * plain:.1f}"])
    return rows


def report(rounds: int) -> str:
    times = {n: measure(n, rounds) for n in DIMENSIONS}
    ratios = [[method, *_ratios(method, times)] for method in METHODS]
    growth = []
    for method in ("rp", "sarp", "ep-cma-4"):
        exponent = math.log10(times[1_000_000][method] / times[1_000][method]) / 3
        growth.append([method, verdict(exponent, EXPONENT)])
    micro = [
        [str(n), *(f"{1e6 * best[name]:.3g}" if name in best else "" for name in ("normals", *METHODS))]
        for n, best in times.items()
    ]
    memory = [[method, verdict(round(vectors_used(method), 2), bound)] for method, bound in VECTORS.items()]
    starts = []
    for method in METHODS:
        imported, first = start_up(method)
        starts.append([method, verdict(imported, IMPORT_SECONDS), verdict(first, FIRST_RUN_SECONDS)])
    beyond = {n: overheads(n, rounds) for n in WORK_DIMENSIONS}
    needed = [
        [method, *(verdict(found[method], OVERHEAD) if method in found else "" for found in beyond.values())]
        for method in WORK
    ]
    return f"""# Speed

Time per iteration, divided by the time in which a compiled loop draws n standard normals from the same
generator (PCG64). Objective: `exp`, L = 1e4.

{table(["method", *(f"n = {spaced(n)}" for n in DIMENSIONS)], ratios)}

The same in microseconds:

{table(["n", "n normals", *METHODS], micro)}

Time per iteration of linear methods, divided by the time of the vector operations that they must do: their
normals, their values, inner products, and passes over vectors, as `benchmarks/operations.py` counts them.

{table(["method", *(f"n = {spaced(n)}" for n in WORK_DIMENSIONS)], needed)}

Growth: the exponent of n in the time per iteration, from n = 1000 to n = 1 000 000.

{table(["method", "exponent"], growth)}

The trace, which is kept in every run, lengthens an iteration of RP at n = 2, where it weighs most, by
{100 * trace_cost(rounds):.1f} %.

Memory beyond the start, at its peak, in vectors of n doubles, n = 1 000 000, rounded to two digits (the trace
takes 41 kB whatever n is).

{table(["method", "vectors"], memory)}

The same of methods by others, n = {spaced(WORK_DIMENSIONS[-1])}, beside the points of their population, λ,
and the vectors that they keep by definition, m (pairs of them in `lm-cma`).

{table(["method", "λ", "m", "vectors"], memory_of_others(WORK_DIMENSIONS[-1]))}

Seconds to import the package, and from there to the end of a first compiled iteration, in a new process with
a warm cache.

{table(["method", "import", "first run"], starts)}

Nanoseconds per standard normal, by Numba's ziggurat inside compiled code and by `standard_normal(out=...)`.

{table(["bit generator", "compiled", "NumPy"], generators())}

{made_by("benchmarks.speed")}"""


def _ratios(method: str, times: dict[int, dict[str, float]]) -> list[str]:
    """Return the times of a method in units of n normals; empty in dimensions in which it is not timed."""
    bounds = RATIOS[method]
    return [
        verdict(best[method] / best["normals"], bounds.get(n)) if method in best else ""
        for n, best in times.items()
    ]


if __name__ == "__main__":
    main(__doc__, report)
