"""The command ``pursuit``: studies, COCO suites, and compiling in advance."""

from __future__ import annotations

import argparse
import io
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pursuit import __version__
from pursuit.cli.texts import TEXTS
from pursuit.compiling.warmup import warmup
from pursuit.methods.catalogue import DEFAULT_METHOD, list_methods
from pursuit.methods.options import READINGS
from pursuit.optional import how_to_install

# The modules that commands need beyond the package's own dependencies, by the extra that installs them.
_STUDY = {"study": ("filelock", "matplotlib", "plotly", "polars", "rich")}
_COCO = {**_STUDY, "coco": ("cocoex", "cocopp", "six")}
# Larger than any number of a function, a dimension or an instance.
_LARGEST_NUMBER = 1_000_000


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Names of files need not be valid text.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        status = _run(_parser().parse_args(arguments))
        # Printed text may be written only now, which may fail.
        sys.stdout.flush()
    except KeyboardInterrupt:
        return _fail("interrupted. Finished runs are kept; run the same command to continue", 130)
    except OSError as error:
        # Python would try to write the rest of the output again, and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            # The reader of a pipe, such as `head`, has enough.
            return 1
        return _fail(f"reading or writing failed: {error.strerror or error}")
    return status


def _run(options: argparse.Namespace) -> int:
    missing = {
        extra: absent
        for extra, names in options.needed.items()
        if (absent := [name for name in names if find_spec(name) is None])
    }
    if missing:
        absent = [name for names in missing.values() for name in names]
        is_missing = "is missing" if len(absent) == 1 else "are missing"
        return _fail(f"{', '.join(absent)} {is_missing}: {how_to_install(*missing)}")
    from pursuit.experiments.common.errors import StudyError

    try:
        status: int = options.command(options)
    except StudyError as error:
        return _fail(str(error))
    return status


def _reproduce(options: argparse.Namespace) -> int:
    from pursuit.experiments.study import draw_report, reproduce

    settings = _chosen(options, "reading", "only", "runs", "jobs", "device")
    done = reproduce(options.file or options.preset, options.out, executor=options.dask, **settings)
    status = _print_failures(done.failures)
    if options.report:
        _print_report(draw_report(done.folder, options.against))
    return status


def _report(options: argparse.Namespace) -> int:
    from pursuit.experiments.study import draw_report, read_store
    from pursuit.experiments.study.published import has_tables_alone

    if not has_tables_alone(options.folder):
        with read_store(options.folder) as store:
            _print_damaged(store.damaged())
    _print_report(draw_report(options.folder, options.against, options.device))
    return 0


def _status(options: argparse.Namespace) -> int:
    from pursuit.experiments.study import read_store

    with read_store(options.folder) as store:
        results, devices, unused = store.results(options.device), store.devices(), store.unused()
        progress = store.progress(options.device)
        _print_damaged(store.damaged())
    shown = options.device or devices[0]
    names = [results.name_of(entry.cell) for entry in progress]
    width = max(map(len, names), default=0)
    for name, entry in zip(names, progress, strict=True):
        each = f"  {entry.seconds / entry.done:.3g} s each" if entry.done else ""
        print(f"{name:{width}}  {entry.done:3} of {entry.wanted:3} runs{each}")
    done, wanted = sum(entry.done for entry in progress), sum(entry.wanted for entry in progress)
    print(f"{done} of {wanted} runs are done. They took {sum(entry.seconds for entry in progress):.0f} s.")
    print(f"Device: {shown}.")
    for other in devices:
        if other != shown:
            print(f"There are also cells of the {other}, with runs of their own: --device {other}.")
    if unused:
        print(f"{unused} more runs were made with other code, options or caps; they are kept, not used.")
    print("Made with:", ", ".join(f"{name} {value}" for name, value in results.made.items()))
    return 0


def _export(options: argparse.Namespace) -> int:
    from pursuit.experiments.study import read_store
    from pursuit.experiments.study.export import export

    with read_store(options.folder) as store:
        _print_damaged(store.damaged())
        for path in export(store.results(options.device), options.to):
            print(path)
    return 0


def _coco(options: argparse.Namespace) -> int:
    from pursuit.experiments.coco import run_suite

    settings = _chosen(options, "budget", "dimensions", "functions", "instances", "jobs")
    done = run_suite(options.suite, options.method, options.out, **settings)
    status = _print_failures(done.failures)
    print(f"The data are in {done.data}: python -m cocopp {done.data}")
    return status


def _coco_profiles(options: argparse.Namespace) -> int:
    from pursuit.experiments.coco import draw_profiles

    chosen = _chosen(options, "functions", "dimensions")
    figure, table = draw_profiles(options.folders, options.out, **chosen)
    print(f"The data profiles are in {figure}, and as a table in {table}.")
    return 0


def _warmup(options: argparse.Namespace) -> int:
    chosen = list_methods() if options.methods == ["all"] else options.methods or [DEFAULT_METHOD]
    for method in dict.fromkeys(chosen):
        try:
            (seconds,) = warmup(method).values()
        except ValueError as error:
            return _fail(str(error))
        print(
            f"{method}: compiled in {seconds:.1f} s." if seconds else f"{method}: compiled before.",
            flush=True,
        )
    return 0


def _chosen(options: argparse.Namespace, *names: str) -> dict[str, Any]:
    return {name: getattr(options, name) for name in names}


def _print_damaged(names: Iterable[str]) -> None:
    for name in names:
        print(f"Damaged, and not used until the study is run again: {name}.", file=sys.stderr)


def _print_report(page: Path) -> None:
    document = page.with_suffix(".md")
    print(f"The report is in {page}{'' if page == document else f', and as Markdown in {document}'}.")


