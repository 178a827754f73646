"""The page: our default beside the best tool on each task, and beside all of them."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from pathlib import Path

from benchmarks.pages.stamp import filled, stamp
from benchmarks.runs import read_rows
from benchmarks.suites.tasks import FILE, PEERS, SUITE, Row, named
from benchmarks.tasks.task import Task
from pursuit.experiments.common.formatting import spaced, table

# The default is level with the best tool up to this ratio of medians.
_LEVEL = 1.2
# A success is wrong if the gap is larger than what is enough, and so many times the noise.
_NOISE_LEVELS = 3.0


def texts(folder: Path, method: str = "auto") -> dict[Path, str]:
    """Return the page."""
    rows = read_rows(folder / FILE, Row)
    lines, compared, behind = [], set[str](), set[str]()
    for task in SUITE:
        for budget in task.budgets:
            line, ratio = _line(task, budget, rows, method)
            lines.append(line)
            if not math.isnan(ratio):
                name = task.name.partition("/")[0]
                compared.add(name)
                behind |= {name} if ratio > _LEVEL else set()
    header = (
        "task", "n", "evaluations", "best other tool", "its gap, median / worst",
        f"`{method}`, median / worst", "ratio", f"within {_LEVEL}", "success, wrong",
    )  # fmt: skip
    verdict = (
        f"`{method}` is within {_LEVEL} of the best tool's median gap on "
        f"{len(compared - behind)} of {len(compared)} tasks, with every budget."
        if compared
        else f"There are no runs of `{method}` yet."
    )
    enough = "; ".join(f"{task.title}: {task.enough:g}" for task in SUITE)
    parts = [
        "# Tasks that people bring", filled("tasks", enough=enough), verdict, table(header, lines),
        "## All tools", _all(rows), stamp("make bench-tasks", rows, named, folder),
    ]  # fmt: skip
    return {folder / "tasks.md": "\n\n".join(parts)}


def is_wrong(task: Task, row: Row) -> bool:
    """Say whether a run claims a success beside a wrong answer."""
    return bool(row.success) and row.true_gap > task.enough + _NOISE_LEVELS * (row.noise or 0.0)


def summary(rows: Sequence[Row]) -> tuple[float, float]:
    """Return the median and the largest gap of a tool's runs."""
    gaps = [row.true_gap for row in rows]
    return (statistics.median(gaps), max(gaps)) if gaps else (math.nan, math.nan)


def _line(task: Task, budget: int, rows: Sequence[Row], method: str) -> tuple[list[str], float]:
    here = [row for row in rows if (row.task, row.budget) == (task.name, budget)]
    tools = {name: summary([row for row in here if row.solver == name]) for name in PEERS}
    ours = [row for row in here if row.solver == method]
    mine = summary(ours)

    def rank(name: str) -> tuple[float, float]:
        median, worst = tools[name]
        return max(median, task.enough), worst

    known = [name for name in tools if not math.isnan(tools[name][0])]
    best = min(known, key=rank, default="")
    theirs = tools.get(best, (math.nan, math.nan))
    ratio = max(mine[0], task.enough) / max(theirs[0], task.enough) if known and ours else math.nan
    return [
        task.title, spaced(task.case(1).x0.size), spaced(budget), best or "-", _pair(theirs), _pair(mine),
        "-" if math.isnan(ratio) else f"{ratio:.2g}",
        "-" if math.isnan(ratio) else "yes" if ratio <= _LEVEL else "no",
        f"{sum(is_wrong(task, row) for row in ours)} of {len(ours)}" if ours else "-",
    ], ratio  # fmt: skip


def _all(rows: Sequence[Row]) -> str:
    lines = []
    for task in SUITE:
        for budget in task.budgets:
            here = [row for row in rows if (row.task, row.budget) == (task.name, budget)]
            for name in dict.fromkeys(row.solver for row in here):
                runs = [row for row in here if row.solver == name]
                claimed = sum(bool(row.success) for row in runs)
                wrong = sum(is_wrong(task, row) for row in runs)
                lines.append([
                    task.title, spaced(budget), name, _pair(summary(runs)),
                    spaced(int(statistics.median(row.evaluations or 0 for row in runs))),
                    f"{claimed}, {wrong}", f"{sum(row.seconds or 0.0 for row in runs):.0f}",
                ])  # fmt: skip
    header = ["task", "budget", "tool", "gap, median / worst", "spent", "success, wrong"]
    return table([*header, "seconds, all seeds"], lines)


def _pair(numbers: tuple[float, float]) -> str:
    return "-" if math.isnan(numbers[0]) else " / ".join(f"{number:.2g}" for number in numbers)
