"""The command ``pursuit``: run a study, tell it, look at it, export it; run the problems of COCO."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pursuit.methods.catalogue import DEFAULT_METHOD
from pursuit.methods.options import READINGS

# What the commands need beyond the package's own dependencies, by the extra that installs it.
_STUDY = {"study": ("filelock", "matplotlib", "plotly", "polars", "rich")}
_COCO = {**_STUDY, "coco": ("cocoex", "cocopp", "six")}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    options = _parser().parse_args(arguments)
    missing = {
        extra: absent
        for extra, names in options.needed.items()
        if (absent := [name for name in names if find_spec(name) is None])
    }
    if missing:
        absent = [name for names in missing.values() for name in names]
        return _complain(f"{', '.join(absent)} is missing: pip install 'pursuit[{','.join(missing)}]'")
    from pursuit.experiments.study import StudyError

    try:
        status: int = options.command(options)
    except StudyError as error:
        return _complain(str(error))
    except KeyboardInterrupt:
        return _complain("interrupted. What is finished is kept; the same command goes on", 130)
    return status


def _reproduce(options: argparse.Namespace) -> int:
    from pursuit.experiments.study import draw_report, reproduce

    done = reproduce(
        options.file or options.preset,
        options.out,
        reading=options.reading,
        only=options.only,
        runs=options.runs,
        jobs=options.jobs,
        dask=options.dask,
    )
    for failure in done.failures:
        print(f"Failed: {failure}", file=sys.stderr)
    if options.report:
        _tell(draw_report(done.folder, options.against))
    return 1 if done.failures else 0


def _report(options: argparse.Namespace) -> int:
    from pursuit.experiments.study import draw_report

    _tell(draw_report(options.folder, options.against))
    return 0


def _status(options: argparse.Namespace) -> int:
    from pursuit.experiments.study import read_store

    with read_store(options.folder) as store:
        progress, unused, made = store.progress(), store.unused(), store.results().made
    width = max((len(str(entry.cell)) for entry in progress), default=0)
    for entry in progress:
        each = f"  {entry.seconds / entry.done:.3g} s each" if entry.done else ""
        print(f"{entry.cell!s:{width}}  {entry.done:3} of {entry.wanted:3} runs{each}")
    done, wanted = sum(entry.done for entry in progress), sum(entry.wanted for entry in progress)
    print(f"{done} of {wanted} runs are done. They took {sum(entry.seconds for entry in progress):.0f} s.")
    if unused:
        print(f"{unused} runs more were made by other code, options or caps: they are kept, not used.")
    print("Made with:", ", ".join(f"{name} {value}" for name, value in made.items()))
    return 0


def _export(options: argparse.Namespace) -> int:
    from pursuit.experiments.study import read_store
    from pursuit.experiments.study.export import export

    with read_store(options.folder) as store:
        for path in export(store.results(), options.to):
            print(path)
    return 0


def _coco(options: argparse.Namespace) -> int:
    from pursuit.experiments.coco import run_suite

    done = run_suite(
        options.suite,
        options.method,
        options.out,
        budget=options.budget,
        dimensions=options.dimensions,
        functions=options.functions,
        instances=options.instances,
        jobs=options.jobs,
    )
    for failure in done.failures:
        print(f"Failed: {failure}", file=sys.stderr)
    print(f"The data are in {done.data}: python -m cocopp {done.data}")
    return 1 if done.failures else 0


def _coco_profiles(options: argparse.Namespace) -> int:
    from pursuit.experiments.coco import draw_profiles

    figure, table = draw_profiles(
        options.folders, options.out, functions=options.functions, dimensions=options.dimensions
    )
    print(f"The data profiles are in {figure}, and as a table in {table}.")
    return 0


def _tell(page: Path) -> None:
    print(f"The report is in {page}, and as Markdown in {page.with_suffix('.md')}.")


def _complain(sentence: str, status: int = 1) -> int:
    print(f"pursuit: {sentence.removesuffix('.')}.", file=sys.stderr)
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="pursuit", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    reproduce = commands.add_parser("reproduce", help="run what is missing of a study, and report")
    reproduce.set_defaults(command=_reproduce, needed=_STUDY)
    study = reproduce.add_mutually_exclusive_group()
    study.add_argument(
        "--preset", choices=("quick", "main", "full"), default="quick", help="the paper's (quick)"
    )
    study.add_argument("file", nargs="?", type=Path, metavar="FILE", help="a study of your own, in TOML")
    reproduce.add_argument("--reading", choices=(*READINGS, "all"), help="of the paper (what the study says)")
    reproduce.add_argument("--out", type=Path, metavar="DIR", help="the folder (reproduced/NAME)")
    reproduce.add_argument("--jobs", type=_positive, metavar="N", help="how many processes (every core)")
    reproduce.add_argument(
        "--dask", metavar="ADDRESS", help="a Dask scheduler, tcp://…, or local to start one"
    )
    reproduce.add_argument("--only", default="", metavar="EXPR", help='some cells, as "problem=exp,lin n=20"')
    reproduce.add_argument("--runs", type=_positive, metavar="N", help="at most so many runs of each cell")
    reproduce.add_argument("--no-report", dest="report", action="store_false", help="run, and report later")
    _add_measure(reproduce)

    report = commands.add_parser("report", help="draw and tell a stored study again")
    report.set_defaults(command=_report, needed=_STUDY)
    report.add_argument("folder", type=Path, metavar="DIR")
    _add_measure(report)

    status = commands.add_parser("status", help="say how much of a study is done")
    status.set_defaults(command=_status, needed=_STUDY)
    status.add_argument("folder", type=Path, metavar="DIR")

    export = commands.add_parser("export", help="write runs and traces for other programs")
    export.set_defaults(command=_export, needed=_STUDY)
    export.add_argument("folder", type=Path, metavar="DIR")
    export.add_argument("--to", type=Path, required=True, metavar="FILE", help="runs.csv or runs.parquet")

    _add_coco(commands)
    return parser


def _add_coco(commands: Any) -> None:
    coco = commands.add_parser("coco", help="run what is missing of a method on a suite of COCO")
    coco.set_defaults(command=_coco, needed=_COCO)
    coco.add_argument("--suite", default="bbob-largescale", help="bbob or bbob-largescale (bbob-largescale)")
    coco.add_argument(
        "--method", default=DEFAULT_METHOD, help=f"one of ours, or module:function ({DEFAULT_METHOD})"
    )
    coco.add_argument(
        "--budget", type=_positive, default=1000, metavar="N", help="evaluations per dimension (1000)"
    )
    for name, example in (("dimensions", "20,40"), ("functions", "1-5,8"), ("instances", "1-5")):
        coco.add_argument(f"--{name}", type=_numbers, metavar="LIST", help=f"some alone, as {example}")
    coco.add_argument("--jobs", type=_positive, metavar="N", help="how many processes (every core)")
    coco.add_argument("--out", type=Path, metavar="DIR", help="the folder (coco/SUITE-METHOD)")

    profiles = commands.add_parser("coco-profiles", help="draw what several methods have reached on a suite")
    profiles.set_defaults(command=_coco_profiles, needed=_COCO)
    profiles.add_argument("folders", nargs="+", type=Path, metavar="DIR")
    for name, example in (("dimensions", "20,40"), ("functions", "10-14")):
        profiles.add_argument(f"--{name}", type=_numbers, metavar="LIST", help=f"some alone, as {example}")
    profiles.add_argument("--out", type=Path, required=True, metavar="FILE", help="a .svg, .png or .pdf")


def _add_measure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--against",
        choices=("iterations", "evaluations"),
        default="iterations",
        help="what the figures show f against (iterations; the page can switch)",
    )


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, but {text} was given")
    return int(text)


def _numbers(text: str) -> list[int]:
    numbers: set[int] = set()
    for part in text.split(","):
        ends = re.fullmatch(r"(\d+)(?:-(\d+))?", part.strip())
        if ends is None or int(ends[2] or ends[1]) < int(ends[1]):
            raise argparse.ArgumentTypeError(f"must be numbers and ranges as 1-5,8, but {text} was given")
        numbers.update(range(int(ends[1]), int(ends[2] or ends[1]) + 1))
    return sorted(numbers)


if __name__ == "__main__":
    sys.exit(main())
