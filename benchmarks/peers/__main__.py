"""Run this library and its peers on the same problems, and write tables and figures.

``python -m benchmarks.peers`` measures what is missing under ``docs/results/peers``, and writes the report
there. It resumes after an interruption. ``--quick`` is a small version of about two minutes, under
``reproduced/peers``, to see that it works. ``--page`` measures nothing, and writes the report and
``docs/comparison.md`` from what is stored, and what the README quotes of it.
"""

from __future__ import annotations

import argparse
import functools
from pathlib import Path

from benchmarks.peers import (
    evaluations,
    measurements,
    memory,
    overhead,
    page,
    quoted,
    report,
    suite,
    versions,
)
from benchmarks.peers.adapters import SOLVERS, Solver
from benchmarks.peers.measuring import measure_missing
from benchmarks.peers.problems import Task
from benchmarks.peers.records import MemoryRow, OverheadRow, RunRow, Table
from pursuit.experiments.common.errors import StudyError
from pursuit.experiments.common.files import locked

PARTS = ("overhead", "memory", "evaluations", "hard", "suite")
FULL_FOLDER, QUICK_FOLDER = Path("docs/results/peers"), Path("reproduced/peers")
# What COCO writes is large, and not committed with the results.
SUITE_FOLDER = Path("reproduced/suite")
# About how long each part takes on two cores.
_MINUTES = {"overhead": 25, "memory": 10, "evaluations": 200, "hard": 15, "suite": 40}


def main() -> None:
    options = _parser().parse_args()
    folder = options.out or (QUICK_FOLDER if options.quick else FULL_FOLDER)
    if not options.page:
        try:
            with locked(folder):
                _measure(folder, options)
        except StudyError as error:
            raise SystemExit(str(error)) from None
    _say(f"The report is {report.write(folder)}.")
    if options.page:
        _say(f"The page is {page.write(folder)}.")
        quoted.write(measurements.load(folder))


def _measure(folder: Path, options: argparse.Namespace) -> None:
    solvers = [solver for solver in SOLVERS if not options.solvers or solver.name in options.solvers]
    for solver in solvers:
        if not solver.installed:
            _say(f"{solver.name} is left out: {solver.package} is not installed.")
    parts = options.part or PARTS
    if not options.quick:
        _say(f"In full this takes about {sum(_MINUTES[part] for part in parts)} minutes on two cores.")
    versions.write_versions(folder)
    for part in parts:
        _PARTS[part](folder, solvers, options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.peers", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a small version of about two minutes")
    parser.add_argument("--page", action="store_true", help="only write what follows from the measurements")
    parser.add_argument(
        "--part", action="append", choices=PARTS, help="measure only this; may be given several times"
    )
    parser.add_argument("--solvers", nargs="+", choices=[s.name for s in SOLVERS], metavar="NAME")
    parser.add_argument("--dimensions", nargs="+", type=int, metavar="N", help="instead of each part's own")
    parser.add_argument("--seeds", type=int, help="how many, instead of 3 for n = 100 and 2 for n = 1000")
    parser.add_argument(
        "--time-cap", type=float, metavar="SECONDS", help="of processor time, instead of 30 to 450"
    )
    parser.add_argument("--rounds", type=int, default=3, help="of timing the overhead; the shortest counts")
    parser.add_argument(
        "--jobs", type=int, default=2, help="how many runs at a time, where time is not measured"
    )
    parser.add_argument("--out", type=Path, metavar="DIR")
    return parser


def _measure_overhead(folder: Path, solvers: list[Solver], options: argparse.Namespace) -> None:
    settings = {"rounds": options.rounds, "round_seconds": 0.3 if options.quick else overhead.ROUND}
    measure_missing(
        Table(folder / measurements.OVERHEAD, OverheadRow),
        solvers,
        options.dimensions or ((100,) if options.quick else overhead.DIMENSIONS),
        job=functools.partial(overhead.job, **settings),
        describe=overhead.describe,
        say=_say,
    )


def _measure_memory(folder: Path, solvers: list[Solver], options: argparse.Namespace) -> None:
    measure_missing(
        Table(folder / measurements.MEMORY, MemoryRow),
        solvers,
        options.dimensions or ((100_000,) if options.quick else memory.DIMENSIONS),
        job=memory.job,
        describe=memory.describe,
        say=_say,
    )


def _measure_evaluations(folder: Path, solvers: list[Solver], options: argparse.Namespace) -> None:
    if options.quick:
        tasks = [Task("exp", 1e4, True, n) for n in options.dimensions or (20,)]
    else:
        tasks = evaluations.smooth_tasks(options.dimensions or (100, 1000))
    _run(folder / measurements.EVALUATIONS, solvers, tasks, options)


def _measure_hard(folder: Path, solvers: list[Solver], options: argparse.Namespace) -> None:
    tasks = evaluations.hard_tasks(options.dimensions or ((20,) if options.quick else (100,)))
    _run(folder / measurements.HARD, solvers, tasks[:1] if options.quick else tasks, options)


def _measure_suite(folder: Path, solvers: list[Solver], options: argparse.Namespace) -> None:
    suite.run_and_draw(
        solvers,
        suite.QUICK if options.quick else suite.Extent(),
        data=folder / "suite" if options.quick else SUITE_FOLDER,
        folder=folder,
        jobs=options.jobs,
        say=_say,
    )


def _run(path: Path, solvers: list[Solver], tasks: list[Task], options: argparse.Namespace) -> None:
    plan = evaluations.plan(
        solvers,
        tasks,
        seeds=options.seeds or (1 if options.quick else None),
        time_cap=options.time_cap or (2.0 if options.quick else None),
    )
    evaluations.run_missing(plan, table=Table(path, RunRow), at_once=options.jobs, say=_say)


def _say(line: str) -> None:
    print(line, flush=True)


_PARTS = {
    "overhead": _measure_overhead,
    "memory": _measure_memory,
    "evaluations": _measure_evaluations,
    "hard": _measure_hard,
    "suite": _measure_suite,
}

if __name__ == "__main__":
    main()
