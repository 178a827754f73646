"""Time per iteration and per evaluation of two checkouts of the library, in one table.

``python -m benchmarks.against OTHER`` times the checkout in the folder OTHER ("before") and this one
("after"): compiled loops as in `benchmarks.speed`, and loops around a Python function as in
`benchmarks.overhead`. In every round each checkout gets a new process, and the two take turns with every
single measurement; the shortest of all rounds counts. A round takes about a minute.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import json
import math
import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pursuit
from benchmarks.timing import Repeat, evaluating, fits, iterating, repetitions, seconds

ROOT = Path(__file__).parents[1]
DIMENSIONS = (100, 1_000, 10_000, 100_000)
ITERATED = ("rp", "sarp", "ep-cma-4", "cma", "adaptive-sarp")
EVALUATED = ("rp", "sarp", "ep-cma-4")


class Measurement(NamedTuple):
    """What is timed: so many iterations or evaluations of a method."""

    unit: str
    method: str
    n: int
    times: int


def measurements(numbers: int) -> list[Measurement]:
    """Return all that is timed."""
    return [
        Measurement(unit, method, n, repetitions(numbers, n))
        for unit, methods in (("iteration", ITERATED), ("evaluation", EVALUATED))
        for n in DIMENSIONS
        for method in methods
        if fits(method, n)
    ]


def serve() -> None:
    """Time what the standard input asks for, line by line; what a child process does."""
    print(Path(pursuit.__file__).parents[1], flush=True)
    for line in sys.stdin:
        *wanted, times = json.loads(line)
        run = _runner(Measurement(*wanted))
        print(seconds(lambda run=run, times=times: run(times)), flush=True)  # type: ignore[misc]


@functools.lru_cache(maxsize=1)
def _runner(wanted: Measurement) -> Repeat:
    """Return what is timed, compiled and run once."""
    if wanted.unit == "iteration":
        run = iterating(wanted.method, wanted.n)
    else:
        run = evaluating(wanted.method, wanted.n, 2 * wanted.times)
    # An iteration of SARP takes two evaluations.
    run(2)
    return run


class Child:
    """A process that times a checkout."""

    def __init__(self, checkout: Path) -> None:
        source = checkout.resolve() / "src"
        path = os.pathsep.join(map(str, (source, ROOT)))
        self._process = subprocess.Popen(
            [sys.executable, "-c", "from benchmarks.against import serve; serve()"],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        found = self._answer()
        if Path(found) != source:
            self.close()
            raise SystemExit(f"The library of {checkout} should be in {source}, but it is in {found}.")

    def seconds(self, wanted: Measurement, times: int) -> float:
        """Return how long so many repetitions take."""
        assert self._process.stdin
        print(json.dumps([*wanted, times]), file=self._process.stdin, flush=True)
        return float(self._answer())

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()

    def _answer(self) -> str:
        assert self._process.stdout
        answer = self._process.stdout.readline().strip()
        if not answer:
            raise SystemExit("A process that timed a checkout has failed; its error is above.")
        return answer


def compare(before: Path, after: Path, rounds: int, numbers: int) -> str:
    """Return a table of the times of two checkouts, in microseconds."""
    # Child processes import this module with versions of the library that may not have this one.
    from pursuit.experiments.common.formatting import spaced, table

    wanted = measurements(numbers)
    shortest: dict[tuple[str, Measurement, int], float] = {}
    for number in range(rounds):
        with closing(Child(before)) as one, closing(Child(after)) as other:
            # Neither of the two always comes first.
            turns = [("before", one), ("after", other)][:: 1 if number % 2 else -1]
            for measurement, factor, (side, child) in itertools.product(wanted, (1, 2), turns):
                taken = child.seconds(measurement, factor * measurement.times)
                key = side, measurement, factor
                shortest[key] = min(taken, shortest.get(key, math.inf))
    rows = []
    for measurement in wanted:
        # As in `seconds_each`, the difference cancels the time of getting started.
        each = [
            (shortest[side, measurement, 2] - shortest[side, measurement, 1]) / measurement.times
            for side in ("before", "after")
        ]
        shown = [f"{1e6 * taken:.4g}" for taken in each]
        name = [measurement.unit, measurement.method, spaced(measurement.n)]
        rows.append([*name, *shown, f"{each[1] / each[0]:.3f}"])
    return table(["one", "method", "n", "before, µs", "after, µs", "after / before"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("other", type=Path, metavar="OTHER", help="the folder of the other checkout")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--numbers", type=int, default=20_000_000, help="drawn in a measurement")
    options = parser.parse_args()
    print(compare(options.other, ROOT, options.rounds, options.numbers))


if __name__ == "__main__":
    main()
