"""What drivers ask of a scheme, apart from its steps."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from pursuit.checks import Vector
from pursuit.methods.programs import is_program

# The most numbers in the points of a round, but for one point for each worker: 8 MB.
_ROOM_FOR_NUMBERS = 1_000_000


class Rounds(NamedTuple):
    """How large rounds of points are to be."""

    at_once: int
    """How many points are evaluated at the same time: a multiple of that leaves no worker idle."""
    most: int
    """The maximum number of points in a round."""

    def size(self, n: int) -> int:
        """Return the size of rounds of points that are independent anyway.

        There is one point for each worker, and more of them while they take little memory.
        """
        return max(self.at_once, min(self.most, _ROOM_FOR_NUMBERS // n))


class Patience(NamedTuple):
    """How many iterations without a better point a scheme is given."""

    iterations: int
    share: float = 0.0
    """More of them, as a share of those before the best point."""
    window: int | None = None
    """The fewest iterations by which `xtol` and `ftol` judge whether anything is left to gain, where
    iterations are rounds of points; None for the number that suits iterations of one trial."""


class Findings(NamedTuple):
    """What a program has found out about the function."""

    noise: float | None = None
    """The standard deviation of the noise of a value; None if it was not measured."""
    is_estimate: bool = False
    """Whether `fx` is an estimate of the value at `x`, and not a value seen."""
    error: float | None = None
    """The standard error of an estimate."""
    remark: str = ""
    """A sentence or two for users; empty where there is nothing to say."""


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


class Scheme(Protocol):
    """What a step method is: these three, and three functions that are registered for its class.

    `ask` and `tell` are its steps, and `is_valid` says whether a state that comes from a file can be one of
    its own (`contract.py`).
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
