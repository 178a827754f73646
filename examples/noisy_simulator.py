"""Minimise the result of a noisy simulation, within bounds.

A shop chooses how fast its tills serve. Fast service costs money, slow service costs the customers' time,
and how long they wait is known only from simulating a day of random arrivals. The true costs are known
here, and are used only to judge the result.
"""

import matplotlib
import numpy as np

import pursuit

CUSTOMERS = 1_000
ARRIVALS = np.array([0.2, 0.3, 0.4, 0.6, 0.9])  # customers per minute at each till
PRICES = np.array([12.0, 9.0, 6.0, 4.0, 3.0])  # of serving one more customer per minute
BOUNDS = [(1.1 * rate, 4.0) for rate in ARRIVALS]  # slower tills would never keep up
DAYS = np.random.default_rng(1)


def cost_of_a_day(rates):
    """Return what a simulated day costs per minute."""
    between = DAYS.exponential(1.0 / ARRIVALS, (CUSTOMERS, 5))
    service = DAYS.exponential(1.0 / rates, (CUSTOMERS, 5))
    # Lindley's recursion, waiting' = max(0, waiting + service - between), summed up.
    walk = np.cumsum(service - between, axis=0)
    waiting = walk - np.minimum(0.0, np.minimum.accumulate(walk))
    return PRICES @ rates + ARRIVALS @ (waiting + service).mean(axis=0)


def true_cost(rates):
    """Return the expected cost, by the formula for such queues in equilibrium."""
    return PRICES @ rates + np.sum(ARRIVALS / (rates - ARRIVALS))


def main():
    """Minimise, and draw the costs of single days and the true costs on the way."""
    start, days, truth = np.full(5, 2.5), [], []

    def watch(intermediate_result):
        days.append(cost_of_a_day(intermediate_result.x))
        truth.append((intermediate_result.nfev, true_cost(intermediate_result.x)))

    result = pursuit.minimize(
        cost_of_a_day, start, bounds=BOUNDS, rng=1, sigma0=0.3, maxfev=1_000, callback=watch
    )
    optimum = ARRIVALS + np.sqrt(ARRIVALS / PRICES)
    print(f"the noise of a day, as measured by the run: {result.noise:.2g}")
    print(f"rates: {start} -> {np.round(result.x, 2)}, at best {np.round(optimum, 2)}")
    print(
        f"true costs: {true_cost(start):.2f} -> {true_cost(result.x):.2f}, at best {true_cost(optimum):.2f}"
    )

    matplotlib.use("agg")  # draws into a file; leave it out to see windows
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(5.5, 3.4), layout="constrained")
    evaluations, costs = zip(*truth, strict=True)
    axes.plot(evaluations, days, ".", color="0.75", label="a day at the best point so far")
    axes.plot(evaluations, costs, color="#0072b2", label="its true cost")
    axes.axhline(true_cost(optimum), color="black", linestyle=":", label="the minimum")
    axes.set(xlabel="days simulated", ylabel="cost per minute")
    axes.legend()
    figure.savefig("noisy_simulator.png", dpi=100)


if __name__ == "__main__":
    main()
