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
from benchmarks.attack.processes import adopt_orphans, ended, fork, last_line, wait
from benchmarks.attack.tally import Tally, differing, fingerprint

_LONGEST = 20.0
_EVALUATIONS = 400
_METHODS = ("rp", "auto", "auto-values")
Fault = Callable[[Random, Path], str]
"""Meets a fault in a child process; returns what happened, with "violation: " before it if it must not."""


def attack(seed: int, seconds: float) -> Tally:
    """Meet faults for so many seconds."""
    random, tally = Random(seed), Tally()
    adopt_orphans()
    for method in _METHODS:
        _minimized(_Objective(), method)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for fault in (
            limited_file,
            full_disk,
            full_disk_and_exception,
            full_device,
            missing_folder,
            dying_worker,
        ):
            if time.monotonic() < end:
                _meet(fault, random.randrange(2**32), tally)
    return tally


def _meet(fault: Fault, seed: int, tally: Tally) -> None:
    with TemporaryDirectory() as name:
        folder, what = Path(name), fault.__name__.replace("_", " ")
        (folder / "work").mkdir()
        said = folder / "said.json"
        pid = fork(
            lambda: said.write_text(json.dumps(fault(Random(seed), folder / "work"))) * 0, folder / "log"
        )
        status = wait(pid, _LONGEST)
        if status is None:
            os.killpg(pid, signal.SIGKILL)
        tally.tried += 1
        if not ended(pid, 5.0) and status is not None:
            tally.violate(f"{what}: processes left", f"seed {seed}")
        if status is None:
            tally.violate(f"{what}: hang", f"seed {seed}")
        elif status:
            tally.violate(f"{what}: exit status {status}", f"seed {seed}: {last_line(folder / 'log')}")
        else:
            outcome = json.loads(said.read_text())
            kind, _, detail = outcome.removeprefix("violation: ").partition(": ")
            if outcome.startswith("violation: "):
                tally.violate(f"{what}: {kind}", f"seed {seed}: {detail}")
            else:
                tally.count(f"{what}: {kind}")


class _Objective:
    """A quadratic, at whose evaluation number `when` something happens first."""

    def __init__(self, when: int = 0, event: Callable[[], object] | None = None) -> None:
        self.calls, self.when, self.event = 0, when, event

    def __call__(self, x: Any) -> float:
        self.calls += 1
        if self.calls == self.when and self.event is not None:
            self.event()
        return float(x @ x)


def _minimized(objective: Any, method: str, **settings: Any) -> dict[str, str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = pursuit.minimize(
            objective,
            np.linspace(0.5, 2.0, 6),
            method=method,
            rng=5,
            maxfev=_EVALUATIONS,
            trace=True,
            **settings,
        )
    return fingerprint(result)


def _written(objective: _Objective, random: Random, path: Path) -> str:
    """Return what comes of a run whose checkpoint cannot be written from some moment on."""
    method = random.choice(_METHODS)
    try:
        found = _minimized(objective, method, checkpoint=path, checkpoint_every=0.0)
    except OSError as error:
        if objective.calls == 0 and str(path) in str(error):
            return "refused before the first evaluation"
        return f"violation: the result is lost: {method}: {error}"
    expected = _minimized(_Objective(), method)
    return (
        "the result"
        if found == expected
        else f"violation: another result: {method}: {differing(found, expected)}"
    )


def _limit(size: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))


def limited_file(random: Random, folder: Path) -> str:
    """Limit the size of files at some moment."""
    size = random.choice([0, 100, 5_000])
    objective = _Objective(random.randrange(1, _EVALUATIONS), lambda: _limit(size))
    try:
        return _written(objective, random, folder / "run.npz")
    finally:
        _limit(resource.RLIM_INFINITY)


@contextlib.contextmanager
def _small_disk(folder: Path) -> Iterator[None]:
    """Mount a disk of 256 kB in memory, if that is allowed."""
    command = ["mount", "-t", "tmpfs", "-o", "size=256k", "attack", str(folder)]
    mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
    if not mounted:
        _limit(0)
    try:
        yield
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(folder)], check=False)
        _limit(resource.RLIM_INFINITY)


def _fill(folder: Path) -> None:
    with contextlib.suppress(OSError), (folder / "ballast").open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))


def full_disk(random: Random, folder: Path) -> str:
    """Fill the disk at some moment."""
    objective = _Objective(random.randrange(1, _EVALUATIONS), lambda: _fill(folder))
    with _small_disk(folder):
        return _written(objective, random, folder / "run.npz")


def full_disk_and_exception(random: Random, folder: Path) -> str:
    """Fill the disk and raise an exception: the exception comes through, and not the disk's."""

    def fill_and_raise() -> None:
        _fill(folder)
        raise ArithmeticError("the objective's own")

    objective = _Objective(random.randrange(2, _EVALUATIONS), fill_and_raise)
    with _small_disk(folder):
        try:
            _minimized(
                objective, random.choice(_METHODS), checkpoint=folder / "run.npz", checkpoint_every=60.0
            )
        except ArithmeticError as error:
            return (
                "the objective's exception"
                if hasattr(error, "pursuit_result")
                else "violation: no pursuit_result"
            )
        except OSError as error:
            return f"violation: the objective's exception is hidden: {error}"
    return "violation: the objective's exception is lost"


def full_device(random: Random, folder: Path) -> str:
    """Write to a device of our own that is always full."""
    path = folder / "full"
    try:
        os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 7))
    except OSError:
        return "not allowed here"
    objective = _Objective()
    try:
        _minimized(objective, random.choice(_METHODS), checkpoint=path)
    except (OSError, ValueError) as error:
        if objective.calls == 0 and str(path) in str(error):
            return "refused before the first evaluation"
        return f"violation: the result is lost: {error}"
    return "the result"


def missing_folder(random: Random, folder: Path) -> str:
    """Write a checkpoint into a folder that does not exist."""
    objective, path = _Objective(), folder / "missing" / "run.npz"
    try:
        _minimized(objective, random.choice(_METHODS), checkpoint=path, checkpoint_every=0.0)
    except (OSError, ValueError) as error:
        if objective.calls == 0 and str(path.parent) in str(error):
            return "refused before the first evaluation"
        return f"violation: the result is lost: after {objective.calls} evaluations: {error}"
    return "violation: not refused"


def deadly(x: Any, folder: Path, most: int) -> float:
    """Return a quadratic; a process that evaluates it dies now and then, `most` processes in all."""
    if x[0] < 0.4 and len(list(folder.iterdir())) < most:
        (folder / str(os.getpid())).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return float(x @ x)


def dying_worker(random: Random, folder: Path) -> str:
    """Evaluate in two processes, which die once, twice or every time."""
    most = random.choice([1, 2, 10**6])
    method = random.choice(_METHODS)
    try:
        found = _minimized(deadly, method, args=(folder, most), workers=2, maxtime=10.0)
    except Exception as error:
        if not hasattr(error, "pursuit_result"):
            return f"violation: no pursuit_result: {type(error).__name__}: {error}"
        return (
            "a sentence and the result so far"
            if most > 1
            else f"violation: given up after one death: {error}"
        )
    expected = _minimized(_Objective(), method)
    return "the result" if found == expected else f"violation: another result: {differing(found, expected)}"
