"""Very many calls in one process: memory, descriptors and threads stay flat, and no files are left."""

from __future__ import annotations

import gc
import resource
import tempfile
import time
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np

import pursuit
from benchmarks.attack.tally import Tally

CALLS = 100_000
# How often to look, in calls, and how many bytes a call may leave behind.
_LOOK = 500
_BYTES = 64.0
# The memory may grow by so much while nothing leaks, in bytes: allocators keep pages in reserve.
_RESERVE = 8 * 2**20


class Look(NamedTuple):
    """What a process holds."""

    calls: int
    memory: int
    descriptors: int
    threads: int


def attack(seed: int, seconds: float) -> Tally:
    """Make so many calls, or fewer if the time is over."""
    random, tally = Random(seed), Tally()
    before = tempfile.gettempdir()
    with tempfile.TemporaryDirectory() as name:
        tempfile.tempdir = name
        path = Path(name, "run.npz")
        for call in _CALLS:
            call(random, path)
        looks, end = [_look(0)], time.monotonic() + seconds
        while tally.tried < CALLS and time.monotonic() < end:
            random.choice(_CALLS)(random, path)
            tally.tried += 1
            if tally.tried % _LOOK == 0:
                looks.append(_look(tally.tried))
        left = sorted(entry.name for entry in Path(name).iterdir() if entry != path)
        if left:
            tally.violate("files left", f"{len(left)} of them, among them {left[0]}")
        tempfile.tempdir = before
    _judge([*looks, _look(tally.tried)], tally)
    return tally


def _python(random: Random, path: Path) -> None:
    pursuit.minimize(
        lambda x: float(x @ x), np.ones(3), method=random.choice(["rp", "auto"]), rng=1, maxfev=30
    )


def _compiled(random: Random, path: Path) -> None:
    problem = pursuit.problems.exp(3, 10.0 ** random.randrange(1, 6))
    pursuit.minimize(problem, problem.x0, method=random.choice(["rp", "auto"]), rng=1, maxfev=300)


def _bounded(random: Random, path: Path) -> None:
    bounds: Any = [(0.0, 2.0)] * 3
    pursuit.minimize(lambda x: float(x @ x), np.ones(3), bounds=bounds, method="rp", rng=1, maxfev=30)


def _ask_and_tell(random: Random, path: Path) -> None:
    optimizer = pursuit.Optimizer(np.ones(3), random.choice(["rp", "auto"]), rng=1, trace=True)
    for _ in range(5):
        points = optimizer.ask()
        optimizer.tell(points, [x @ x for x in points])
    if random.random() < 0.1:
        optimizer.save(path)
        pursuit.Optimizer.load(path).ask()


def _raising(random: Random, path: Path) -> None:
    def objective(x: Any) -> float:
        if x[0] != 1.0:
            raise ArithmeticError
        return 1.0

    try:
        pursuit.minimize(objective, np.ones(3), method="rp", rng=1)
    except ArithmeticError:
        return
    raise AssertionError("The exception of the objective did not come through.")


_CALLS = (_python, _compiled, _bounded, _ask_and_tell, _raising)


def _look(calls: int) -> Look:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return Look(
        calls,
        pages * resource.getpagesize(),
        sum(1 for _ in Path("/proc/self/fd").iterdir()),
        sum(1 for _ in Path("/proc/self/task").iterdir()),
    )


def _judge(looks: list[Look], tally: Tally) -> None:
    """Compare the looks after the first tenth, in which memory is warmed up."""
    settled = looks[len(looks) // 10 :]
    first, last = settled[0], settled[-1]
    slope = (
        float(np.polyfit([x.calls for x in settled], [x.memory for x in settled], 1)[0])
        if len(settled) > 2
        else 0.0
    )
    tally.count(
        f"memory {first.memory / 2**20:.1f} MiB, at last {last.memory / 2**20:.1f}, {slope:.1f} bytes a call"
    )
    tally.count(f"descriptors {first.descriptors}, at last {last.descriptors}")
    tally.count(f"threads {first.threads}, at last {last.threads}")
    if slope > _BYTES and last.memory - first.memory > _RESERVE:
        tally.violate("memory grows", f"{slope:.0f} bytes a call")
    if last.descriptors > first.descriptors:
        tally.violate("descriptors grow", f"from {first.descriptors} to {last.descriptors}")
    if last.threads > first.threads:
        tally.violate("threads grow", f"from {first.threads} to {last.threads}")
