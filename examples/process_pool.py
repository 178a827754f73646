"""Evaluate the two points of an iteration of SARP at the same time, in a pool of processes.

`Optimizer` proposes points and receives their values; how and where these are computed is up to you. (For a
plain pool like this one, `pursuit.minimize(..., workers=2)` does the same.)
"""

import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np

import pursuit

CURVATURES = np.geomspace(1.0, 100.0, 10)
START = np.ones(10)
ITERATIONS = 100
PAUSE = 0.01


def slow(x):
    """Return a quadratic function of x, slowly."""
    time.sleep(PAUSE)
    return 0.5 * x @ (CURVATURES * x)


def minimized(apply):
    """Return the result of some iterations, evaluated by `apply`, and the seconds per iteration."""
    optimizer = pursuit.Optimizer(START, method="sarp", rng=1, sigma0=0.3, options={"kappa": 100.0})
    optimizer.tell(optimizer.ask(), [slow(START)])
    begin = time.perf_counter()
    for _ in range(ITERATIONS):
        points = optimizer.ask()
        optimizer.tell(points, list(apply(slow, points)))
    return optimizer.result, (time.perf_counter() - begin) / ITERATIONS


def main():
    """Minimise with one process and with two."""
    alone, seconds_alone = minimized(map)
    print(f"at the start:        f = {slow(START):.6f}")
    # Spawned processes inherit no threads or locks, which is safe on every platform.
    with ProcessPoolExecutor(max_workers=2, mp_context=get_context("spawn")) as pool:
        list(pool.map(slow, [START, START]))  # starts the processes
        beside, seconds_beside = minimized(pool.map)
    print(f"one after the other: f = {alone.fun:.6f}, {1e3 * seconds_alone:.1f} ms per iteration")
    print(f"side by side:        f = {beside.fun:.6f}, {1e3 * seconds_beside:.1f} ms per iteration")
    print(f"the same point: {np.array_equal(alone.x, beside.x)}")


if __name__ == "__main__":
    main()
