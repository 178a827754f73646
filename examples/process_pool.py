"""Evaluate the two points of an iteration of SARP side by side, in the processes of a pool.

`Optimizer` hands out points and takes their values; who computes these, and where, is up to its user. (For a
pool as plain as this one, `pursuit.minimize(..., workers=2)` does the same.)
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
    """Return a quadratic function of x that takes its time."""
    time.sleep(PAUSE)
    return 0.5 * x @ (CURVATURES * x)


def minimized(apply):
    """Return what so many iterations come to, with values by `apply`, and the seconds per iteration."""
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
    # New processes that inherit nothing are safe on every platform.
    with ProcessPoolExecutor(max_workers=2, mp_context=get_context("spawn")) as pool:
        list(pool.map(slow, [START, START]))  # starts the processes
        beside, seconds_beside = minimized(pool.map)
    print(f"one after the other: f = {alone.fun:.6f}, {1e3 * seconds_alone:.1f} ms per iteration")
    print(f"side by side:        f = {beside.fun:.6f}, {1e3 * seconds_beside:.1f} ms per iteration")
    print(f"the same point: {np.array_equal(alone.x, beside.x)}")


if __name__ == "__main__":
    main()
