"""Very many calls in one process: memory, descriptors and threads stay flat, and no files are left."""

from __future__ import annotations

import contextlib
import gc
import resource
import tempfile
import time
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np

import pursuit
from attack.tally import Tally

CALLS = 100_000
# How often to look, in calls, and how many bytes a call may leave behind.
_LOOK = 1000
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
            tally.count("files left", violation=f"{len(left)} of them, among them {left[0]}")
        tempfile.tempdir = before
    _judge([*looks, _look(tally.tried)], tally)
    return tally


def _quadratic(x: Any) -> float:
    return float(x @ x)


def _python(random: Random, path: Path) -> None:
    method, bounds = random.choice(["rp", "auto"]), random.choice([None, [(0.0, 2.0)] * 3])
    pursuit.minimize(lambda x: _quadratic(x), np.ones(3), method=method, bounds=bounds, rng=1, maxfev=30)


def _compiled(random: Random, path: Path) -> None:
    problem = pursuit.problems.exp(3, 10.0 ** random.randrange(1, 6))
    pursuit.minimize(problem, problem.x0, method=random.choice(["rp", "auto"]), rng=1, maxfev=300)


def _ask_and_tell(random: Random, path: Path) -> None:
    optimizer = pursuit.Optimizer(np.ones(3), random.choice(["rp", "auto"]), rng=1, trace=True)
    for _ in range(5):
        points = optimizer.ask()
        optimizer.tell(points, [_quadratic(x) for x in points])
    if random.random() < 0.1:
        optimizer.save(path)
        pursuit.Optimizer.load(path).ask()


def _raising(random: Random, path: Path) -> None:
    values = iter([2.0, 1.0])
    with contextlib.suppress(ArithmeticError):
        pursuit.minimize(lambda x: next(values, None) or 1 / 0, np.ones(3), method="rp", rng=1)


_CALLS = (_python, _compiled, _ask_and_tell, _raising)


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
    settled = np.array(looks[len(looks) // 10 :], dtype=float)
    first, last = settled[0], settled[-1]
    for name, before, after, allowed in zip(
        Look._fields[1:], first[1:], last[1:], (_RESERVE, 0, 0), strict=True
    ):
        what = f"{name}: {before:.0f}, at last {after:.0f}"
        tally.count(what, violation=what if after > before + allowed else "")
    slope = np.polyfit(settled[:, 0], settled[:, 1], 1)[0] if len(settled) > 2 else 0.0
    tally.count(f"{slope:.1f} bytes a call", violation="memory grows" if slope > _BYTES else "")
