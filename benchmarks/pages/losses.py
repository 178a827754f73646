"""On which problems a solver loses most to the peers, of those with stored runs.

``python -m benchmarks.pages.losses auto`` prints them, and keeps the minima that are lower than the known.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.pages.cutest import Line, lines_of, update_minima
from benchmarks.problems.cutest import listed
from benchmarks.problems.features import FEATURES, PLAIN
from benchmarks.runs import read_rows
from benchmarks.suites.cutest import BUDGETS, CUTEST, FILE, PEERS, Row


class Loss(NamedTuple):
    """The evaluations of ours and of the best peer on a problem."""

    problem: str
    ours: tuple[float, ...]
    """Evaluations divided by n, medians of all seeds, for each τ."""
    peers: tuple[float, ...]
    best: tuple[str, ...]
    size: float
    """The sum over all τ of the logarithms of the ratios; what was not solved took twice the budget."""


def losses(lines: Sequence[Line], ours: str, feature: str, peers: Sequence[str] = PEERS) -> list[Loss]:
    """Return the problems, beginning with those where ours loses most."""
    medians = {line.key: tuple(map(statistics.median_high, line.spent)) for line in lines}
    found = []
    for line in lines:
        theirs = [medians.get((*line.key[:3], peer)) for peer in peers]
        if (line.solver, line.feature) == (ours, feature) and None not in theirs:
            spent = np.array(theirs)
            mine, lowest = medians[line.key], spent.min(axis=0)
            ratios = np.divide(*np.clip([mine, lowest], 1.0 / line.n, 2.0 * BUDGETS[-1]))
            best = tuple(peers[place] for place in spent.argmin(axis=0))
            found.append(Loss(line.problem, mine, tuple(lowest), best, float(np.log(ratios).sum())))
    return sorted(found, key=lambda loss: -loss.size)


def main() -> None:
    """Print where a solver loses, and keep lower minima."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("solver", metavar="SOLVER")
    parser.add_argument("--feature", choices=FEATURES, default=PLAIN)
    parser.add_argument("--set", default="choosing", dest="group", help="of the problems that are shown")
    parser.add_argument("--most", type=int, default=30, metavar="K", help="how many problems")
    parser.add_argument("--runs", type=Path, default=CUTEST.runs, metavar="DIR")
    options = parser.parse_args()
    rows = read_rows(options.runs / FILE, Row)
    print(f"{update_minima(rows, CUTEST.minima)} minima are lower than those that were known.")
    names = {one.name for one in listed(options.group)}
    print(f"Evaluations / n to each τ of {options.solver} | of the best peer, and which it is; worst first")
    lines = lines_of(rows, CUTEST.minima)
    shown = [loss for loss in losses(lines, options.solver, options.feature) if loss.problem in names]
    for loss in shown[: options.most]:
        ours, peers = ("".join(f"{number:8.1f}" for number in numbers) for numbers in (loss.ours, loss.peers))
        print(f"{loss.size:6.2f} {loss.problem:<14}{ours} |{peers}  {' '.join(dict.fromkeys(loss.best))}")


if __name__ == "__main__":
    main()
