"""The latency of one run on a GPU, and the throughput of as many as it executes at once.

``python -m benchmarks.gpu`` prints a report in Markdown; ``--out FILE`` writes it as well. Needs a GPU.
"""

from __future__ import annotations

from typing import NamedTuple

from benchmarks.gpu import vectorised
from benchmarks.gpu.measuring import Speed, endless, full, speed_of
from benchmarks.measure import iterating, repetitions, seconds_each
from benchmarks.pages.stamp import filled
from benchmarks.reporting import made_by, publish, report_parser
from pursuit.experiments.common.formatting import spaced, table
from pursuit.gpu.batch import Batch
from pursuit.gpu.device import Gpu
from pursuit.gpu.kernels import build

METHODS = ("rp", "rp-exact", "sarp", "ep-cma-4", "adaptive-sarp")
# Their memory grows like n².
MATRICES = ("ep-cma-n", "cma")
# The widths of teams that are tried.
WIDTHS = {20: (4, 8), 100: (8, 16, 32), 1000: (32, 128)}
MATRIX_WIDTHS: dict[int, tuple[int, ...]] = {20: (32,), 100: (128,), 1000: ()}
# How many points an iteration evaluates, of the methods that always evaluate equally many.
POINTS = {"rp": 1, "sarp": 2, "ep-cma-4": 1, "ep-cma-n": 1, "cma": 1}


def widths(method: str, n: int) -> tuple[int, ...]:
    return (MATRIX_WIDTHS if method in MATRICES else WIDTHS)[n]


class Measured(NamedTuple):
    """The best of the widths of teams that were tried, each with its batch."""

    alone: tuple[Speed, Batch]
    together: tuple[Speed, Batch]
    core: float
    """Iterations per second of one core of the CPU."""


def measure(gpu: Gpu, method: str, n: int) -> Measured | None:
    """Return how fast a method is; None where no width of teams is tried."""
    alone: list[tuple[Speed, Batch]] = []
    together: list[tuple[Speed, Batch]] = []
    for lanes in widths(method, n):
        for found, batch in ((alone, endless(method, n, 1, lanes)), (together, full(gpu, method, n, lanes))):
            found.append((speed_of(gpu, batch, seconds=0.05), batch))
    if not alone:
        return None
    each = seconds_each({method: iterating(method, n)}, repetitions(2_000_000, n), 5)[method]
    return Measured(
        alone=min(alone, key=lambda pair: pair[0].microseconds),
        together=max(together, key=lambda pair: pair[0].throughput),
        core=1.0 / each,
    )


def cells(method: str, n: int, measured: Measured | None) -> list[str]:
    """Return what is shown of a method: latency, throughput, cores, and points."""
    if measured is None:
        return [""] * 4
    (alone, one), (together, many) = measured.alone, measured.together
    return [
        f"{alone.microseconds:.2f} ({one.lanes})",
        f"{together.throughput:.2g} ({many.lanes}, {spaced(many.runs)} runs)",
        f"{measured.core:.2g} ({together.throughput / measured.core:.0f})",
        f"{POINTS.get(method, 1) * together.throughput:.2g}",
    ]


def report() -> str:
    """Return the report."""
    gpu = Gpu()
    methods = (*METHODS, *MATRICES)
    singles = [endless(m, n, 1, lanes) for m in methods for n in WIDTHS for lanes in widths(m, n)]
    build([batch.blueprint(gpu.device.capability) for batch in singles])
    found = {m: [cells(m, n, measure(gpu, m, n)) for n in WIDTHS] for m in methods}
    header = ["method", *(f"n = {n}" for n in WIDTHS)]
    latency, throughput, core, points = (
        [[method, *(of_n[kind] for of_n in shown)] for method, shown in found.items()] for kind in range(4)
    )
    points = [row for row in points if row[0] in POINTS]
    for name in vectorised.STRATEGIES if vectorised.is_installed() else ():
        each = [vectorised.points_per_second(name, n) for n in WIDTHS]
        points.append([f"evosax {name}", *("" if one is None else f"{one:.2g}" for one in each)])
    return filled(
        "gpu", name=gpu.device.name, multiprocessors=gpu.device.multiprocessors,
        latency=table(header, latency), throughput=table(header, throughput), core=table(header, core),
        runs=spaced(vectorised.RUNS), points=table(header, points), made=made_by("benchmarks.gpu"),
    )  # fmt: skip


if __name__ == "__main__":
    publish(report(), report_parser(__doc__).parse_args().out)
