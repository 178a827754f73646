"""What a program is: a method written as a generator that yields points and receives their values.

A program is a `NamedTuple` of its options and has

- `create(n, **options)`, a class method: the program for n variables, its options checked;
- `begin(start)`: the first state, from a start whose value is known;
- `iterate(state, rng)`: a generator that makes one iteration. It yields points, as an array with one point
  per row or as `Probes`, and receives the array of their values, in which NaN has become infinity. It changes
  the fields of the state by assignment, and never writes into an array: so a shallow copy of a state is a
  snapshot of it, and a run is resumed by replaying the values received since the iteration began. Warnings of
  NumPy are off while it computes;
- `best(state)`: the point that is estimated to be the best, and its estimated value;
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

from collections.abc import Generator
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from pursuit.checks import Vector

# Why a program ends.
CONVERGED, NOISE, FLAT, KINKS, UNBOUNDED, STUCK = "converged", "noise", "flat", "kinks", "unbounded", "stuck"
ENDINGS = (CONVERGED, NOISE, FLAT, KINKS, UNBOUNDED, STUCK)


class Probes(NamedTuple):
    """The points origin + steps[j] e_indices[j]: a sweep along the coordinates without a matrix."""

    origin: Vector
    indices: NDArray[np.int64]
    steps: Vector


Request = NDArray[np.float64] | Probes
"""Points whose values are wanted."""


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

    def iterate(self, state: Any, rng: np.random.Generator) -> Generator[Request, Vector, None]:
        """Make one iteration."""

    def best(self, state: Any) -> tuple[Vector, float]:
        """Return the point that is estimated to be the best, and its estimated value."""

    def check(self, state: Any, n: int) -> None:
        """Reject a state that is not one for n variables."""


def is_program(method: Any) -> bool:
    """Say whether something is a program, or its class, and not a step method."""
    return hasattr(method, "iterate")


def size_of(request: Request) -> int:
    """Return how many points a request has."""
    return len(request.indices) if isinstance(request, Probes) else len(request)


def rows_of(request: Request, first: int, end: int) -> NDArray[np.float64]:
    """Return some of the points of a request, one per row, in an array of their own.

    Examples
    --------
    >>> import numpy as np
    >>> from pursuit.methods.programs import Probes, rows_of
    >>> rows_of(Probes(np.zeros(2), np.array([0, 1]), np.array([0.5, -0.5])), 0, 2)
    array([[ 0.5,  0. ],
           [ 0. , -0.5]])
    """
    if not isinstance(request, Probes):
        return request[first:end].copy()
    indices = request.indices[first:end]
    rows = np.empty((end - first, request.origin.size))
    rows[:] = request.origin
    rows[np.arange(end - first), indices] = request.origin[indices] + request.steps[first:end]
    return rows
