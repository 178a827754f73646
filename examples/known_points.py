"""Begin with what is known: the log of yesterday's run tells today's where to begin.

Yesterday's run was cut off after a hundred simulations. It has left a log with its points, as any table of
points and values would do. Today's run begins at the best of them, or at the minimum of a quadratic through
them if that is better.
"""

import json
import tempfile
from pathlib import Path

import matplotlib
import numpy as np

import pursuit

WISHED = np.linspace(-1.0, 1.0, 12)


def simulate(x):
    """Return how far a chain of coupled parts is from where it is wished."""
    bent = x + 0.3 * np.sin(np.roll(x, 1))
    return float(np.sum(np.arange(1, 13) * (bent - WISHED) ** 2))


def main():
    """Run with and without what is known, and draw both."""
    start = np.full(12, 2.0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "yesterday.jsonl"
        pursuit.minimize(simulate, start, rng=1, maxfev=100, callback=pursuit.Log(path, x=True))
        lines = [json.loads(line) for line in path.read_text().splitlines()]
    known = np.array([line["x"] for line in lines]), [line["fun"] for line in lines]
    runs = {
        "from the start": pursuit.minimize(simulate, start, rng=2, ftarget=1e-9, trace=True),
        "with known points": pursuit.minimize(simulate, start, rng=2, ftarget=1e-9, known=known, trace=True),
    }
    print(f"known: {len(lines)} points, the best {min(known[1]):.3g}")
    for name, result in runs.items():
        print(f"{name}: {result.nfev} evaluations to {result.fun:.2g}")

    matplotlib.use("agg")  # draws into a file; leave it out to see windows
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(5.5, 3.2), layout="constrained")
    for (name, result), colour in zip(runs.items(), ("0.5", "#d55e00"), strict=True):
        axes.semilogy(result.trace.nfev, result.trace.fun, color=colour, label=name)
    axes.set(xlabel="evaluations", ylabel="distance")
    axes.legend()
    figure.savefig("known_points.png", dpi=100)


if __name__ == "__main__":
    main()
