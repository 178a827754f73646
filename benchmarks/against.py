"""Time per iteration and per evaluation of two checkouts of the library, in one table.

``python -m benchmarks.against OTHER`` times the checkout in the folder OTHER ("before") and this one
("after"). In every round each checkout gets a new process, and neither always comes first; the shortest of
all rounds counts. A round takes about a minute.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pursuit
from benchmarks.measure import evaluating, fits, iterating, repetitions, seconds_each

ROOT = Path(__file__).parents[1]
DIMENSIONS = (100, 1_000, 10_000, 100_000)
ITERATED = ("rp", "sarp", "ep-cma-4", "cma", "adaptive-sarp")
EVALUATED = ("rp", "sarp", "ep-cma-4")


def measure(
    source: str, numbers: int, dimensions: Sequence[int], iterated: Sequence[str], evaluated: Sequence[str]
) -> dict[str, float]:
    """Return the seconds for one of everything that is timed, and where the library is; what a child does."""
    place = str(Path(pursuit.__file__).parents[1])
    found = {place: 0.0}
    for n in dimensions if place == source else ():
        times = repetitions(numbers, n)
        runs = {f"iteration | {m} | {n}": iterating(m, n) for m in iterated if fits(m, n)}
        runs |= {f"evaluation | {m} | {n}": evaluating(m, n, 2 * times) for m in evaluated}
        for run in runs.values():
            # An iteration of SARP takes two evaluations.
            run(2)
        found |= seconds_each(runs, times, 1)
    return found


def measured(checkout: Path, numbers: int) -> dict[str, float]:
    """Return what a process measures of the library of a checkout."""
    source = checkout.resolve() / "src"
    wanted = str(source), numbers, DIMENSIONS, ITERATED, EVALUATED
    code = f"import json; from benchmarks.against import measure; print(json.dumps(measure(*{wanted})))"
    path = os.pathsep.join(map(str, (source, ROOT)))
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        text=True, check=True,
    )  # fmt: skip
    place, *found = json.loads(done.stdout).items()
    if Path(place[0]) != source:
        raise SystemExit(f"The library of {checkout} should be in {source}, but it is in {place[0]}.")
    return dict(found)


def compare(before: Path, after: Path, rounds: int, numbers: int) -> str:
    """Return a table of the times of two checkouts, in microseconds."""
    shortest: dict[tuple[str, str], float] = {}
    sides = {"before": before, "after": after}
    for number in range(rounds):
        for side in list(sides)[:: 1 if number % 2 else -1]:
            for name, taken in measured(sides[side], numbers).items():
                key = side, name
                shortest[key] = min(taken, shortest.get(key, math.inf))
    lines = ["| one | method | n | before, µs | after, µs | after / before |", "| --- " * 6 + "|"]
    for name in dict.fromkeys(name for _, name in shortest):
        one, other = (shortest[side, name] for side in sides)
        lines.append(f"| {name} | {1e6 * one:.4g} | {1e6 * other:.4g} | {other / one:.3f} |")
    return "\n".join(lines)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("other", type=Path, metavar="OTHER", help="the folder of the other checkout")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--numbers", type=int, default=20_000_000, help="drawn in a measurement")
    options = parser.parse_args()
    print(compare(options.other, ROOT, options.rounds, options.numbers))


if __name__ == "__main__":
    main()
