"""What a scheme is.

A scheme is a `NamedTuple` that holds its parameters (numbers, other `NamedTuple`s of numbers, and arrays that
it never writes; those are best named in `constants`, as those of a problem), with the methods of `Scheme`
and with functions registered for its class: `ask`, `tell`, and, where not every state in a file can be
trusted, `is_valid`. It holds neither objective nor random generator, so the same `ask` and `tell` serve a
Python loop around any function and a loop compiled whole.

Its state has two parts. The arrays are made once, by `init`, and updated in place: among them `x`, the best
point seen. The numbers change: `tell` returns new ones, among them `fx`, the value at `x`; `f`, that of the
latest iterate; and `sigma`, the step size. Both are `NamedTuple`s, which may hold further ones.

A query is one of two kinds. A `Line` is searched by `scheme.line_search`, and the answer is a `Step`. All
others are batches of points, answered by the array of their values: a `Pair`, `Points`, or a class of the
scheme's own for which `count_points` and `write_point` are registered, and `spread` if it is not sigma.

`normals` belongs to the scheme from `ask` to `tell`, which may overwrite it. The points of a query belong to
the objective, which may overwrite them: a scheme never reads them back.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from pursuit.checks import Vector, checked_number
from pursuit.compiling.dispatch import generic
from pursuit.compiling.jit import inlined
from pursuit.compiling.vectors import copy, walk
from pursuit.methods.programs import is_program

# The most numbers in the points of a round, but for one point for each worker: 8 MB.
_ROOM_FOR_NUMBERS = 1_000_000


class Scheme(Protocol):
    """What a step method is: these three, and three functions that are registered for its class.

    `ask` and `tell` are its steps, and `is_valid` says whether a state that comes from a file can be one of
    its own.
    """

    @classmethod
    def create(cls, n: int, **options: Any) -> Scheme:
        """Return the scheme for n variables, its options checked."""

    def init(self, x: Vector, fx: float, sigma: float) -> State:
        """Return the first state, from a start that the scheme may keep, its value and the first step."""

    def needs(self, n: int) -> Needs:
        """Return what the scheme needs for n variables."""


class State(NamedTuple):
    """The state of a scheme: records of arrays, which stay and are updated in place, and of numbers."""

    arrays: Any
    """Among them `x`, the best point seen."""
    numbers: Any
    """Among them `fx`, `f` and `sigma`, as in `Numbers`."""


class Numbers(NamedTuple):
    """The numbers of a state that every scheme has; some have more."""

    fx: float
    """The value of the best point."""
    f: float
    """The value of the latest iterate."""
    sigma: float
    """The step size."""


class Patience(NamedTuple):
    """How many iterations without a better point a scheme is given."""

    iterations: int
    share: float = 0.0
    """More of them, as a share of those before the best point."""
    window: int | None = None
    """The fewest iterations by which `xtol` and `ftol` judge whether anything is left to gain, where
    iterations are rounds of points; None for the number that suits iterations of one trial."""


class Needs(NamedTuple):
    """What a scheme needs of its driver."""

    normals: int
    """How many standard normals an iteration takes."""
    points: int = 1
    """The largest number of points in a query."""
    patience: int | Patience | None = None
    """After how many iterations without a better point to give up; None for what suits a scheme that leaves
    its best point only for a better one."""
    is_compiled_apart: bool = False
    """Whether it is compiled once for all problems, since that takes long. Then it must not ask for lines,
    whose searches may know the problem."""


@generic(on="scheme")
def ask(team: Any, scheme: Any, arrays: Any, numbers: Any, normals: Vector) -> Any:
    """Return the query of an iteration, a `Line` or a batch of points.

    It may be asked again, with the same normals, to read its points.

    Parameters
    ----------
    team : NamedTuple
        What executes the vector operations: `pursuit.compiling.vectors.SERIAL`.
    scheme : NamedTuple
        The scheme, whose class decides on the implementation.
    arrays, numbers : NamedTuple
        The state of the scheme.
    normals : ndarray
        As many standard normals as the scheme needs.
    """


@generic(on="scheme")
def tell(team: Any, scheme: Any, arrays: Any, numbers: Any, query: Any, answer: Any) -> Any:
    """Update the arrays, and return the numbers after an iteration.

    Parameters
    ----------
    team : NamedTuple
        What executes the vector operations: `pursuit.compiling.vectors.SERIAL`.
    scheme : NamedTuple
        The scheme, whose class decides on the implementation.
    arrays, numbers : NamedTuple
        The state that the query was asked from.
    query : NamedTuple
        What `ask` has returned.
    answer : Step or ndarray
        What a line search has found, or the values of the points.
    """


@generic(on="scheme", default=True)
def is_valid(scheme: Any, arrays: Any, numbers: Any) -> bool:
    """Say whether a state that comes from a file can be one of a scheme, which may rely on it for indices."""
    return True


@generic(on="query")
def count_points(query: Any) -> int:
    """Return how many points a batch has."""


@generic(on="query")
def write_point(team: Any, query: Any, position: float, out: Vector) -> None:
    """Write the point at a position on a line, or with that number in a batch, into `out`."""


@generic(on="query", default=True)
def spread(team: Any, query: Any, sigma: float) -> float:
    """Return how far trials are from the point that they set out from, divided by sqrt(n)."""
    return sigma


class Pair(NamedTuple):
    """A query of two points on a line."""

    origin: Vector
    direction: Vector
    first: float
    """The first point is origin + first * direction."""
    second: float


@count_points.register(Pair)
def _count_pair(pair):
    return 2


@write_point.register(Pair)
def _write_of_pair(team, pair, position, out):
    write_on_line(team, pair, pair.first if position == 0.0 else pair.second, out)


class Points(NamedTuple):
    """A query of several points, one per row."""

    rows: NDArray[np.float64]


@count_points.register(Points)
def _count_rows(points):
    return points.rows.shape[0]


@write_point.register(Points)
def _write_row(team, points, position, out):
    copy(team, out, points.rows[int(position)])


@inlined
def write_on_line(team: Any, line: Any, position: Any, out: Any) -> Any:
    """Write the point at a position on the line of a query into `out`."""
    walk(team, out, line.origin, position, line.direction)


class Rounds(NamedTuple):
    """How large rounds of points are to be."""

    at_once: int
    """How many points are evaluated at the same time: a multiple of that leaves no worker idle."""
    most: int
    """The maximum number of points in a round."""

    @property
    def flow(self) -> bool:
        """Whether a round need not have ended before the next begins: each worker gets a point once free."""
        return 1 < self.at_once < self.most

    def size(self, n: int) -> int:
        """Return the size of rounds of points that are independent anyway.

        There is one point for each worker, and more of them while they take little memory.
        """
        return max(self.at_once, min(self.most, _ROOM_FOR_NUMBERS // n))


def patience_of(scheme: Any, n: int) -> Patience:
    """Return after how many iterations without a better point to give up."""
    patience = None if is_program(scheme) else scheme.needs(n).patience
    if patience is None:
        patience = elitist_patience(n)
    return patience if isinstance(patience, Patience) else Patience(patience)


def elitist_patience(n: int) -> int:
    """Return the patience of a scheme that leaves its best point only for a better one.

    With aSS one iteration in four is a success. This many failures in a row, enough for the step size to
    shrink from any start to nothing and to grow back, mean that nothing better is in reach.
    """
    return 10_000 + 100 * min(n, 1000)


def checked_rate(name: str, value: float | None, default: float) -> float:
    """Return a learning rate: `default` for None, and otherwise at least 0 and below 1."""
    return default if value is None else checked_number(name, value, at_least=0.0, below=1.0)
