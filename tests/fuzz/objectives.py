"""Functions to minimise, of all kinds: smooth, flat, broken, infinite, rude."""

import math
from fractions import Fraction

import numba
import numpy as np


class OwnError(Exception):
    """What an objective raises by itself."""


def _sphere(x):
    return float(x @ x)


def _scribbles(x):
    value = float(x @ x)
    x[:] = 7.0
    return value


VALUES = {
    "sphere": _sphere,
    "numpy scalar": lambda x: x @ x,
    "constant": lambda x: 3.0,
    "integer": lambda x: int(min(x @ x, 1e9)) if np.isfinite(x).all() else 10**9,
    "plateau": lambda x: float(np.floor(np.abs(x)).sum()),
    "kink": lambda x: float(np.abs(x).max() + 0.1 * np.abs(x).sum()),
    "valley": lambda x: float(1e6 * (x[0] - x[-1]) ** 2 + x @ x),
    "unbounded": lambda x: -float(x.sum()),
    "pole": lambda x: -1.0 / abs(float(x[0])) if x[0] else -math.inf,
    "wall": lambda x: float(x @ x) if x[0] > 0.5 else math.inf,
    "nan wall": lambda x: float(x @ x) if x[0] > 0.5 else math.nan,
    "nan everywhere": lambda x: math.nan,
    "cliff": lambda x: -math.inf if x[0] < 0.0 else float(x @ x),
    "huge": lambda x: 1e300 * float(x @ x),
    "tiny": lambda x: 1e-300 * float(x @ x),
    "blind to nan": lambda x: 1.0 if x[0] < 2.0 else 0.0,
    "scribbles": _scribbles,
    "0-d array": lambda x: np.array(x @ x),
    "array of one": lambda x: np.array([[x @ x]]),
    "list of one": lambda x: [float(x @ x)],
    "float32": lambda x: np.float32(x @ x),
    "fraction": lambda x: Fraction(float(min(x @ x, 1e9))) if np.isfinite(x).all() else 10**9,
    "huge integer": lambda x: 10**400 if x[0] < 0.5 else float(x @ x),
}  # fmt: skip
"""Functions whose values are numbers, the same at the same point."""

SLIPS = {
    "None": None,
    "text": "1.0",
    "bytes": b"1",
    "complex": 1j,
    "truth": True,
    "several": np.zeros(2),
    "nothing": np.array([]),
    "ragged": [[1.0], [2.0, 3.0]],
    "masked": np.ma.masked,
    "masked one": np.ma.masked_array([1.0], [True]),
    "date": np.datetime64("2020-01-01"),
    "span": np.timedelta64(1, "s"),
    "object": object(),
    "dict": {},
    "array of texts": np.array(["1"]),
}
"""What is no value, and must be refused."""

ERRORS = {
    "ValueError": ValueError,
    "TypeError": TypeError,
    "StopIteration": StopIteration,
    "OwnError": OwnError,
    "ZeroDivisionError": ZeroDivisionError,
    "MemoryError": MemoryError,
    "RuntimeError": RuntimeError,
}


class Objective:
    """A function that records where it is called and what it returns, and may fail in one call."""

    def __init__(self, kind, slip=None, error=None, at=0):
        self.kind, self.slip, self.error, self.at = kind, slip, error, at
        self.points, self.values = [], []
        self.raised = None
        self.has_slipped = False

    def __repr__(self):
        return f"Objective({self.kind!r}, slip={self.slip!r}, error={self.error!r}, at={self.at})"

    def value(self, x):
        """Return the value at a point as a float."""
        with np.errstate(all="ignore"):
            result = VALUES[self.kind](np.array(x))
        try:
            return float(np.asarray(result, dtype=object).item())
        except OverflowError:
            return math.inf

    def __call__(self, x, *args):
        number = len(self.points) + 1
        self.points.append(np.array(x))
        if number == self.at and self.error is not None:
            self.raised = ERRORS[self.error]("raised by the objective")
            raise self.raised
        if number == self.at and self.slip is not None:
            self.has_slipped = True
            return SLIPS[self.slip]
        self.values.append(self.value(x))
        with np.errstate(all="ignore"):
            return VALUES[self.kind](x)


@numba.njit
def jitted(x):
    """Return a function that compiled loops call."""
    total = 0.0
    for i in range(x.shape[0]):
        total += (i + 1) * x[i] * x[i]
    return total
