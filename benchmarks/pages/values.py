"""The report on a set of problems, as Markdown, from the stored rows alone."""

from __future__ import annotations

import functools
import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.pages import profiles, run_picture
from benchmarks.pages.stamp import filled, stamp
from benchmarks.problems.sets import CHOOSING, ROUGH_CHOOSING, SETS
from benchmarks.recording import ERROR
from benchmarks.runs import MISSING, SKIPPED, read_rows
from benchmarks.suites import values as suite
from benchmarks.suites.values import NOISY_BUDGETS, NOISY_PRECISIONS, PRECISIONS, SPSA, Row
from pursuit.experiments.common.formatting import power, table

BEST_SPSA = f"{SPSA}, best of four gains"
_ORDER = (*suite.OURS, *suite.PEERS, *suite.SPSAS)
_DETAIL_PRECISION = 1e-5
_DETAIL_BUDGETS = (100, 500)
# How much lower than the known minimum a value must be to be reported, in units of f0 - f*.
_LOWER = 1e-6


class ProblemKey(NamedTuple):
    """What identifies a problem."""

    problem: str
    n: int


def texts(folder: Path) -> dict[Path, str]:
    """Return a report on each set that has rows."""
    return {folder / f"{group}.md": text_of(rows, group, folder) for group, rows in _rows_of(folder).items()}


def draw(folder: Path) -> None:
    """Draw the figures of the reports, and a run of `differences` for the page on it."""
    for group, rows in _rows_of(folder).items():
        for noisy, name in _kinds(rows, group).items():
            precisions = NOISY_PRECISIONS if noisy else PRECISIONS
            curves = {
                method: {tau: functools.partial(profiles.share, cases, tau) for tau in precisions}
                for method, cases in methods_of(row for row in rows if row.noisy == noisy).items()
            }
            span = (NOISY_BUDGETS[0] / 1.3 if noisy else suite.BUDGETS[0], float(NOISY_BUDGETS[-1]))
            profiles.draw(curves, span, folder / "figures", name, NOISY_BUDGETS if noisy else ())
    run_picture.write(folder / "figures")


def _kinds(rows: Iterable[Row], group: str) -> dict[bool, str]:
    """Return the names of the figures on the rows of a set, without noise and with."""
    there = {row.noisy for row in rows}
    names = {False: f"{group}-smooth", True: f"{group}-noisy"}
    return {noisy: name for noisy, name in names.items() if noisy in there}


def _rows_of(folder: Path) -> dict[str, list[Row]]:
    rows = read_rows(folder / suite.FILE, Row)
    found = {group: [row for row in rows if row.group == group] for group in SETS}
    # A report compares ours with others.
    return {group: some for group, some in found.items() if any(suite.named(row.solver).ours for row in some)}


# --- rows by method and problem --------------------------------------------------------------------


def cases_of(rows: Iterable[Row], solver: str) -> dict[ProblemKey, list[Row]]:
    """Return the rows of a method by problem, without those of packages that are not installed."""
    found: dict[ProblemKey, list[Row]] = {}
    for row in rows:
        if row.solver == solver and row.status != MISSING:
            found.setdefault(ProblemKey(row.problem, row.n), []).append(row)
    return found


def solvers_of(rows: Iterable[Row]) -> list[str]:
    """Return the methods that have rows: ours, those of earlier versions, and those of other packages."""
    names = dict.fromkeys(row.solver for row in rows if row.status != MISSING)
    return sorted(names, key=lambda name: _ORDER.index(name) if name in _ORDER else len(suite.OURS) - 0.5)


def methods_of(rows: Iterable[Row]) -> dict[str, list[profiles.Case]]:
    """Return the problems of all methods; SPSA with the best gain for each problem counts as one method."""
    rows = list(rows)
    found: dict[str, dict[ProblemKey, list[list[Row]]]] = {}
    for solver in solvers_of(rows):
        problems = found.setdefault(BEST_SPSA if solver.startswith(SPSA) else solver, {})
        for key, runs in cases_of(rows, solver).items():
            problems.setdefault(key, []).append(runs)
    return {
        method: [functools.partial(_solved, gains) for gains in problems.values()]
        for method, problems in found.items()
    }


def _solved(gains: Sequence[Sequence[Row]], precision: float, budget: float) -> float:
    """Return the share of runs that solve a problem, with the best gain."""
    return max(sum(row.solves(precision, budget) for row in runs) / len(runs) for runs in gains)


