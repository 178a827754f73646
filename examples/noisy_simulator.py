"""Minimise the result of a noisy simulation, within bounds, and stop when it is good enough.

A shop chooses how fast its tills serve. Fast service costs money, slow service costs the customers' time, and
how long they wait is known only from simulating a day of random arrivals. The callback, which follows SciPy's
convention, does not rely on a single lucky day: it simulates a month. The true costs are known here, and are
used only to check the result.
"""

import numpy as np

import pursuit

CUSTOMERS = 1_000
ARRIVALS = np.array([0.2, 0.3, 0.4, 0.6, 0.9])  # customers per minute at each till
PRICES = np.array([12.0, 9.0, 6.0, 4.0, 3.0])  # of serving one more customer per minute
START = np.full(5, 2.5)
BOUNDS = [(1.1 * rate, 4.0) for rate in ARRIVALS]  # slower tills would never keep up
ENOUGH = 35.0


class Shop:
    """The costs of a random day, drawn from the shop's own generator."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def __call__(self, rates):
        """Return what a simulated day costs per minute."""
        between = self.rng.exponential(1.0 / ARRIVALS, (CUSTOMERS, 5))
        service = self.rng.exponential(1.0 / rates, (CUSTOMERS, 5))
        # Lindley's recursion, waiting' = max(0, waiting + service - between), summed up.
        walk = np.cumsum(service - between, axis=0)
        waiting = walk - np.minimum(0.0, np.minimum.accumulate(walk))
        return PRICES @ rates + ARRIVALS @ (waiting + service).mean(axis=0)


def true_costs(rates):
    """Return the expected costs, by the formula for such queues in equilibrium."""
    return PRICES @ rates + np.sum(ARRIVALS / (rates - ARRIVALS))


def main():
    """Minimise, and compare with the truth."""
    month = Shop(seed=2)

    def stop_when_good(intermediate_result):
        if np.mean([month(intermediate_result.x) for _ in range(30)]) < ENOUGH:
            raise StopIteration

    result = pursuit.minimize(
        Shop(seed=1), START, bounds=BOUNDS, rng=1, sigma0=0.3, maxfev=1_000, callback=stop_when_good
    )
    print(f"{result.nfev} days simulated; {result.message}")
    print(f"rates: {START} -> {np.round(result.x, 2)}")
    print(f"true costs: {true_costs(START):.2f} -> {true_costs(result.x):.2f}")


if __name__ == "__main__":
    main()
