"""Who is ahead where: the default beside the best of the peers, in one table."""

from __future__ import annotations

import math

from benchmarks.peers.measurements import LINEAR_PEERS, PEERS, Measurements, Summaries, summaries_of
from benchmarks.peers.summary import (
    DEFAULT,
    Comparison,
    comparisons,
    memory_comparisons,
    overhead_comparisons,
)
from pursuit.experiments.common.formatting import spaced, table

_OURS = "**pursuit**"
_HEAD = ["where", "ahead", "`auto`", "best of the others"]


def leaders_table(measured: Measurements) -> str:
    """Return a table with a row for each kind of measurement."""
    rows = [
        *_evaluations(summaries_of(measured.evaluations)),
        *(
            _one(f"evaluations, {one.place}", one)
            for one in comparisons(summaries_of(measured.hard), PEERS, DEFAULT)
        ),
        *_suite(measured),
        *(
            _one(f"time per evaluation, {one.place}", one)
            for one in overhead_comparisons(measured, PEERS, DEFAULT)
        ),
        *(_one(f"memory, {one.place}", one) for one in memory_comparisons(measured, DEFAULT)),
    ]
    return table(_HEAD, rows)


def _evaluations(found: Summaries) -> list[list[str]]:
    """Return a row for each n and kind of axes: on how many problems the default needs the fewest."""
    rows = []
    for n, rotated in dict.fromkeys((task.n, task.rotated) for task in found):
        chosen = {task: row for task, row in found.items() if (task.n, task.rotated) == (n, rotated)}
        place = f"n = {spaced(n)}, {'rotated' if rotated else 'along the axes'}"
        for kind, peers in (("all methods", PEERS), ("methods of linear memory", LINEAR_PEERS)):
            compared = comparisons(chosen, peers, DEFAULT)
            rows.append([f"evaluations to 1e-9, {place}, {kind}", *_counts(compared)])
    return rows


def _counts(compared: list[Comparison]) -> list[str]:
    """Return who is ahead on most problems, on how many we are, and by how much."""
    ahead = sum(one.ratio < 1.0 and not one.open for one in compared)
    behind = sum(one.ratio > 1.0 for one in compared)
    undecided = sum(bool(one.open) for one in compared)
    finite = [1.0 / one.ratio for one in compared if 0.0 < one.ratio < math.inf and not one.open]
    counted = f"fewest on {ahead} of {len(compared)}" + (f", {undecided} open" if undecided else "")
    times = f"{_factor(min(finite))} to {_factor(max(finite))} times as many" if finite else "—"
    who = _OURS if ahead > behind else "others" if behind > ahead else "open" if undecided else "nobody"
    return [who, counted, times]


def _factor(times: float) -> str:
    return f"{times:.0f}" if times >= 9.5 else f"{times:.1f}"


def _one(place: str, one: Comparison) -> list[str]:
    """Return the row of one comparison."""
    if math.isnan(one.ratio):
        return [place, "nobody", one.ours, one.theirs]
    name = one.theirs.rsplit(" ", 2 if one.theirs.endswith((" µs", " MB")) else 1)[0]
    return [place, "open" if one.open else _OURS if one.ratio < 1.0 else name, one.ours, one.theirs]


def _suite(measured: Measurements) -> list[list[str]]:
    rows = []
    peers = {solver.name for solver in PEERS}
    for group, shares in measured.suite.shares.items() if measured.suite else ():
        (default,) = DEFAULT
        ours = shares.get(default.name, 0.0)
        theirs, name = max(
            ((share, name) for name, share in shares.items() if name in peers), default=(0.0, "")
        )
        shown = [f"{100.0 * ours:.1f} %", f"{name} {100.0 * theirs:.1f} %"]
        rows.append([f"targets reached, COCO, {group}", _OURS if ours > theirs else name, *shown])
    return rows
