"""Minimise a function of a million variables, written in plain NumPy, in a few seconds.

A field has a million cells, and twenty gauges, each of which measures the mean over its part of the field.
Which field agrees with them? Random Pursuit takes time proportional to the number of directions in which f
changes quickly, here twenty, not to the number of variables. If all directions matter, no method that knows
only values can do with fewer evaluations than there are variables.
"""

import matplotlib
import numpy as np

import pursuit

N, GAUGES = 1_000_000, 20
MEASURED = np.sin(np.linspace(0.0, 6.0, GAUGES)) + np.random.default_rng(1).normal(0.0, 0.2, GAUGES)


def gauges(x):
    """Return what the gauges would measure in a field."""
    return x.reshape(GAUGES, -1).mean(axis=1)


def misfit(x):
    """Return the sum of squared differences to what was measured."""
    return float(np.sum((gauges(x) - MEASURED) ** 2))


def main():
    """Minimise, and draw the misfit and the gauges."""
    start = np.zeros(N)
    result = pursuit.minimize(misfit, start, method="rp", rng=1, ftarget=1e-3 * misfit(start), trace=True)
    print(result.message)
    print(f"f: {misfit(start):.4f} -> {result.fun:.4f} in {result.nfev} evaluations of {N} variables")

    matplotlib.use("agg")  # draws into a file; leave it out to see windows
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(8.0, 3.2), layout="constrained")
    result.plot(ax=left)
    right.plot(MEASURED, "o", color="black", label="measured")
    right.plot(gauges(result.x), label="of the field found")
    right.set(xlabel="gauge", ylabel="mean of its part")
    right.legend()
    figure.savefig("million_variables.png", dpi=100)


if __name__ == "__main__":
    main()
