"""Runs with checkpoints that are killed again and again: the last result equals that of an unbroken run."""

from __future__ import annotations

import json
import time
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

import pursuit
from attack.processes import fork, kill, last_line, wait
from attack.tally import Tally, differing, fingerprint

METHODS = ("rp", "sarp", "cma", "ep-cma-4", "rp-exact")
PROGRAMS = ("auto", "differences")
"""Those that are not compiled, and end after a few hundred evaluations."""
N = 12
_EIGENVALUES = np.geomspace(1.0, 1e4, N)
# Evaluations that take some tenths of a second: in compiled code, and in Python.
_COMPILED, _PYTHON = 600_000, 3_000
_MOST_KILLS, _LONGEST = 15, 120.0
# The time of an evaluation that makes a short run long enough to be killed, in seconds.
_SLEEP = 2e-4


class Case(NamedTuple):
    """A run to be killed."""

    method: str
    compiled: bool = False
    bounded: bool = False

    @property
    def function(self) -> Any:
        """The function to be minimised."""
        if self.method in PROGRAMS:
            return slow_valley
        return pursuit.problems.exp(N, 1e6) if self.compiled else python_function

    def minimized(self, maxfev: int, **settings: Any) -> dict[str, str]:
        """Return the fingerprint of a run."""
        result = pursuit.minimize(
            self.function,
            np.linspace(0.5, 2.0, N),
            method=self.method,
            bounds=[(0.25, 3.0)] * N if self.bounded else None,
            rng=5,
            maxfev=maxfev,
            options={"kappa": 1e4} if self.method == "sarp" else None,
            trace=True,
            **settings,
        )
        return fingerprint(result)

    def whole(self, **settings: Any) -> dict[str, str]:
        """Return the fingerprint of a run that takes long enough to be killed."""
        return self.minimized(_COMPILED if self.compiled else _PYTHON, **settings)


def python_function(x: Any) -> float:
    """Return the value of an ill-conditioned quadratic."""
    return float(np.dot(_EIGENVALUES * x, x))


def slow_valley(x: Any) -> float:
    """Return Rosenbrock's function, after a while."""
    time.sleep(_SLEEP)
    return float(np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2))


def attack(seed: int, seconds: float) -> Tally:
    """Kill runs for so many seconds; with little time, runs of a few cases."""
    random, tally, both = Random(seed), Tally(), (True, False)
    cases = [Case(method, compiled, bounded) for method in METHODS for compiled in both for bounded in both]
    cases += [Case(method, False, bounded) for method in PROGRAMS for bounded in both]
    cases = random.sample(cases, min(len(cases), 1 + int(seconds / 2)))
    expected = [(case, case.whole()) for case in cases]
    end, turn = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        with TemporaryDirectory() as folder:
            _kill_and_resume(*expected[turn % len(expected)], Path(folder), random, tally)
        turn += 1
    return tally


def _kill_and_resume(
    case: Case, expected: dict[str, str], folder: Path, random: Random, tally: Tally
) -> None:
    path, out, log = folder / "checkpoint" / "run.npz", folder / "out.json", folder / "log"
    path.parent.mkdir()
    every, kills = random.choice([0.001, 0.005, 0.02]), 0

    def run() -> None:
        out.write_text(json.dumps(case.whole(checkpoint=path, checkpoint_every=every)))

    while (
        status := _run_a_while(run, log, _LONGEST if kills == _MOST_KILLS else 0.2 * random.random())
    ) is None:
        kills += 1
        if kills > _MOST_KILLS:
            break
    tally.tried += min(kills, _MOST_KILLS)
    what = f"{case}, checkpoint_every={every}, {kills} kills"
    if status is None:
        tally.count("hang after a kill", violation=what)
    elif status != 0:
        tally.count("resuming failed", violation=f"{what}: {last_line(log)}")
    elif (found := json.loads(out.read_text())) != expected:
        tally.count("another result", violation=f"{what}: {differing(found, expected)}")
    else:
        tally.count("runs equal to an unbroken one")
    left = sorted(file.name for file in path.parent.iterdir() if file != path)
    if left:
        tally.count("temporary files left", violation=f"{what}: {', '.join(left)}")


def _run_a_while(run: Any, log: Path, seconds: float) -> int | None:
    """Run in a child; return its exit status, or kill it after so long and return None."""
    pid = fork(run, log)
    status = wait(pid, seconds)
    if status is None:
        kill(pid)
    return status
