"""What a scheme is.

A scheme is a `NamedTuple` that holds its parameters (numbers, other `NamedTuple`s of numbers, and arrays that
it never writes) and has

- `create(n, **options)`, a class method: the scheme for n variables, its options checked;
- `init(x, fx, sigma)`: the first state, from a start that the scheme may keep, its value and sigma0;
- an implementation of `ask` registered for its class, which returns a query: a `Line`, to be searched by
  `scheme.line_search`, a `Pair` of points on a line, or `Points`;
- one of `tell`, which takes the answer (a `Step` for a line, two values for a pair, else the array of
  values) and returns the next state.

It may have

- `draws(n)`: how many standard normals an iteration takes; n of them without this method;
- `points()`: the largest number of points in a query; 1 without it;
- `patience(n)`: after how many iterations without a better point to give up, as a number or a `Patience`;
  without it, that of a scheme that leaves its best point only for a better one.

Arrays of a scheme are best named in `constants`, as those of a problem.

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

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pursuit.checks import Vector
from pursuit.compiling.dispatch import generic
from pursuit.compiling.inner import inlined
from pursuit.compiling.vectors import copy, shift


@generic(on="scheme")
def ask(team: Any, scheme: Any, state: Any, normals: Vector) -> Any:
    """Return the query of an iteration, a `Line`, a `Pair` or `Points`.

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
    query : Line, Pair or Points
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


@inlined
def write_on_line(team, line, position, out):
    """Write the point at a position on a line, or on that of a pair, into `out`."""
    if position == 0.0:
        copy(team, out, line.origin)
    else:
        shift(team, out, line.origin, position, line.direction)
