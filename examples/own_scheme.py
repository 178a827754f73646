"""Write a scheme of your own, and compare it with Random Pursuit.

It goes along one axis after the other, with a step size for each. So it does not mind variables of different
scales, as long as they do not depend on each other. `pursuit.methods.contract` says what a scheme is.
"""

from collections import namedtuple

import numpy as np

import pursuit
from pursuit.methods import Points, ask, tell

State = namedtuple("State", ["x", "fx", "f", "sigma", "k", "sizes", "step", "trial"])


class AxisPursuit(namedtuple("Parameters", ["shrink"])):
    """Holds the factor of a step size after a failure; after a success it is doubled."""

    @classmethod
    def create(cls, n, *, shrink=0.8):
        return cls(shrink)

    def init(self, x, fx, sigma):
        return State(x, fx, fx, sigma, 0, np.full(x.size, sigma), np.zeros(1), np.empty((1, x.size)))

    def points(self):
        return 1

    def draws(self, n):
        return 1

    def patience(self, n):
        return 1_000 * n


@ask.register(AxisPursuit)
def _ask(team, scheme, state, normals):
    axis = state.k % state.x.size
    state.step[0] = state.sizes[axis] * normals[0]
    state.trial[0] = state.x
    state.trial[0, axis] += state.step[0]
    return Points(state.trial)


@tell.register(AxisPursuit)
def _tell(team, scheme, state, query, values):
    axis, better = state.k % state.x.size, values[0] < state.fx
    state.sizes[axis] *= 2.0 if better else scheme.shrink
    state.x[axis] += state.step[0] if better else 0.0
    fx = min(values[0], state.fx)
    return State(state.x, fx, fx, state.sizes[axis], state.k + 1, state.sizes, state.step, state.trial)


def main():
    """Count the evaluations of both on a quadratic function with curvatures from 1 to 1000."""
    problem = pursuit.problems.exp(50, 1e3)
    for method in ("rp", AxisPursuit):
        result = pursuit.minimize(problem, problem.x0, method=method, rng=1, ftarget=1e-9)
        print(f"{result.method}: f = {result.fun:.1e} after {result.nfev} evaluations")


if __name__ == "__main__":
    main()
