"""Studies whose driver or workers are killed again and again: their tables equal undisturbed ones."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import time
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from attack.processes import adopt_orphans, ended, fork, last_line, wait
from attack.small_study import contents, declare, run_here
from attack.tally import Tally
from pursuit.cli import main
from pursuit.experiments.study import draw_report

_LONGEST = 120.0
# The share of studies run by the command in an interpreter of its own, which takes seconds to start.
_FRESH = 0.03


def attack(seed: int, seconds: float) -> Tally:
    """Kill studies for so many seconds."""
    random, tally = Random(seed), Tally()
    adopt_orphans()
    with TemporaryDirectory() as name:
        declaration, undisturbed = declare(Path(name)), Path(name, "undisturbed")
        run_here(declaration, undisturbed)
        draw_report(undisturbed)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with TemporaryDirectory(dir=name) as killed:
                folder, fresh = Path(killed, "study"), random.random() < _FRESH
                command = ["reproduce", str(declaration), "--out", str(folder), "--jobs", "2"]
                # The report takes longer than the runs, so it is killed less often.
                for arguments, most_kills in ((["--no-report"], 20), ([], 3)):
                    done = _killed_until_done([*command, *arguments], most_kills, random, tally, fresh=fresh)
                if done:
                    _compare(folder, undisturbed, tally)
    return tally


def _killed_until_done(
    arguments: list[str], most_kills: int, random: Random, tally: Tally, *, fresh: bool
) -> bool:
    """Kill a command at random moments, and start it again; return whether it succeeded in the end."""
    kills, longest = 0, 4.0 if fresh else 0.4
    with TemporaryDirectory() as name:
        log = Path(name, "log")
        while True:
            last = kills == most_kills
            pid = fork(lambda: _command(arguments, fresh=fresh), log)
            if not last:
                _kill_worker(pid, longest, random, tally)
            status = wait(pid, _LONGEST if last else longest * random.random())
            if status is None:
                os.kill(pid, signal.SIGKILL)
                tally.tried += 1
                tally.count("kills of a driver")
                kills += 1
            if not ended(pid, 20.0):
                tally.count("workers outlive their driver", violation=f"its exit status is {status}")
            if status == 0:
                return True
            if status is not None or last:
                what = f"{kills} kills, exit status {status}: {last_line(log)}"
                tally.count("hang after a kill" if status is None else "resuming failed", violation=what)
                return False


def _command(arguments: list[str], *, fresh: bool) -> int:
    """Run the command; unless it is `fresh`, with workers that share what is compiled here."""
    if fresh:
        os.execv(sys.executable, [sys.executable, "-m", "pursuit.cli", *arguments])
    context: Any = multiprocessing.get_context("fork")
    multiprocessing.get_context = lambda method=None: context
    return main(arguments)


def _kill_worker(driver: int, longest: float, random: Random, tally: Tally) -> None:
    """Kill a worker now and then."""
    if random.random() < 0.7:
        return
    time.sleep(longest * random.random())
    # The driver may have ended, or not begun yet.
    with contextlib.suppress(OSError, IndexError):
        children = Path(f"/proc/{driver}/task/{driver}/children").read_text().split()
        worker = int(random.choice(children))
        if b"resource_tracker" not in Path(f"/proc/{worker}/cmdline").read_bytes():
            os.kill(worker, signal.SIGKILL)
            tally.tried += 1
            tally.count("kills of a worker")


def _compare(folder: Path, undisturbed: Path, tally: Tally) -> None:
    one, other = _made(folder), _made(undisturbed)
    changed = sorted(name for name in one | other if one.get(name) != other.get(name))
    if contents(folder, seconds=False) != contents(undisturbed, seconds=False):
        changed.append("stored runs")
    if changed:
        tally.count("another study", violation=", ".join(changed))
    else:
        tally.count("studies equal to an undisturbed one")
    left = sorted(path.name for path in folder.rglob("*.part"))
    if left:
        tally.count("temporary files left", violation=", ".join(left))


def _made(folder: Path) -> dict[str, bytes]:
    """Return tables and figures, by name."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for part in ("tables", "figures")
        for path in (folder / part).rglob("*")
        if path.is_file() and path.suffix != ".part"
    }
