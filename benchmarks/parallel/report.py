"""What is made of the measurements: a page with tables, and a figure of time against workers."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.parallel.rounds import CR_FM_NES, PROBLEMS, PYCMA, WORKERS, RoundsRow
from benchmarks.reporting import made_by
from pursuit.experiments.common.formatting import power, table

SLEEPING = "times faster with 16 threads, f sleeping 20 ms"
BUSY = "share of the time 16 threads are busy, times varying tenfold, batch"
PROCESSES = "times faster with 2 processes, f computing for 20 ms"
OWN = "microseconds of a point beside its evaluation, batch"
ONE_CALL = "times as many evaluations a second with vectorized=True, batch 32"
# What is aimed at: at least, or at most if the sign says so.
_TARGETS = {SLEEPING: 12.0, PROCESSES: 1.85, ONE_CALL: 5.0, f"{BUSY} default": 0.8}
_MORE_EVALUATIONS, _MORE_ROUNDS, _FEWER_ROUNDS = 1.2, 1.5, 0.5


class TimeRow(NamedTuple):
    """One measurement of time."""

    part: str
    n: int
    value: float


def median_of(rows: Sequence[RoundsRow], field: str, **key: object) -> float:
    """Return the median of a field over the runs with such a key, NaN if there are none."""
    found = [
        getattr(row, field) for row in rows if all(getattr(row, name) == want for name, want in key.items())
    ]
    return statistics.median(found) if found else math.nan


def text_of(rows: Sequence[RoundsRow], stored: Sequence[TimeRow]) -> str:
    """Return the page."""
    parts = [
        "# Many points at once\n",
        "Runs to 1e-9 on the paper's problems, rotated, with rounds of at most *batch* points: medians of "
        "all seeds. *Rounds* are divided by those that full ones would be, evaluations / batch.\n",
    ]
    for n in sorted({row.n for row in rows}):
        parts += [f"## n = {n}\n", _of_ours(rows, n), ""]
        if any(row.solver == PYCMA and row.n == n for row in rows):
            parts += [_beside_rivals(rows, n), ""]
    parts += ["## Times\n", _times(stored), "", made_by("benchmarks.parallel")]
    return "\n".join(parts)


def _of_ours(rows: Sequence[RoundsRow], n: int) -> str:
    middle = math.ceil(math.sqrt(n))
    lines = []
    for solver in ("differences", "evolution"):
        for problem, L in PROBLEMS:
            key = {"solver": solver, "problem": problem, "L": L, "n": n}
            one = median_of(rows, "evaluations", budget=1, **key)
            some = median_of(rows, "evaluations", budget=middle, **key)
            if math.isnan(one + some):
                continue
            full = median_of(rows, "rounds", budget=middle, **key) / (some / middle)
            most = median_of(rows, "evaluations", budget=n, **key) / one
            lines.append([
                solver, _named(problem, L), f"{one:.0f}", _judged(some / one, _MORE_EVALUATIONS),
                _judged(full, _MORE_ROUNDS), "" if math.isnan(most) else _judged(most, _MORE_EVALUATIONS),
            ])  # fmt: skip
    heads = [
        "method", "problem", "evaluations, batch 1", f"batch {middle}: times those",
        f"batch {middle}: rounds", f"batch {n}: times those",
    ]  # fmt: skip
    return table(heads, lines)


def _beside_rivals(rows: Sequence[RoundsRow], n: int) -> str:
    middle = math.ceil(math.sqrt(n))
    lines = []
    for problem, L in PROBLEMS:
        key = {"problem": problem, "L": L, "n": n, "budget": middle}
        ours = median_of(rows, "rounds", solver="differences", **key)
        line = [_named(problem, L), f"{ours:.0f}"]
        for rival in (PYCMA, CR_FM_NES):
            theirs = median_of(rows, "rounds", solver=rival, **key)
            shown = "not within 4 times ours" if math.isinf(theirs) else f"{theirs:.0f}"
            line += ["", ""] if math.isnan(theirs) else [shown, _judged(ours / theirs, _FEWER_ROUNDS)]
        lines.append(line)
    heads = ["problem", "rounds of `differences`", PYCMA, "ours / theirs", CR_FM_NES, "ours / theirs"]
    return f"Rounds with batch {middle}, and with a population of that size:\n\n{table(heads, lines)}"


def _times(stored: Sequence[TimeRow]) -> str:
    lines = []
    for row in stored:
        target = _TARGETS.get(row.part)
        verdict = "" if target is None else f" ({'reaches' if row.value >= target else 'MISSES'} {target:g})"
        lines.append([row.part, str(row.n), f"{row.value:.3g}{verdict}"])
    return table(["", "n", ""], lines)


def _judged(value: float, bound: float) -> str:
    return f"{value:.2f} ({'reaches' if value <= bound else 'MISSES'} {bound:g})"


def _named(problem: str, L: float | None) -> str:
    return problem if L is None else f"{problem} {power(L)}"


def draw(rows: Sequence[RoundsRow], folder: Path) -> None:
    """Draw how long runs take against the number of workers."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    chosen = [("lin", 1e4), ("lin", 1e6)]
    figure, axes = pyplot.subplots(1, len(chosen), figsize=(9.0, 3.6), sharex=True, layout="constrained")
    for axis, (problem, L) in zip(axes, chosen, strict=True):
        for solver, budget in (("differences", 100), (PYCMA, 10)):
            found = [
                [float(wave) for wave in row.waves.split()]
                for row in rows
                if (row.solver, row.problem, row.L, row.n, row.budget) == (solver, problem, L, 100, budget)
                and row.waves
            ]
            if found:
                times = [statistics.median(column) for column in zip(*found, strict=True)]
                axis.loglog(WORKERS, times, marker="o", label=f"{solver}, rounds of {budget}")
        axis.set_title(f"{_named(problem, L)}, rotated, n = 100".replace("$", ""))
        axis.set_xlabel("workers")
        axis.set_xticks(WORKERS, [str(count) for count in WORKERS])
        axis.grid(which="major", alpha=0.3)
    axes[0].set_ylabel("time to 1e-9, in evaluations")
    axes[0].legend()
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "workers.png", dpi=150)
    pyplot.close(figure)
