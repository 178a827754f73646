"""Many batches on one GPU at once, in legs of a few seconds."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pursuit.gpu.batch import Batch
from pursuit.gpu.device import Gpu
from pursuit.gpu.errors import GpuError
from pursuit.gpu.kernels import build, machine_code
from pursuit.gpu.threads import WARP

Landed = Callable[[Batch, list[int]], None]
# How many warps a multiprocessor is given: more would fit, but the longest runs, which all others wait for in
# the end, would take longer.
_WARPS = 10
# The first leg of a batch measures how long an iteration takes: over this many, or fewer if n is large.
_FIRST_LEG, _MANY, _FEWEST = 2_000, 10_000, 5
# How often to look whether a leg has ended, in seconds.
_LOOK = 0.0005


def build_kernels(batches: Sequence[Batch], *, workers: int | None = None) -> list[str | None]:
    """Compile what batches need, in parallel processes, unless it is kept on disk already.

    Returns for each batch the sentence that says why it cannot be compiled, or None. Batches that are too
    large for the GPU's memory are refused before anything is compiled.

    Parameters
    ----------
    batches : sequence of Batch
        The batches.
    workers : int or None
        The number of processes, by default one for each core.
    """
    gpu = Gpu()
    for batch in batches:
        _check_memory(gpu, batch)
    return build([batch.blueprint(gpu.device.capability) for batch in batches], workers)


def run_batches(
    batches: Sequence[Batch],
    *,
    leg: float = 2.0,
    landed: Landed | None = None,
    workers: int | None = None,
) -> None:
    """Run batches until all of their runs have stopped.

    Parameters
    ----------
    batches : sequence of Batch
        The batches; those whose longest run is expected to take longest begin first.
    leg : float
        How many seconds runs continue before their state is fetched.
    landed : callable or None
        Called as `landed(batch, ended)` after every leg of a batch, with the numbers of the runs that have
        stopped in it. An exception from it ends everything: what is under way is waited for and dropped.
    workers : int or None
        How many processes compile kernels.
    """
    for refusal in build_kernels(batches, workers=workers):
        if refusal is not None:
            raise GpuError(refusal)
    gpu = Gpu()
    flights = [Flight(gpu, batch) for batch in batches if batch.running.size]
    waiting = sorted(flights, key=lambda flight: flight.batch.expected)
    active: list[Flight] = []
    try:
        while waiting or active:
            while waiting and _has_room(gpu, active, waiting[-1]):
                flight = waiting.pop()
                flight.begin()
                flight.launch(leg)
                active.append(flight)
            ended = [flight for flight in active if flight.is_done()]
            for flight in ended:
                stopped = flight.land()
                if flight.batch.running.size:
                    flight.launch(leg)
                else:
                    active.remove(flight)
                    flight.end()
                if landed is not None:
                    landed(flight.batch, stopped)
            if not ended:
                time.sleep(_LOOK)
    finally:
        gpu.finish()


def _has_room(gpu: Gpu, active: Sequence[Flight], flight: Flight) -> bool:
    """Say whether another batch fits beside those at work."""
    if not active:
        return True
    busy = sum(other.warps for other in active)
    # An array may be given up to twice the memory that it needs.
    fits = 2 * flight.batch.nbytes <= gpu.free_memory
    return fits and busy + flight.warps <= _WARPS * gpu.device.multiprocessors


def _check_memory(gpu: Gpu, batch: Batch) -> None:
    """Reject a batch that is too large for the GPU even if it were alone."""
    free = gpu.free_memory
    if batch.nbytes > free:
        raise GpuError(
            f"{batch.runs} runs need {batch.nbytes / 1e9:.1f} GB of memory on the GPU, "
            f"but {free / 1e9:.1f} GB are free."
        )


class Flight:
    """A batch on the GPU."""

    def __init__(self, gpu: Gpu, batch: Batch) -> None:
        """Bring its kernel to the GPU."""
        self._gpu = gpu
        self.batch: Batch = batch
        self._running = batch.running
        self.iterations: int = 0
        self._begun = 0.0
        plan, code = batch.plan, machine_code(batch.blueprint(gpu.device.capability))
        self.kernel: Any = gpu.load(code.cubin, code.entry, plan.shared_bytes, cache=plan.reads_images)

    @property
    def warps(self) -> int:
        """How many warps its runs need."""
        return -(-self._running.size * self.batch.lanes // WARP)

    def begin(self) -> None:
        """Bring everything else to the GPU."""
        batch, gpu = self.batch, self._gpu
        _check_memory(gpu, batch)
        self._stream: Any = gpu.stream()
        self._own, self._fixed = gpu.upload(batch.words), gpu.upload(batch.fixed_words)
        # The numbers of the runs, or a board for the blocks of a team that fills the GPU.
        self._order = gpu.upload(np.zeros(max(batch.runs, 1 + batch.plan.blocks), dtype=np.int64))

    def launch(self, seconds: float) -> None:
        """Begin a leg of about this many seconds."""
        pace, n = self.batch.microseconds, self.batch.setup.n
        if math.isnan(pace):
            self.iterations = max(_FEWEST, _FIRST_LEG // (1 + n // _MANY))
        else:
            self.iterations = max(1, int(1e6 * seconds / pace))
        plan, count = self.batch.plan, int(self._running.size)
        if plan.shape.is_grid:
            blocks = plan.blocks
        else:
            self._order.write(self._running)
            blocks = -(-count // plan.seats)
        addresses = self._fixed.address, self._own.address, self._order.address
        self._begun = time.perf_counter()
        self._gpu.launch(self.kernel, blocks, plan, self._stream, (*addresses, count, self.iterations))

    def is_done(self) -> bool:
        """Say whether the leg has ended."""
        return self._gpu.is_done(self._stream)

    def land(self) -> list[int]:
        """Fetch the states after a leg, and return the runs that have stopped in it."""
        took = time.perf_counter() - self._begun
        self.batch.microseconds = max(1e-4, 1e6 * took / self.iterations)
        self._own.read(self.batch.words)
        before, self._running = self._running, self.batch.running
        return [int(run) for run in np.setdiff1d(before, self._running)]

    def end(self) -> None:
        """Free the memory on the GPU."""
        for buffer in (self._own, self._fixed, self._order):
            buffer.free()
