"""Full disks and dying workers: the result comes, or a sentence, and never a hang."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import stat
import subprocess
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import pursuit
from attack.processes import adopt_orphans, ended, fork, last_line, wait
from attack.tally import Tally, differing, fingerprint

_METHODS = ("rp", "auto", "differences")
_EVALUATIONS, _LONGEST = 400, 20.0
_REFUSED = "refused before the first evaluation"
Outcome = tuple[str, str]
"""What happened, and some detail if it must not."""


def attack(seed: int, seconds: float) -> Tally:
    """Meet faults for so many seconds."""
    random, tally = Random(seed), Tally()
    adopt_orphans()
    for method in _METHODS:
        _minimized(_Objective(), method)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        _meet(FAULTS[tally.tried % len(FAULTS)], random.randrange(2**32), tally)
        tally.tried += 1
    return tally


def _meet(fault: Callable[[Random, Path], Outcome], seed: int, tally: Tally) -> None:
    """Meet a fault in a child process."""
    name, example = fault.__name__.replace("_", " "), f"seed {seed}: "
    with TemporaryDirectory() as folder:
        log, said, work = Path(folder, "log"), Path(folder, "said.json"), Path(folder, "work")
        work.mkdir()
        pid = fork(lambda: (said.write_text(json.dumps(fault(Random(seed), work))), None), log)
        status = wait(pid, _LONGEST)
        if status is None:
            os.killpg(pid, signal.SIGKILL)
        if not ended(pid, 5.0):
            tally.count(f"{name}: processes are left", violation=example)
        if work.is_mount():  # of a child that was killed
            subprocess.run(["umount", "-l", str(work)], check=False)
        if status is None:
            tally.count(f"{name}: hang", violation=example)
        elif status != 0:
            tally.count(f"{name}: exit status {status}", violation=example + last_line(log))
        else:
            what, detail = json.loads(said.read_text())
            tally.count(f"{name}: {what}", violation=detail and example + detail)


class _Objective:
    """A quadratic, at whose evaluation number `when` something happens first."""

    def __init__(self, when: int = 0, event: Callable[[], object] = int) -> None:
        self.calls, self.when, self.event = 0, when, event

    def __call__(self, x: Any) -> float:
        self.calls += 1
        if self.calls == self.when:
            self.event()
        return float(x @ x)


def _minimized(objective: Any, method: str, **settings: Any) -> dict[str, str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        settings |= {"rng": 5, "maxfev": _EVALUATIONS, "trace": True}
        return fingerprint(pursuit.minimize(objective, np.linspace(0.5, 2.0, 6), method=method, **settings))


def _compared(found: dict[str, str], expected: dict[str, str]) -> Outcome:
    return ("the result", "") if found == expected else ("another result", differing(found, expected))


def _saved(objective: _Objective, random: Random, path: Path) -> Outcome:
    """Return what comes of a run whose checkpoint cannot be written from some moment on."""
    method, every = random.choice(_METHODS), random.choice([0.0, 60.0])
    try:
        found = _minimized(objective, method, checkpoint=path, checkpoint_every=every)
    except ArithmeticError as error:
        has_result = hasattr(error, "pursuit_result")
        return "the objective's exception", "" if has_result else "without pursuit_result"
    except (OSError, ValueError) as error:
        if objective.calls == 0 and str(path.parent) in str(error):
            return _REFUSED, ""
        return "nothing but the error of the disk", f"{method}, {objective.calls} evaluations: {error!r}"
    return _compared(found, _minimized(_Objective(), method))


@contextlib.contextmanager
def _small_disk(folder: Path, *, wanted: bool = True) -> Iterator[None]:
    """Mount a disk of 256 kB in memory; where that is not allowed, `_fill` limits the size of files."""
    command = ["mount", "-t", "tmpfs", "-o", "size=256k", "attack", str(folder)]
    mounted = wanted and subprocess.run(command, capture_output=True, check=False).returncode == 0
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        if mounted:
            subprocess.run(["umount", "-l", str(folder)], check=False)


def _fill(folder: Path, size: int) -> None:
    """Fill a small disk, or limit the size of files where the disk is large."""
    if not folder.is_mount():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
        return
    with contextlib.suppress(OSError), (folder / "ballast").open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))


def full_disk(random: Random, folder: Path) -> Outcome:
    """Fill the disk at some moment."""
    when, size = random.randrange(1, _EVALUATIONS), random.choice([0, 100, 5_000])
    with _small_disk(folder, wanted=random.random() < 0.5):
        return _saved(_Objective(when, lambda: _fill(folder, size)), random, folder / "run.npz")


def full_disk_and_exception(random: Random, folder: Path) -> Outcome:
    """Fill the disk and raise an exception: it comes through, and not the disk's."""

    def fill_and_raise() -> None:
        _fill(folder, 0)
        raise ArithmeticError

    with _small_disk(folder):
        objective = _Objective(random.randrange(2, _EVALUATIONS), fill_and_raise)
        return _saved(objective, random, folder / "run.npz")


def full_device(random: Random, folder: Path) -> Outcome:
    """Write to a device that is always full, such as /dev/full, but our own."""
    path = folder / "full"
    try:
        os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 7))
    except OSError:
        return "not allowed here", ""
    return _saved(_Objective(), random, path)


def missing_folder(random: Random, folder: Path) -> Outcome:
    """Write a checkpoint into a folder that does not exist."""
    what, detail = _saved(_Objective(), random, folder / "missing" / "run.npz")
    return what, "" if what == _REFUSED else detail or "not refused"


def deadly(x: Any, folder: Path, most: int) -> float:
    """Return a quadratic; a process that evaluates it dies now and then, `most` processes in all."""
    if x[0] < 0.4 and len(list(folder.iterdir())) < most:
        (folder / str(os.getpid())).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return float(x @ x)


def dying_worker(random: Random, folder: Path) -> Outcome:
    """Evaluate in two processes, which die once, twice or every time."""
    most, method, maxtime = random.choice([1, 2, 10**6]), random.choice(_METHODS), random.choice([None, 5.0])
    what = f"{method}, maxtime={maxtime}, {most} deaths"
    try:
        found = _minimized(deadly, method, args=(folder, most), workers=2, maxtime=maxtime)
    except Exception as error:
        return "an exception", f"{what}: {error!r}"
    if maxtime is not None and "maxtime" in found["message"]:
        return "stopped by maxtime", ""
    if most > 1 and "died with the process" in found["message"]:
        return "points that failed, and were counted", ""
    # Rounds are those of two workers.
    return _compared(found, _minimized(deadly, method, args=(folder, 0), workers=2))


FAULTS = (full_disk, full_disk_and_exception, full_device, missing_folder, dying_worker)
