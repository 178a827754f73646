"""Measure this library and others, and write the pages on it.

``python -m benchmarks run SUITE`` makes the runs that are missing or outdated, and resumes after an
interruption; ``python -m benchmarks page [SUITE]`` measures nothing, and writes what follows from the stored
rows.
"""

from __future__ import annotations

import argparse
import functools
import operator
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.pages import best, comparison, constraints, cutest, parallel, rivals, tasks, values
from benchmarks.pages.stamp import write_made
from benchmarks.runs import Part, Row, Say, Table, Wanted, run_missing
from benchmarks.suites import coco
from benchmarks.suites import constraints as constraints_suite
from benchmarks.suites import cutest as cutest_suite
from benchmarks.suites import parallel as parallel_suite
from benchmarks.suites import peers as peers_suite
from benchmarks.suites import rivals as rivals_suite
from benchmarks.suites import tasks as tasks_suite
from benchmarks.suites import values as values_suite
from pursuit.experiments.common import StudyError
from pursuit.experiments.common.files import locked, write_file

_QUICK = Path("reproduced")
_TERM = re.compile(r"(\w+)(<=|>=|=)(.+)")
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {"<=": operator.le, ">=": operator.ge}


class Suite(NamedTuple):
    """What a suite measures, and what is written of it."""

    folder: Path
    parts: dict[str, Part]
    texts: Callable[[Path], dict[Path, str]]
    """Returns its pages by their paths."""
    draw: Callable[[Path], object] = lambda folder: None
    """Draws their figures, and whatever else is made of the rows before."""
    rows: Path | None = None
    """Where rows are kept, if that is another folder."""
    coco: Callable[[Wanted, Path, int, Say], None] | None = None
    """Runs suites of COCO into the folder."""


SUITES = {
    "peers": Suite(
        peers_suite.FOLDER, peers_suite.PARTS, comparison.texts,
        comparison.draw, coco=coco.run,
    ),
    "values": Suite(values_suite.FOLDER, values_suite.PARTS, values.texts, values.draw),
    **{
        court.name: Suite(
            court.folder, cutest_suite.parts(court), functools.partial(cutest.texts, court),
            functools.partial(cutest.collect, court), rows=court.runs,
        )
        for court in (cutest_suite.CUTEST, cutest_suite.MORE_WILD)
    },
    "coco": Suite(coco.FOLDER, {}, coco.texts, coco=coco.run_small),
    "tasks": Suite(tasks_suite.FOLDER, tasks_suite.PARTS, tasks.texts),
    "rivals": Suite(rivals_suite.FOLDER, rivals_suite.PARTS, rivals.texts, best.write),
    "parallel": Suite(parallel_suite.FOLDER, parallel_suite.PARTS, parallel.texts, parallel.draw),
    "constraints": Suite(constraints_suite.FOLDER, constraints_suite.PARTS, constraints.texts),
}  # fmt: skip


def main() -> None:
    """Run the command line."""
    parser = _parser()
    options = parser.parse_args()
    if options.command == "page":
        for name in options.suites or SUITES:
            folder = options.out or SUITES[name].folder
            SUITES[name].draw(folder)
            for page, text in SUITES[name].texts(folder).items():
                write_file(page, text)
                _say(f"The page is {page}.")
        return
    try:
        _run(SUITES[options.suite], options)
    except (StudyError, ValueError) as error:
        parser.error(str(error))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    page = commands.add_parser("page", help="write what follows from the stored rows")
    page.add_argument("suites", nargs="*", choices=[*SUITES, []], metavar="SUITE", help=", ".join(SUITES))
    run = commands.add_parser("run", help="make the runs that are missing or outdated")
    run.add_argument("suite", choices=SUITES, metavar="SUITE", help=", ".join(SUITES))
    run.add_argument("--parts", nargs="+", metavar="PART", help="only these, as overhead of peers")
    run.add_argument(
        "--only", nargs="+", default=[], metavar="TERM",
        help='only rows with such fields, as "n<=100" group=choosing problem=Wood,Brown',
    )  # fmt: skip
    run.add_argument("--every", type=int, default=1, metavar="K", help="only each K-th problem")
    run.add_argument(
        "--solvers", nargs="+", default=[], metavar="NAME",
        help="instead of the suite's: some of them, methods of ours, or NAME=MODULE:FUNCTION",
    )  # fmt: skip
    run.add_argument("--seeds", type=int, help="how many, instead of the suite's number")
    run.add_argument("--time-limit", type=float, metavar="SECONDS", help="of processor time for each run")
    run.add_argument(
        "--jobs", type=int, default=2, help="how many runs at a time, where time is not measured"
    )
    run.add_argument(
        "--quick", action="store_true", help=f"a small version, under {_QUICK}, to see that it works"
    )
    run.add_argument("--keep", action="store_true", help="keep rows that other versions have made")
    run.add_argument("--again", action="store_true", help="make the stored rows anew")
    for command in (page, run):
        command.add_argument("--out", type=Path, metavar="DIR", help="instead of the suite's folder")
    return parser


def _run(suite: Suite, options: argparse.Namespace) -> None:
    quick = _QUICK / f"quick-{options.suite}" if options.quick else None
    folder = options.out or quick or suite.rows or suite.folder
    wanted = Wanted(options.solvers, options.seeds, options.time_limit, options.quick)
    names = [*suite.parts, *(["coco"] if suite.coco else [])]
    if unknown := set(options.parts or ()) - set(names):
        raise ValueError(f"There is no part {unknown.pop()!r}; there are {', '.join(names)}.")
    found = {name: chosen(suite.parts[name], wanted, options) for name in names if name != "coco"}
    with locked(folder):
        for name in options.parts or names:
            if name == "coco" and suite.coco:
                suite.coco(wanted, folder, options.jobs, _say)
            else:
                part = suite.parts[name]
                table = Table(folder / part.file, part.kind)
                how = {"jobs": options.jobs, "keep": options.keep, "again": options.again}
                run_missing(part, found[name], table, say=_say, **how)
        write_made(folder)


def chosen(part: Part, wanted: Wanted, options: argparse.Namespace) -> list[Row]:
    """Return the planned rows of a part that the options ask for."""
    tests = [_test_of(term, part.kind) for term in options.only]
    rows = [row for row in part.plan(wanted) if all(test(row) for test in tests)]
    problems = list(dict.fromkeys(getattr(row, "problem", None) for row in rows))
    some = set(problems[:: options.every])
    return [row for row in rows if getattr(row, "problem", None) in some]


def _test_of(term: str, kind: Any) -> Callable[[Row], bool]:
    """Return the test of a row that a term such as ``n<=100`` is."""
    found = _TERM.fullmatch(term)
    if found is None or found[1] not in kind._fields:
        fields = ", ".join(kind._fields)
        raise ValueError(
            f"{term!r} must be FIELD=VALUE,..., FIELD<=NUMBER or FIELD>=NUMBER with a field of {fields}."
        )
    name, sign, value = found.groups()
    if sign == "=":
        return lambda row: str(getattr(row, name)) in value.split(",")
    return lambda row: _COMPARE[sign](getattr(row, name), float(value))


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    main()