def _print_failures(failures: Iterable[object]) -> int:
    """Print what failed, and return the exit status."""
    status = 0
    for failure in failures:
        print(f"Failed: {failure}", file=sys.stderr)
        status = 1
    return status


def _fail(sentence: str, status: int = 1) -> int:
    print(f"pursuit: {sentence.removesuffix('.')}.", file=sys.stderr)
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="pursuit",
        description="Run studies, run methods on COCO suites, and compile methods in advance.",
        epilog="`pursuit COMMAND --help` describes a command and gives examples.",
    )
    parser.add_argument("--version", action="version", version=f"pursuit {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def add(
        name: str, command: Callable[[argparse.Namespace], int], needed: dict[str, Any]
    ) -> argparse.ArgumentParser:
        text = TEXTS[name]
        added = commands.add_parser(
            name,
            help=text.line,
            description=text.description,
            epilog=text.epilog,
            formatter_class=_ExamplesAsTheyAre,
        )
        added.set_defaults(command=command, needed=needed)
        return added

    _add_reproduce_options(add("reproduce", _reproduce, _STUDY))
    report = add("report", _report, _STUDY)
    status = add("status", _status, _STUDY)
    export = add("export", _export, _STUDY)
    for command in (report, status, export):
        command.add_argument("folder", type=Path, metavar="DIR", help="the folder of a study")
        _add_device(command, "whose runs to read (default: those of the device that ran last)")
    _add_against(report)
    export.add_argument(
        "--to", type=Path, required=True, metavar="FILE", help="the file to write, as .csv or .parquet"
    )

    _add_coco_options(add("coco", _coco, _COCO))
    profiles = add("coco-profiles", _coco_profiles, _COCO)
    profiles.add_argument(
        "folders",
        nargs="+",
        type=Path,
        metavar="DIR",
        help="folders that `pursuit coco` wrote, one per method",
    )
    _add_selections(profiles, dimensions="20,40", functions="10-14")
    profiles.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="the file to write, as .svg, .png or .pdf"
    )

    add("warmup", _warmup, {}).add_argument(
        "methods",
        nargs="*",
        metavar="METHOD",
        help=f"the methods to compile, or all (default: {DEFAULT_METHOD})",
    )
    return parser


class _ExamplesAsTheyAre(argparse.HelpFormatter):
    """Wraps descriptions, and leaves the lines of examples as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if text.startswith("examples:") else super()._fill_text(text, width, indent)


def _add_reproduce_options(parser: argparse.ArgumentParser) -> None:
    study = parser.add_mutually_exclusive_group()
    study.add_argument(
        "--preset",
        choices=("quick", "main", "full", "rivals"),
        default="quick",
        help="the paper's study in three sizes, or its methods beside others: rivals (default: quick)",
    )
    study.add_argument("file", nargs="?", type=Path, metavar="FILE", help="a study of your own, in TOML")
    parser.add_argument(
        "--reading",
        choices=(*READINGS, "all"),
        help="the reading of the paper (default: as the study declares)",
    )
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="the folder to write (default: reproduced/NAME)"
    )
    _add_device(parser, "what executes the runs (default: as the study declares, else cpu)")
    _add_jobs(parser)
    parser.add_argument(
        "--dask", metavar="ADDRESS", help="a Dask scheduler, such as tcp://HOST:PORT, or local to start one"
    )
    parser.add_argument(
        "--only",
        default="",
        metavar="EXPR",
        help='the cells to run, such as "problem=exp,lin n=20" (default: all)',
    )
    parser.add_argument("--runs", type=_positive, metavar="N", help="at most this many runs of each cell")
    parser.add_argument("--no-report", dest="report", action="store_false", help="do not write a report")
    _add_against(parser)


def _add_coco_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--suite", default="bbob-largescale", help="bbob or bbob-largescale (default: bbob-largescale)"
    )
    parser.add_argument(
        "--method",
        default=DEFAULT_METHOD,
        help=f"one of ours, or module:function (default: {DEFAULT_METHOD})",
    )
    parser.add_argument(
        "--budget",
        type=_positive,
        default=1000,
        metavar="N",
        help="evaluations per dimension (default: 1000)",
    )
    _add_selections(parser, dimensions="20,40", functions="1-5,8", instances="1-5")
    _add_jobs(parser)
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="the folder to write (default: coco/SUITE-METHOD)"
    )


def _add_selections(parser: argparse.ArgumentParser, **examples: str) -> None:
    for name, example in examples.items():
        parser.add_argument(
            f"--{name}", type=_numbers, metavar="LIST", help=f"such as {example} (default: all)"
        )


def _add_jobs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--jobs", type=_positive, metavar="N", help="the number of processes (default: one per core)"
    )


def _add_device(parser: argparse.ArgumentParser, text: str) -> None:
    parser.add_argument("--device", choices=("cpu", "gpu"), help=text)


def _add_against(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--against",
        choices=("iterations", "evaluations"),
        help="what the report shows (default: iterations for the paper's studies, evaluations for your own; "
        "the HTML page can switch)",
    )


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, but {text} was given")
    return int(text)


def _numbers(text: str) -> list[int]:
    numbers: set[int] = set()
    for part in text.split(","):
        ends = re.fullmatch(r"(\d+)(?:-(\d+))?", part.strip())
        if ends is None or not int(ends[1]) <= int(ends[2] or ends[1]) <= _LARGEST_NUMBER:
            raise argparse.ArgumentTypeError(
                f"must be numbers and ranges such as 1-5,8, but {text} was given"
            )
        numbers.update(range(int(ends[1]), int(ends[2] or ends[1]) + 1))
    return sorted(numbers)


if __name__ == "__main__":
    sys.exit(main())
