"""Batches to measure, and the time that their iterations take."""

from __future__ import annotations

import math
import statistics
import time
from typing import Any, NamedTuple

import numpy as np

import pursuit
from pursuit.engine.counters import UNLIMITED, Limits
from pursuit.engine.setup import set_up
from pursuit.gpu.batch import Batch
from pursuit.gpu.device import Gpu
from pursuit.gpu.schedule import Flight
from pursuit.methods.stages import Task

# The reading of the paper under which methods are measured, where it matters.
_OPTIONS = {"reading": "fitted"}


class Speed(NamedTuple):
    """How fast a batch is."""

    microseconds: float
    """For an iteration of every run."""
    throughput: float
    """Iterations per second of all runs together."""


def endless(method: str, n: int, runs: int, lanes: int | None = None) -> Batch:
    """Return runs that never stop by themselves."""
    chosen: Any = pursuit.problems.exp(n, 1e6)
    options = {} if method.startswith("adaptive-sarp") else _OPTIONS
    setup, start = set_up(Task(chosen.x0, method, {}, options=options, fun=chosen))
    limits = Limits(target=-math.inf, iterations=UNLIMITED, evaluations=UNLIMITED, patience=UNLIMITED)
    values = [float(chosen(chosen.x0))] * runs
    seeds = np.random.SeedSequence(1).spawn(runs)
    return Batch(setup, limits, np.tile(start, (runs, 1)), values, seeds, lanes=lanes)


def full(gpu: Gpu, method: str, n: int, lanes: int | None = None) -> Batch:
    """Return as many endless runs as the GPU executes at once."""
    one = endless(method, n, 1, lanes)
    flight = Flight(gpu, one)
    occupancy = "cuOccupancyMaxActiveBlocksPerMultiprocessor"
    blocks = int(gpu.call(occupancy, flight.kernel, one.plan.threads, one.plan.shared_bytes))
    return endless(method, n, blocks * gpu.device.multiprocessors * one.plan.seats, lanes)


def speed_of(gpu: Gpu, batch: Batch, seconds: float = 0.1, rounds: int = 3) -> Speed:
    """Return the median speed of a batch over a few legs."""
    flight = Flight(gpu, batch)
    flight.begin()
    times = []
    for _ in range(2 + rounds):
        # The first legs find out how many iterations fill the time.
        flight.launch(seconds)
        begin = time.perf_counter()
        gpu.call("cuCtxSynchronize")
        times.append((time.perf_counter() - begin) / flight.iterations)
        flight.land()
    flight.end()
    each = statistics.median(times[2:])
    return Speed(1e6 * each, batch.runs / each)
