"""Simple Accelerated Random Pursuit (SARP), the paper's Fig. 2, top right.

    y_0 <- x_0;  v_0 <- x_0;  theta <- 1/(n sqrt(c kappa));  gamma <- theta n kappa
    for k = 1 to N:
        u_k ~ N(0, I_n)
        (x_k, sigma_k) <- lineSearch(y_{k-1}, u_k, sigma_{k-1});  s_k <- x_k - y_{k-1}
        y_k <- (theta v_{k-1} + x_k) / (1 + theta)
        v_k <- (1 - theta) v_{k-1} + theta y_k + gamma s_k

with kappa = L/m, the condition number. The paper prints sigma_k u_k for s_k; it must be the step that was
taken, which is 0 when aSS fails. It prints c = 2, which diverges with aSS on some spectra: c = 3 does not.
aSS compares with f(y_{k-1}), which is not known yet: so there are two evaluations per iteration, where Random
Pursuit has one. Work and memory per iteration are Theta(n).
"""

from __future__ import annotations

import math
from typing import NamedTuple, Unpack

from pursuit.checks import Vector, checked_number, shown
from pursuit.compiling.vectors import drift
from pursuit.methods.contract import Needs, Numbers, State, ask, tell
from pursuit.methods.line_searches import AdaptiveStep, Line, LineSearch
from pursuit.methods.nesterov import first_iterates, keep_best
from pursuit.methods.paper import PursuitOptions, search_and_reading

# Without the noise of adaptive steps the paper's c = 2 is stable, and faster than 3.
_DAMPING_OF_LINE_SEARCHES = 2.0
# More iterations than any run will see; a condition number may ask for more than an integer holds.
_LONGEST_PATIENCE = 2.0**62


class Sarp(NamedTuple):
    """SARP: Random Pursuit with a drift that remembers every step since the start."""

    line_search: LineSearch
    theta: float
    gamma: float

    @classmethod
    def create(
        cls,
        n: int,
        *,
        kappa: float | None = None,
        m: float | None = None,
        L: float | None = None,  # noqa: N803 (the paper's name)
        damping: float | None = None,
        **options: Unpack[PursuitOptions],
    ) -> Sarp:
        """Return the scheme for a condition number `kappa`, or the quotient of `L` and `m`."""
        search, reading = search_and_reading(**options)
        default = reading.damping if isinstance(search, AdaptiveStep) else _DAMPING_OF_LINE_SEARCHES
        kappa = _condition_number(kappa, m, L)
        c = checked_number("damping", default if damping is None else damping, above=0.0)
        if not (0.0 < c * kappa < math.inf and kappa / c < math.inf):
            raise ValueError(
                "kappa times damping and kappa divided by damping must be finite, "
                f"but kappa={kappa:g} and damping={c:g} were given."
            )
        return cls(search, theta=1.0 / (n * math.sqrt(c * kappa)), gamma=math.sqrt(kappa / c))

    def init(self, x: Vector, fx: float, sigma: float) -> State:
        """Return the first state."""
        return State(first_iterates(x), Numbers(fx, fx, sigma))

    def needs(self, n: int) -> Needs:
        """Return what the scheme needs for n variables: a trial and y itself are evaluated at once.

        The drift lasts for 1/theta iterations. On Rosenbrock's function in few dimensions it was seen to
        carry the iterates away and back again for up to 265 times as long.
        """
        patience = math.ceil(min(500.0 / self.theta, _LONGEST_PATIENCE))
        return Needs(normals=n, points=2, patience=patience)


@ask.register(Sarp)
def _ask(team, scheme, arrays, numbers, u):
    return Line(arrays.y, u, math.nan, numbers.sigma)


@tell.register(Sarp)
def _tell(team, scheme, arrays, numbers, line, step):
    fx = keep_best(team, arrays, numbers, line, step.length, step.value)
    # y_k, from x_k = y_{k-1} + s_k, and v_k
    gains = step.length, scheme.gamma * step.length
    drift(team, arrays.y, arrays.v, scheme.theta, gains, line.direction)
    return Numbers(fx=fx, f=step.value, sigma=step.sigma)


def _condition_number(kappa: float | None, m: float | None, top: float | None) -> float:
    if kappa is None and m is not None and top is not None:
        smallest = checked_number("m", m, above=0.0)
        kappa = checked_number("L", top, at_least=smallest) / smallest
    elif kappa is None or m is not None or top is not None:
        given = {"kappa": kappa, "m": m, "L": top}
        named = [f"{name}={shown(value)}" for name, value in given.items() if value is not None]
        raise ValueError(
            "SARP needs the condition number of the problem, either as the option kappa or as both "
            f"m and L, but it was given {' and '.join(named) or 'none of them'}."
        )
    return checked_number("kappa", kappa, at_least=1.0)
