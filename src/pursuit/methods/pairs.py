"""Rounds of two points on a line, from which `spsa`, `rg`, `ars` and `acdm` take a slope."""

from __future__ import annotations

import numpy as np

from pursuit.compiling.inner import inlined
from pursuit.compiling.vectors import Matrix
from pursuit.methods.contract import COORDINATE, FIRST_MULTIPLE, Patience, Round, write_move

# How much the latest step counts in the mean of their sizes.
_LATEST = 0.1


def new_moves() -> Matrix:
    """Return the moves of a round of two points, both at its origin."""
    moves = np.zeros((4, 2))
    moves[COORDINATE] = -1.0
    return moves


def forward_moves(mu: float) -> Matrix:
    """Return the moves of a round of y itself and of a point `mu` away."""
    moves = new_moves()
    moves[FIRST_MULTIPLE, 1] = mu
    return moves


def patience_with_slopes(n: int) -> Patience:
    """Return after how many rounds without a better point to give up: slopes may lead uphill for long."""
    return Patience(10_000 + 1_000 * n, share=1.0)


@inlined
def round_from(y, u, moves):
    """Return the round of two points from y along u."""
    return Round(origin=y, first=u, second=u, moves=moves, size=2, lower=y[:0], upper=y[:0], is_probing=False)


@inlined
def keep_best(team, state, query, values):
    """Write the better of two points into x if it is the best of all; return its value or the best one."""
    j = 0 if values[0] <= values[1] else 1
    if values[j] < state.fx:
        write_move(team, query, j, state.x)
    return min(values[j], state.fx)


@inlined
def smoothed(sigma, step):
    """Return the mean size of the latest steps: a single one may be 0 by chance, which would end a run."""
    return sigma + _LATEST * (abs(step) - sigma)