def below_minimum(rows: Iterable[Row]) -> list[Row]:
    """Return rows with a value below what is known as the minimum, which must then be found anew."""
    return [row for row in rows if row.evaluations is not None and row.error_at(suite.BUDGETS[-1]) < -_LOWER]


# --- the report ------------------------------------------------------------------------------------


def text_of(rows: Sequence[Row], group: str, folder: Path | None = None) -> str:
    """Return the report on the rows of a set."""
    smooth, noisy = [row for row in rows if not row.noisy], [row for row in rows if row.noisy]
    parts = [_head(rows, group)]
    for is_noisy, name in _kinds(rows, group).items():
        parts.append(f"![Problems solved, {'with' if is_noisy else 'without'} noise](figures/{name}.png)")
    if smooth:
        parts += [
            "## Without noise",
            _profile_table(smooth, PRECISIONS),
            f"### Evaluations / n to τ = {power(_DETAIL_PRECISION)}",
            "Medians; ∞ where most runs fail within 500 n, and a dash where the method was not run.",
            _problem_table(smooth, lambda row: row.evaluations_to(_DETAIL_PRECISION) / row.n, "{:.1f}"),
        ]
    if noisy:
        parts += ["## With noise", _profile_table(noisy, NOISY_PRECISIONS)]
    for budget in _DETAIL_BUDGETS if noisy else ():
        error = functools.partial(Row.error_at, budget=budget)
        parts.append(f"### (f - f\\*)/(f0 - f\\*) at the point returned after {budget} n")
        parts.append(_problem_table(noisy, error, "{:.1e}"))
    return "\n\n".join([*parts, *_remarks(rows), stamp("make bench-values", rows, suite.named, folder)])


def _head(rows: Sequence[Row], group: str) -> str:
    use = "that rules were chosen on" if group in (CHOOSING, ROUGH_CHOOSING) else "that no rule was chosen on"
    seeds = max((row.seed for row in rows), default=0)
    return filled("values", use=use, seeds=seeds)


def _profile_table(rows: Sequence[Row], precisions: Sequence[float]) -> str:
    lines = [
        [method, str(len(cases))]
        + [profiles.percentages(cases, ((tau, budget) for budget in NOISY_BUDGETS)) for tau in precisions]
        for method, cases in methods_of(rows).items()
    ]
    header = ["method", "problems", *(f"τ = {power(precision)}" for precision in precisions)]
    budgets = " / ".join(f"{budget} n" for budget in NOISY_BUDGETS)
    return f"At {budgets} evaluations:\n\n{table(header, lines)}"


def _problem_table(rows: Sequence[Row], number: Callable[[Row], float], form: str) -> str:
    """Return a table of medians with a line for each problem and a column for each method."""
    found = {solver: cases_of(rows, solver) for solver in solvers_of(rows)}

    def shown(runs: Sequence[Row]) -> str:
        numbers = [number(row) for row in runs if row.evaluations is not None]
        median = statistics.median(numbers) if numbers else math.nan
        return "—" if math.isnan(median) else form.format(median) if math.isfinite(median) else "∞"

    keys = {ProblemKey(row.problem, row.n) for row in rows}
    lines = [
        [key.problem, str(key.n), *(shown(cases.get(key, [])) for cases in found.values())]
        for key in sorted(keys, key=lambda key: (key.problem.lower(), key.n))
    ]
    return table(["problem", "n", *found], lines)


def _remarks(rows: Sequence[Row]) -> list[str]:
    """Return what a reader must know of runs that were not made, failed, or found more than was known."""
    lines = []
    for solver in solvers_of(rows):
        mine = [row for row in rows if row.solver == solver]
        skipped = {(row.problem, row.n) for row in mine if row.status == SKIPPED}
        failed = [row for row in mine if row.status == ERROR]
        if skipped:
            lines.append(f"- {solver} was not run on {len(skipped)} problems with many variables.")
        if failed:
            lines.append(f"- {solver} failed in {len(failed)} runs, the first with: {failed[0].detail}")
    lowest: dict[ProblemKey, Row] = {}
    for row in below_minimum(rows):
        key = ProblemKey(row.problem, row.n)
        lowest[key] = min(lowest.get(key, row), row, key=lambda one: one.value_at(suite.BUDGETS[-1]))
    for row in lowest.values():
        lines.append(
            f"- {row.solver} found {row.value_at(suite.BUDGETS[-1]):.10g} on {row.problem}, n = {row.n}, "
            f"below the smallest value known, {row.minimum:.10g}."
        )
    return ["## Remarks", "\n".join(lines)] if lines else []
