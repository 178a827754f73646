"""Run solvers on the problems of CUTEst, and print the shares of problems that they solve.

``python -m benchmarks.cutest run`` makes the runs that are not stored, and resumes after an interruption.
``profile`` prints tables of the stored runs, ``page`` writes them into ``docs/results/cutest``, and
``measure`` writes the list of problems anew.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from benchmarks.cutest import page
from benchmarks.cutest.problems import SETS, Listed, listed, measure
from benchmarks.cutest.profiles import Cases, Miss, cases_of, misses, precisions_of, tables, update_minima
from benchmarks.cutest.running import FEATURES, FOLDER, Plan, run_missing
from benchmarks.cutest.solvers import PEERS, name_of, named
from pursuit.experiments.common.formatting import power


def main() -> None:
    options = _parser().parse_args()
    if options.command == "measure":
        measure(_say)
    elif options.command == "page":
        _say(f"The page is {page.write(options.folder, options.solvers, options.out)}.")
    elif options.command == "run":
        for spec in options.solvers:
            for feature in options.feature:
                plan = Plan(
                    feature, _problems(options), options.seeds, options.budget, options.time_limit,
                    options.again, options.keep,
                )  # fmt: skip
                run_missing(named(spec), plan, jobs=options.jobs, folder=options.folder, say=_say)
    else:
        _profile(options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.cutest", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("measure", help="write the list of problems, with the time of a value")
    run, profile = commands.add_parser("run"), commands.add_parser("profile")
    written = commands.add_parser("page")
    for command in (run, profile, written):
        command.add_argument(
            "--solvers", nargs="+", default=[*PEERS, "auto"], metavar="NAME",
            help=f"{', '.join(PEERS)}, a method of ours, or NAME=MODULE:FUNCTION",
        )  # fmt: skip
        command.add_argument("--folder", type=Path, default=FOLDER, metavar="DIR", help="of the stored runs")
    for command in (run, profile):
        command.add_argument("--set", nargs="+", choices=SETS, default=list(SETS[:1]), dest="sets")
        command.add_argument("--feature", nargs="+", choices=FEATURES, default=list(FEATURES[:1]))
        command.add_argument("--cheap", action="store_true", help="only where 100 n values take under 3 s")
        command.add_argument("--every", type=int, default=1, metavar="K", help="only each K-th problem")
        command.add_argument("--problems", nargs="+", metavar="NAME", help="only these of the set")
    run.add_argument("--budget", type=int, default=100, help="of evaluations, divided by n")
    run.add_argument("--seeds", type=int, default=1, help="how many")
    run.add_argument("--jobs", type=int, default=1, help="how many runs at a time")
    run.add_argument("--time-limit", type=float, default=300.0, metavar="SECONDS", help="for each run")
    run.add_argument("--again", action="store_true", help="also the runs that are stored")
    run.add_argument("--keep", action="store_true", help="keep runs that other versions of ours have made")
    profile.add_argument(
        "--misses", type=int, nargs="?", const=1000, metavar="K",
        help="also the K problems on which the last solver loses most to the others",
    )  # fmt: skip
    profile.add_argument("--update-minima", action="store_true", help="keep the lowest values found")
    written.add_argument("--out", type=Path, default=page.FOLDER, metavar="DIR")
    return parser


def _problems(options: argparse.Namespace) -> list[Listed]:
    found = [one for group in options.sets for one in listed(group, options.cheap, options.every)]
    return [one for one in found if not options.problems or one.name in options.problems]


def _profile(options: argparse.Namespace) -> None:
    if options.update_minima:
        _say(f"{update_minima(options.folder)} minima are lower than those that were known.")
    solvers = [name_of(spec) for spec in options.solvers]
    for feature in options.feature:
        cases = cases_of(options.folder, solvers, feature, _problems(options))
        taus = " / ".join(power(precision) for precision in precisions_of(feature))
        _say(f"\n{', '.join(options.sets)}, {feature}: % solved to τ = {taus}")
        if not cases.problems:
            _say("There is no problem with stored runs of all these solvers.")
        for title, rows in tables(cases, solvers, feature).items():
            _say(f"\n{title}")
            for row in rows:
                _say("".join(f"{cell:<22}" for cell in row).rstrip())
        if options.misses:
            _print_misses(cases, solvers, feature, options.misses)


def _print_misses(cases: Cases, solvers: list[str], feature: str, most: int) -> None:
    ours, peers = solvers[-1], solvers[:-1]
    _say(f"\nEvaluations / n to each τ of {ours} | of the best peer, and which it is; worst first")
    for miss in misses(cases, ours, peers, feature)[:most]:
        _say(_miss_line(miss))


def _miss_line(miss: Miss) -> str:
    one = miss.problem
    ours, peers = ("".join(_shown(number) for number in numbers) for numbers in (miss.ours, miss.peers))
    best = " ".join(dict.fromkeys(name for name in miss.best if name))
    return f"{miss.loss:6.2f} {one.name:<14}{one.n:4} {one.kind[0]} {ours} |{peers}  {best}"


def _shown(number: float) -> str:
    return f"{number:7.1f}" if math.isfinite(number) else "      -"


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    main()
