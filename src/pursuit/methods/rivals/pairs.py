"""Two points on a line, from whose values `spsa`, `rg`, `ars` and `acdm` take a slope."""

from __future__ import annotations

from typing import Any, NamedTuple

from pursuit.checks import Vector
from pursuit.compiling.jit import inlined
from pursuit.methods.contract import Patience, write_on_line

# How much the latest step counts in the mean of their sizes.
_LATEST = 0.1


class Iterates(NamedTuple):
    """The arrays of `spsa` and `rg`: the best point, and the iterate."""

    x: Vector
    y: Vector


def patience_with_slopes(n: int) -> Patience:
    """Return after how many pairs without a better point to give up: slopes may lead uphill for long."""
    return Patience(10_000 + 1_000 * n, share=1.0)


@inlined
def keep_best(team: Any, arrays: Any, numbers: Any, pair: Any, values: Any) -> Any:
    """Write the better of two points into x if it is the best of all; return its value or the best one."""
    is_first = values[0] <= values[1]
    best, position = (values[0], pair.first) if is_first else (values[1], pair.second)
    if best < numbers.fx:
        write_on_line(team, pair, position, arrays.x)
    return min(best, numbers.fx)


@inlined
def smoothed(sigma: Any, step: Any) -> Any:
    """Return the mean size of the latest steps: a single one may be 0 by chance, which would end a run."""
    return sigma + _LATEST * (abs(step) - sigma)
