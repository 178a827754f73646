"""Solvers from outside the library, for the command to import."""

import os
import signal
from pathlib import Path

import numpy as np


def random_search(fun, x0, *, sigma0, maxfev, seed):
    rng = np.random.default_rng(seed)
    for _ in range(maxfev):
        fun(rng.uniform(-5.0, 5.0, x0.size))


def hill_climber(fun, x0, *, sigma0, maxfev, seed):
    """Stop after 40 evaluations, with steps of one size."""
    rng = np.random.default_rng(seed)
    best = fun(x0)
    for _ in range(min(39, maxfev - 1)):
        x = x0 + sigma0 * rng.standard_normal(x0.size)
        value = fun(x)
        if value < best:
            x0, best = x, value


problems_begun = 0


def held_search(fun, x0, *, sigma0, maxfev, seed):
    """Search at random; where TINY_HOLD is set, wait for ever in the process's problem of that number."""
    global problems_begun
    problems_begun += 1
    rng = np.random.default_rng(seed)
    for _ in range(maxfev):
        fun(rng.uniform(-5.0, 5.0, x0.size))
        if os.environ.get("TINY_HOLD") == str(problems_begun):
            signal.pause()


def insatiable(fun, x0, *, sigma0, maxfev, seed):
    """Swallow errors, and ask for more than there is."""
    for _ in range(10 * maxfev):
        try:
            fun(x0)
        except Exception:
            Path("swallowed").touch()


def idle(fun, x0, *, sigma0, maxfev, seed):
    pass


def afraid_of_three(fun, x0, *, sigma0, maxfev, seed):
    if x0.size == 3:
        raise RuntimeError("three is too many")
    fun(x0)


NONE = None


def limited(fun, x0, *, sigma0, maxfev, seed, **limits):
    """Write down which limits there are, and search at random within the bounds."""
    Path(os.environ["SAW"]).write_text(" ".join(limits))
    rng = np.random.default_rng(seed)
    for _ in range(maxfev):
        fun(rng.uniform(*limits.get("bounds", (-5.0, 5.0)), x0.size))
