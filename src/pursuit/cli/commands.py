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
from pursuit.methods.options import READINGS
from pursuit.optional import how_to_install
from pursuit.warmup import warmup

# The modules that commands need beyond the package's own dependencies, by the extra that installs them.
_STUDY = {"study": ("filelock", "matplotlib", "plotly", "polars", "rich")}
_COCO = {**_STUDY, "coco": ("cocoex", "cocopp", "six")}
_PRESETS, _DEVICES = ("quick", "main", "full", "rivals"), ("cpu", "gpu")
_MEASURES = ("iterations", "evaluations")
_WHICH = "the paper's study in three sizes, or its methods beside others: rivals (default: quick)"
_JOBS = "the number of processes (default: one per core)"
_AGAINST = "what the report shows (default: iterations for the paper's studies, evaluations for your own)"
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

    settings = _chosen(options, "reading", "only", "runs", "jobs", "device")
    done = reproduce(options.file or options.preset, options.out, executor=options.dask, **settings)
    status = _print_failures(done.failures)
    if options.report:
        _print_report(draw_report(done.folder, options.against))
    return status


def _report(options: argparse.Namespace) -> int:
    """Rewrite the report of a stored study.

    Rewrite the figures, the tables and the report of a stored study, without running anything. A folder that
    has the tables of a report alone, and not the study, gets report.md and figures from these.

    Examples
    --------
    pursuit report reproduced/quick
    pursuit report reproduced/quick --against evaluations
    """
    from pursuit.experiments.study import draw_report, read_store
    from pursuit.experiments.study.report.tables import has_tables_alone

    if not has_tables_alone(options.folder):
        with read_store(options.folder) as store:
            _print_damaged(store.damaged())
    _print_report(draw_report(options.folder, options.against, options.device))
    return 0


def _status(options: argparse.Namespace) -> int:
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
    shown = options.device or devices[0]
    width = max((len(results.name_of(entry.cell)) for entry in results.cells), default=0)
    for entry in results.cells:
        done, each = len(entry.runs), f"  {entry.seconds / len(entry.runs):.3g} s each" if entry.runs else ""
        print(f"{results.name_of(entry.cell):{width}}  {done:3} of {entry.wanted:3} runs{each}")
    done, wanted = sum(len(entry.runs) for entry in results.cells), sum(e.wanted for e in results.cells)
    print(f"{done} of {wanted} runs are done. They took {sum(e.seconds for e in results.cells):.0f} s.")
    print(f"Device: {shown}.")
    for other in devices:
        if other != shown:
            print(f"There are also cells of the {other}, with runs of their own: --device {other}.")
    if unused:
        print(f"{unused} more runs were made with other code, options or caps; they are kept, not used.")
    print("Made with:", ", ".join(f"{name} {value}" for name, value in results.made.items()))
    return 0


def _export(options: argparse.Namespace) -> int:
    """Write runs and traces for other programs.

    Write the runs of a study and their traces to two files, as CSV or Parquet.

    Examples
    --------
    pursuit export reproduced/quick --to runs.csv
    pursuit export reproduced/quick --to runs.parquet
    """
    from pursuit.experiments.study import read_store
    from pursuit.experiments.study.export import export

    with read_store(options.folder) as store:
        _print_damaged(store.damaged())
        for path in export(store.results(options.device), options.to):
            print(path)
    return 0


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

    settings = _chosen(options, "budget", "dimensions", "functions", "instances", "jobs")
    done = run_suite(options.suite, options.method, options.out, **settings)
    status = _print_failures(done.failures)
    print(f"The data are in {done.data}: python -m cocopp {done.data}")
    return status


def _coco_profiles(options: argparse.Namespace) -> int:
    """Draw data profiles of methods on a suite.

    Draw data profiles of several methods on a suite: the share of targets that each reached, against the
    evaluations spent.

    Examples
    --------
    pursuit coco-profiles coco/bbob-auto coco/bbob-cma --out profiles.svg
    """
    from pursuit.experiments.coco import draw_profiles

    chosen = _chosen(options, "functions", "dimensions")
    figure, table = draw_profiles(options.folders, options.out, **chosen)
    print(f"The data profiles are in {figure}, and as a table in {table}.")
    return 0


