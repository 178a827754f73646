"""Feed a queue of jobs, which end in any order, and some of which never come back.

`Optimizer.ask` returns the points whose values are missing, `tell` takes the values of some of them. The
queue here is simulated, with a clock of its own: replace `submit` and `wait` by those of yours.
"""

import heapq

import matplotlib
import numpy as np

import pursuit

SLOTS = 16  # jobs that run at the same time
START = np.zeros(20)


def simulate(x):
    """Return the value of a point; in practice, this takes an hour on a cluster."""
    return float(np.sum(np.linspace(1.0, 20.0, x.size) * (x - 1.0) ** 2))


class Queue:
    """A cluster on which jobs take between 20 and 60 minutes, and one in a hundred fails."""

    def __init__(self, seed):
        self.rng, self.free, self.running, self.log = np.random.default_rng(seed), [0.0] * SLOTS, [], []

    def submit(self, point):
        slot = int(np.argmin(self.free))
        begin, minutes = max(self.free[slot], self.now), self.rng.uniform(20.0, 60.0)
        self.free[slot] = begin + minutes
        failed = self.rng.random() < 0.01
        heapq.heappush(
            self.running, (begin + minutes, len(self.log), np.nan if failed else simulate(point), point)
        )
        self.log.append((slot, begin, minutes, failed))

    now = 0.0

    def wait(self):
        """Return the point and the value of the next job to end; NaN if it has failed."""
        self.now, _, value, point = heapq.heappop(self.running)
        return point, value


def main():
    """Minimise, and draw when each slot of the cluster was at work."""
    optimizer, queue = pursuit.Optimizer(START, rng=1, ftarget=1e-6, batch=4 * SLOTS), Queue(seed=1)
    while not optimizer.stop():
        if not queue.running:
            for point in optimizer.ask():
                queue.submit(point)
        point, value = queue.wait()
        optimizer.tell([point], [value])
    busy = sum(minutes for _, _, minutes, _ in queue.log) / (SLOTS * queue.now)
    print(f"f: {simulate(START):.1f} -> {optimizer.result.fun:.1e} in {len(queue.log)} jobs")
    print(f"failed: {optimizer.result.nfaulty}; hours: {queue.now / 60:.0f}; slots busy: {100 * busy:.0f} %")

    matplotlib.use("agg")  # draws into a file; leave it out to see windows
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(6.5, 3.2), layout="constrained")
    for slot, begin, minutes, failed in queue.log:
        axes.barh(
            slot, minutes / 60, left=begin / 60, color="#d55e00" if failed else "#56b4e9", edgecolor="white"
        )
    axes.set_yticks(range(0, SLOTS, 5))
    axes.set(xlabel="hours", ylabel="slot", title="Jobs on the cluster; those that failed are orange")
    figure.savefig("batch_queue.png", dpi=100)


if __name__ == "__main__":
    main()
