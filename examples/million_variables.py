"""Minimise a function of a million variables, written in plain NumPy, for a few seconds.

Beyond f itself, an iteration of Random Pursuit costs little more than drawing a million normals, and the run
needs a handful of vectors of memory. So short a run gets nowhere near the minimum, which takes several
evaluations per variable. The script shows how many evaluations fit into a second.
"""

import resource
import sys

import numpy as np

import pursuit

N = 1_000_000
SECONDS = 3.0


def distance(x):
    """Return the squared distance to the point (1, ..., 1)."""
    difference = x - 1.0
    return difference @ difference


def megabytes():
    """Return the peak memory of this process."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def main():
    """Minimise for a few seconds, and report speed and memory."""
    x0 = np.zeros(N)
    # A first run, of two variables, loads the compiled code.
    pursuit.minimize(distance, x0[:2], method="rp", rng=1, maxiter=1)
    before = megabytes()
    # Steps that succeed are as long as the distance to the minimiser, here 1000, divided by n or shorter.
    result = pursuit.minimize(distance, x0, method="rp", rng=1, sigma0=1e-3, maxtime=SECONDS)
    print(result.message)
    print(f"f: {distance(x0):.3f} -> {result.fun:.3f} in {result.nfev} evaluations")
    print(f"{result.nfev / SECONDS:.0f} evaluations/s of {N} variables each")
    used = megabytes() - before
    print(f"memory: {used:.0f} MB, where a vector takes {x0.nbytes / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
