"""Runs of a GPU beside runs of a CPU, and tests of whether they have the same distribution.

``python -m benchmarks.devices CPU_DIR GPU_DIR`` compares every cell that both studies have, in one folder or
in two, and prints a report in Markdown; ``--out FILE`` writes it as well. A folder may also be that of a
report, whose tables have all runs. A run that missed the target counts as longer than all that reached it.

If the distributions are equal, the report says otherwise with a probability of at most `ERROR`. Half of it is
for single cells: a Mann-Whitney test of each, which notices that one device needs more iterations, and a
Kolmogorov-Smirnov test, which notices other differences too, corrected by Holm for their number. The other
half is for all cells together: the p-values of the Mann-Whitney tests must not be smaller than uniform ones,
by a one-sided Kolmogorov-Smirnov test. (They may be larger, since the numbers of runs are finite.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import ks_2samp, kstest, mannwhitneyu

from benchmarks.reporting import made_by, publish, report_parser
from pursuit.checks import Vector
from pursuit.experiments.common.formatting import brief, spaced, table
from pursuit.experiments.study import read_store
from pursuit.experiments.study.report.tables import read_tables
from pursuit.experiments.study.results import Cell, CellResults, Results
from pursuit.experiments.study.stats import Estimate, counts, ratio, summarize
from pursuit.experiments.study.store import FILE

ERROR = 0.01
SHOWN = 20
"""Cells in the report's table."""


class Comparison(NamedTuple):
    """A cell on both devices."""

    cell: Cell
    cpu: CellResults
    gpu: CellResults
    ratio: Estimate
    """Of the medians, the GPU's divided by the CPU's."""
    location: float
    """The p-value of the Mann-Whitney test,"""
    shape: float
    """and of the Kolmogorov-Smirnov test."""


def results_in(folder: Path, device: str) -> Results:
    """Return the results of a study's store, or of the tables of its report."""
    if (folder / FILE).exists():
        with read_store(folder) as store:
            return store.results(device)
    return read_tables(folder / "tables")


def compared(cpu: Results, gpu: Results) -> list[Comparison]:
    """Return the cells that both studies have with the same target and cap; of those that share runs, one."""
    there = {entry.cell: entry for entry in gpu.select()}
    seen = set()
    found = []
    for here in cpu.select():
        other = there.get(here.cell)
        if other is None or (other.target, other.cap) != (here.target, here.cap):
            continue
        runs = here.cell[:3], here.runs, other.runs
        if runs not in seen:
            seen.add(runs)
            found.append(_comparison(here, other))
    return found


def _comparison(cpu: CellResults, gpu: CellResults) -> Comparison:
    here, there = counts(cpu, "iterations"), counts(gpu, "iterations")
    location, shape = (_p_value(test, here, there) for test in (mannwhitneyu, ks_2samp))
    return Comparison(cpu.cell, cpu, gpu, ratio(gpu, cpu), location, shape)


def _p_value(test: Callable[..., Any], here: Vector, there: Vector) -> float:
    """Return the p-value of a test of two samples, which only their order decides."""
    ranks = np.unique(np.concatenate([here, there]), return_inverse=True)[1]
    if ranks.max() == 0:
        # All runs of both ended at the cap.
        return 1.0
    return float(test(ranks[: here.size], ranks[here.size :]).pvalue)


def corrected(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected by Holm: each may be compared with the error probability of all tests."""
    order, left = np.argsort(p_values), np.arange(len(p_values), 0, -1)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.maximum.accumulate(np.minimum(1.0, left * np.take(p_values, order)))
    return adjusted.tolist()


def together(comparisons: Sequence[Comparison]) -> float:
    """Return the p-value of all cells together, those left out in which no run reached the target."""
    p_values = [one.location for one in comparisons if one.location < 1.0]
    return float(kstest(p_values, "uniform", alternative="greater").pvalue) if p_values else 1.0


def report(comparisons: Sequence[Comparison]) -> str:
    """Return the report of cells on both devices."""
    if not comparisons:
        return "There is no cell that both studies have.\n"
    count = len(comparisons)
    adjusted = corrected([p for one in comparisons for p in (one.location, one.shape)])
    least = [min(pair) for pair in zip(adjusted[::2], adjusted[1::2], strict=True)]
    differing = sum(p <= ERROR / 2 for p in least)
    overall = together(comparisons)
    ratios = np.array([one.ratio.value for one in comparisons if math.isfinite(one.ratio.value)])
    around = sum(one.ratio.low <= 1.0 <= one.ratio.high for one in comparisons)
    agree = not differing and overall > ERROR / 2
    lines = [
        f"**The devices {'agree' if agree else 'DIFFER'}**, at an error probability of {ERROR:g}.",
        "",
        f"- {spaced(count)} cells with {spaced(sum(len(one.cpu.runs) for one in comparisons))} runs of the "
        f"CPU and {spaced(sum(len(one.gpu.runs) for one in comparisons))} of the GPU.",
        f"- Single cells: {differing} differ, with p <= {ERROR / 2:g} after Holm's correction for "
        f"{spaced(2 * count)} tests; the least is p = {min(least):.2g}.",
        f"- All cells together: p = {overall:.2g}, to be compared with {ERROR / 2:g}.",
    ]
    if ratios.size:
        low, middle, high = np.quantile(ratios, (0.05, 0.5, 0.95))
        lines.append(
            f"- Medians of the GPU divided by those of the CPU: {middle:.3f} in the middle, 90 % from "
            f"{low:.3f} to {high:.3f}; {spaced(around)} of {spaced(count)} intervals (95 %) contain 1."
        )
    ordered = sorted(zip(comparisons, least, strict=True), key=lambda pair: (pair[1], pair[0].location))
    rows = [_row(one, p) for one, p in ordered[:SHOWN]]
    lines += ["", f"The {len(rows)} cells that differ most:"]
    header = ["cell", "CPU", "GPU", "GPU / CPU", "Mann-Whitney p", "Kolmogorov-Smirnov p", "corrected p"]
    return "\n".join([*lines, "", table(header, rows), ""])


def _row(one: Comparison, adjusted: float) -> list[str]:
    value, low, high = map(brief, one.ratio)
    quotient = "" if math.isnan(one.ratio.value) else f"{value} [{low}, {high}]"
    corrected = f"{adjusted:.2g}" + (" **differs**" if adjusted <= ERROR / 2 else "")
    p_values = f"{one.location:.2g}", f"{one.shape:.2g}", corrected
    return [str(one.cell), _median(one.cpu), _median(one.gpu), quotient, *p_values]


def _median(entry: CellResults) -> str:
    found = summarize(entry, "iterations")
    reached = "" if found.successes == found.runs else f" ({found.successes} of {found.runs})"
    return brief(found.median.value) + reached


def main() -> None:
    parser = report_parser(__doc__)
    parser.add_argument("cpu", type=Path, metavar="CPU_DIR")
    parser.add_argument("gpu", type=Path, metavar="GPU_DIR")
    options = parser.parse_args()
    cpu, gpu = results_in(options.cpu, "cpu"), results_in(options.gpu, "gpu")
    device = f" ({gpu.made['device']})" if "device" in gpu.made else ""
    text = (
        "# CPU against GPU\n\n"
        "Medians of iterations to the target, in parentheses how many runs reached it if not all did, and "
        f"tests of whether the runs have the same distribution on both devices{device}.\n\n"
        f"{report(compared(cpu, gpu))}\n{made_by('benchmarks.devices')}"
    )
    publish(text, options.out)


if __name__ == "__main__":
    main()
