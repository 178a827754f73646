"""Minimise within bounds: a rope is stretched over hills, and may not enter the ground.

The variables are the heights of sixty points of the rope, and the ground is a lower bound for each. The
minimum lies on many bounds at once. The function is never called outside of them.
"""

import matplotlib
import numpy as np

import pursuit

PLACES = np.linspace(0.0, 1.0, 62)[1:-1]
GROUND = 0.6 * np.exp(-(((PLACES - 0.3) / 0.1) ** 2)) + 0.8 * np.exp(-(((PLACES - 0.7) / 0.15) ** 2))


def energy(heights):
    """Return the energy of a rope whose ends are fixed at height 0, between springs."""
    whole = np.concatenate([[0.0], heights, [0.0]])
    return float(np.sum(np.diff(whole) ** 2) * PLACES.size)


def main():
    """Minimise, and draw the rope."""
    bounds = [(height, None) for height in GROUND]
    start = GROUND + 0.5
    result = pursuit.minimize(energy, start, bounds=bounds, rng=1, sigma0=0.1)
    print(result.message)
    print(f"energy: {energy(start):.3f} -> {result.fun:.6f} in {result.nfev} evaluations")
    print(f"points on the ground: {np.sum(result.x == GROUND)}; below it: {np.sum(result.x < GROUND)}")

    matplotlib.use("agg")  # draws into a file; leave it out to see windows
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(5.5, 3.2), layout="constrained")
    axes.fill_between(PLACES, GROUND, color="0.8", label="ground, the lower bounds")
    axes.plot(PLACES, start, ":", color="0.5", label="start")
    axes.plot(PLACES, result.x, color="#d55e00", label="minimum")
    axes.set(xlabel="place", ylabel="height", ylim=(0.0, 1.9))
    axes.legend(loc="upper left")
    figure.savefig("within_bounds.png", dpi=100)


if __name__ == "__main__":
    main()
