"""Minimise the result of a simulation that never ends for some designs, in processes that can be killed.

The simulation iterates until the temperatures of five rooms settle. Where their heaters are too strong, they
swing for ever.
"""

import matplotlib
import numpy as np

import pursuit

WANTED = np.array([0.62, 0.7, 0.74, 0.7, 0.62])
SECONDS = 0.3  # simulations that settle take a few milliseconds


def temperatures(heaters):
    """Return the temperatures of the rooms, each of which warms its neighbours."""
    rooms = np.zeros(heaters.size)
    while True:
        neighbours = np.convolve(rooms, [0.1, 0.0, 0.1], mode="same")
        settled = heaters * np.cos(rooms + neighbours)
        if np.abs(settled - rooms).max() < 1e-10:
            return settled
        rooms = settled


def misfit(heaters):
    """Return how far the rooms are from the temperatures that are wanted."""
    return float(np.sum((temperatures(heaters) - WANTED) ** 2))


def main():
    """Minimise, and draw how the misfit falls while simulations hang."""
    course, start = [], np.full(5, 0.2)

    def watch(intermediate_result):
        course.append([intermediate_result[name] for name in ("nfev", "fun", "nfaulty")])

    result = pursuit.minimize(
        misfit, start, rng=1, sigma0=0.5, ftarget=1e-8, callback=watch, workers=2, eval_timeout=SECONDS
    )
    print(f"misfit: {misfit(start):.3g} -> {result.fun:.3g} in {result.nfev} simulations")
    print(f"killed: {result.nfaulty} simulations")
    print(result.message)

    matplotlib.use("agg")  # draws into a file; leave it out to see windows
    from matplotlib import pyplot as plt

    simulations, values, killed = zip(*course, strict=True)
    figure, (above, below) = plt.subplots(2, sharex=True, figsize=(5.5, 3.6), layout="constrained")
    above.semilogy(simulations, values)
    above.set(ylabel="misfit")
    below.step(simulations, killed, where="post", color="#d55e00")
    below.set(xlabel="simulations", ylabel="killed so far")
    figure.savefig("hanging_simulator.png", dpi=100)


if __name__ == "__main__":
    main()