def _warmup(options: argparse.Namespace) -> int:
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


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="pursuit",
        description="Run studies, run methods on COCO suites, and compile methods in advance.",
        epilog="`pursuit COMMAND --help` describes a command and gives examples.",
    )
    parser.add_argument("--version", action="version", version=f"pursuit {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command, (add_options, needed) in COMMANDS.items():
        name = command.__name__.lstrip("_").replace("_", "-")
        # What it does is in its docstring, which Python can be told to leave out.
        line, description, examples = [*(inspect.getdoc(command) or "").split("\n\n"), "", ""][:3]
        added = commands.add_parser(
            name,
            help=line[:1].lower() + line[1:].rstrip("."),
            description=description,
            epilog="\n  ".join(["examples:", *examples.splitlines()[2:]]),
            formatter_class=_ExamplesAsTheyAre,
        )
        added.set_defaults(command=command, needed=needed)
        add_options(added)
    return parser


class _ExamplesAsTheyAre(argparse.HelpFormatter):
    """Wraps descriptions, and leaves the lines of examples as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if text.startswith("examples:") else super()._fill_text(text, width, indent)


def _add_reproduce_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    study = parser.add_mutually_exclusive_group()
    study.add_argument("file", nargs="?", type=Path, metavar="FILE", help="a study of your own, in TOML")
    study.add_argument("--preset", choices=_PRESETS, default="quick", help=_WHICH)
    add("--reading", choices=(*READINGS, "all"), help="the reading of the paper (default: as declared)")
    add("--out", type=Path, metavar="DIR", help="the folder to write (default: reproduced/NAME)")
    add("--device", choices=_DEVICES, help="what executes the runs (default: as declared, else cpu)")
    add("--jobs", type=_positive, metavar="N", help=_JOBS)
    add("--dask", metavar="ADDRESS", help="a Dask scheduler, tcp://HOST:PORT, or local to start one")
    add("--only", default="", metavar="EXPR", help='cells, such as "problem=exp,lin n=20" (default: all)')
    add("--runs", type=_positive, metavar="N", help="at most this many runs of each cell")
    add("--no-report", dest="report", action="store_false", help="do not write a report")
    add("--against", choices=_MEASURES, help=_AGAINST)


def _add_stored_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("folder", type=Path, metavar="DIR", help="the folder of a study")
    add("--device", choices=_DEVICES, help="whose runs to read (default: those of the device that ran last)")


def _add_report_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    _add_stored_options(parser)
    add("--against", choices=_MEASURES, help=_AGAINST)


def _add_export_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    _add_stored_options(parser)
    add("--to", type=Path, required=True, metavar="FILE", help="the file to write, as .csv or .parquet")


def _add_coco_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--suite", default="bbob-largescale", help="bbob or bbob-largescale (default: bbob-largescale)")
    add("--method", default=DEFAULT_METHOD, help=f"ours, or module:function (default: {DEFAULT_METHOD})")
    add(
        "--budget",
        type=_positive,
        default=1000,
        metavar="N",
        help="evaluations per dimension (default: 1000)",
    )
    _add_selections(parser, dimensions="20,40", functions="1-5,8", instances="1-5")
    add("--jobs", type=_positive, metavar="N", help=_JOBS)
    add("--out", type=Path, metavar="DIR", help="the folder to write (default: coco/SUITE-METHOD)")


def _add_profiles_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("folders", nargs="+", type=Path, metavar="DIR", help="folders of `pursuit coco`, one per method")
    _add_selections(parser, dimensions="20,40", functions="10-14")
    add("--out", type=Path, required=True, metavar="FILE", help="the file to write, as .svg, .png or .pdf")


def _add_warmup_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("methods", nargs="*", metavar="METHOD", help=f"the methods, or all (default: {DEFAULT_METHOD})")


def _add_selections(parser: argparse.ArgumentParser, **examples: str) -> None:
    for name, example in examples.items():
        parser.add_argument(
            f"--{name}", type=_numbers, metavar="LIST", help=f"such as {example} (default: all)"
        )


_AddOptions = Callable[[argparse.ArgumentParser], None]
# Each command, with what adds its options, and the modules that it needs.
COMMANDS: dict[Callable[[argparse.Namespace], int], tuple[_AddOptions, dict[str, Any]]] = {
    _reproduce: (_add_reproduce_options, _STUDY),
    _report: (_add_report_options, _STUDY),
    _status: (_add_stored_options, _STUDY),
    _export: (_add_export_options, _STUDY),
    _coco: (_add_coco_options, _COCO),
    _coco_profiles: (_add_profiles_options, _COCO),
    _warmup: (_add_warmup_options, {}),
}


if __name__ == "__main__":
    sys.exit(main())
