"""Fit a model whose parameters have names: a decaying oscillation above a drifting baseline.

The parameters are a dict of numbers and an array, and the function returns the curve beside the misfit. The
result has the dict of the best fit and its curve, so that neither is computed again.
"""

import matplotlib
import numpy as np

import pursuit

TIMES = np.linspace(0.0, 10.0, 80)
KNOTS = np.linspace(0.0, 10.0, 5)
TRUE = {"amplitude": 2.0, "decay": 0.3, "frequency": 2.5, "baseline": np.array([0.0, 0.5, 0.4, 1.0, 1.2])}


def curve(model):
    """Return the model's values at the times of the measurements."""
    wave = model["amplitude"] * np.exp(-model["decay"] * TIMES) * np.cos(model["frequency"] * TIMES)
    return wave + np.interp(TIMES, KNOTS, model["baseline"])


MEASURED = curve(TRUE) + 0.1 * np.random.default_rng(1).standard_normal(TIMES.size)


def misfit(model):
    """Return how far the model is from the measurements, and its curve."""
    fitted = curve(model)
    return np.sum((fitted - MEASURED) ** 2), fitted


def main():
    """Fit, and draw the measurements and the best curve."""
    start = {"amplitude": 1.0, "decay": 0.1, "frequency": 2.3, "baseline": np.zeros(5)}
    bounds = {"decay": (0.0, None), "frequency": (2.0, 3.0)}
    result = pursuit.minimize(misfit, start, bounds=bounds, rng=1, sigma0={**start, "baseline": 0.3})
    print(result.message)
    for name in ("amplitude", "decay", "frequency"):
        print(f"{name}: {result.x[name]:.3f}, true {TRUE[name]}")
    print(f"misfit: {misfit(start)[0]:.2f} -> {result.fun:.4f} in {result.nfev} evaluations")

    matplotlib.use("agg")  # draws into a file; leave it out to see windows
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(5.5, 3.2), layout="constrained")
    axes.plot(TIMES, MEASURED, ".", color="0.6", label="measurements")
    axes.plot(TIMES, misfit(start)[1], ":", color="0.5", label="start")
    axes.plot(TIMES, result.extra, color="#d55e00", label="best fit, result.extra")
    axes.plot(KNOTS, result.x["baseline"], "--", color="#0072b2", label="its baseline")
    axes.set(xlabel="time", ylabel="signal")
    axes.legend(loc="lower right", fontsize="small")
    figure.savefig("named_parameters.png", dpi=100)


if __name__ == "__main__":
    main()
