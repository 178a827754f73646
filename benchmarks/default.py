"""The default method beside SciPy's L-BFGS-B with differences: time per evaluation, the start, and memory.

The functions that are timed return the values of an earlier run in turn, which takes next to no time. Methods
are deterministic, so that they ask for the same points again, and what is measured is their own time.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import os
import re
import resource
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

import numpy as np

import pursuit
from benchmarks.reporting import verdict
from benchmarks.timing import seconds
from pursuit.checks import Vector
from pursuit.counting import RunEnded
from pursuit.experiments.common.formatting import spaced, table

# Our targets: no more time than L-BFGS-B, also with a batch; CPU time of an import, where that of NumPy takes
# 1; seconds of CPU time of a first run; memory in MB.
RATIO, IMPORT_RATIO, START_SECONDS, MEGABYTES = 1.0, 2.5, 1.5, 124.0
BATCH = 64
EVALUATIONS = {10: 400, 100: 8_000, 1_000: 20_000, 10_000: 30_000, 100_000: 1_000, 1_000_000: 256}
"""How many are timed, by n; from n = 100 000 on they are probes of the first sweep, which takes n of them."""
# Short runs of so few variables are repeated more often, for about so many evaluations in a round.
_SHORT, _TOGETHER = 1_000, 8_000
OURS, ONE_CALL, MAP, THEIRS = "differences", "batch 64, vectorized", "batch 64, workers=map", "L-BFGS-B"
_ARGUMENTS: dict[str, dict[str, Any]] = {
    OURS: {},
    ONE_CALL: {"batch": BATCH, "vectorized": True},
    MAP: {"batch": BATCH, "workers": map},
}
MEMORY_DIMENSION, MEMORY_EVALUATIONS = 1_000_000, 200
_README = Path(__file__).parents[1] / "README.md"


def valley(x: Any) -> Any:
    """Return Rosenbrock's function of a point, or of many, one a row."""
    ahead, here = x[..., 1:], x[..., :-1]
    return np.sum(100.0 * (ahead - here**2) ** 2 + (1.0 - here) ** 2, axis=-1)


def start(n: int) -> Vector:
    """Return the usual start in Rosenbrock's valley."""
    return np.where(np.arange(n) % 2 == 0, -1.2, 1.0)


# --- time per evaluation ---------------------------------------------------------------------------


