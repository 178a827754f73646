"""Compare our versions of the methods of others with independent ones, and write ``docs/results/rivals``.

``python -m benchmarks.rivals`` makes the runs that are missing or outdated in ``runs.csv``, measures times,
and writes ``agreement.md``. ``--no-times`` keeps the times that are stored.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.peers.records import Table, read_rows
from benchmarks.reporting import add_rounds
from benchmarks.rivals import report, runs, times
from pursuit.experiments.common.files import locked, write_file

FOLDER = Path("docs/results/rivals")
RUNS, TIMES, REPORT = "runs.csv", "times.csv", "agreement.md"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, default=FOLDER, metavar="DIR")
    parser.add_argument("--seeds", type=int, default=11)
    parser.add_argument("--no-runs", action="store_true", help="make no runs")
    parser.add_argument("--no-times", action="store_true", help="measure no times")
    add_rounds(parser)
    options = parser.parse_args()

    def say(line: str) -> None:
        print(line, flush=True)

    with locked(options.out):
        if not options.no_runs:
            runs.run_missing(options.seeds, Table(options.out / RUNS, runs.RivalRow), say)
        if not options.no_times:
            times.measure(Table(options.out / TIMES, times.TimeRow), options.rounds, say)
    text = report.text_of(
        read_rows(options.out / RUNS, runs.RivalRow), read_rows(options.out / TIMES, times.TimeRow)
    )
    write_file(options.out / REPORT, text)


if __name__ == "__main__":
    main()
