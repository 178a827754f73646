"""What the benchmarks share: peak memory, verdicts, and the command line of a report."""

from __future__ import annotations

import argparse
import platform
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numba
import numpy as np

from pursuit.compiling.cache import code_hash


def peak_vectors(run: Callable[[int], object], n: int) -> float:
    """Return the peak of memory during a run of a few iterations, in vectors of n doubles."""
    run(1)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    run(5)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return (peak - before) / (8 * n)


def verdict(measured: float, bound: float | None) -> str:
    """Return a number, and whether it keeps to its bound if it has one."""
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


def report_parser(description: str | None) -> argparse.ArgumentParser:
    """Return a command line that says where to write a report."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the report into a file as well")
    return parser


def study_parser(description: str | None) -> argparse.ArgumentParser:
    """Return the command line of a report on a folder in which `pursuit reproduce` has run studies."""
    parser = report_parser(description)
    parser.add_argument("folder", type=Path, metavar="DIR")
    return parser


def add_rounds(parser: argparse.ArgumentParser, default: int = 5) -> None:
    """Let the command line say how often times are measured."""
    parser.add_argument("--rounds", type=int, default=default, help="of timing; the shortest counts")


def publish(text: str, out: Path | None) -> None:
    """Print a report, and write it into a file if one is given."""
    print(text)
    if out:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(text)


def main(description: str | None, report: Callable[[int], str]) -> None:
    """Make and publish a report whose only setting is the number of rounds."""
    parser = report_parser(description)
    add_rounds(parser)
    options = parser.parse_args()
    publish(report(options.rounds), options.out)
