"""What it costs `auto` to choose: its evaluations beside the better of `differences` and `evolution`.

``python -m benchmarks.values.choice`` reads the rows that ``python -m benchmarks.values --methods auto
differences evolution --most 100 --seeds 3 --out docs/results/choice`` has made, writes ``choice.md`` beside
them, and draws a run of `auto` that changes the method, ``figures/choice.png``.
"""

from __future__ import annotations

import argparse
import math
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from matplotlib.figure import Figure

import pursuit
from benchmarks.peers.records import read_rows
from benchmarks.reporting import made_by, verdict
from benchmarks.values.problems import ROUGH_CHOOSING, SETS, problem_named
from benchmarks.values.profiles import Cases, ProblemKey, cases_of, median_error, median_evaluations
from benchmarks.values.rows import FILE, PRECISIONS, Row
from pursuit.experiments.common.files import write_file
from pursuit.experiments.common.formatting import power, table
from pursuit.experiments.common.plotting import COLOURS, label_powers, print_style, save

FOLDER = Path("docs/results/choice")
AUTO, CHOICES = "auto", ("differences", "evolution")
MEAN_COST, COST = 1.15, 1.5
"""What choosing may cost in the geometric mean, and on a problem."""
KNOWN_BY = 100
"""The evaluations, divided by n, by which the better method must have got there to count for the second."""
# A run that did not get there counts as if it had with the last evaluation of its budget.
_BUDGET = 500
_SHOWN = 1e-5
_NOISY_BUDGETS = (100, 500)
PICTURE = (ROUGH_CHOOSING, "weighted absolutes", 20)


class Cost(NamedTuple):
    """What choosing costs on a problem, to a precision."""

    group: str
    key: ProblemKey
    precision: float
    better: str
    evaluations: float
    """Those of the better method, divided by n."""
    ratio: float


def costs_of(rows: Sequence[Row], group: str) -> list[Cost]:
    """Return the costs on the problems of a set without noise that one of the two methods solves."""
    selected = [row for row in rows if row.group == group and not row.noisy]
    cases = {name: cases_of(selected, name) for name in (AUTO, *CHOICES)}
    found = []
    for key in cases[AUTO]:
        for precision in PRECISIONS:
            spent = {name: _evaluations(cases[name], key, precision) for name in cases}
            better = min(CHOICES, key=lambda name: spent[name])
            if math.isfinite(spent[better]):
                ratio = min(spent[AUTO], _BUDGET) / spent[better]
                found.append(Cost(group, key, precision, better, spent[better], ratio))
    return found


def _evaluations(cases: Cases, key: ProblemKey, precision: float) -> float:
    found = median_evaluations(cases, key, precision)
    return math.inf if found is None else found


def text_of(rows: Sequence[Row]) -> str:
    """Return the report."""
    groups = [group for group in SETS if any(row.group == group for row in rows)]
    costs = [cost for group in groups for cost in costs_of(rows, group)]
    parts = [
        "# What choosing costs",
        "Evaluations of `auto` divided by those of the better of `differences` and `evolution`, medians of "
        f"all seeds, for every problem without noise and every precision τ of {_listed(PRECISIONS)} that the "
        f"better method reaches within {_BUDGET} n. Rules were chosen on the sets with *choosing* in their "
        "names.",
        _summary(costs, groups),
        f"## Where it costs more than {COST:g}",
        _dear(costs),
        f"## Evaluations / n to τ = {power(_SHOWN)}",
        _evaluations_table(rows, groups),
        "## With noise: (f - f\\*)/(f0 - f\\*) at the point returned",
        _noisy_table(rows, groups),
    ]
    return "\n\n".join([*parts, made_by("benchmarks.values.choice")])


def _listed(numbers: Sequence[float]) -> str:
    return ", ".join(power(number) for number in numbers)


