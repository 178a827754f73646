"""The command ``pursuit``: studies, COCO suites, and compiling in advance."""

from __future__ import annotations

import argparse
import inspect
import io
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pursuit import __version__
from pursuit.methods.catalogue import DEFAULT_METHOD, list_methods
from pursuit.methods.paper import READINGS
from pursuit.minimize import warmup
from pursuit.optional import how_to_install

# The modules that commands need beyond the package's own dependencies, by the extra that installs them.
_STUDY = {"study": ("filelock", "matplotlib", "plotly", "polars", "rich")}
_COCO = {**_STUDY, "coco": ("cocoex", "cocopp", "six")}
_DEVICES = ("cpu", "gpu")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Names of files need not be valid text.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        status = _run(argument_parser().parse_args(arguments))
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
    absent = {name: extra for extra, names in options.needed.items() for name in names if not find_spec(name)}
    if absent:
        verb = "is" if len(absent) == 1 else "are"
        extras = dict.fromkeys(absent.values())
        return _fail(f"{', '.join(absent)} {verb} missing: {how_to_install(*extras)}")
    from pursuit.experiments.common import StudyError

    try:
        return int(options.command(options) or 0)
    except StudyError as error:
        return _fail(str(error))


def _reproduce(options: argparse.Namespace) -> int:
    """Run a study, or what is left of it, and write its report.

    Run the paper's study, or one that you declare in a TOML file, and write a report for the browser. Every
    run is stored when it ends, so after an interruption the same command continues.

    Examples
    --------
    pursuit reproduce
    pursuit reproduce --preset full --jobs 8
    pursuit reproduce --only "problem=exp n=20" --runs 3
    pursuit reproduce mine.toml --out mine
    """
    from pursuit.experiments.study import draw_report, reproduce

    settings = {name: getattr(options, name) for name in ("reading", "only", "runs", "jobs", "device")}
    done = reproduce(options.file or options.preset, options.out, executor=options.dask, **settings)
    status = _print_failures(done.failures)
    if options.report:
        _print_report(draw_report(done.folder, options.against))
    return status


def _report(options: argparse.Namespace) -> None:
    """Rewrite the report of a stored study.

    Rewrite the figures, the tables and the report of a stored study, without running anything. A folder that
    has the tables of a report alone, and not the study, gets report.md and figures from these.

    Examples
    --------
    pursuit report reproduced/quick
    pursuit report reproduced/quick --against evaluations
    pursuit report reproduced/quick --publish docs/results/quick
    """
    from pursuit.experiments.study import draw_report, read_store
    from pursuit.experiments.study.report.tables import has_tables_alone

    if not has_tables_alone(options.folder):
        with read_store(options.folder) as store:
            _print_damaged(store.damaged())
    _print_report(draw_report(options.folder, options.against, options.device, options.publish))


def _status(options: argparse.Namespace) -> None:
    """Show how many runs of a study are done.

    Show how many runs of each cell of a study are done, and how long they took. The study may still be
    running.

    Examples
    --------
    pursuit status reproduced/quick
    """
    from pursuit.experiments.study import read_store

    with read_store(options.folder) as store:
        results, devices, unused = store.results(options.device), store.devices(), store.unused()
        _print_damaged(store.damaged())
    names = [results.name_of(entry.cell) for entry in results.cells]
    for name, entry in zip(names, results.cells, strict=True):
        each = f"  {entry.seconds / len(entry.runs):.3g} s each" if entry.runs else ""
        print(f"{name:{max(map(len, names))}}  {len(entry.runs):3} of {entry.wanted:3} runs{each}")
    done, wanted = sum(len(entry.runs) for entry in results.cells), sum(e.wanted for e in results.cells)
    print(f"{done} of {wanted} runs are done. They took {sum(e.seconds for e in results.cells):.0f} s.")
    shown = options.device or devices[0]
    print(f"Device: {shown}.")
    for other in set(devices) - {shown}:
        print(f"There are also cells of the {other}, with runs of their own: --device {other}.")
    if unused:
        print(f"{unused} more runs were made with other code, options or caps; they are kept, not used.")
    print("Made with:", ", ".join(f"{name} {value}" for name, value in results.made.items()))


