"""The command ``pursuit``: run a study, tell it, look at it, export it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from pursuit.schemes.options import READINGS

# What a study needs beyond the package's own dependencies.
_NEEDED = ("filelock", "matplotlib", "plotly", "polars", "rich")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    options = _parser().parse_args(arguments)
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        return _complain(f"{', '.join(missing)} is missing: pip install 'pursuit[study]'")
    from pursuit.study import StudyError

    try:
        status: int = options.command(options)
    except StudyError as error:
        return _complain(str(error))
    except KeyboardInterrupt:
        return _complain("interrupted. What is finished is kept; the same command goes on", 130)
    return status


def _reproduce(options: argparse.Namespace) -> int:
    from pursuit.study import draw_report, reproduce

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
    from pursuit.study import draw_report

    _tell(draw_report(options.folder, options.against))
    return 0


def _status(options: argparse.Namespace) -> int:
    from pursuit.study import read_store

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
    from pursuit.study import read_store
    from pursuit.study.export import export

    with read_store(options.folder) as store:
        for path in export(store.results(), options.to):
            print(path)
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
    reproduce.set_defaults(command=_reproduce)
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
    report.set_defaults(command=_report)
    report.add_argument("folder", type=Path, metavar="DIR")
    _add_measure(report)

    status = commands.add_parser("status", help="say how much of a study is done")
    status.set_defaults(command=_status)
    status.add_argument("folder", type=Path, metavar="DIR")

    export = commands.add_parser("export", help="write runs and traces for other programs")
    export.set_defaults(command=_export)
    export.add_argument("folder", type=Path, metavar="DIR")
    export.add_argument("--to", type=Path, required=True, metavar="FILE", help="runs.csv or runs.parquet")
    return parser


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


if __name__ == "__main__":
    sys.exit(main())
