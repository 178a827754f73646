"""The report on a set of problems, as Markdown, from the stored rows alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.pages import run_picture, values_figures
from benchmarks.pages.profiles import (
    TABLE_BUDGETS,
    Cases,
    ProblemKey,
    Profile,
    below_minimum,
    cases_of,
    median_error,
    median_evaluations,
    profiles_of,
    solvers_of,
)
from benchmarks.pages.stamp import stamp
from benchmarks.problems.sets import CHOOSING, ROUGH_CHOOSING, SETS
from benchmarks.recording import ERROR
from benchmarks.runs import SKIPPED, read_rows
from benchmarks.suites.values import FILE, NOISY_PRECISIONS, PRECISIONS, Row, named
from pursuit.experiments.common.formatting import power, table

_DETAIL_PRECISION = 1e-5
_DETAIL_BUDGETS = (100, 500)


def texts(folder: Path) -> dict[Path, str]:
    """Return a report on each set that has rows."""
    return {folder / f"{group}.md": text_of(rows, group, folder) for group, rows in _rows_of(folder).items()}


def draw(folder: Path) -> None:
    """Draw the figures of the reports, and a run of `differences` for the page on it."""
    for group, rows in _rows_of(folder).items():
        values_figures.draw(rows, folder / "figures", group)
    run_picture.write(folder / "figures")


def _rows_of(folder: Path) -> dict[str, list[Row]]:
    rows = read_rows(folder / FILE, Row)
    found = {group: [row for row in rows if row.group == group] for group in SETS}
    # A report compares ours with others.
    return {group: some for group, some in found.items() if any(named(row.solver).ours for row in some)}


def text_of(rows: Sequence[Row], group: str, folder: Path | None = None) -> str:
    """Return the report on the rows of a set."""
    smooth, noisy = [row for row in rows if not row.noisy], [row for row in rows if row.noisy]
    parts = [_head(rows, group)]
    parts += [f"![{title}](figures/{name})" for name, title in values_figures.titles(rows, group).items()]
    if smooth:
        parts += _smooth_parts(smooth)
    if noisy:
        parts += _noisy_parts(noisy)
    return "\n\n".join([*parts, *_remarks(rows), stamp("make bench-values", rows, named, folder)])


def _head(rows: Sequence[Row], group: str) -> str:
    use = "that rules were chosen on" if group in (CHOOSING, ROUGH_CHOOSING) else "that no rule was chosen on"
    seeds = max((row.seed for row in rows), default=0)
    return (
        f"# Problems {use}\n\n"
        "The share of problems, in per cent, that a method solves: f - f\\* <= τ (f0 - f\\*), where f\\* is "
        f"the smallest value known. There are {seeds} seeds, for random numbers and noise; a method without "
        "random numbers runs once where there is no noise. All methods begin at the same point with the "
        "same first step size, 1. Without noise the best value so far counts; with noise the true value at "
        "the point that the method returns, each budget in a run of its own."
    )


# --- without noise ---------------------------------------------------------------------------------


def _smooth_parts(rows: Sequence[Row]) -> list[str]:
    return [
        "## Without noise",
        _profile_table(profiles_of(rows), PRECISIONS),
        f"### Evaluations / n to τ = {power(_DETAIL_PRECISION)}",
        "Medians; ∞ where most runs fail within 500 n, and a dash where the method was not run.",
        _problem_table(rows, lambda cases, key: median_evaluations(cases, key, _DETAIL_PRECISION), "{:.1f}"),
    ]


_BUDGETS_IN_WORDS = " / ".join(f"{budget} n" for budget in TABLE_BUDGETS)


def _profile_table(profiles: Sequence[Profile], precisions: Sequence[float]) -> str:
    lines = [
        [one.solver, str(one.problems)]
        + [
            " / ".join(f"{100 * one.shares[budget, precision]:.0f}" for budget in TABLE_BUDGETS)
            for precision in precisions
        ]
        for one in profiles
    ]
    header = ["method", "problems", *(f"τ = {power(precision)}" for precision in precisions)]
    return f"At {_BUDGETS_IN_WORDS} evaluations:\n\n{table(header, lines)}"


# --- with noise ------------------------------------------------------------------------------------


def _noisy_parts(rows: Sequence[Row]) -> list[str]:
    parts = ["## With noise", _profile_table(profiles_of(rows, NOISY_PRECISIONS), NOISY_PRECISIONS)]
    for budget in _DETAIL_BUDGETS:
        parts += [
            f"### (f - f\\*)/(f0 - f\\*) at the point returned after {budget} n",
            _problem_table(rows, _error_getter(budget), "{:.1e}"),
        ]
    return parts


def _error_getter(budget: float) -> Callable[[Cases, ProblemKey], float | None]:
    return lambda cases, key: median_error(cases, key, budget)


# --- both ------------------------------------------------------------------------------------------


def _problem_table(
    rows: Sequence[Row], number: Callable[[Cases, ProblemKey], float | None], form: str
) -> str:
    """Return a table with a line for each problem and a column for each method."""
    found = {solver: cases_of(rows, solver) for solver in solvers_of(rows)}
    keys = sorted(
        {ProblemKey(row.problem, row.n) for row in rows}, key=lambda key: (key.problem.lower(), key.n)
    )
    lines = [
        [key.problem, str(key.n), *(_shown(number(cases, key), form) for cases in found.values())]
        for key in keys
    ]
    return table(["problem", "n", *found], lines)


def _shown(number: float | None, form: str) -> str:
    if number is None:
        return "—"
    return form.format(number) if math.isfinite(number) else "∞"


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
        known = lowest.setdefault(key, row)
        if row.value_at(TABLE_BUDGETS[-1]) < known.value_at(TABLE_BUDGETS[-1]):
            lowest[key] = row
    for row in lowest.values():
        lines.append(
            f"- {row.solver} found {row.value_at(TABLE_BUDGETS[-1]):.10g} on {row.problem}, n = {row.n}, "
            f"below the smallest value known, {row.minimum:.10g}."
        )
    return ["## Remarks", "\n".join(lines)] if lines else []
