"""Attack the library, and report what happened: ``python -m benchmarks.attack --minutes 10``."""

from __future__ import annotations

import argparse
import pickle
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from benchmarks.attack import checkpoints, faults, kills, load, processes, stores, studies
from benchmarks.attack.tally import Tally
from benchmarks.reporting import made_by
from pursuit.experiments.common.files import write_file
from pursuit.experiments.common.formatting import spaced, table

# How many attacks run at a time.
_CORES = 2


class Attack(NamedTuple):
    """An attack, and what it does."""

    run: Callable[[int, float], Tally]
    share: float
    """Of the time."""
    lanes: int
    """In how many processes."""
    what: str


ATTACKS = {
    "kills": Attack(kills.attack, 0.25, 2, "kills of runs with checkpoints"),
    "studies": Attack(studies.attack, 0.25, 2, "kills of studies"),
    "checkpoints": Attack(checkpoints.attack, 0.15, 2, "damaged checkpoints"),
    "stores": Attack(stores.attack, 0.15, 2, "damaged stores"),
    "load": Attack(load.attack, 0.2, 1, "calls in one process"),
    "faults": Attack(faults.attack, 0.2, 1, "full disks and dying workers"),
}


def run_attacks(names: list[str], seed: int, minutes: float) -> dict[str, Tally]:
    """Run attacks, two processes at a time, and return what they counted."""
    waiting = [(name, lane) for name in names for lane in range(ATTACKS[name].lanes)]
    # With fewer attacks, each has more time.
    total = sum(ATTACKS[name].share * ATTACKS[name].lanes for name in names) / _CORES
    running: dict[int, tuple[str, Path]] = {}
    tallies = {name: Tally() for name in names}
    with TemporaryDirectory() as folder:
        while waiting or running:
            while waiting and len(running) < _CORES:
                name, lane = waiting.pop(0)
                out = Path(folder, f"{name}-{lane}")
                seconds = 60.0 * minutes * ATTACKS[name].share / max(total, ATTACKS[name].share)
                running[_start(name, 100 * seed + lane, seconds, out)] = name, out
            for pid in list(running):
                status = processes.wait(pid, 0.1)
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

    return processes.fork(work, out.with_suffix(".log"))


def _finished(status: int, out: Path) -> Tally:
    if status == 0:
        tally: Tally = pickle.loads(out.read_bytes())
        return tally
    tally = Tally()
    log = out.with_suffix(".log").read_text(errors="replace")
    tally.violate("the attack itself failed", f"exit status {status}: {log[-250:]}")
    return tally


def report(tallies: dict[str, Tally], command: str) -> str:
    """Return the report, in Markdown."""
    rows = [
        [
            ATTACKS[name].what,
            spaced(tally.tried),
            "; ".join(_counted(kind, times) for kind, times in sorted(tally.outcomes.items())),
            spaced(tally.violations.total()),
            f"{tally.seconds:.0f}",
        ]
        for name, tally in tallies.items()
    ]
    violations = [
        [ATTACKS[name].what, kind, spaced(times), f"`{tally.examples[kind][:300]}`".replace("\n", " ")]
        for name, tally in tallies.items()
        for kind, times in tally.violations.most_common()
    ]
    found = table(["attack", "violation", "times", "the first"], violations) if violations else "None."
    return f"""# Attacks

What must never happen, whatever is killed, damaged or full: a wrong result, a crash, a hang, a module
imported because a file names it, an error that is not a sentence, a leak.

{table(["attack", "how many", "what happened", "violations", "seconds"], rows)}

## Violations

{found}

{made_by(command)}"""


def _counted(kind: str, times: int) -> str:
    return kind if times == 1 else f"{kind}: {spaced(times)}"


def main() -> int:
    """Run the command line; return 1 if there is any violation."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.attack", description=__doc__)
    parser.add_argument(
        "--minutes", type=float, default=10.0, help="for all attacks (10), without compilation"
    )
    parser.add_argument("--only", default=",".join(ATTACKS), metavar="LIST", help="of attacks (all)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the report into a file as well")
    options = parser.parse_args()
    names = options.only.split(",")
    if not set(names) <= ATTACKS.keys():
        parser.error(f"--only must name some of {', '.join(ATTACKS)}, but {options.only} was given.")
    tallies = run_attacks(names, options.seed, options.minutes)
    command = f"benchmarks.attack --minutes {options.minutes:g} --seed {options.seed}"
    if len(names) < len(ATTACKS):
        command += f" --only {options.only}"
    text = report(tallies, command)
    print(text)
    if options.out:
        write_file(options.out, text)
    return int(any(tally.violations for tally in tallies.values()))


if __name__ == "__main__":
    sys.exit(main())
