"""Run methods from differences and other optimisers on two sets of problems, and write tables and figures.

``python -m benchmarks.values`` makes the runs that are missing under ``docs/results/values``, and writes one
report for each set. It resumes after an interruption. Options choose a part of it: the report is then on
these problems alone, with all methods that have stored runs. ``--report`` runs nothing.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.peers.records import Table, read_rows
from benchmarks.values import report
from benchmarks.values.problem import Problem
from benchmarks.values.problems import SETS, problems_of
from benchmarks.values.rows import FILE, Row
from benchmarks.values.running import Plan, run_missing
from benchmarks.values.solvers import OURS, PEERS, SPSAS, solver_named
from pursuit.experiments.common.errors import StudyError
from pursuit.experiments.common.files import locked

FOLDER = Path("docs/results/values")


def main() -> None:
    parser = _parser()
    options = parser.parse_args()
    try:
        for name in options.methods:
            solver_named(name)
        chosen = _chosen_problems(options)
    except ValueError as error:
        parser.error(str(error))
    if not options.report:
        plan = Plan(problems=chosen, solvers=options.methods, seeds=options.seeds, maxtime=options.time_limit)
        try:
            with locked(options.out):
                table = Table(options.out / FILE, Row)
                run_missing(plan, table, at_once=options.jobs, keep=options.keep, say=_say)
        except StudyError as error:
            raise SystemExit(str(error)) from None
    keys = {(group, problem.name, problem.n) for group, problem in chosen}
    stored = read_rows(options.out / FILE, Row)
    rows = [row for row in stored if (row.group, row.problem, row.n) in keys]
    for group in SETS:
        if any(row.group == group for row in rows):
            _say(f"The report is {report.write(rows, options.out, group)}.")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.values", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS, metavar="SET", help=", ".join(SETS))
    parser.add_argument(
        "--methods", nargs="+", default=[*OURS, *PEERS, *SPSAS], metavar="NAME",
        help=f"of `minimize`, or {', '.join((*PEERS, *SPSAS))}",
    )  # fmt: skip
    parser.add_argument(
        "--problems", nargs="+", metavar="WORD", help="only those whose name has one of these"
    )
    parser.add_argument(
        "--least", type=int, default=1, metavar="N", help="only with as many variables or more"
    )
    parser.add_argument("--most", type=int, default=10_000, metavar="N", help="only with as many or fewer")
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--smooth", action="store_true", help="only without noise")
    kinds.add_argument("--noisy", action="store_true", help="only with noise")
    parser.add_argument("--seeds", type=int, default=11, help="how many, 11 if not given")
    parser.add_argument(
        "--time-limit",
        type=float,
        default=600.0,
        metavar="SECONDS",
        help="of processor time for each run, 600 if not given",
    )
    parser.add_argument("--jobs", type=int, default=2, help="how many runs at a time")
    parser.add_argument("--keep", action="store_true", help="keep rows that other versions have made")
    parser.add_argument("--report", action="store_true", help="only write what follows from the stored runs")
    parser.add_argument("--out", type=Path, default=FOLDER, metavar="DIR")
    return parser


def _chosen_problems(options: argparse.Namespace) -> list[tuple[str, Problem]]:
    found = [
        (group, problem)
        for group in options.sets
        for problem in problems_of(group)
        if options.least <= problem.n <= options.most
        and (not options.problems or any(word in problem.name for word in options.problems))
        and not (options.smooth and problem.noise is not None)
        and not (options.noisy and problem.noise is None)
    ]
    if not found:
        raise ValueError("No problem has such a name and such a number of variables.")
    return found


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    main()
