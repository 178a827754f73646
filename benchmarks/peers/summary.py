"""Our targets beside the peers and whether we reach them, and every place where a peer is ahead of us."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from benchmarks.peers.adapters import OUTSIDER, SOLVERS, Solver
from benchmarks.peers.measurements import (
    LINEAR_PEERS,
    OURS,
    PEERS,
    Best,
    Measurements,
    RunSummary,
    Summaries,
    best_of,
    summaries_of,
)
from benchmarks.peers.problems import SMOOTH, Task
from benchmarks.peers.records import MISSING
from benchmarks.reporting import verdict
from pursuit.experiments.common.formatting import spaced, table

# Our targets on the rotated problems, among the solvers of linear memory: the fewest evaluations on so many
# problems, and at most so many times the fewest on the others.
FEWEST_ON = 5
WITHIN = 1.5
MEMORY_DIMENSION = 1_000_000
DEFAULT = tuple(solver for solver in OURS if solver.name == "auto")


class Comparison(NamedTuple):
    """Our best beside the best of some peers."""

    place: str
    """What is compared: a problem or n."""
    ours: str
    theirs: str
    ratio: float
    """Ours divided by theirs; infinite where only they have a result, NaN where neither has."""
    open: tuple[str, ...] = ()
    """Where ours seems to be ahead, the peers that a cap stopped before they had spent as much as ours."""


def count(number: float) -> str:
    """Return a number of evaluations, rounded for people.

    Examples
    --------
    >>> [count(number) for number in (157.0, 4417.0, 302_000.0, 1_160_000.0)]
    ['157', '4.42k', '302k', '1.16M']
    """
    if math.isinf(number):
        return "not reached"
    for unit, suffix in ((1e6, "M"), (1e3, "k")):
        if number >= 0.9995 * unit:
            return f"{number / unit:.3g}{suffix}"
    return f"{number:.0f}"


def place_of(task: Task) -> str:
    """Return the name of a problem, with its axes and its dimension."""
    return f"{task.label}, {'rotated' if task.rotated else 'along the axes'}, n = {spaced(task.n)}"


def compare(
    place: str, row: dict[str, RunSummary], ours: Sequence[Solver], peers: Sequence[Solver]
) -> Comparison:
    """Return our best on a problem beside the best of some peers."""
    mine, best = best_of(row, ours), best_of(row, peers)
    if math.isinf(mine.evaluations) and math.isinf(best.evaluations):
        return Comparison(place, "not reached", "not reached", math.nan)
    ratio = mine.evaluations / best.evaluations
    # A peer that a cap stopped before it had spent as much as ours might have needed less.
    cut_off = tuple(p.name for p in peers if p.name in row and row[p.name].at_least < mine.evaluations)
    return Comparison(
        place=place, ours=_shown(mine), theirs=_shown(best), ratio=ratio, open=cut_off if ratio <= 1.0 else ()
    )


def _shown(best: Best) -> str:
    return f"{best.solver} {count(best.evaluations)}" if math.isfinite(best.evaluations) else "not reached"


def comparisons(found: Summaries, peers: Iterable[Solver], ours: Sequence[Solver] = OURS) -> list[Comparison]:
    """Return our best beside the best of some peers on every problem."""
    peers = tuple(peers)
    return [compare(place_of(task), row, ours, peers) for task, row in found.items()]


def targets_table(measured: Measurements) -> str:
    """Return a table of our targets beside the peers and of what we reach."""
    rows = [*_overhead_targets(measured), *_evaluations_targets(measured), *_memory_targets(measured)]
    return table(["to be reached", "measured"], rows)


def _overhead_targets(measured: Measurements) -> list[list[str]]:
    rows: list[list[str]] = []
    if not measured.overhead:
        return rows
    insiders = tuple(solver for solver in PEERS if solver.memory != OUTSIDER)
    for name, peers in (("of all", PEERS), ("of all but the outsiders", insiders)):
        ratios = [f"{one.place}: {verdict(one.ratio, 1.0)}" for one in overhead_comparisons(measured, peers)]
        rows.append(
            [f"overhead: lowest {name} at every n, as a ratio to the lowest peer's", "; ".join(ratios)]
        )
    return rows


def overhead_comparisons(
    measured: Measurements, peers: Iterable[Solver], ours: Sequence[Solver] = OURS
) -> list[Comparison]:
    """Return our lowest overhead beside the lowest of some peers, for every n."""
    names = {solver.name for solver in peers}
    found = []
    for n in dict.fromkeys(row.n for row in measured.overhead):
        times = {
            r.solver: r.microseconds for r in measured.overhead if r.n == n and r.microseconds is not None
        }
        mine = _least({s.name: times[s.name] for s in ours if s.name in times})
        theirs = _least({name: time for name, time in times.items() if name in names})
        found.append(_compare_least(f"n = {spaced(n)}", mine, theirs, "µs"))
    return found


def memory_comparisons(measured: Measurements, ours: Sequence[Solver] = OURS) -> list[Comparison]:
    """Return our least memory beside the least of all peers, for every n."""
    names, peers = ({solver.name for solver in solvers} for solvers in (ours, PEERS))
    found = []
    for n in dict.fromkeys(row.n for row in measured.memory):
        sizes = {r.solver: r.bytes / 2**20 for r in measured.memory if r.n == n and r.bytes is not None}
        mine = _least({name: size for name, size in sizes.items() if name in names})
        theirs = _least({name: size for name, size in sizes.items() if name in peers})
        found.append(_compare_least(f"n = {spaced(n)}", mine, theirs, "MB"))
    return found


def _least(found: dict[str, float]) -> tuple[str, float]:
    return min(found.items(), key=lambda item: item[1], default=("", math.inf))


def _compare_least(place: str, ours: tuple[str, float], theirs: tuple[str, float], unit: str) -> Comparison:
    shown = [f"{name} {value:.3g} {unit}" if name else "not measured" for name, value in (ours, theirs)]
    both = bool(ours[0] and theirs[0])
    return Comparison(place, shown[0], shown[1], ours[1] / theirs[1] if both else math.nan)


def _evaluations_targets(measured: Measurements) -> list[list[str]]:
    rows = []
    found = {task: row for task, row in summaries_of(measured.evaluations).items() if task.rotated}
    for n in dict.fromkeys(task.n for task in found):
        at_n = {task: row for task, row in found.items() if task.n == n}
        for name, ours in (("the best of ours", OURS), ("auto alone", DEFAULT)):
            found_here = comparisons(at_n, LINEAR_PEERS, ours)
            fewest = sum(one.ratio <= 1.0 and not one.open for one in found_here)
            undecided = sum(bool(one.open) for one in found_here)
            nobody = sum(math.isnan(one.ratio) for one in found_here)
            worst = max((one.ratio for one in found_here if one.ratio > 1.0), default=0.0)
            word = "reaches" if fewest >= FEWEST_ON else "MISSES"
            text = f"{fewest} of {len(found_here)} ({word} {FEWEST_ON}); the others {_within(worst)}"
            if undecided:
                text += f"; {undecided} open, where a peer was cut off by a cap before it had spent as much"
            if nobody:
                text += f"; {nobody} that no solver of linear memory reaches within the caps"
            rows.append([
                f"evaluations, {name}: fewest among solvers of linear memory on {FEWEST_ON} of the "
                f"{len(SMOOTH)} rotated problems, n = {spaced(n)}; within {WITHIN:g} times the best on the "
                "others",
                text,
            ])  # fmt: skip
    return rows


def _within(worst: float) -> str:
    if math.isinf(worst):
        return f"not reached where a peer does (MISSES {WITHIN:g})"
    return verdict(worst, WITHIN) if worst else "none"


def _memory_targets(measured: Measurements) -> list[list[str]]:
    found = [one for one in memory_comparisons(measured) if one.place == f"n = {spaced(MEMORY_DIMENSION)}"]
    return [
        [f"memory: lowest of all at {one.place}, as a ratio to the lowest peer's", verdict(one.ratio, 1.0)]
        for one in found
    ]


def losses(measured: Measurements) -> str:
    """Return a list of all comparisons in which a peer, of whatever kind, is ahead of the best of ours."""
    lines = []
    for name, found in (
        ("Overhead", overhead_comparisons(measured, PEERS)),
        ("Memory", memory_comparisons(measured)),
        ("Evaluations", comparisons(summaries_of(measured.evaluations), PEERS)),
        ("Evaluations", comparisons(summaries_of(measured.hard), PEERS)),
    ):
        for one in found:
            if one.ratio > 1.0:
                how = f"{one.ratio:.3g} times as much" if math.isfinite(one.ratio) else "we do not get there"
                lines.append(f"- {name}, {one.place}: {one.theirs}, ours {one.ours}: {how}.")
    return "\n".join([*lines, *_suite_losses(measured)]) or "- Nowhere."


def _suite_losses(measured: Measurements) -> list[str]:
    lines = []
    own, peers = ({solver.name for solver in solvers} for solvers in (OURS, PEERS))
    for group, shares in measured.suite.shares.items() if measured.suite else ():
        ours = max(((share, name) for name, share in shares.items() if name in own), default=(0.0, "none"))
        theirs = max(((share, name) for name, share in shares.items() if name in peers), default=(0.0, ""))
        if theirs > ours:
            shown = [f"{name} {100.0 * share:.1f} %" for share, name in (theirs, ours)]
            lines.append(f"- Targets of COCO's suite, {group} functions: {shown[0]}, ours {shown[1]}.")
    return lines


def absent(measured: Measurements) -> str:
    """Return sentences that name the solvers that were not measured, or that stand apart from the others."""
    missing = sorted({row.solver for row in measured.rows if row.status == MISSING})
    seen = {row.solver for row in measured.rows}
    unmeasured = [solver.name for solver in SOLVERS if solver.name not in seen]
    sentences = [f"Not installed, and so left out: {', '.join(missing)}."] if missing else []
    sentences += [f"Not measured: {', '.join(unmeasured)}."] if unmeasured else []
    sentences = sentences or ["All solvers were installed and measured."]
    of_others = [solver.name for solver in SOLVERS if solver.of_others and solver.name in seen]
    if of_others:
        sentences += [
            "Our versions of methods of others, which count neither as ours nor as peers: "
            f"{', '.join(of_others)}."
        ]
    return " ".join(sentences)
