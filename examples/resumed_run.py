"""Resume a run that was killed, and end exactly where an uninterrupted one ends.

Another process minimises with a checkpoint and is killed with SIGKILL, which no program can catch. The same
call then resumes from the file. The checkpoint is in a temporary folder.
"""

import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import matplotlib
import numpy as np

import pursuit


def slow(x):
    """Return Rosenbrock's function of x, which takes a millisecond."""
    time.sleep(0.001)
    return float(np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2))


def minimized(checkpoint=None):
    """Return the result of the call that is interrupted and resumed."""
    return pursuit.minimize(
        slow, np.zeros(10), rng=1, sigma0=0.1, maxfev=1_500, trace=True,
        checkpoint=checkpoint, checkpoint_every=0.1,
    )  # fmt: skip


def main():
    """Kill a run, resume it, compare, and draw both."""
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = Path(folder) / "run.npz"
        victim = subprocess.Popen([sys.executable, __file__, checkpoint])
        while not checkpoint.exists() and victim.poll() is None:
            time.sleep(0.01)
        time.sleep(0.2)
        victim.kill()
        killed = victim.wait() == -signal.SIGKILL
        spent = pursuit.Optimizer.load(checkpoint).result.nfev
        print(f"killed: {killed}, with {spent} evaluations in the checkpoint")
        resumed = minimized(checkpoint)
    whole = minimized()
    print(f"resumed:       f = {resumed.fun!r} after {resumed.nfev} evaluations")
    print(f"uninterrupted: f = {whole.fun!r} after {whole.nfev} evaluations")
    print(f"the same, bit for bit: {resumed.fun == whole.fun and np.array_equal(resumed.x, whole.x)}")

    matplotlib.use("agg")  # draws into a file; leave it out to see windows
    axes = pursuit.plot_runs([whole, resumed], labels=["uninterrupted", "killed and resumed"])
    for panel in axes.figure.axes:
        panel.lines[1].set_linestyle("--")
        panel.axvline(spent, color="black", linestyle=":", label="resumed here")
    axes.legend()
    axes.figure.set_size_inches(5.5, 4.2)
    axes.figure.savefig("resumed_run.png", dpi=100)


if __name__ == "__main__":
    # With the path of a checkpoint as its argument, this script is the process to be killed.
    main() if len(sys.argv) == 1 else minimized(checkpoint=sys.argv[1])
