"""Attack the library, and report what happened: ``PYTHONPATH=tests python -m attack --minutes 10``."""

from __future__ import annotations

import argparse
import os
import pickle
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from benchmarks.reporting import made_by

from attack import checkpoints, faults, kills, load, problems, stores, studies, success
from attack.processes import fork, wait
from attack.tally import Tally
from pursuit.experiments.common.files import write_file
from pursuit.experiments.common.formatting import spaced, table

# A kill does not lose what a process has written, so waiting for a disk would find nothing.
_IN_MEMORY = Path("/dev/shm")


class Attack(NamedTuple):
    """An attack, its share of the time, and what it tries."""

    run: Callable[[int, float], Tally]
    share: float
    what: str
    alone: bool = False
    """Whether it is to run in one process only, beside another attack."""


ATTACKS = {
    "kills": Attack(kills.attack, 0.25, "kills of runs with checkpoints"),
    "studies": Attack(studies.attack, 0.2, "kills of studies"),
    "checkpoints": Attack(checkpoints.attack, 0.2, "damaged checkpoints"),
    "stores": Attack(stores.attack, 0.15, "damaged stores"),
    "problems": Attack(problems.attack, 0.2, "random problems of all kinds"),
    "success": Attack(success.attack, 0.2, "successes on random problems"),
    "load": Attack(load.attack, 0.2, "calls in one process", alone=True),
    "faults": Attack(faults.attack, 0.2, "full disks and dying workers", alone=True),
}


def run_attacks(names: list[str], seed: int, minutes: float, jobs: int) -> dict[str, Tally]:
    """Run attacks in so many processes at a time, and return what they counted."""
    tallies = {name: Tally() for name in names}
    waiting = [(name, job) for name in names for job in range(1 if ATTACKS[name].alone else jobs)]
    # With fewer attacks, each has more time.
    work = sum(ATTACKS[name].share for name, _ in waiting) / jobs
    running: dict[int, tuple[str, Path]] = {}
    with tempfile.TemporaryDirectory() as folder:
        while waiting or running:
            while waiting and len(running) < jobs:
                name, job = waiting.pop(0)
                out = Path(folder, f"{name}{job}")
                seconds = 60.0 * minutes * min(1.0, ATTACKS[name].share / work)
                running[_start(name, 100 * seed + job, seconds, out)] = name, out
            for pid in list(running):
                status = wait(pid, 0.1)
                if status is not None:
                    name, out = running.pop(pid)
                    tallies[name].merge(_finished(status, out))
    return tallies


def _start(name: str, seed: int, seconds: float, out: Path) -> int:
    def work() -> None:
        begin = time.monotonic()
        tally = ATTACKS[name].run(seed, seconds)
        tally.seconds = time.monotonic() - begin
        out.write_bytes(pickle.dumps(tally))

    return fork(work, out.with_suffix(".log"))


def _finished(status: int, out: Path) -> Tally:
    tally = Tally()
    if status == 0:
        tally.merge(pickle.loads(out.read_bytes()))
    else:
        log = out.with_suffix(".log").read_text(errors="replace")
        tally.count("the attack itself failed", violation=f"exit status {status}: {log[-250:]}")
    return tally


def report(tallies: dict[str, Tally], command: str) -> str:
    """Return the report, in Markdown."""
    rows, violations = [], []
    for name, tally in tallies.items():
        outcomes = [f"{kind}: {spaced(times)}" for kind, times in sorted(tally.outcomes.items())]
        counts = [spaced(tally.tried), "; ".join(outcomes), spaced(tally.violations.total())]
        rows.append([ATTACKS[name].what, *counts, f"{tally.seconds:.0f}"])
        for kind, times in tally.violations.most_common():
            example = " ".join(tally.examples[kind][:300].split())
            violations.append([ATTACKS[name].what, kind, spaced(times), f"`{example}`"])
    found = table(["attack", "violation", "times", "the first"], violations) if violations else "None."
    return f"""# Attacks

What must never happen, whatever is killed, damaged or full: a wrong result, a success where a better point is
near, a crash, a hang, a module imported because a file names it, an error that is not a sentence, a leak. The
seconds include compilation.

{table(["attack", "how many", "what happened", "violations", "seconds"], rows)}

## Violations

{found}

{made_by(command)}"""


def main() -> int:
    """Run the command line; return 1 if there is any violation."""
    parser = argparse.ArgumentParser(prog="python -m attack", description=__doc__)
    parser.add_argument(
        "--minutes", type=float, default=10.0, help="for all attacks, without compilation (10)"
    )
    parser.add_argument("--only", default=",".join(ATTACKS), metavar="LIST", help="of attacks (all)")
    parser.add_argument("--seed", type=int, default=1, help="of all that is random but the time (1)")
    parser.add_argument("--jobs", type=int, default=2, help="the number of processes (2)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the report into a file as well")
    options = parser.parse_args()
    names = options.only.split(",")
    if not set(names) <= ATTACKS.keys():
        parser.error(f"--only must name some of {', '.join(ATTACKS)}, but {options.only} was given.")
    if "TMPDIR" not in os.environ and _IN_MEMORY.is_dir():
        tempfile.tempdir = str(_IN_MEMORY)
    tallies = run_attacks(names, options.seed, options.minutes, options.jobs)
    selected = f" --only {options.only}" if len(names) < len(ATTACKS) else ""
    command = f"attack --minutes {options.minutes:g}{selected} --seed {options.seed}"
    text = report(tallies, command)
    print(text)
    if options.out:
        write_file(options.out, text)
    return int(any(tally.violations for tally in tallies.values()))


if __name__ == "__main__":
    sys.exit(main())
