"""Run a study of your own: your method beside the paper's, many runs, one report.

The study is declared in `own_study.toml`; the method is the one of `own_method.py`. On the command line,
the same is `pursuit reproduce examples/own_study.toml`, which uses all cores, keeps its runs and resumes
after interruption.
"""

import shutil
import statistics
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pursuit.experiments.study import draw_report, read_store, reproduce

DECLARATION = Path(__file__).with_name("own_study.toml")


def main():
    """Execute the runs, print the medians, and copy a figure of the report."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(1) as executor:
        reproduce(DECLARATION, folder, executor=executor, jobs=1)
        report = draw_report(folder, against="evaluations")
        with read_store(folder) as store:
            for entry in store.results().cells:
                median = statistics.median(run.nfev for run in entry.runs)
                print(f"{entry.cell.scheme}, n = {entry.cell.n}: {median:.0f} evaluations")
        shutil.copy(report.parent / "figures" / "axes-frozen.png", "own_study.png")


if __name__ == "__main__":
    main()
