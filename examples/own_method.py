"""Write a method of your own, and compare it with Random Pursuit.

It searches along one axis after the other, with a step size for each axis. So it copes with variables of
very different scales, as long as they do not interact. `pursuit.methods.contract` says what a scheme is.
"""

from collections import namedtuple

import matplotlib
import numpy as np

import pursuit
from pursuit.methods import Needs, Points, State, ask, tell

Arrays = namedtuple("Arrays", ["x", "sizes", "step", "trial"])
Counted = namedtuple("Counted", ["fx", "f", "sigma", "k"])


class AxisPursuit(namedtuple("Parameters", ["shrink"])):
    """A failure multiplies the step size of an axis by `shrink`; a success doubles it."""

    @classmethod
    def create(cls, n, *, shrink=0.8):
        return cls(shrink)

    def init(self, x, fx, sigma):
        sizes, step, trial = np.full(x.size, sigma), np.zeros(1), np.empty((1, x.size))
        return State(Arrays(x, sizes, step, trial), Counted(fx, fx, sigma, k=0))

    def needs(self, n):
        return Needs(normals=1)


@ask.register(AxisPursuit)
def _ask(team, scheme, arrays, numbers, normals):
    axis = numbers.k % arrays.x.size
    arrays.step[0] = arrays.sizes[axis] * normals[0]
    arrays.trial[0] = arrays.x
    arrays.trial[0, axis] += arrays.step[0]
    return Points(arrays.trial)


@tell.register(AxisPursuit)
def _tell(team, scheme, arrays, numbers, query, values):
    axis, better = numbers.k % arrays.x.size, values[0] < numbers.fx
    arrays.sizes[axis] *= 2.0 if better else scheme.shrink
    arrays.x[axis] += arrays.step[0] if better else 0.0
    fx = min(values[0], numbers.fx)
    return Counted(fx, fx, sigma=arrays.sizes[axis], k=numbers.k + 1)


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
