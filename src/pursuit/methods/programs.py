"""What a program is: a method written as a generator that yields points and receives their values.

A program is a `NamedTuple` of its options and has

- `create(n, **options)`, a class method: the program for n variables, its options checked;
- `begin(start)`: the first state, from a start whose value is known;
- `iterate(state, rng)`: a generator that makes one iteration. It yields points, as an array with one point
  per row or `Described`, and receives the array of their values, in which NaN has become infinity. It changes
  the fields of the state by assignment, and writes only into arrays that it has made in the same iteration:
  so a shallow copy of a state at its beginning is a snapshot, and a run is resumed by replaying the values
  received since. Warnings of NumPy are off while it computes;
- `best(state)`: the point that is estimated to be the best, its estimated value, and the standard error of
  that;
- `check(state, n)`: raises a `ValueError` if a state, which comes from a file, is not one for n variables.

A state is a dataclass, which `begin` names as what it returns, of numbers, arrays, texts, None, dataclasses
of these, and tuples ``tuple[X, ...]`` of one type. Checkpoints hold such states, and rely on the annotations
of their fields; numbers are Python's own, and arrays contiguous. Among its fields are

- `x` and `f`: the current iterate, and its value or an estimate of it;
- `sigma`: how long steps are at present;
- `noise`: the standard deviation of the noise of a value, None while it is not known;
- `estimate`: whether noise hides which of the points seen is the best, so that `best(state)` is the result;
- `ending`: an `Ending` once nothing is left to gain, else None.

If it has fields `xtol` and `ftol`, they follow the caller's when a run is resumed with others.

A program knows nothing of files, threads, workers or compilers. `Start.batch` says how many points can be
evaluated at the same time, for programs that have a use for it.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from pursuit.checks import Vector

# Why a program ends.
CONVERGED, NOISE, FLAT, KINKS, UNBOUNDED, STUCK = "converged", "noise", "flat", "kinks", "unbounded", "stuck"
LOUD = "loud"
ENDINGS = (CONVERGED, NOISE, FLAT, KINKS, UNBOUNDED, STUCK, LOUD)


# A step reaches a bound if it is as long as this part of the distance: what is missing is rounding.
_ALMOST = 1.0 - 1e-12


class Described(Protocol):
    """Points that are described, and written only when they are evaluated."""

    def __len__(self) -> int: ...

    def rows(self, first: int, end: int) -> NDArray[np.float64]:
        """Return some of the points, one per row, in an array of their own."""


class Probes:
    """The points origin + steps[j] e_indices[j]: a sweep along the coordinates without a matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from pursuit.methods.programs import Probes
    >>> Probes(np.zeros(2), np.array([0, 1]), np.array([0.5, -0.5])).rows(0, 2)
    array([[ 0.5,  0. ],
           [ 0. , -0.5]])
    """

    __slots__ = ("indices", "origin", "steps")

    def __init__(self, origin: Vector, indices: NDArray[np.int64], steps: Vector) -> None:
        self.origin: Vector = origin
        self.indices: NDArray[np.int64] = indices
        self.steps: Vector = steps

    def __len__(self) -> int:
        return len(self.indices)

    def rows(self, first: int, end: int) -> NDArray[np.float64]:
        """Return some of the points, one per row, in an array of their own."""
        indices = self.indices[first:end]
        rows = np.empty((end - first, self.origin.size))
        rows[:] = self.origin
        rows[np.arange(end - first), indices] = self.origin[indices] + self.steps[first:end]
        return rows


Request = NDArray[np.float64] | Described
"""Points whose values are wanted."""
T = TypeVar("T")
Finding = Generator[Request, Vector, T]
"""What asks for values of points, and returns what it has found."""
Asking = Finding[None]
"""What asks for values of points, and returns nothing."""
Found = tuple[Vector, float] | None
"""A point and its value, or nothing."""


class Start(NamedTuple):
    """Where a program begins."""

    x: Vector
    value: float
    sigma0: Vector
    """The first step size of each variable."""
    lower: Vector
    """Bounds, infinite where there is none."""
    upper: Vector
    xtol: float
    ftol: float
    batch: int = 1


@dataclass(frozen=True)
class Box:
    """Bounds, and the first step size of each variable; numbers where they are the same for all variables."""

    lower: Vector | float
    upper: Vector | float
    sigma0: Vector | float

    @classmethod
    def of(cls, start: Start) -> Box:
        """Return the bounds and first steps of a start, none longer than half the way between bounds."""
        is_free = bool(np.isinf(start.lower).all() and np.isinf(start.upper).all())
        half = 0.5 * start.upper - 0.5 * start.lower
        sigma0 = np.where(half > 0.0, np.minimum(start.sigma0, half), start.sigma0)
        is_same = bool((sigma0 == sigma0[0]).all())
        return cls(
            lower=-math.inf if is_free else start.lower,
            upper=math.inf if is_free else start.upper,
            sigma0=float(sigma0[0]) if is_same else sigma0,
        )

    def clip(self, x: Vector) -> Vector:
        """Return the nearest point inside the bounds."""
        return np.clip(x, self.lower, self.upper)

    def after(self, x: Vector, step: Vector) -> Vector:
        """Return x + step; what reaches a bound is exactly on it."""
        if not self.is_bounded:
            return x + step
        moved = np.where(step <= _ALMOST * (self.lower - x), self.lower, x + step)
        return self.clip(np.where(step >= _ALMOST * (self.upper - x), self.upper, moved))

    def wider(self, reach: float) -> Box:
        """Return the same bounds, with first steps that are longer by a factor, if it is more than 1."""
        return dataclasses.replace(self, sigma0=self.sigma0 * max(1.0, reach))

    @property
    def is_bounded(self) -> bool:
        """Whether there are bounds."""
        return isinstance(self.lower, np.ndarray)

    @cached_property
    def largest(self) -> float:
        """The largest first step size."""
        return float(np.max(self.sigma0))


class Ending(NamedTuple):
    """Why a program has ended: one of the names above, and a sentence for users."""

    reason: str
    sentence: str


class Program(Protocol):
    """A method as a generator."""

    @classmethod
    def create(cls, n: int, **options: Any) -> Program:
        """Return the program for n variables."""

    def begin(self, start: Start) -> Any:
        """Return the first state."""

    def iterate(self, state: Any, rng: np.random.Generator) -> Asking:
        """Make one iteration."""

    def best(self, state: Any) -> tuple[Vector, float, float]:
        """Return the point that is estimated to be the best, its value, and the standard error of that."""

    def check(self, state: Any, n: int) -> None:
        """Reject a state that is not one for n variables."""


def is_program(method: Any) -> bool:
    """Say whether something is a program, or its class, and not a step method."""
    return hasattr(method, "iterate")


def rows_of(request: Request, first: int, end: int) -> NDArray[np.float64]:
    """Return some of the points of a request, one per row, in an array of their own."""
    return request[first:end].copy() if isinstance(request, np.ndarray) else request.rows(first, end)


class Ranges(NamedTuple):
    """What numbers must be, by the names of their fields; others are finite, and whole ones not negative."""

    positive: frozenset[str]
    not_negative: frozenset[str]
    perhaps_infinite: frozenset[str]
    """Those that are not negative, but may be infinite."""
    unlimited: frozenset[str]
    """Those that may be infinite, with either sign, or negative whole numbers, by whole names."""
    anything: frozenset[str] = frozenset()
    """Those that may be NaN as well, by whole names."""


def check_numbers(state: Any, n: int, ranges: Ranges, shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Raise a `ValueError` if an array has another shape than n, or a number is not in its range."""
    for path, entry in _numbers(state):
        names = {path, path.split(".")[-1]}
        shape = next((shapes[name] for name in names & shapes.keys()), (n,))
        if isinstance(entry, np.ndarray) and entry.shape != shape:
            raise ValueError(f"the entry {path} must have shape {shape}, but has {entry.shape}")
        _check_range(path, names, entry, ranges)


