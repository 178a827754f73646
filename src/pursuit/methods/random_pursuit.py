"""Random Pursuit (RP), the paper's Fig. 2, top left.

    for k = 1 to N:
        u_k ~ N(0, I_n)
        (x_k, sigma_k) <- lineSearch(x_{k-1}, u_k, sigma_{k-1})

With adaptive steps (aSS) this is the (1+1)-ES; with exact line search it is the scheme of Mutseniyeks and
Rastrigin. Work and memory per iteration are Theta(n).
"""

from __future__ import annotations

from typing import NamedTuple

from pursuit.checks import Vector
from pursuit.compiling.vectors import add
from pursuit.methods.contract import ask, tell
from pursuit.methods.line_searches import Line
from pursuit.methods.options import LineSearch, line_search_named, reading_named


class RandomPursuit(NamedTuple):
    """Random Pursuit: search along one random line after another."""

    line_search: LineSearch

    @classmethod
    def create(
        cls,
        n: int,
        *,
        line_search: str = "adaptive",
        p: float = 0.27,
        tolerance: float = 1e-3,
        reading: str = "frozen",
    ) -> RandomPursuit:
        """Return the scheme, which is the same in every reading of the paper."""
        reading_named(reading)
        return cls(line_search_named(line_search, p, tolerance))

    def init(self, x: Vector, fx: float, sigma: float) -> RandomPursuitState:
        """Return the first state."""
        return RandomPursuitState(x, fx, fx, sigma)


class RandomPursuitState(NamedTuple):
    """The state of Random Pursuit: x_k, its value, and sigma_k."""

    x: Vector
    fx: float
    f: float
    sigma: float


@ask.register(RandomPursuit)
def _ask(team, scheme, state, u):
    return Line(state.x, u, state.fx, state.sigma)


@tell.register(RandomPursuit)
def _tell(team, scheme, state, line, step):
    # An exact step can end above its origin by a rounding error; then the origin is the better point.
    if step.length == 0.0 or step.value > state.fx:
        return RandomPursuitState(state.x, state.fx, state.fx, step.sigma)
    add(team, state.x, step.length, line.direction)
    return RandomPursuitState(state.x, step.value, step.value, step.sigma)