def measure(n: int, rounds: int) -> dict[str, float]:
    """Return seconds per evaluation beyond the function's own; runs take turns, and the shortest counts."""
    count = EVALUATIONS[n]
    runs = {name: _ours(n, count, arguments) for name, arguments in _ARGUMENTS.items()}
    runs[THEIRS] = _theirs(n, count)
    shortest = dict.fromkeys(runs, math.inf)
    for _ in range(rounds * max(1, _TOGETHER // count) if n <= _SHORT else rounds):
        for name, run in runs.items():
            shortest[name] = min(shortest[name], seconds(run))
    own = _own_seconds()
    return {name: best / count - (0.0 if name == ONE_CALL else own) for name, best in shortest.items()}


def _own_seconds(calls: int = 100_000) -> float:
    """Return the seconds that a call of a function with prepared values takes by itself."""
    x = np.zeros(2)

    def call_in_a_loop() -> None:
        fun = _replaying(itertools.repeat(0.0, calls))
        for _ in itertools.repeat(None, calls):
            fun(x)

    return min(seconds(call_in_a_loop) for _ in range(5)) / calls


def _ours(n: int, count: int, arguments: dict[str, Any]) -> Callable[[], None]:
    """Return a run of ours that makes so many evaluations."""
    x0 = start(n)
    values: list[float] = []
    replaying = _replaying_rows if "vectorized" in arguments else _replaying

    def run(fun: Callable[..., Any]) -> None:
        result = pursuit.minimize(fun, x0, method=OURS, rng=1, maxfev=count, xtol=0, ftol=0, **arguments)
        if result.nfev != count:
            raise RuntimeError(f"It stopped after {result.nfev} of {count} evaluations: {result.message}")

    def recording(x: Any) -> Any:
        found = valley(x)
        values.extend(np.atleast_1d(found).tolist())
        return found

    run(recording)
    return lambda: run(replaying(values))


def _theirs(n: int, count: int) -> Callable[[], None]:
    """Return a run of SciPy's L-BFGS-B that makes so many evaluations."""
    from scipy.optimize import minimize

    x0 = start(n)
    values: list[float] = []
    options = {"maxfun": 10**9, "maxiter": 10**9, "ftol": 0.0, "gtol": 0.0}

    def run(fun: Callable[..., Any]) -> None:
        with contextlib.suppress(RunEnded):
            result = minimize(fun, x0, method="L-BFGS-B", options=options)
            raise RuntimeError(f"L-BFGS-B stopped after {result.nfev} of {count} evaluations.")

    def recording(x: Any) -> float:
        if len(values) == count:
            raise RunEnded
        values.append(float(valley(x)))
        return values[-1]

    run(recording)
    return lambda: run(_replaying(values))


def _replaying(values: Iterable[float]) -> Callable[[Any], float]:
    """Return a function that returns these values in turn, and then ends the run."""
    following = itertools.chain(values, _EndOfRun()).__next__
    return lambda x: following()


class _EndOfRun:
    """An iterator that ends the run when it is asked for a value."""

    def __iter__(self) -> _EndOfRun:
        return self

    def __next__(self) -> NoReturn:
        raise RunEnded


def _replaying_rows(values: list[float]) -> Callable[[Any], Any]:
    """Return a function of many points that returns these values in turn."""
    prepared, done = np.array(values), 0

    def fun(points: Any) -> Any:
        nonlocal done
        done += len(points)
        return prepared[done - len(points) : done]

    return fun


# --- the start, and memory -------------------------------------------------------------------------


def import_seconds(rounds: int) -> dict[str, float]:
    """Return the CPU time of new processes that only import a package, Python's start included."""
    return {
        package: min(
            float(_output(f"import {package}, time; print(time.process_time())")) for _ in range(rounds)
        )
        for package in ("numpy", "pursuit")
    }


def start_seconds() -> float:
    """Return the CPU time of the README's first Python block in a new process, nothing compiled before."""
    block = re.search(r"```python\n(.*?)```", _README.read_text(), flags=re.DOTALL)
    assert block
    with TemporaryDirectory() as folder:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        _output(block[1], XDG_CACHE_HOME=folder, LOCALAPPDATA=folder, NUMBA_CACHE_DIR=folder)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


_MEMORY = """
import re
import numpy as np
def peak():
    return int(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1])
def run(n, count):
    def valley(x):
        nonlocal count
        count -= 1
        if count < 0:
            raise KeyboardInterrupt
        return 100.0 * (x[1] - x[0] ** 2) ** 2 + (1.0 - x[0]) ** 2
    try:
        {call}
    except KeyboardInterrupt:
        pass
alone = peak()
{imports}
run(10, 50)
imported = peak()
run({n}, {count})
print(peak() - imported, peak() - alone)
"""
_CALLS = {
    OURS: ("import pursuit", f"pursuit.minimize(valley, np.zeros(n), method='{OURS}', rng=1, maxfev=count)"),
    THEIRS: ("from scipy.optimize import minimize", "minimize(valley, np.zeros(n), method='L-BFGS-B')"),
}


def megabytes() -> dict[str, tuple[float, float]]:
    """Return the peak memory of a run of each method: beyond its imports, and beyond NumPy's alone."""
    found = {}
    for name, (imports, call) in _CALLS.items():
        code = _MEMORY.format(n=MEMORY_DIMENSION, count=MEMORY_EVALUATIONS, imports=imports, call=call)
        beyond_imports, beyond_numpy = map(int, _output(code).split())
        found[name] = beyond_imports * 1024 / 1e6, beyond_numpy * 1024 / 1e6
    return found


def _output(code: str, **environment: str) -> str:
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, check=True
    ).stdout


# --- the report ------------------------------------------------------------------------------------


def report(rounds: int, dimensions: Iterable[int] = tuple(EVALUATIONS)) -> str:
    """Return the part of the page on overhead that is about the default."""
    times = {n: measure(n, rounds) for n in dimensions}
    ratios = [
        [name, *(verdict(taken[name] / taken[THEIRS], RATIO) for taken in times.values())]
        for name in _ARGUMENTS
    ]
    micro = [
        [name, *(f"{1e6 * taken[name]:.3g}" for taken in times.values())] for name in (*_ARGUMENTS, THEIRS)
    ]
    heads = ["", *(f"n = {spaced(n)}" for n in times)]
    imports = import_seconds(max(rounds, 5))
    memory = [
        [name, verdict(run, MEGABYTES if name == OURS else None), f"{both:.0f}"]
        for name, (run, both) in megabytes().items()
    ]
    return f"""## `differences` beside L-BFGS-B

Time per evaluation beyond the function's own, divided by that of SciPy's L-BFGS-B with forward differences,
which evaluates one point at a time. All take turns in one process. The function returns recorded values of
Rosenbrock's function. From n = 100 000 on, the evaluations are probes of the first sweep.

{table(heads, ratios)}

The same in microseconds:

{table(heads, micro)}

CPU time of a process that imports pursuit, in that of one that imports NumPy alone, Python's start included
({imports["pursuit"]:.2f} and {imports["numpy"]:.2f} s):
{verdict(imports["pursuit"] / imports["numpy"], IMPORT_RATIO)}.

CPU time of the README's example in a new process without compiled code, imports included, in seconds:
{verdict(min(start_seconds() for _ in range(rounds)), START_SECONDS)}.

Peak memory of a run of {MEMORY_EVALUATIONS} evaluations, n = {spaced(MEMORY_DIMENSION)}, in MB:

{table(["", "beyond its imports", "beyond a process with NumPy alone"], memory)}
"""
