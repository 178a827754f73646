"""Many damaged files, tried in child processes with little memory; a crash or a hang costs one of them."""

from __future__ import annotations

import json
import resource
import time
from collections.abc import Callable
from pathlib import Path

from attack.processes import fork, kill, wait
from attack.tally import Tally

# How many bytes a child may allocate beyond what it has, and how many seconds one file may take.
_MEMORY = 2**30
_LONGEST = 10.0
_BATCH = 50

Try = Callable[[int], tuple[str, str]]
"""Tries the file of a number; returns what happened, and an example of the violation if it is one."""


def try_files(attempt: Try, describe: Callable[[int], str], folder: Path, seconds: float) -> Tally:
    """Try files for so many seconds, numbered from 0."""
    tally, end = Tally(), time.monotonic() + seconds
    while time.monotonic() < end:
        found, status = _tried(attempt, tally.tried, folder, end)
        for what, example in found:
            tally.count(what, violation=example)
        tally.tried += len(found)
        if status != 0:  # in the middle of the next file
            what = "hang" if status is None else f"crash with status {status}"
            tally.count(what, violation=describe(tally.tried))
            tally.tried += 1
    return tally


def _tried(attempt: Try, first: int, folder: Path, end: float) -> tuple[list[tuple[str, str]], int | None]:
    """Try some files in a child; return what happened to each, and the exit status, None for a hang."""
    log = folder / "log.jsonl"
    log.write_text("")

    def work() -> None:
        _limit_memory()
        with log.open("w") as file:
            for number in range(first, first + _BATCH):
                if time.monotonic() < end:
                    print(json.dumps(attempt(number)), file=file, flush=True)

    pid, done = fork(work, folder / "printed"), -1
    while (status := wait(pid, _LONGEST)) is None:
        before, done = done, log.stat().st_size
        if before == done:
            kill(pid)
            break
    return [tuple(json.loads(line)) for line in log.read_text().splitlines()], status


def _limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + _MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
