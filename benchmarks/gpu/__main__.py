"""The latency of one run on a GPU, and the throughput of as many as it executes at once.

``python -m benchmarks.gpu`` prints a report in Markdown; ``--out FILE`` writes it as well. Needs a GPU.
"""

from __future__ import annotations

from benchmarks.gpu.measuring import Speed, endless, full, speed_of
from benchmarks.reporting import made_by, report_parser
from pursuit.compiling.gpu.device import Gpu
from pursuit.engine.gpu.batch import Batch
from pursuit.engine.gpu.kernels import build
from pursuit.experiments.common.formatting import spaced, table

METHODS = ("rp", "rp-exact", "sarp", "sarp-exact", "ep-cma-4", "auto", "auto-values")
MATRICES = ("ep-cma-n", "cma")
# The widths of teams that are tried.
WIDTHS = {20: (4, 8), 100: (8, 16, 32), 500: (32, 128)}
MATRIX_WIDTHS = {20: (32,), 100: (128,), 500: (512,)}
# Our targets at n = 100: microseconds for an iteration of one run, and iterations per second of all.
LATENCY = {"rp": 0.4}
THROUGHPUT = {"rp": 4e9, "sarp": 2e9, "ep-cma-4": 1.5e9}


def widths(method: str, n: int) -> tuple[int, ...]:
    return (MATRIX_WIDTHS if method in MATRICES else WIDTHS)[n]


def measure(gpu: Gpu, method: str, n: int) -> tuple[str, str]:
    """Return the best latency and the best throughput of a method, each with the width of its teams."""
    alone: list[tuple[Speed, Batch]] = []
    together: list[tuple[Speed, Batch]] = []
    for lanes in widths(method, n):
        for found, batch in (
            (alone, endless(method, n, 1, lanes)),
            (together, full(gpu, method, n, lanes)),
        ):
            found.append((speed_of(gpu, batch), batch))
    fastest, single = min(alone, key=lambda pair: pair[0].microseconds)
    most, many = max(together, key=lambda pair: pair[0].throughput)
    bounds = (LATENCY.get(method), THROUGHPUT.get(method)) if n == 100 else (None, None)
    latency = f"{fastest.microseconds:.2f}{_verdict(fastest.microseconds, bounds[0], most=True)}"
    throughput = f"{most.throughput:.2g}{_verdict(most.throughput, bounds[1], most=False)}"
    return f"{latency} ({single.lanes})", f"{throughput} ({many.lanes}, {spaced(many.runs)} runs)"


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
    latency, throughput = (
        table(header, [[method, *(measured[method, n][k] for n in WIDTHS)] for method in methods])
        for k in range(2)
    )
    return f"""# Runs on a GPU

{gpu.device.name}, {gpu.device.multiprocessors} multiprocessors. Objective: `exp`, L = 1e6.

Microseconds for an iteration of a single run, and the threads of its team.

{latency}

Iterations per second of as many runs as the GPU executes at once, the threads of a team, and the runs.

{throughput}

Of the widths of teams that were tried the fastest are shown.

{made_by("benchmarks.gpu")}"""


if __name__ == "__main__":
    arguments = report_parser(__doc__).parse_args()
    text = report()
    print(text)
    if arguments.out is not None:
        arguments.out.write_text(text)
