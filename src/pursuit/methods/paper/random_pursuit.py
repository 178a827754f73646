"""Random Pursuit (RP), the paper's Fig. 2, top left.

    for k = 1 to N:
        u_k ~ N(0, I_n)
        (x_k, sigma_k) <- lineSearch(x_{k-1}, u_k, sigma_{k-1})

With adaptive steps (aSS) this is the (1+1)-ES; with exact line search it is the scheme of Mutseniyeks and
Rastrigin. Work and memory per iteration are Theta(n).
"""

from __future__ import annotations

from typing import NamedTuple, Unpack

from pursuit.checks import Vector
from pursuit.compiling.vectors import add
from pursuit.methods.contract import Needs, Numbers, State, ask, tell
from pursuit.methods.line_searches import Line, LineSearch
from pursuit.methods.paper import PursuitOptions, search_and_reading


class RandomPursuit(NamedTuple):
    """Random Pursuit: search along one random line after another."""

    line_search: LineSearch

    @classmethod
    def create(cls, n: int, **options: Unpack[PursuitOptions]) -> RandomPursuit:
        """Return the scheme, which is the same in every reading of the paper."""
        line_search, _ = search_and_reading(**options)
        return cls(line_search)

    def init(self, x: Vector, fx: float, sigma: float) -> State:
        """Return the first state."""
        return State(Iterate(x), Numbers(fx, fx, sigma))

    def needs(self, n: int) -> Needs:
        """Return what the scheme needs for n variables."""
        return Needs(normals=n)


class Iterate(NamedTuple):
    """The array of Random Pursuit: x_k."""

    x: Vector


@ask.register(RandomPursuit)
def _ask(team, scheme, arrays, numbers, u):
    return Line(arrays.x, u, numbers.fx, numbers.sigma)


@tell.register(RandomPursuit)
def _tell(team, scheme, arrays, numbers, line, step):
    # An exact step can end above its origin by a rounding error; then the origin is the better point.
    if step.length == 0.0 or step.value > numbers.fx:
        return Numbers(numbers.fx, numbers.fx, step.sigma)
    add(team, arrays.x, step.length, line.direction)
    return Numbers(step.value, step.value, step.sigma)
