"""Run tools on tasks that people bring, and write the page on them.

``python -m benchmarks.tasks run`` makes the runs that are not stored, and resumes after an interruption;
``page`` writes the page from the stored runs.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.tasks import page
from benchmarks.tasks.running import ALL_PEERS, FOLDER, QUICK_FOLDER, Plan, run_missing
from benchmarks.tasks.suite import SUITE
from benchmarks.tasks.tools import PEERS


def main() -> None:
    options = _parser().parse_args()
    if options.command == "page":
        _say(f"The page is {page.write(options.folder, options.method)}.")
        return
    tasks = [task for task in SUITE if not options.tasks or task.name in options.tasks]
    plan = Plan(tasks, options.solvers, options.seeds, options.again, options.keep, options.quick)
    run_missing(plan, QUICK_FOLDER if options.quick else options.folder, options.jobs, _say)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.tasks", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    run, written = commands.add_parser("run"), commands.add_parser("page")
    for command in (run, written):
        command.add_argument("--folder", type=Path, default=FOLDER, metavar="DIR", help="of the stored runs")
    run.add_argument("--tasks", nargs="+", choices=[task.name for task in SUITE], metavar="NAME")
    run.add_argument(
        "--solvers", nargs="+", default=[ALL_PEERS, "auto"], metavar="NAME",
        help=f"{ALL_PEERS} (those that serve a task), a method of ours, or {', '.join(PEERS)}",
    )  # fmt: skip
    run.add_argument("--seeds", type=int, default=5, help="how many")
    run.add_argument("--jobs", type=int, default=1, help="how many runs at a time")
    run.add_argument(
        "--quick", action="store_true", help=f"a tenth of the first budgets, into {QUICK_FOLDER}"
    )
    run.add_argument("--again", action="store_true", help="also the runs that are stored")
    run.add_argument("--keep", action="store_true", help="keep runs that other versions of ours have made")
    written.add_argument("--method", default="auto", help="the method of ours in the first table")
    return parser


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    main()
