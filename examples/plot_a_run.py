"""Plot a run: the best value so far, the step size, and which method was at work.

The function has kinks, so `auto`, the default, begins with `differences`, notices that slopes mean nothing
here, and goes on with `evolution`, which only compares values. `result.stages` says the same in numbers.
"""

import matplotlib
import numpy as np

import pursuit


def kinks(x):
    """Return the largest of all variables: which one that is, and so all slopes, changes suddenly."""
    return np.abs(x).max()


def main():
    """Minimise, print the stages, and draw the trace."""
    result = pursuit.minimize(kinks, np.ones(10), rng=1, trace=True)
    print(result)
    for stage in result.stages:
        print(f"{stage.method}: {stage.nfev} evaluations, f = {stage.fun:.2e}")

    matplotlib.use("agg")  # draws into a file; leave it out to see windows
    axes = result.plot()
    axes.figure.set_size_inches(5.5, 4.2)
    axes.figure.savefig("plot_a_run.png", dpi=100)


if __name__ == "__main__":
    main()
