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
from benchmarks.attack.processes import fork, kill, last_line, wait
from benchmarks.attack.tally import Tally, differing, fingerprint

METHODS = ("rp", "sarp", "auto", "auto-values", "cma", "ep-cma-4", "rp-exact")
N = 12
# How many evaluations take some tenths of a second, in compiled code and in Python.
_EVALUATIONS = {True: 600_000, False: 6_000}
_EIGENVALUES = np.geomspace(1.0, 1e4, N)
_MOST_KILLS = 12
_LONGEST = 120.0


class Case(NamedTuple):
    """A run to be killed."""

    method: str
    compiled: bool
    bounded: bool

    def __str__(self) -> str:
        return f"{self.method}, {'compiled' if self.compiled else 'Python'}{', bounds' * self.bounded}"


CASES = [
    Case(method, whole, bounded) for method in METHODS for whole in (True, False) for bounded in (True, False)
]


def python_function(x: Any) -> float:
    """Return the value of an ill-conditioned quadratic."""
    return float(np.dot(_EIGENVALUES * x, x))


def options_of(method: str) -> dict[str, float]:
    """Return the options that a method cannot do without."""
    return {"kappa": 1e4} if method == "sarp" else {}


def minimized(case: Case, **settings: Any) -> dict[str, str]:
    """Return the fingerprint of a run."""
    problem = pursuit.problems.exp(N, 1e6)
    result = pursuit.minimize(
        problem if case.compiled else python_function,
        np.linspace(0.5, 2.0, N),
        method=case.method,
        bounds=[(0.25, 3.0)] * N if case.bounded else None,
        rng=5,
        maxfev=_EVALUATIONS[case.compiled],
        options=options_of(case.method),
        trace=True,
        **settings,
    )
    return fingerprint(result)


def attack(seed: int, seconds: float) -> Tally:
    """Kill runs for so many seconds; with little time, runs of a few cases."""
    random, tally = Random(seed), Tally()
    cases = random.sample(CASES, min(len(CASES), 1 + int(seconds / 2)))
    expected = {case: minimized(case) for case in cases}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for case in cases:
            if time.monotonic() < end:
                _kill_and_resume(case, expected[case], random, tally)
    return tally


def _kill_and_resume(case: Case, expected: dict[str, str], random: Random, tally: Tally) -> None:
    every = random.choice([0.0, 0.002, 0.02])
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "run").mkdir()
        out, log = folder / "out.json", folder / "log"

        def run() -> None:
            found = minimized(case, checkpoint=folder / "run" / "run.npz", checkpoint_every=every)
            out.write_text(json.dumps(found))

        longest, kills = 0.4, 0
        while True:
            pid = fork(run, log)
            last = kills == _MOST_KILLS
            status = wait(pid, _LONGEST if last else longest * random.random())
            if status is not None:
                break
            kill(pid)
            if last:
                tally.violate("hang after a kill", f"{case}, checkpoint_every={every}")
                return
            kills += 1
            tally.tried += 1
        if status != 0:
            tally.violate(
                "resuming failed", f"{case}, checkpoint_every={every}, {kills} kills: {last_line(log)}"
            )
            return
        found = json.loads(out.read_text())
        if found != expected:
            example = f"{case}, checkpoint_every={every}, {kills} kills: {differing(found, expected)}"
            tally.violate("another result", example)
        else:
            tally.count("runs equal to an unbroken one")
        left = sorted(path.name for path in (folder / "run").iterdir() if path.name != "run.npz")
        if left:
            tally.violate("temporary files left", f"{case}, {kills} kills: {', '.join(left)}")
