"""One run of very many variables, executed by all threads of the GPU: time per iteration, and memory.

``python -m benchmarks.gpu.large`` prints a table. A pass over a vector reads it or writes it, as fast as a
copy of vectors does.
"""

from __future__ import annotations

import time

import numpy as np

from benchmarks.gpu.measuring import endless, speed_of
from pursuit.compiling.gpu.device import Gpu
from pursuit.experiments.common.formatting import spaced, table

DIMENSIONS = (1_000_000, 100_000_000)
METHODS = ("rp", "sarp", "auto")


def bandwidth(gpu: Gpu, size: int = 1 << 31) -> float:
    """Return how many bytes per second a copy reads and writes."""
    words = np.zeros(size // 8, dtype=np.int64)
    source, target = gpu.upload(words), gpu.upload(words)
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        gpu.copy(target, source)
        gpu.synchronize()
        times.append(time.perf_counter() - begin)
    source.free()
    target.free()
    return 2 * size / min(times)


def main() -> None:
    gpu = Gpu()
    reached = bandwidth(gpu)
    print(f"{gpu.device.name}: a copy moves {reached / 1e12:.2f} TB/s\n")
    rows = []
    for n in DIMENSIONS:
        for method in METHODS:
            batch = endless(method, n, 1)
            speed = speed_of(gpu, batch, seconds=0.2, rounds=1)
            vector = 1e6 * 8 * n / reached
            rows.append(
                [
                    method,
                    spaced(n),
                    f"{speed.microseconds:.0f}",
                    f"{speed.microseconds / vector:.1f}",
                    f"{batch.words.nbytes / (8 * n):.1f}",
                ]
            )
            print(rows[-1], flush=True)
    print(table(["method", "n", "microseconds", "in passes over a vector", "vectors of memory"], rows))


if __name__ == "__main__":
    main()
