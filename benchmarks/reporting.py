"""What the benchmarks share: fair timing, peak memory, verdicts and the command line."""

from __future__ import annotations

import argparse
import math
import platform
import time
import tracemalloc
from collections.abc import Callable, Mapping
from pathlib import Path

import numba
import numpy as np

from pursuit.compiling.cache import code_hash


def seconds(call: Callable[[], object]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def seconds_each(runs: Mapping[str, Callable[[int], object]], times: int, rounds: int) -> dict[str, float]:
    """Return the seconds that one of the things takes of which every run does as many as it is told.

    They take turns, the shortest of several rounds counts, and the difference between many and twice as
    many cancels the time of getting started.
    """
    short, long = dict.fromkeys(runs, math.inf), dict.fromkeys(runs, math.inf)
    for _ in range(rounds):
        for name, run in runs.items():
            short[name] = min(short[name], seconds(lambda run=run: run(times)))  # type: ignore[misc]
            long[name] = min(long[name], seconds(lambda run=run: run(2 * times)))  # type: ignore[misc]
    return {name: (long[name] - short[name]) / times for name in runs}


def peak_vectors(run: Callable[[int], object], n: int) -> float:
    """Return the most memory that a run of a few iterations takes at a time, in vectors of n doubles."""
    run(1)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    run(5)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return (peak - before) / (8 * n)


def verdict(measured: float, bound: float | None) -> str:
    if bound is None:
        return f"{measured:.2f}"
    return f"{measured:.2f} ({'reaches' if measured <= bound else 'MISSES'} {bound:g})"


def made_by(command: str) -> str:
    """Return the line that says what made a report, when, and with which versions."""
    return (
        f"Made by `python -m {command}` on {time.strftime('%Y-%m-%d')}: {platform.machine()}, Python "
        f"{platform.python_version()}, numba {numba.__version__}, numpy {np.__version__}, "
        f"code {code_hash()}.\n"
    )


def main(description: str | None, report: Callable[[int], str]) -> None:
    """Print a report, and write it where the command line says."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    text = report(options.rounds)
    print(text)
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(text)
