"""What a scheme is.

A scheme is a `NamedTuple` that holds its parameters (numbers and other `NamedTuple`s of numbers) and has

- `create(n, **options)`, a class method: the scheme for n variables, its options checked;
- `init(x, fx, sigma)`: the first state, from a start that the scheme may keep, its value and sigma0;
- `draws(n)`: how many standard normals an iteration takes;
- `points()`: the most points that a single query holds;
- `patience(n)`: after how many iterations without a better point to give up, as a number or a `Patience`;
- an implementation of `ask(team, scheme, state, normals)` registered for its class, which returns a
  query: a `Line` with `scheme.oracle` to search it, or `Points`;
- one of `tell(team, scheme, state, query, answer)`, which takes the answer (a `Step` for a line, the
  array of values for points) and returns the next state.

A scheme holds neither objective nor random generator, so the same `ask` and `tell` serve a Python loop
around any function and a loop compiled whole.

A state is a `NamedTuple` of arrays, numbers and other such `NamedTuple`s, among them

- `x` and `fx`: the best point seen and its value;
- `f`: the value of the latest iterate;
- `sigma`: the step size.

Arrays in a state are updated in place; numbers are replaced by returning a new state. `normals` belongs
to the scheme from `ask` to `tell`, which may overwrite it. The points of a query belong to the objective,
which may scribble on them: a scheme never reads them back.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from pursuit.checks import Vector
from pursuit.compiling.dispatch import Generic

ask = Generic("ask", on=1)
tell = Generic("tell", on=1)


class Points(NamedTuple):
    """A query of several points, one a row; the answer is the array of their values."""

    rows: NDArray[np.float64]


class Patience(NamedTuple):
    """How many iterations without a better point a scheme is given."""

    iterations: int
    share: float = 0.0
    """More of them, as a share of those before the best point."""


class Scheme(Protocol):
    """The Python side of a scheme, as drivers use it."""

    @classmethod
    def create(cls, n: int, **options: Any) -> Scheme:
        """Return the scheme for n variables."""

    def init(self, x: Vector, fx: float, sigma: float) -> Any:
        """Return the first state; `x` may be kept."""

    def points(self) -> int:
        """Return the most points that a query holds."""

    def draws(self, n: int) -> int:
        """Return how many standard normals an iteration takes."""

    def patience(self, n: int) -> int | Patience:
        """Return after how many iterations without a better point to give up."""


def elitist_patience(n: int) -> int:
    """Return the patience of a scheme that never leaves its best point but for a better one.

    With aSS one iteration in four is a success; this many failures in a row, long enough for the step
    size to shrink from any start to nothing and grow back, mean that nothing better is in reach.
    """
    return 10_000 + 100 * min(n, 1000)
