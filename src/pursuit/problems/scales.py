"""Variables of different sizes: a scheme moves z, whose entries are all alike, and f is evaluated at x.

    x_i = offset_i + factor_i z_i,    factor_i = sigma0_i / min_j sigma0_j

So a first step of the size min_j sigma0_j along every z_i is one of the size sigma0_i along x_i. The offset
is what rounding leaves of the start, x0 - factor (x0 / factor): the start is evaluated exactly where it was
put, and no digits are lost near x = 0. It is 0 where every factor is a power of two.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pursuit.checks import Vector


class Scale(NamedTuple):
    """How x follows from z."""

    factor: Vector
    offset: Vector

    @property
    def constants(self) -> tuple[str, ...]:
        """The names of the arrays that are never written."""
        return self._fields


def factors(sigma0: Vector) -> Vector:
    """Return the first step sizes, one for each variable, as multiples of the smallest."""
    return sigma0 / np.min(sigma0)


def scale_around(sigma0: Vector, x0: Vector) -> tuple[Scale, Vector]:
    """Return the scale of these first step sizes, and the z that stands for x0, to the last bit."""
    factor = factors(sigma0)
    z0 = x0 / factor
    with np.errstate(over="ignore", invalid="ignore"):
        offset = x0 - factor * z0
        inexact = offset + factor * z0 != x0
    # Where factor and x0 are so far apart that z0 has lost its digits.
    return Scale(factor, np.where(inexact, x0, offset)), np.where(inexact, 0.0, z0)
