"""The latency of one run on a GPU, and the throughput of as many as it executes at once.

``python -m benchmarks.gpu`` prints a report in Markdown; ``--out FILE`` writes it as well. Needs a GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from benchmarks.gpu import vectorised
from benchmarks.gpu.measuring import Speed, endless, full, speed_of
from benchmarks.reporting import made_by, publish, report_parser
from benchmarks.timing import iterating, repetitions, seconds_each
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
# Our targets at n = 100: microseconds for an iteration of one run, and iterations per second of all.
LATENCY = {"rp": 0.4}
THROUGHPUT = {"rp": 4e9, "sarp": 2e9, "ep-cma-4": 1.5e9}
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


def latency_cell(method: str, n: int, measured: Measured) -> str:
    speed, batch = measured.alone
    verdict = _verdict(speed.microseconds, LATENCY.get(method) if n == 100 else None, most=True)
    return f"{speed.microseconds:.2f}{verdict} ({batch.lanes})"


def throughput_cell(method: str, n: int, measured: Measured) -> str:
    speed, batch = measured.together
    verdict = _verdict(speed.throughput, THROUGHPUT.get(method) if n == 100 else None, most=False)
    return f"{speed.throughput:.2g}{verdict} ({batch.lanes}, {spaced(batch.runs)} runs)"


def core_cell(method: str, n: int, measured: Measured) -> str:
    return f"{measured.core:.2g} ({measured.together[0].throughput / measured.core:.0f})"


def points_cell(method: str, n: int, measured: Measured) -> str:
    return f"{POINTS[method] * measured.together[0].throughput:.2g}"


def _verdict(measured: float, bound: float | None, *, most: bool) -> str:
    if bound is None:
        return ""
    reached = measured <= bound if most else measured >= bound
    return f", {'reaches' if reached else 'MISSES'} {bound:g}"


def report() -> str:
    gpu = Gpu()
    methods = (*METHODS, *MATRICES)
    singles = [endless(m, n, 1, lanes) for m in methods for n in WIDTHS for lanes in widths(m, n)]
    build([batch.blueprint(gpu.device.capability) for batch in singles])
    measured = {(method, n): measure(gpu, method, n) for method in methods for n in WIDTHS}
    header = ["method", *(f"n = {n}" for n in WIDTHS)]

    def rows(names: Sequence[str], cell: Callable[[str, int, Measured], str]) -> list[list[str]]:
        return [
            [name, *("" if (found := measured[name, n]) is None else cell(name, n, found) for n in WIDTHS)]
            for name in names
        ]

    points = rows(list(POINTS), points_cell)
    if vectorised.is_installed():
        points += [
            [f"evosax {name}", *_formatted(vectorised.points_per_second(name, n) for n in WIDTHS)]
            for name in vectorised.STRATEGIES
        ]
    return f"""# Runs on a GPU

{gpu.device.name}, {gpu.device.multiprocessors} multiprocessors. Objective: `exp`, L = 1e6.

Microseconds for an iteration of a single run, and the threads of its team.

{table(header, rows(methods, latency_cell))}

Iterations per second of as many runs as the GPU executes at once, the threads of a team, and the runs.

{table(header, rows(methods, throughput_cell))}

Of the widths of teams that were tried the fastest are shown.

Iterations per second of one core of the CPU beside it, and how many such cores the GPU replaces.

{table(header, rows(methods, core_cell))}

Points evaluated per second on the GPU. evosax runs {spaced(vectorised.RUNS)} times at once, with 4 + 3 ln n
points a generation, one more where that is odd, and in single precision, as it does unless told otherwise;
the others have double precision.

{table(header, points)}

{made_by("benchmarks.gpu")}"""


def _formatted(numbers: Iterable[float | None]) -> list[str]:
    return ["" if number is None else f"{number:.2g}" for number in numbers]


if __name__ == "__main__":
    publish(report(), report_parser(__doc__).parse_args().out)
