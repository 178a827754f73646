"""One run of very many variables, executed by all threads of the GPU: time per iteration, and memory.

``python -m benchmarks.gpu.large`` prints a report in Markdown; ``--out FILE`` writes it as well. Needs a GPU.
"""

from __future__ import annotations

import time

import numpy as np

from benchmarks.gpu.measuring import endless, speed_of
from benchmarks.reporting import made_by, publish, report_parser
from pursuit.experiments.common.formatting import spaced, table
from pursuit.gpu.device import Gpu

DIMENSIONS = (1_000_000, 100_000_000)
METHODS = ("rp", "sarp", "adaptive-sarp")
HEADER = ["method", "n", "microseconds for an iteration", "in passes over a vector", "vectors of memory"]


def bandwidth(gpu: Gpu, size: int = 1 << 31) -> float:
    """Return how many bytes per second a copy reads and writes."""
    words = np.zeros(size // 8, dtype=np.int64)
    source, target = gpu.upload(words), gpu.upload(words)
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        gpu.call("cuMemcpyDtoD", target.address, source.address, size)
        gpu.call("cuCtxSynchronize")
        times.append(time.perf_counter() - begin)
    source.free()
    target.free()
    return 2 * size / min(times)


def report() -> str:
    gpu = Gpu()
    reached = bandwidth(gpu)
    rows = []
    for n in DIMENSIONS:
        for method in METHODS:
            batch = endless(method, n, 1)
            speed = speed_of(gpu, batch, seconds=0.2, rounds=1)
            vector = 1e6 * 8 * n / reached
            passes, vectors = speed.microseconds / vector, batch.words.nbytes / (8 * n)
            rows.append([method, spaced(n), f"{speed.microseconds:.0f}", f"{passes:.1f}", f"{vectors:.1f}"])
    return f"""# One run of very many variables on a GPU

{gpu.device.name}, where a copy moves {reached / 1e12:.2f} TB/s. All its threads share the vectors of one run
on `exp`, L = 1e6. A pass reads or writes a vector once, as fast as a copy does.

{table(HEADER, rows)}

{made_by("benchmarks.gpu.large")}"""


if __name__ == "__main__":
    publish(report(), report_parser(__doc__).parse_args().out)
