"""Is every success a success? ``PYTHONPATH=tests python -m attack.success --method auto --seeds 0:1000``.

Random problems (`generator.py`) are minimised, and every success is shown to an independent judge
(`judge.py`). A seed alone is looked at by ``--seeds 123 --verbose``.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

import pursuit
from attack.generator import Problem, random_problem
from attack.judge import Claim, better_point
from attack.tally import Tally
from pursuit.experiments.common.formatting import spaced, table

METHODS = ("auto", "differences", "evolution")
WRONG = "a success at a point that is no minimum"
# A point may be worse than one that was visited by so many noise levels.
_VISITED = 10.0
# A function of the same point may differ by this in the last digits, as sums depend on where arrays lie.
_ROUNDING = 1e-14
# How far an estimate may be from the true value, in its standard errors and in noise levels.
_ERRORS, _LEVELS = 5.0, 3.0


class Verdict(NamedTuple):
    """What came of a problem."""

    seed: int
    family: str
    about: str
    message: str
    nfev: int
    seconds: float
    success: bool
    faults: tuple[str, ...]
    excess: float = 0.0
    """By how much the better point is better, as a part of what f falls by from the start to it."""
    off: bool = False
    """Whether the estimate of f is farther off than its error says."""

    @property
    def is_wrong(self) -> bool:
        """Whether the success is none."""
        return WRONG in self.faults

    def __str__(self) -> str:
        faults = "; ".join(self.faults) or "right"
        return (
            f"{self.seed}: {self.about}\n    {faults}, excess {self.excess:.1e}, {self.nfev} evaluations, "
            f"{self.seconds:.1f} s, success={self.success}: {self.message}"
        )


def judged(seed: int, method: str, rng: int | None = None) -> Verdict:
    """Minimise a random problem, by default with the problem's seed, and judge the result."""
    problem, begin = random_problem(seed), time.monotonic()
    about = f"{method} on {problem.about}"
    try:
        result = pursuit.minimize(
            problem.__call__, problem.x0, method=method, rng=seed if rng is None else rng,
            maxfev=problem.most, sigma0=problem.sigma0,
            bounds=None if problem.bounds is None else np.transpose(problem.bounds),
        )  # fmt: skip
    except Exception as error:  # any, as the next problem is to be tried
        fault = (f"an error of {type(error).__name__}",)
        return Verdict(seed, problem.family, about, str(error), 0, 0.0, False, fault)
    faults, excess = _faults(problem, result)
    if result.success and (better := better_point(_claim(problem, result.x), seed)) is not None:
        faults, excess = [WRONG, *faults], _excess(problem, result.x, better.value)
        distance = float(np.max(np.abs(better.x - result.x) / problem.sigma0))
        about += f"\n    {better.by} found a better point, {distance:.1e} sigma0 away"
    return Verdict(
        seed, problem.family, about, result.message, result.nfev, time.monotonic() - begin,
        bool(result.success), tuple(faults), excess, _is_off(problem, result),
    )  # fmt: skip


def _claim(problem: Problem, x: np.ndarray) -> Claim:
    noise = problem.noise(x) + problem.grain
    return Claim(problem.true, x, problem.x0, problem.sigma0, *problem.box, noise)


def _excess(problem: Problem, x: np.ndarray, better: float) -> float:
    """Return by how much a better value is better, as a part of what f falls by from the start to it."""
    won = problem.true(x) - better
    return won / max(won, problem.true(problem.x0) - better)


def _faults(problem: Problem, result: pursuit.Result) -> tuple[list[str], float]:
    """Return what is wrong with a result whatever it says, and how much worse it is than visited points."""
    lower, upper = problem.box
    if not (np.isfinite(result.x).all() and (lower <= result.x).all() and (result.x <= upper).all()):
        return ["a point that is not finite or outside the bounds"], 0.0
    faults, excess = [], 0.0
    true = problem.true(result.x)
    if result.nfev > problem.most:
        faults.append("too many evaluations")
    start = problem.true(problem.x0)
    rounding = _ROUNDING * (abs(true) + abs(start))
    if not problem.is_noisy and not result.fun_is_estimate and abs(result.fun - true) > rounding:
        faults.append("a value of another point")
    if true > problem.visited + rounding + _VISITED * problem.noise(result.x):
        faults.append("a worse point than one that was visited")
        excess = _excess(problem, result.x, problem.visited)
    return faults, excess


def _is_off(problem: Problem, result: pursuit.Result) -> bool:
    error = getattr(result, "fun_error", None) or 0.0
    levels = _LEVELS * problem.noise(result.x) if problem.is_noisy else 0.0
    true = problem.true(result.x)
    return abs(result.fun - true) > _ERRORS * error + levels + 1e-9 * abs(true)


def attack(seed: int, seconds: float) -> Tally:
    """Judge successes of `auto` on random problems until the time is over."""
    tally, end, number = Tally(), time.monotonic() + seconds, 1_000_000 * seed
    while time.monotonic() < end:
        verdict = judged(number, "auto")
        outcome = verdict.faults[0] if verdict.faults else "success" if verdict.success else "no success"
        tally.tried += 1
        tally.count(outcome, violation=str(verdict) if verdict.faults else "")
        number += 1
    return tally


def summary(verdicts: list[Verdict]) -> str:
    """Return a table of families."""
    rows = []
    for family in [*sorted({v.family for v in verdicts}), ""]:
        of_family = [v for v in verdicts if v.family == family or not family]
        wrong = sorted((v for v in of_family if v.is_wrong), key=lambda v: -v.excess)
        others = [v for v in of_family if v.faults and not v.is_wrong]
        rows.append([
            family or "all", spaced(len(of_family)), spaced(sum(v.success for v in of_family)),
            spaced(len(wrong)), f"{wrong[0].excess:.1e}" if wrong else "", spaced(len(others)),
            spaced(sum(v.off for v in of_family)), spaced(int(np.median([v.nfev for v in of_family]))),
            " ".join(str(v.seed) for v in [*wrong, *others][:8]) if family else "",
        ])  # fmt: skip
    heads = ["family", "runs", "success", "wrong", "worst", "other faults", "fun off", "nfev", "seeds"]
    return table(heads, rows)


def _verdicts(seeds: range, method: str, jobs: int) -> Iterator[Verdict]:
    judge = partial(judged, method=method)
    if jobs == 1:
        yield from map(judge, seeds)
        return
    with multiprocessing.get_context("fork").Pool(jobs) as pool:
        yield from pool.imap_unordered(judge, seeds, chunksize=4)


def _range(text: str) -> range:
    first, _, end = text.partition(":")
    return range(int(first), int(end) if end else int(first) + 1)


def main() -> int:
    """Run the command line; return 1 if a success was wrong."""
    parser = argparse.ArgumentParser(prog="python -m attack.success", description=__doc__)
    parser.add_argument("--method", default="auto", choices=METHODS)
    parser.add_argument("--seeds", type=_range, default=range(1000), metavar="FIRST:END")
    parser.add_argument("--jobs", type=int, default=1, help="the number of processes (1)")
    parser.add_argument("--verbose", action="store_true", help="show every problem, not only the wrong ones")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after this time")
    options = parser.parse_args()
    verdicts, end = [], time.monotonic() + 60.0 * options.minutes
    for verdict in _verdicts(options.seeds, options.method, options.jobs):
        verdicts.append(verdict)
        if verdict.faults or options.verbose:
            print(verdict, flush=True)
        if time.monotonic() > end:
            break
    print(summary(verdicts))
    return int(any(verdict.is_wrong for verdict in verdicts))


if __name__ == "__main__":
    sys.exit(main())
