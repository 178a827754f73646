"""Many damaged files, tried in child processes with little memory; a crash or a hang costs one of them."""

from __future__ import annotations

import json
import os
import resource
from collections.abc import Callable
from pathlib import Path

from benchmarks.attack.processes import fork, wait
from benchmarks.attack.tally import Tally

# How many bytes a child may allocate beyond what it has, and how many seconds one file may take.
_MEMORY = 2**30
_LONGEST = 10.0
_BATCH = 50

Try = Callable[[int], tuple[str, str, bool]]
"""Tries the file of a number; returns what happened, an example, and whether it is a violation."""


def try_batch(first: int, attempt: Try, describe: Callable[[int], str], tally: Tally, folder: Path) -> int:
    """Try some files from the number `first` on in a child; return the first number of the next batch."""
    log = folder / "log.jsonl"
    log.unlink(missing_ok=True)

    def work() -> None:
        _limit_memory()
        with log.open("w") as file:
            for number in range(first, first + _BATCH):
                print(json.dumps(attempt(number)), file=file, flush=True)

    pid = fork(work, folder / "printed")
    done, status = 0, None
    while status is None:
        status = wait(pid, _LONGEST)
        if status is None and _lines(log) == done:
            os.kill(pid, 9)
            os.waitpid(pid, 0)
            break
        done = _lines(log)
    found = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    tally.tried += len(found)
    for what, example, violated in found:
        if violated:
            tally.violate(what, example)
        else:
            tally.count(what)
    if status != 0:
        # The process has ended while it tried the next file.
        what = (
            "hang" if status is None else f"crash by signal {-status}" if status < 0 else "the process ended"
        )
        tally.tried += 1
        tally.violate(what, describe(first + len(found)))
        return first + len(found) + 1
    return first + _BATCH


def _lines(log: Path) -> int:
    return log.read_bytes().count(b"\n") if log.exists() else 0


def _limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + _MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
