"""Measure rounds and times, and write ``docs/results/parallel``.

``python -m benchmarks.parallel`` makes the runs that are missing or outdated in ``rounds.csv``, measures
times, which needs an otherwise idle machine, and writes ``parallel.md`` and a figure. ``--no-times`` keeps
those that are stored.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.parallel import report, times
from benchmarks.parallel.rounds import RoundsRow, rows_of, run_missing
from benchmarks.peers.records import Table, read_rows
from pursuit.experiments.common.files import locked, write_file
from pursuit.experiments.common.formatting import power

FOLDER = Path("docs/results/parallel")
CSV, TIMES, REPORT = "rounds.csv", "times.csv", "parallel.md"
# How many seeds there are for n, of `differences` and of the others.
SEEDS = {100: (11, 3), 1000: (1, 0)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, default=FOLDER, metavar="DIR")
    parser.add_argument("--methods", nargs="+", metavar="NAME", help="make only runs of these")
    parser.add_argument("--problems", nargs="+", metavar="NAME", help="make only runs on these, as exp-1e4")
    parser.add_argument("--no-times", action="store_true", help="measure no times")
    parser.add_argument("--report", action="store_true", help="only write what follows from what is stored")
    options = parser.parse_args()
    with locked(options.out):
        table = Table(options.out / CSV, RoundsRow)
        if not options.report:
            for n, seeds in SEEDS.items():
                rows = [row for row in rows_of(n, *seeds) if _is_wanted(row, options)]
                run_missing(rows, table, lambda line: print(line, flush=True))
            if not options.no_times:
                _measure_times(Table(options.out / TIMES, report.TimeRow))
    rows = read_rows(options.out / CSV, RoundsRow)
    stored = read_rows(options.out / TIMES, report.TimeRow)
    write_file(options.out / REPORT, report.text_of(rows, stored))
    report.draw(rows, options.out / "figures")


def _is_wanted(row: RoundsRow, options: argparse.Namespace) -> bool:
    name = row.problem if row.L is None else f"{row.problem}-{power(row.L)}"
    return (not options.methods or row.solver in options.methods) and (
        not options.problems or name in options.problems
    )


def _measure_times(table: Table[report.TimeRow]) -> None:
    for n, maxfev in ((100, 1600), (1000, 3200)):
        _add(table, report.SLEEPING, n, times.sleeping(n, maxfev))
        for batch in (None, times.WORKERS, 8 * times.WORKERS):
            _add(table, f"{report.BUSY} {batch or 'default'}", n, times.busy_share(n, maxfev, batch))
    _add(table, report.PROCESSES, 100, times.two_processes())
    for batch in (1, 64):
        _add(table, f"{report.OWN} {batch}", 1000, times.own_microseconds(batch))
    _add(table, report.ONE_CALL, 1000, times.gain_of_one_call())


def _add(table: Table[report.TimeRow], part: str, n: int, value: float) -> None:
    table.add(report.TimeRow(part, n, value))
    print(f"{part}, n = {n}: {value:.3g}", flush=True)


if __name__ == "__main__":
    main()
