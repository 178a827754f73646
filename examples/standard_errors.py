"""Fit a damped oscillation to measurements, with the standard errors of its parameters."""

import matplotlib
import numpy as np

import pursuit

TIMES = np.linspace(0.0, 10.0, 80)
TRUTH = {"amplitude": 5.0, "decay": 0.25, "frequency": 2.0, "phase": 0.4}
START = {"amplitude": 4.0, "decay": 0.1, "frequency": 2.1, "phase": 0.0}


def swing(amplitude, decay, frequency, phase):
    """Return the deflection at the times of the measurements."""
    return amplitude * np.exp(-decay * TIMES) * np.sin(frequency * TIMES + phase)


MEASURED = swing(**TRUTH) + 0.5 * np.random.default_rng(1).standard_normal(TIMES.size)


def misfit(parameters):
    """Return the sum of squared residuals, which is all that the fit needs."""
    return np.sum((swing(**parameters) - MEASURED) ** 2)


def main():
    """Fit, and draw the fit beside the truth with the errors of its parameters."""
    result = pursuit.minimize(misfit, START, rng=1, sigma0=0.1)
    result.hessian(misfit)
    errors = result.standard_errors(residuals=TIMES.size)
    for name, value in result.x.items():
        print(f"{name}: {value:.3f} ± {errors[name]:.3f}, in truth {TRUTH[name]}")

    matplotlib.use("agg")  # draws into a file; leave it out to see windows
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(5.5, 3.4), layout="constrained")
    axes.plot(TIMES, MEASURED, ".", color="0.6", label="measured")
    axes.plot(TIMES, swing(**TRUTH), color="black", linestyle=":", label="truth")
    found = "\n".join(f"{name} {value:.2f} ± {errors[name]:.2f}" for name, value in result.x.items())
    axes.plot(TIMES, swing(**result.x), label=found)
    axes.set(xlabel="time", ylabel="deflection")
    axes.legend()
    figure.savefig("standard_errors.png", dpi=100)


if __name__ == "__main__":
    main()
