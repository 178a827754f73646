"""Compare methods on your own function, ours and SciPy's, over several seeds.

An adapter of two lines is enough for another library's optimiser. `compare` counts the evaluations of each
and draws the medians of the best values, with their quartiles.
"""

import matplotlib
import numpy as np
import scipy.optimize

import pursuit


def rosenbrock(x):
    """Return Rosenbrock's function."""
    return float(np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2))


def powell(fun, x0, *, maxfev, seed, sigma0):
    """Minimise by SciPy's method of Powell."""
    scipy.optimize.minimize(fun, x0, method="Powell", options={"maxfev": maxfev, "xtol": 1e-9, "ftol": 1e-12})


def main():
    """Print the table, and draw it."""
    comparison = pursuit.compare(
        rosenbrock, np.zeros(20), methods=("auto", "rp", powell), seeds=5, maxfev=20_000, ftarget=1e-6
    )
    print(comparison)

    matplotlib.use("agg")  # draws into a file; leave it out to see windows
    axes = comparison.plot()
    axes.figure.set_size_inches(5.5, 3.4)
    axes.figure.savefig("compare_methods.png", dpi=100)


if __name__ == "__main__":
    main()