def _export(options: argparse.Namespace) -> None:
    """Write runs and traces for other programs.

    Write the runs of a study and their traces to two files, as CSV or Parquet.

    Examples
    --------
    pursuit export reproduced/quick --to runs.csv
    pursuit export reproduced/quick --to runs.parquet
    """
    from pursuit.experiments.study import export, read_store

    with read_store(options.folder) as store:
        _print_damaged(store.damaged())
        for path in export(store.results(options.device), options.to):
            print(path)


def _coco(options: argparse.Namespace) -> int:
    """Run a method on a COCO suite, or on what is left of it.

    Run a method, one of ours or any function, on a COCO suite, and write data for COCO's own post-processing.
    After an interruption the same command continues.

    Examples
    --------
    pursuit coco --suite bbob --method auto --dimensions 2,5 --functions 1-5
    pursuit coco --method mine:solve --budget 100
    """
    from pursuit.experiments.coco import run_suite

    named = ("budget", "dimensions", "functions", "instances", "jobs")
    settings = {name: getattr(options, name) for name in named}
    done = run_suite(options.suite, options.method, options.out, **settings)
    status = _print_failures(done.failures)
    print(f"The data are in {done.data}: python -m cocopp {done.data}")
    return status


def _coco_profiles(options: argparse.Namespace) -> None:
    """Draw data profiles of methods on a suite.

    Draw data profiles of several methods on a suite: the share of targets that each reached, against the
    evaluations spent.

    Examples
    --------
    pursuit coco-profiles coco/bbob-auto coco/bbob-cma --out profiles.svg
    """
    from pursuit.experiments.coco import draw_profiles

    chosen = {"functions": options.functions, "dimensions": options.dimensions}
    figure, table = draw_profiles(options.folders, options.out, **chosen)
    print(f"The data profiles are in {figure}, and as a table in {table}.")


def _warmup(options: argparse.Namespace) -> int | None:
    """Compile methods now, not in their first run.

    Compile what methods need to minimise a Python function, and say how long it took. Compiled code is kept
    on disk: run this while an image is built, or before a demonstration.

    Examples
    --------
    pursuit warmup
    pursuit warmup sarp cma
    pursuit warmup all
    """
    chosen = list_methods() if options.methods == ["all"] else options.methods or [DEFAULT_METHOD]
    for method in dict.fromkeys(chosen):
        try:
            (seconds,) = warmup(method).values()
        except ValueError as error:
            return _fail(str(error))
        print(f"{method}: compiled {f'in {seconds:.1f} s' if seconds else 'before'}.", flush=True)
    return None


def _print_damaged(names: Iterable[str]) -> None:
    for name in names:
        print(f"Damaged, and not used until the study is run again: {name}.", file=sys.stderr)


def _print_report(page: Path) -> None:
    document = page.with_suffix(".md")
    print(f"The report is in {page}{'' if page == document else f', and as Markdown in {document}'}.")


def _print_failures(failures: Sequence[object]) -> int:
    """Print what failed, and return the exit status."""
    for failure in failures:
        print(f"Failed: {failure}", file=sys.stderr)
    return 1 if failures else 0


def _fail(sentence: str, status: int = 1) -> int:
    print(f"pursuit: {sentence.removesuffix('.')}.", file=sys.stderr)
    return status


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, but {text} was given")
    return int(text)


def _numbers(text: str) -> list[int]:
    numbers: set[int] = set()
    for part in text.split(","):
        ends = re.fullmatch(r"(\d{1,6})(?:-(\d{1,6}))?", part.strip())
        chosen = range(int(ends[1]), int(ends[2] or ends[1]) + 1) if ends else ()
        if not chosen:
            raise argparse.ArgumentTypeError(
                f"must be numbers and ranges such as 1-5,8, but {text} was given"
            )
        numbers.update(chosen)
    return sorted(numbers)


