"""Random problems of all kinds: no run diverges, and none returns a worse point than it has seen.

A problem is one of a few functions, rotated or not, in variables of any scales, whose values are distorted,
rounded, noisy or missing. All are bounded below. Noise aside, the result is the smallest value seen, at the
point where it was seen; with noise, it is a finite point no farther away than points that were asked for.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

import numpy as np

import pursuit
from attack.tally import Tally
from pursuit.checks import Vector
from pursuit.engine.stopping import Reason

COUNT = 10_000
METHODS = ("auto", "auto", "differences", "evolution")
MOST_VARIABLES = 200
# The most evaluations of a run, divided by n: from far too few to enough to converge on most.
_BUDGETS = (0.5, 3.0, 30.0, 150.0)
Function = Callable[[Any], Any]

FUNCTIONS: dict[str, Function] = {
    "quadratic": lambda z: np.sum(np.geomspace(1.0, 1e4, z.size) * z * z),
    "Rosenbrock": lambda z: np.sum(100.0 * (z[1:] - z[:-1] ** 2) ** 2 + (1.0 - z[:-1]) ** 2),
    "quartic": lambda z: np.sum(z**4),
    "absolutes": lambda z: np.sum(np.abs(z)),
    "maximum": lambda z: np.max(np.abs(z)),
    "plateaus": lambda z: np.sum(np.floor(5.0 * np.abs(z))),
    "valleys": lambda z: np.sum(z * z + 5.0 * (1.0 - np.cos(6.0 * z))),
    # Its smallest value is 0, so that its logarithm has one, too.
    "rough": lambda z: np.sum(1.0 + np.cos(z[:-1] ** 2 - 0.5 * z[1:])),
    "flat": lambda z: np.sum(z * z / (1.0 + z * z)),
    "constant": lambda z: 3.0 + 0.0 * z[0],
    "cliff": lambda z: np.sum(z * z) if z[0] > -0.5 else np.sum(z * z) - 1.0,
}
DISTORTIONS: dict[str, Function] = {
    "as it is": lambda f: f,
    "shifted": lambda f: f + 1e6,
    "tiny": lambda f: 1e-200 * f,
    "huge": lambda f: 1e200 * f,
    "logarithm": np.log1p,
    "root": lambda f: np.sign(f) * np.sqrt(np.abs(f)),
    "3 digits": lambda f: float(f"{f:.2e}"),
    "single precision": lambda f: float(np.float32(f)),
}
FAULTS = ("none", "none", "none", "NaN", "infinite", "noise", "relative noise")


class RandomProblem(NamedTuple):
    """A function of a random kind, which remembers the smallest value and the farthest point."""

    name: str
    formula: Callable[[Vector], float]
    x0: Vector
    sigma0: float | Vector
    is_noisy: bool
    seen: dict[str, float]

    def __call__(self, x: Vector) -> float:
        """Return f(x)."""
        found = self.formula(x)
        if found < self.seen["least"]:
            self.seen["least"] = found
        self.seen["farthest"] = max(self.seen["farthest"], float(np.max(np.abs(x - self.x0))))
        return found


def random_problem(random: Random) -> RandomProblem:
    """Return a problem whose start has a value."""
    while not np.isfinite((problem := _any_problem(random)).formula(problem.x0)):
        pass
    return problem


def _any_problem(random: Random) -> RandomProblem:
    rng = np.random.default_rng(random.getrandbits(64))
    n = min(MOST_VARIABLES, max(2, round(2.0 * 100.0 ** random.random())))
    kind, distortion, fault = (random.choice(list(choices)) for choices in (FUNCTIONS, DISTORTIONS, FAULTS))
    turn = np.linalg.qr(rng.standard_normal((n, n)))[0] if random.random() < 0.5 else np.eye(n)
    scales = 10.0 ** (6.0 * rng.random(n)) if random.random() < 0.3 else np.ones(n)
    base, distort = FUNCTIONS[kind], DISTORTIONS[distortion]
    centre = rng.standard_normal(n)

    def formula(x: Vector) -> float:
        z = turn @ (scales * x)
        if fault in ("NaN", "infinite") and z[0] - centre[0] < -1.0:
            return float("nan" if fault == "NaN" else "inf")
        with np.errstate(all="ignore"):
            value = float(distort(base(z)))
            if fault == "noise":
                return value + 1e-3 * abs(height) * rng.standard_normal()
            return value * (1.0 + 1e-2 * rng.standard_normal()) if fault == "relative noise" else value

    x0 = (turn.T @ centre) / scales
    height = 0.0
    height = formula(x0)
    sigma0: float | Vector = 10.0 ** random.uniform(-2.0, 2.0)
    if random.random() < 0.2:
        sigma0 = sigma0 / scales
    name = f"{kind}, {distortion}, {fault}, n = {n}, sigma0 = {np.max(sigma0):.2g}"
    return RandomProblem(name, formula, x0, sigma0, "noise" in fault, {"least": np.inf, "farthest": 0.0})


def attack(seed: int, seconds: float) -> Tally:
    """Minimise so many random problems, or fewer if the time is over."""
    random, tally = Random(seed), Tally()
    end = time.monotonic() + seconds
    while tally.tried < COUNT and time.monotonic() < end:
        problem, method = random_problem(random), random.choice(METHODS)
        budget = max(1, int(random.choice(_BUDGETS) * problem.x0.size))
        restarts = random.choice((0, 0, 2))
        tally.tried += 1
        result = pursuit.minimize(
            problem.__call__, problem.x0, method=method, rng=random.getrandbits(32), sigma0=problem.sigma0,
            maxfev=budget, restarts=restarts,
        )  # fmt: skip
        wrong = _wrong(problem, result, budget)
        kind = Reason(result.status).name.lower()
        tally.count(wrong or kind, violation=f"{method} on {problem.name}: {result.message}" if wrong else "")
    return tally


def _wrong(problem: RandomProblem, result: pursuit.Result, budget: int) -> str:
    """Return what is wrong with a result, nothing if it is as it must be."""
    if result.nfev > budget:
        return "too many evaluations"
    if not np.isfinite(result.x).all():
        return "a point that is not finite"
    if result.status in (Reason.DIVERGED, Reason.UNBOUNDED):
        return f"{Reason(result.status).name.lower()}, though there is a smallest value"
    if np.max(np.abs(result.x - problem.x0)) > problem.seen["farthest"]:
        return "a point farther away than any that was asked for"
    if problem.is_noisy or result.fun_is_estimate:
        return ""
    if result.fun != problem.seen["least"]:
        return "a worse value than one that was seen"
    if problem.formula(result.x) != result.fun:
        return "a value of another point"
    return ""