def check_bounds(box: Box, *points: Vector) -> None:
    """Raise a `ValueError` if there are bounds on one side only, or a point is outside."""
    if isinstance(box.lower, np.ndarray) != isinstance(box.upper, np.ndarray):
        raise ValueError("it must have bounds for every variable, or none")
    if not all(np.all((box.lower <= x) & (x <= box.upper)) for x in points):
        raise ValueError("its iterates must be within its bounds")


def _numbers(record: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the numbers and arrays in a record by the dotted names of their fields."""
    for field in dataclasses.fields(record):
        entry, path = getattr(record, field.name), f"{prefix}{field.name}"
        for part in entry if isinstance(entry, tuple) else (entry,):
            if dataclasses.is_dataclass(part):
                yield from _numbers(part, f"{path}.")
            elif part is not None and not isinstance(part, str):
                yield path, part


def _check_range(path: str, names: set[str], entry: Any, ranges: Ranges) -> None:
    """Reject numbers that a field cannot hold."""
    if path in ranges.anything:
        return
    if np.isnan(entry).any():
        raise ValueError(f"the entry {path} must be a number")
    is_unlimited = path in ranges.unlimited
    if not (is_unlimited or names & ranges.perhaps_infinite or np.isfinite(entry).all()):
        raise ValueError(f"the entry {path} must be finite")
    if names & ranges.positive and not np.all(entry > 0.0):
        raise ValueError(f"the entry {path} must be positive")
    is_count = isinstance(entry, int) and not is_unlimited
    is_size = names & (ranges.not_negative | ranges.perhaps_infinite)
    if (is_count or is_size) and not np.all(entry >= 0.0):
        raise ValueError(f"the entry {path} must not be negative")