def _summary(costs: Sequence[Cost], groups: Sequence[str]) -> str:
    lines = []
    for group in [*groups, "all"]:
        own = [cost for cost in costs if group in (cost.group, "all")]
        if own:
            known = [cost.ratio for cost in own if cost.evaluations <= KNOWN_BY]
            lines.append(
                [
                    group, str(len(own)),
                    verdict(statistics.geometric_mean(cost.ratio for cost in own), MEAN_COST),
                    verdict(max(known, default=1.0), COST),
                    f"{sum(ratio > COST for ratio in known)} of {len(known)}",
                ]
            )  # fmt: skip
    header = ["set", "cases", "geometric mean", f"largest, solved by {KNOWN_BY} n", f"above {COST:g}"]
    return table(header, lines)


def _dear(costs: Sequence[Cost]) -> str:
    lines = [
        [cost.group, cost.key.problem, str(cost.key.n), power(cost.precision), cost.better,
         f"{cost.evaluations:.1f}", f"{cost.ratio:.2f}"]
        for cost in costs if cost.ratio > COST
    ]  # fmt: skip
    header = ["set", "problem", "n", "τ", "better", "its evaluations / n", "cost"]
    return table(header, lines) if lines else "Nowhere."


def _evaluations_table(rows: Sequence[Row], groups: Sequence[str]) -> str:
    lines = []
    for group in groups:
        selected = [row for row in rows if row.group == group and not row.noisy]
        cases = {name: cases_of(selected, name) for name in (*CHOICES, AUTO)}
        for key in cases[AUTO]:
            spent = [_evaluations(cases[name], key, _SHOWN) for name in cases]
            shown = [f"{number:.1f}" if math.isfinite(number) else "∞" for number in spent]
            lines.append([group, key.problem, str(key.n), *shown])
    return table(["set", "problem", "n", *CHOICES, AUTO], lines)


def _noisy_table(rows: Sequence[Row], groups: Sequence[str]) -> str:
    lines = []
    for group in groups:
        selected = [row for row in rows if row.group == group and row.noisy]
        cases = {name: cases_of(selected, name) for name in (*CHOICES, AUTO)}
        for key in cases[AUTO]:
            errors = [
                " / ".join(_shown(median_error(cases[name], key, budget)) for budget in _NOISY_BUDGETS)
                for name in cases
            ]
            lines.append([group, key.problem, str(key.n), *errors])
    budgets = " / ".join(f"{budget} n" for budget in _NOISY_BUDGETS)
    return f"After {budgets}:\n\n" + table(["set", "problem", "n", *CHOICES, AUTO], lines)


def _shown(error: float | None) -> str:
    return "—" if error is None else f"{error:.1e}"


@print_style
def picture() -> Figure:
    """Draw a run of `auto` that changes the method, and the two methods alone."""
    problem = problem_named(*PICTURE)

    def run(method: str) -> pursuit.Result:
        return pursuit.minimize(
            problem.true_value, problem.x0, method=method, rng=1, maxfev=_BUDGET * problem.n, trace=True
        )

    figure = Figure(figsize=(5.5, 2.8), layout="constrained")
    axes = figure.subplots()
    axes.set(xlabel="evaluations / n", ylabel="f at the latest iterate", yscale="log")
    colours = dict(zip(CHOICES, COLOURS, strict=False))
    for name in CHOICES:
        trace = run(name).trace
        axes.plot(trace.nfev / problem.n, trace.fun, ":", color=colours[name], label=f"{name} alone")
    result, begin = run(AUTO), 0
    for stage in result.stages:
        end = begin + stage.nfev
        inside = (result.trace.nfev > begin) & (result.trace.nfev <= end)
        spent, values = result.trace.nfev[inside] / problem.n, result.trace.fun[inside]
        axes.plot(spent, values, color=colours[stage.method], label=f"auto: {stage.method}")
        if stage.why:
            axes.axvline(begin / problem.n, color="0.6", linewidth=0.6)
            axes.text(begin / problem.n, problem.f0, f" because {stage.why}", va="bottom", fontsize=6)
        begin = end
    low, high = axes.get_ylim()
    label_powers(axes.yaxis, low, high, 6)
    axes.legend(loc="lower left")
    return figure


def main() -> None:
    """Write the report and draw the run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, default=FOLDER, metavar="DIR")
    folder = parser.parse_args().out
    write_file(folder / "choice.md", text_of(read_rows(folder / FILE, Row)))
    save(picture(), folder / "figures", "choice", ["png"])


if __name__ == "__main__":
    main()
