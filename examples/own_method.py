"""Write a method of your own, and compare it with Random Pursuit.

It searches along one axis after the other, with a step size for each axis. So it copes with variables of
very different scales, as long as they do not interact. `pursuit.methods.contract` says what a scheme is.
"""

from collections import namedtuple

import matplotlib
import numpy as np

import pursuit
from pursuit.methods import Points, ask, tell

State = namedtuple("State", ["x", "fx", "f", "sigma", "k", "sizes", "step", "trial"])


class AxisPursuit(namedtuple("Parameters", ["shrink"])):
    """A failure multiplies the step size of an axis by `shrink`; a success doubles it."""

    @classmethod
    def create(cls, n, *, shrink=0.8):
        return cls(shrink)

    def init(self, x, fx, sigma):
        sizes, step, trial = np.full(x.size, sigma), np.zeros(1), np.empty((1, x.size))
        return State(x=x, fx=fx, f=fx, sigma=sigma, k=0, sizes=sizes, step=step, trial=trial)

    def draws(self, n):
        return 1


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
    sigma = state.sizes[axis]
    return State(state.x, fx, fx, sigma, state.k + 1, sizes=state.sizes, step=state.step, trial=state.trial)


def main():
    """Run both on a quadratic function with curvatures from 1 to 1000, and draw the runs."""
    problem = pursuit.problems.exp(50, 1e3)
    runs = []
    for method in ("rp", AxisPursuit):
        result = pursuit.minimize(problem, problem.x0, method=method, rng=1, ftarget=1e-9, trace=True)
        print(f"{result.method}: f = {result.fun:.1e} after {result.nfev} evaluations")
        runs.append(result)

    matplotlib.use("agg")  # draws into a file; leave it out to see windows
    axes = pursuit.plot_runs(runs)
    axes.figure.set_size_inches(5.5, 4.2)
    axes.figure.savefig("own_method.png", dpi=100)


if __name__ == "__main__":
    main()
