"""Measure specifications METHOD:N:LANES:RUNS, one after the other."""

from __future__ import annotations

import sys

from benchmarks.gpu.measuring import endless, speed_of
from pursuit.compiling.gpu.device import Gpu
from pursuit.engine.gpu.kernels import build


def main() -> None:
    gpu = Gpu()
    print(gpu.device, flush=True)
    batches = {}
    for text in sys.argv[1:]:
        method, n, lanes, runs = text.split(":")
        for count in runs.split(","):
            batches[f"{method}:{n}:{lanes}:{count}"] = endless(method, int(n), int(count), int(lanes) or None)
    build([batch.blueprint(gpu.device.capability) for batch in batches.values()])
    for text, batch in batches.items():
        try:
            speed = speed_of(gpu, batch)
            print(
                f"{text:24} lanes {batch.lanes:3} seats {batch.plan.seats:2} shared {batch.plan.shared_bytes:6} "
                f"regs {speed.registers:3} local {speed.local:3} | {speed.microseconds:9.3f} us "
                f"{speed.throughput:9.3g}/s",
                flush=True,
            )
        except Exception as error:
            print("FAILED", text, type(error).__name__, error, flush=True)


if __name__ == "__main__":
    main()
