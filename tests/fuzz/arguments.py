"""Arguments: what must be accepted, what must be refused, and what may be either."""

import datetime
import decimal
import math
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st
from scipy.optimize import Bounds


class Rude:
    """An object that fails whatever it is asked."""

    def __repr__(self):
        raise RuntimeError("no repr")

    def __float__(self):
        raise RuntimeError("no float")

    def __array__(self, *args, **kwargs):
        raise RuntimeError("no array")

    def __len__(self):
        raise RuntimeError("no length")


class OwnArray(np.ndarray):
    """A subclass of arrays."""


NO_NUMBERS = [
    "1", "abc", b"1", bytearray(b"1"), 1j, np.complex128(1), True, np.True_, object(), Rude(), {}, set(), [],
    [1.0, 2.0], (1,), np.array([1.0]), np.array([1.0, 2.0]), np.ma.masked, np.array("1"), int, len,
    np.datetime64("2020"), np.timedelta64(1, "s"), datetime.date(2020, 1, 1), datetime.timedelta(1), range(3),
    math.nan, decimal.Decimal("nan"), decimal.Decimal("snan"), Ellipsis, "x" * 1000,
]  # fmt: skip
"""What is no real number, and must be refused wherever one is expected."""

NO_COUNTS = [*NO_NUMBERS, 0, -1, -(10**400), 1.5, math.inf, -math.inf, Fraction(1, 2)]
NO_POSITIVES = [*NO_NUMBERS, 0, -1.0, math.inf, -math.inf, 10**400, -(10**5000), Fraction(10**400)]

NO_STEPS = [
    *(entry for entry in NO_POSITIVES if not isinstance(entry, list | tuple | np.ndarray)), None, 1e-301,
    5e-324, 1e149, 1e308, np.array("1"), np.ma.masked, [], (), [1.0] * 9, np.ones((2, 2)), [[1.0, 2.0]],
    *([entry] * n for n in (1, 2, 3)
      for entry in (0.0, -1.0, math.nan, math.inf, 10**400, "1", True, None, 1e-250, 1e100, Rude())),
]  # fmt: skip
"""What is neither a step size, nor one for each variable."""

NO_POINTS = [
    None, "1", "ab", b"ab", math.nan, True, [], [[1.0, 2.0]], [[1.0], [2.0, 3.0]], [1.0, None], [1.0, "2"],
    ["1", "2"],
    [1.0, 2j], [1.0, math.nan], [1.0, math.inf], [10**400, 1.0], [-(10**5000)], [True, False], [1.0, True],
    [np.ma.masked, 1.0], np.ma.masked_array([1.0, 2.0], [True, False]), np.array([1, 2], dtype=complex),
    np.array(["1", "2"]), np.array([b"1"]), np.array(["2020", "2021"], dtype="datetime64[Y]"),
    np.array([1, 2], dtype="timedelta64[ns]"), [datetime.date(2020, 1, 1)], [datetime.timedelta(1)],
    [np.datetime64(1, "ns"), 1.0], np.array([True, False]), np.array([1.0, None]), np.array([object()]),
    {}, {1.0},
    object(), Rude(), [Rude()], np.zeros((2, 2)), np.zeros(0), np.float64(math.inf),
    np.matrix([[1.0, 2.0]]), int,
    iter([1.0]), np.array([(1.0, 2)], dtype=[("a", float), ("b", int)]), [1.0, [2.0]], np.array([1e400]),
    ["x" * 1000],
]  # fmt: skip
"""What is no start, and must be refused."""

numbers = st.one_of(
    st.sampled_from([0.0, 1.0, -1.0, 2.5, 0.1, 3.0, -0.0]),
    st.floats(-10.0, 10.0),
    st.sampled_from([1e-300, 1e10, -1e10, 1e150, -1e300, 5e-324]),
)
steps = st.one_of(st.just(1.0), st.floats(1e-3, 1e3), st.sampled_from([1e-200, 1e-17, 1e17, 1e40, 1e99]))


def steps_of(n):
    """Return what must be accepted as step sizes of n variables."""
    return st.one_of(
        steps, st.lists(steps, min_size=n, max_size=n), st.lists(steps, min_size=n, max_size=n).map(np.array)
    )


counts = st.integers(1, 60)
seeds = st.integers(0, 50)


@st.composite
def points(draw, n=None):
    """Return what must be accepted as a start."""
    entries = draw(st.lists(numbers, min_size=n or 1, max_size=n or 5))
    form = draw(st.sampled_from(["list", "list", "array", "array", "tuple", "read-only", "strided",
    "reversed",
                                 "own", "masked", "fractions", "objects", "float32", "ints",
                                 "longdouble"]))  # fmt: skip
    array = np.array(entries)
    match form:
        case "list":
            return entries
        case "tuple":
            return tuple(entries)
        case "read-only":
            array.setflags(write=False)
        case "strided":
            array = np.repeat(array, 2)[::2]
        case "reversed":
            array = array[::-1]
        case "own":
            array = array.view(OwnArray)
        case "masked":
            array = np.ma.masked_array(array, False)
        case "fractions":
            return [Fraction(entry) for entry in entries]
        case "objects":
            return np.array([decimal.Decimal(entry) for entry in entries])
        case "float32":
            return np.clip(array, -1e30, 1e30).astype(np.float32)
        case "ints":
            return [int(entry) for entry in entries]
        case "longdouble":
            return array.astype(np.longdouble)
    return array


@st.composite
def bounds_around(draw, start):
    """Return bounds that must be accepted, around a start which may lie on them."""
    below = [draw(st.sampled_from([None, -math.inf, 0.0, 1e-12, 0.1, 1.0, 1e6])) for _ in start]
    above = [draw(st.sampled_from([None, math.inf, 0.0, 1e-12, 0.1, 1.0, 1e6])) for _ in start]
    lower = [None if gap is None else x - abs(gap) for x, gap in zip(start, below, strict=True)]
    upper = [None if gap is None else x + abs(gap) for x, gap in zip(start, above, strict=True)]
    if draw(st.booleans()):
        return list(zip(lower, upper, strict=True))
    return Bounds(
        [-math.inf if side is None else side for side in lower],
        [math.inf if side is None else side for side in upper],
    )


def no_bounds(n):
    """Return what must be refused as bounds of n variables."""
    return st.sampled_from([
        3, "bounds", object(), Rude(), [(1.0, 0.0)] * n, [(0.0, 1.0)] * (n + 1), [(1e9, 2e9)] * n, [("0",
        "9e9")] * n,
        [(math.nan, 1.0)] * n, [(math.inf, math.inf)] * n, [(-math.inf, -math.inf)] * n, [(10**400,
        None)] * n,
        [(1j, 2.0)] * n, [(0.0,)] * n, [0.0] * n, [(None, "x")] * n, [(object(), None)] * n, Rude,
        Bounds([-1e9] * (n + 2), 1e9), [[[1.0], [2.0]]] * n, np.zeros((n, 3)),
    ])  # fmt: skip