def argument_parser() -> argparse.ArgumentParser:
    """Return what reads the arguments of the command."""
    parser = argparse.ArgumentParser(
        prog="pursuit",
        description="Run studies, run methods on COCO suites, and compile methods in advance.",
        epilog="`pursuit COMMAND --help` describes a command and gives examples.",
    )
    parser.add_argument("--version", action="version", version=f"pursuit {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command, (needed, *options) in COMMANDS.items():
        # What it does is in its docstring, which Python can be told to leave out.
        line, description, examples = [*(inspect.getdoc(command) or "").split("\n\n"), "", ""][:3]
        added = commands.add_parser(
            command.__name__.lstrip("_").replace("_", "-"),
            help=line[:1].lower() + line[1:].rstrip("."),
            description=description,
            epilog="\n  ".join(["examples:", *examples.splitlines()[2:]]),
            formatter_class=_ExamplesAsTheyAre,
        )
        added.set_defaults(command=command, needed=needed)
        for one in options:
            place = added.add_mutually_exclusive_group() if isinstance(one, list) else added
            for names, settings in one if isinstance(one, list) else [one]:
                place.add_argument(*names, **settings)
    return parser


class _ExamplesAsTheyAre(argparse.HelpFormatter):
    """Wraps descriptions, and leaves the lines of examples as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if text.startswith("examples:") else super()._fill_text(text, width, indent)


def _option(*names: str, **settings: Any) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Return an option, as `add_argument` takes it."""
    return names, settings


def _path(name: str, what: str, metavar: str = "DIR", **settings: Any) -> tuple[Any, ...]:
    return _option(name, type=Path, metavar=metavar, help=what, **settings)


def _list(name: str, example: str) -> tuple[Any, ...]:
    return _option(name, type=_numbers, metavar="LIST", help=f"such as {example} (default: all)")


def _count(name: str, what: str, default: int | None = None) -> tuple[Any, ...]:
    return _option(name, type=_positive, metavar="N", default=default, help=what)


_FOLDER = _path("folder", "the folder of a study")
_JOBS = _count("--jobs", "the number of processes (default: one per core)")
_WHOSE = _option("--device", choices=_DEVICES, help="whose runs to read (default: those that ran last)")
_AGAINST = _option(
    "--against",
    choices=("iterations", "evaluations"),
    help="what the report shows (default: iterations for the paper's studies, evaluations for your own)",
)
_PRESET = _option(
    "--preset",
    choices=("quick", "main", "full", "rivals"),
    default="quick",
    help="the paper's study in three sizes, or its methods beside others: rivals (default: quick)",
)
# Each command, with the modules that it needs, and its options; of options in a list one at most is given.
COMMANDS: dict[Callable[[argparse.Namespace], int | None], tuple[Any, ...]] = {
    _reproduce: (
        _STUDY,
        [_path("file", "a study of your own, in TOML", "FILE", nargs="?"), _PRESET],
        _option("--reading", choices=(*READINGS, "all"), help="that of the paper (default: as declared)"),
        _path("--out", "the folder to write (default: reproduced/NAME)"),
        _option("--device", choices=_DEVICES, help="what executes the runs (default: as declared, else cpu)"),
        _JOBS,
        _option("--dask", metavar="ADDRESS", help="a Dask scheduler, tcp://HOST:PORT, or local to start one"),
        _option("--only", default="", metavar="EXPR", help='cells, as "problem=exp,lin n=20" (default: all)'),
        _count("--runs", "at most this many runs of each cell"),
        _option("--no-report", dest="report", action="store_false", help="do not write a report"),
        _AGAINST,
    ),
    _report: (
        _STUDY,
        _FOLDER,
        _WHOSE,
        _AGAINST,
        _path("--publish", "a folder for report.md, its pictures and packed tables, instead"),
    ),
    _status: (_STUDY, _FOLDER, _WHOSE),
    _export: (_STUDY, _FOLDER, _WHOSE, _path("--to", "as .csv or .parquet", "FILE", required=True)),
    _coco: (
        _COCO,
        _option(
            "--suite",
            default="bbob-largescale",
            help="bbob, bbob-noisy, bbob-boxed, bbob-constrained or, by default, bbob-largescale",
        ),
        _option("--method", default=DEFAULT_METHOD, help=f"or module:function (default: {DEFAULT_METHOD})"),
        _count("--budget", "evaluations per dimension (default: 1000)", 1000),
        _list("--dimensions", "20,40"),
        _list("--functions", "1-5,8"),
        _list("--instances", "1-5"),
        _JOBS,
        _path("--out", "the folder to write (default: coco/SUITE-METHOD)"),
    ),
    _coco_profiles: (
        _COCO,
        _path("folders", "folders of `pursuit coco`, one per method", nargs="+"),
        _list("--dimensions", "20,40"),
        _list("--functions", "10-14"),
        _path("--out", "the file to write, as .svg, .png or .pdf", "FILE", required=True),
    ),
    _warmup: ({}, _option("methods", nargs="*", metavar="METHOD", help=f"default: {DEFAULT_METHOD}")),
}
