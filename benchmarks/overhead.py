"""Time per evaluation around a plain Python function, and memory.

``python -m benchmarks.overhead`` prints a report in Markdown; ``--out FILE`` writes it as well. `differences`
is measured beside SciPy's L-BFGS-B with differences: the functions that are timed return the values of an
earlier run in turn, which takes next to no time; both are deterministic, so that they ask for the same points
again. All runs of one dimension take turns.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import pursuit
from benchmarks.measure import EndOfRun, own_seconds, replaying, rosenbrock, seconds
from benchmarks.pages.stamp import filled
from benchmarks.reporting import made_by, main
from pursuit.checks import Vector
from pursuit.experiments.common.formatting import spaced, table

EVALUATIONS = {10: 400, 100: 8_000, 1_000: 20_000, 10_000: 30_000, 100_000: 1_000, 1_000_000: 256}
"""How many are timed, by n; from n = 100 000 on they are probes of the first sweep, which takes n of them."""
# Short runs of so few variables are repeated more often, for about so many evaluations in a round.
_SHORT, _TOGETHER = 1_000, 8_000
_BATCH = 64
OURS, ONE_CALL, THEIRS = "differences", "batch 64, vectorized", "L-BFGS-B"
_ARGUMENTS: dict[str, dict[str, Any]] = {
    OURS: {},
    ONE_CALL: {"batch": _BATCH, "vectorized": True},
    "batch 64, workers=map": {"batch": _BATCH, "workers": map},
}
_MEMORY_DIMENSION, _MEMORY_EVALUATIONS = 1_000_000, 200
_README = Path(__file__).parents[1] / "README.md"


def beside(n: int, rounds: int) -> dict[str, float]:
    """Return seconds per evaluation beyond the function's own; runs take turns, and the shortest counts."""
    count, x0 = EVALUATIONS[n], np.where(np.arange(n) % 2 == 0, -1.2, 1.0)
    runs = {
        name: _replayed(_ours(x0, count, arguments), count, "vectorized" in arguments)
        for name, arguments in _ARGUMENTS.items()
    }
    runs[THEIRS] = _replayed(_theirs(x0), count)
    shortest = dict.fromkeys(runs, math.inf)
    for _ in range(rounds * max(1, _TOGETHER // count) if n <= _SHORT else rounds):
        for name, run in runs.items():
            shortest[name] = min(shortest[name], seconds(run))
    own = own_seconds(lambda calls: replaying([0.0] * calls), np.zeros(2), 5)
    return {name: best / count - (0.0 if name == ONE_CALL else own) for name, best in shortest.items()}


def _ours(x0: Vector, count: int, arguments: dict[str, Any]) -> Callable[[Any], None]:
    def run(fun: Any) -> None:
        result = pursuit.minimize(fun, x0, method=OURS, rng=1, maxfev=count, xtol=0, ftol=0, **arguments)
        if result.nfev != count:
            raise RuntimeError(f"It stopped after {result.nfev} of {count} evaluations: {result.message}")

    return run


def _theirs(x0: Vector) -> Callable[[Any], None]:
    from scipy.optimize import minimize

    options = {"maxfun": 10**9, "maxiter": 10**9, "ftol": 0.0, "gtol": 0.0}

    def run(fun: Any) -> None:
        with contextlib.suppress(EndOfRun):
            result = minimize(fun, x0, method=THEIRS, options=options)
            raise RuntimeError(f"L-BFGS-B stopped after {result.nfev} evaluations.")

    return run


def _replayed(run: Callable[[Any], None], count: int, vectorized: bool = False) -> Callable[[], None]:
    """Return a run whose function returns the values of a first run, of so many evaluations, in turn."""
    values: list[float] = []

    def recording(x: Any) -> Any:
        if len(values) == count:
            raise EndOfRun
        found = rosenbrock(x)
        values.extend(np.atleast_1d(found).tolist())
        return found

    run(recording)
    return lambda: run(_rows(values) if vectorized else replaying(values))


def _rows(values: list[float]) -> Callable[[Any], Any]:
    """Return a function of many points that returns these values in turn."""
    prepared, done = np.array(values), 0

    def fun(points: Any) -> Any:
        nonlocal done
        done += len(points)
        return prepared[done - len(points) : done]

    return fun


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


def megabytes(name: str) -> list[str]:
    """Return the peak memory of a run of a method: beyond its imports, and beyond NumPy's alone."""
    imports, call = _CALLS[name]
    code = _MEMORY.format(n=_MEMORY_DIMENSION, count=_MEMORY_EVALUATIONS, imports=imports, call=call)
    return [name, *(f"{int(kilobytes) * 1024 / 1e6:.0f}" for kilobytes in _output(code).split())]


def _output(code: str, **environment: str) -> str:
    environment = {**os.environ, **environment}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


def report(rounds: int) -> str:
    """Return the report."""
    found = {n: beside(n, rounds) for n in EVALUATIONS}
    heads = ["", *(f"n = {spaced(n)}" for n in EVALUATIONS)]
    ratios = [[name, *(f"{one[name] / one[THEIRS]:.2f}" for one in found.values())] for name in _ARGUMENTS]
    micro = [[name, *(f"{1e6 * one[name]:.3g}" for one in found.values())] for name in (*_ARGUMENTS, THEIRS)]
    start = min(start_seconds() for _ in range(rounds))
    memory = [megabytes(name) for name in _CALLS]
    return filled(
        "overhead", ratios=table(heads, ratios), micro=table(heads, micro), start=start,
        evaluations=_MEMORY_EVALUATIONS, n=spaced(_MEMORY_DIMENSION),
        memory=table(["", "beyond its imports", "beyond a process with NumPy alone"], memory),
        made=made_by("benchmarks.overhead"),
    )  # fmt: skip


if __name__ == "__main__":
    main(__doc__, report)
