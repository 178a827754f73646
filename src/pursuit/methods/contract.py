"""What a scheme is.

A scheme is a `NamedTuple` that holds its parameters (numbers, other `NamedTuple`s of numbers, and arrays that
it never writes) and has

- `create(n, **options)`, a class method: the scheme for n variables, its options checked;
- `init(x, fx, sigma)`: the first state, from a start that the scheme may keep, its value and sigma0;
- an implementation of `ask` registered for its class, which returns a query: a `Line`, to be searched by
  `scheme.line_search`, a `Pair` of points on a line, `Points`, or a `Round` of points that are written one
  by one;
- one of `tell`, which takes the answer (a `Step` for a line, two values for a pair, else the array of
  values) and returns the next state.

It may have

- `draws(n)`: how many standard normals an iteration takes; n of them without this method;
- `points()`: the largest number of points in a query; 1 without it;
- `batched(n, rounds)`: the scheme whose queries are as large as `Rounds` say; without it, they are as large
  as the scheme likes;
- `patience(n)`: after how many iterations without a better point to give up, as a number or a `Patience`;
  without it, that of a scheme that leaves its best point only for a better one;
- `findings(state)`: what it has found out about the function beside its best point, `Findings`;
- `within(lower, upper)`: the scheme for points inside these bounds, arrays that may hold infinities and that
  it may keep but not change. It then never asks for a point outside; one that is outside by rounding is moved
  onto the bound. Without this method, a scheme moves freely, and f is evaluated at mirror images inside;
- `scaled(sigma)`: the scheme whose first step sizes are these, one for each variable, for a `sigma0` that is
  a vector; `init` then gets the smallest of them. Without this method, a scheme moves in variables that are
  scaled for it, so that its first step size is the same along all of them.

`batched`, `scaled` and `within` are called after `create` and before `init`, in this order, and only if a
size of rounds, a vector or bounds are given. They may be called again before the run begins; the last call
counts. Arrays of a scheme are best named in `constants`, as those of a problem.

A scheme holds neither objective nor random generator, so the same `ask` and `tell` serve a Python loop
around any function and a loop compiled whole.

A state is a `NamedTuple` of arrays, numbers and other such `NamedTuple`s, among them

- `x` and `fx`: the best point seen and its value;
- `f`: the value of the latest iterate;
- `sigma`: the step size. A scheme that sees nothing left to gain ends the run with a step size of 0, and one
  that takes f to be unbounded below with an infinite one.

Arrays in a state are updated in place; numbers are replaced by returning a new state. `normals` belongs
to the scheme from `ask` to `tell`, which may overwrite it. The points of a query belong to the objective,
which may overwrite them: a scheme never reads them back.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from pursuit.checks import Vector
from pursuit.compiling.dispatch import generic
from pursuit.compiling.inner import inlined
from pursuit.compiling.vectors import Matrix, add, copy, shift


@generic(on="scheme")
def ask(team: Any, scheme: Any, state: Any, normals: Vector) -> Any:
    """Return the query of an iteration, a `Line`, a `Pair`, `Points` or a `Round`.

    Parameters
    ----------
    team : NamedTuple
        What executes the vector operations: `pursuit.compiling.vectors.SERIAL`.
    scheme : NamedTuple
        The scheme, whose class decides on the implementation.
    state : NamedTuple
        The state of the scheme.
    normals : ndarray
        As many standard normals as `scheme.draws(n)`.
    """


@generic(on="scheme")
def tell(team: Any, scheme: Any, state: Any, query: Any, answer: Any) -> Any:
    """Return the state after an iteration.

    Parameters
    ----------
    team : NamedTuple
        What executes the vector operations: `pursuit.compiling.vectors.SERIAL`.
    scheme : NamedTuple
        The scheme, whose class decides on the implementation.
    state : NamedTuple
        The state that the query was asked from; its arrays may be overwritten.
    query : Line, Pair, Points or Round
        What `ask` has returned.
    answer : Step, tuple or ndarray
        What a line search has found, the two values of a pair, or the values of the points.
    """


class Pair(NamedTuple):
    """A query of two points on a line; the answer is the tuple of their values."""

    origin: Vector
    direction: Vector
    first: float
    """The first point is origin + first * direction."""
    second: float


class Points(NamedTuple):
    """A query of several points, one per row; the answer is the array of their values."""

    rows: NDArray[np.float64]


class Round(NamedTuple):
    """A query of points near an origin, written one by one: nothing of the size of all of them is ever held.

    The j-th point is origin + first_j * first + second_j * second, then `length_j` farther along the
    coordinate `coordinate_j`, and inside the bounds.
    """

    origin: Vector
    first: Vector
    second: Vector
    moves: Matrix
    size: int
    """How many points there are; there may be room for more."""
    lower: Vector
    """Bounds; empty arrays where there are none."""
    upper: Vector
    is_probing: bool
    """Whether all of its points only measure f: they are not used to judge whether the run has converged."""


# The rows of the moves of a round: multiples of the two directions, a coordinate (-1 for none), and how far
# to go along it.
FIRST_MULTIPLE, SECOND_MULTIPLE, COORDINATE, LENGTH = range(4)


@inlined
def write_on_line(team, line, position, out):
    """Write the point at a position on a line, or on that of a pair, into `out`."""
    if position == 0.0:
        copy(team, out, line.origin)
    else:
        shift(team, out, line.origin, position, line.direction)


@inlined
def write_move(team, query, j, out):
    """Write the j-th point of a round into `out`."""
    copy(team, out, query.origin)
    along, aside = query.moves[FIRST_MULTIPLE, j], query.moves[SECOND_MULTIPLE, j]
    if along != 0.0:
        add(team, out, along, query.first)
    if aside != 0.0:
        add(team, out, aside, query.second)
    i = int(query.moves[COORDINATE, j])
    if i >= 0:
        out[i] += query.moves[LENGTH, j]
    if query.lower.shape[0] > 0:
        only_one = along == 0.0 and aside == 0.0
        for k in range(max(i, 0) if only_one else 0, i + 1 if only_one else out.shape[0]):
            out[k] = min(max(out[k], query.lower[k]), query.upper[k])


class Rounds(NamedTuple):
    """How large rounds of points are to be."""

    at_once: int
    """How many points are evaluated at the same time: a multiple of that leaves no worker idle."""
    most: int
    """The maximum number of points in a round."""


class Patience(NamedTuple):
    """How many iterations without a better point a scheme is given."""

    iterations: int
    share: float = 0.0
    """More of them, as a share of those before the best point."""
    window: int | None = None
    """The fewest iterations by which `xtol` and `ftol` judge whether anything is left to gain, where
    iterations are rounds of points; None for the number that suits iterations of one trial."""


class Findings(NamedTuple):
    """What a scheme has found out about the function."""

    noise: float | None = None
    """The standard deviation of the noise of a value; None if the scheme does not measure it."""
    is_estimate: bool = False
    """Whether `fx` is an estimate of the value at `x`, and not a value seen."""
    remark: str = ""
    """A sentence or two for users; empty where there is nothing to say."""


class Scheme(Protocol):
    """The Python side of a scheme, as drivers use it."""

    @classmethod
    def create(cls, n: int, **options: Any) -> Scheme:
        """Return the scheme for n variables."""

    def init(self, x: Vector, fx: float, sigma: float) -> Any:
        """Return the first state; `x` may be kept."""


def draws_of(scheme: Any, n: int) -> int:
    """Return how many standard normals an iteration takes."""
    return int(scheme.draws(n)) if hasattr(scheme, "draws") else n


def points_of(scheme: Any) -> int:
    """Return the largest number of points in a query."""
    return int(scheme.points()) if hasattr(scheme, "points") else 1


def batched(scheme: Any, n: int, rounds: Rounds | None) -> Any:
    """Return a scheme with rounds of these sizes, if it can have them."""
    return scheme if rounds is None or not hasattr(scheme, "batched") else scheme.batched(n, rounds)


def patience_of(scheme: Any, n: int) -> Patience:
    """Return after how many iterations without a better point to give up."""
    patience = scheme.patience(n) if hasattr(scheme, "patience") else elitist_patience(n)
    return patience if isinstance(patience, Patience) else Patience(patience)


def findings_of(scheme: Any, state: Any) -> Findings:
    """Return what a scheme has found out about the function."""
    return scheme.findings(state) if hasattr(scheme, "findings") else Findings()


def is_compiled_apart(scheme: Any) -> bool:
    """Say whether a scheme is compiled once for all problems, since compiling it takes long.

    It must not ask for lines, whose searches may know the problem.
    """
    return getattr(scheme, "is_compiled_apart", False)


def keeps_bounds(scheme: Any) -> bool:
    """Say whether a scheme, or its class, keeps points inside bounds itself."""
    return hasattr(scheme, "within")


def takes_vector(scheme: Any) -> bool:
    """Say whether a scheme, or its class, takes a first step size for each variable itself."""
    return hasattr(scheme, "scaled")


def elitist_patience(n: int) -> int:
    """Return the patience of a scheme that leaves its best point only for a better one.

    With aSS one iteration in four is a success. This many failures in a row, enough for the step size to
    shrink from any start to nothing and to grow back, mean that nothing better is in reach.
    """
    return 10_000 + 100 * min(n, 1000)
