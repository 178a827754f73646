"""Run a study of your own: your method and your problem beside the paper's, many runs, one report.

The study is declared in `own_study.toml`; the method is the one of `own_method.py`. On the command line,
the same is `pursuit reproduce examples/own_study.toml`, which uses all cores, keeps its runs and resumes
after interruption.
"""

import shutil
import statistics
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pursuit.experiments.study import draw_report, read_store, reproduce

DECLARATION = Path(__file__).with_name("own_study.toml")


class Bowl(NamedTuple):
    """A problem for a study: it can be called with a point, and has `n` and `x0`."""

    n: int

    @property
    def x0(self):
        return np.zeros(self.n)

    def __call__(self, x):
        return float(np.sum((x - 1.0) ** 2))


def bowl(n):
    """Return the problem in n variables."""
    return Bowl(n)


def main():
    """Execute the runs, print the medians, and copy a figure of the report."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(1) as executor:
        reproduce(DECLARATION, folder, executor=executor, jobs=1)
        report = draw_report(folder, against="evaluations")
        with read_store(folder) as store:
            for entry in store.results().cells:
                cell, median = entry.cell, statistics.median(run.nfev for run in entry.runs)
                print(f"{cell.scheme}, {cell.problem}, n = {cell.n}: {median:.0f} evaluations")
        shutil.copy(report.parent / "figures" / "axes-frozen.png", "own_study.png")


if __name__ == "__main__":
    main()
