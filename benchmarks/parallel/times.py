"""How well workers are used: times with functions that sleep, that compute, and that take many points."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

import pursuit
from benchmarks.peers.problems import Task, make_objective
from benchmarks.timing import seconds
from pursuit.checks import Vector

WORKERS = 16
_SLEEP = 0.02
# The shortest of so many measurements counts.
_TIMES = 3


def sleeping(n: int, maxfev: int) -> float:
    """Return how many times faster sixteen threads are than one, with a function that sleeps."""
    made = make_objective(Task("exp", 1e4, True, n), 1)

    def fun(x: Vector) -> float:
        time.sleep(_SLEEP)
        return made.fun(x)

    with ThreadPoolExecutor(WORKERS) as threads:
        many = seconds(lambda: _run(fun, made.x0, maxfev, workers=threads))
    few = maxfev // WORKERS
    return seconds(lambda: _run(fun, made.x0, few)) * maxfev / few / many


def busy_share(n: int, maxfev: int, batch: int | None) -> float:
    """Return which part of the time sixteen threads are busy, when times vary from 1 to 10 at random."""
    made = make_objective(Task("exp", 1e4, True, n), 1)
    spans = []

    def fun(x: Vector) -> float:
        # It depends on the point alone, so that times are the same with any batch.
        spans.append(0.2 * _SLEEP * (1.0 + 9.0 * (abs(float(x[0])) * 1e9 % 1.0)))
        time.sleep(spans[-1])
        return made.fun(x)

    with ThreadPoolExecutor(WORKERS) as threads:
        spent = seconds(lambda: _run(fun, made.x0, maxfev, workers=threads, batch=batch))
    return sum(spans) / (WORKERS * spent)


def computing(x: Vector) -> float:
    """Compute for about 20 ms."""
    total = 0.0
    for k in range(300_000):
        total += (k % 7) * 1e-12
    return float(np.sum(np.linspace(1.0, 100.0, x.size) * x * x)) + total


def two_processes(maxfev: int = 300) -> float:
    """Return how many times faster two processes are than one, with a function that computes."""
    start = np.ones(100)
    _run(computing, start, 20, workers=2)
    alone = min(seconds(lambda: _run(computing, start, maxfev)) for _ in range(_TIMES))
    return alone / min(seconds(lambda: _run(computing, start, maxfev, workers=2)) for _ in range(_TIMES))


def own_microseconds(batch: int, n: int = 1000, evaluations: int = 100_000) -> float:
    """Return the microseconds that a point takes beside its evaluation."""
    made = make_objective(Task("rosenbrock", None, True, n), 1)
    points = np.ones((100, n))
    _run(made.fun, made.x0, 100, batch=batch)

    def evaluate() -> None:
        for k in range(evaluations):
            made.fun(points[k % 100])

    whole = min(seconds(lambda: _run(made.fun, made.x0, evaluations, batch=batch)) for _ in range(_TIMES))
    return 1e6 * (whole - min(seconds(evaluate) for _ in range(_TIMES))) / evaluations


def rosenbrock(x: Any) -> Any:
    """Return Rosenbrock's function of a point, or of many, one a row."""
    ahead, here = x[..., 1:], x[..., :-1]
    return np.sum(100.0 * (ahead - here**2) ** 2 + (1.0 - here) ** 2, axis=-1)


def gain_of_one_call(n: int = 1000, batch: int = 32, evaluations: int = 100_000) -> float:
    """Return how many times more evaluations a second there are if a function takes all points of a round."""
    rates = []
    for vectorized in (False, True):
        arguments = {"batch": batch, "vectorized": vectorized}
        _run(rosenbrock, np.zeros(n), 100, **arguments)
        spent = min(
            seconds(lambda: _run(rosenbrock, np.zeros(n), evaluations, **arguments))  # noqa: B023
            for _ in range(_TIMES)
        )
        rates.append(evaluations / spent)
    return rates[1] / rates[0]


def _run(fun: Callable[..., Any], x0: Vector, maxfev: int, **arguments: Any) -> pursuit.Result:
    result = pursuit.minimize(fun, x0, method="differences", rng=1, maxfev=maxfev, **arguments)
    assert result.nfev == maxfev
    return result
