"""Short runs of the methods that use BLAS and LAPACK, whose last bits depend on the processor.

``PYTHONPATH=tests python -m golden.programs [METHOD ...]`` writes them into ``programs.csv``, where only a
change that is meant to change what a method does gives a reason to. What is written down of a run are its
smallest values so far. Another processor rounds otherwise, and where a method decides by last bits, on kinks
above all, values differ: for the kernels of OpenBLAS from Prescott to Zen, 6 % of them at most. So as much as
a tenth may differ."""

import csv
import itertools
import math
import random
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

import pursuit
from golden.cases import UNRECORDED

FILE = Path(__file__).with_name("programs.csv")
EVALUATIONS = (20, 50, 100, 200, 300)
NOISES = (0.0, 1e-2)
TOLERANCE, MOST_DIFFERING = 1e-3, 0.1


# In Python's own arithmetic, whose bits depend on no processor.
def valley(x):
    return math.fsum(100.0 * (b - a * a) ** 2 + (1.0 - a) ** 2 for a, b in itertools.pairwise(x))


def ellipsoid(x):
    return 1.0 + math.fsum(4.0**k * (a - 0.3) ** 2 for k, a in enumerate(x))


def kinks(x):
    return 0.1 + math.fsum((k + 1.0) * abs(a - 0.3) for k, a in enumerate(x))


def steps(x):
    return 1.0 + math.fsum(math.floor(10.0 * abs(a - 0.3)) for a in x)


PROBLEMS = {one.__name__: one for one in (valley, ellipsoid, kinks, steps)}
SEEDS = (1, 2)
N = 8


class Row(NamedTuple):
    method: str
    problem: str
    seed: int
    bounded: bool
    noise: float
    evaluations: int
    fun: str


def rows_of(method):
    """Return what is written down of a method."""
    return [
        Row(method, name, seed, bounded, noise, evaluations, f"{value:.6g}")
        for name in PROBLEMS
        for seed in SEEDS
        for bounded in (False, True)
        for noise in NOISES
        for evaluations, value in zip(EVALUATIONS, _lowest(method, name, seed, bounded, noise), strict=True)
    ]


def _lowest(method, name, seed, bounded, noise):
    """Return the smallest true values of a run after some evaluations."""
    values, rng = [], random.Random(seed)

    def fun(x):
        values.append(PROBLEMS[name](x.tolist()))
        return values[-1] * (1.0 + noise * rng.gauss(0.0, 1.0)) if noise else values[-1]

    # Some minima lie inside these bounds, and some on them.
    bounds = [(-1.0, 0.2 if k % 3 == 0 else 1.5) for k in range(N)] if bounded else None
    pursuit.minimize(
        fun, np.zeros(N), method=method, rng=seed, sigma0=0.2, maxfev=EVALUATIONS[-1], bounds=bounds
    )
    return [min(values[:most]) for most in EVALUATIONS]


def recorded():
    """Return what is written down."""
    with FILE.open(newline="") as file:
        rows = [Row(**row) for row in csv.DictReader(file)]
    return [
        row._replace(
            seed=int(row.seed), bounded=row.bounded == "True", noise=float(row.noise),
            evaluations=int(row.evaluations),
        )
        for row in rows
    ]  # fmt: skip


def differing(method):
    """Return the rows that differ today from what is written down, and their share."""
    expected = {row[:-1]: float(row.fun) for row in recorded() if row.method == method}
    rows = rows_of(method)
    assert {row[:-1] for row in rows} == expected.keys()
    found = [row for row in rows if abs(float(row.fun) / expected[row[:-1]] - 1.0) > TOLERANCE]
    return found, len(found) / len(rows)


def main(names):
    before = recorded() if names else []
    rows = [
        row
        for method in UNRECORDED
        for row in (
            rows_of(method) if method in names or not names else [r for r in before if r.method == method]
        )
    ]
    with FILE.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([Row._fields, *rows])


if __name__ == "__main__":
    main(sys.argv[1:])
