"""What was meant to be reached and whether it is, and plainly where we lose: made of the numbers alone."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from benchmarks.peers.adapters import OUTSIDER, Solver
from benchmarks.peers.measured import LINEAR_PEERS, OURS, PEERS, Best, Measured, Outcome, best_of, outcomes
from benchmarks.peers.problems import SMOOTH, Task
from benchmarks.peers.records import MISSING
from benchmarks.reporting import verdict
from pursuit.experiments.common.formatting import spaced, table

# What is to be reached on the rotated problems among the solvers of linear memory.
FEWEST_ON = 5
WITHIN = 1.5
MEMORY_DIMENSION = 1_000_000
DEFAULT = tuple(solver for solver in OURS if solver.name == "auto")


class Duel(NamedTuple):
    """Ours beside a peer's."""

    place: str
    ours: str
    theirs: str
    ratio: float
    """Ours divided by theirs; infinite where only they have a result, NaN where nobody has."""
    open: tuple[str, ...] = ()
    """The peers that were cut off before they had spent as much as ours, where ours seems to be ahead."""


def count(number: float) -> str:
    """Return a number of evaluations for people.

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
    """Return a problem, its axes and its dimension in words."""
    return f"{task.label}, {'rotated' if task.rotated else 'along the axes'}, n = {spaced(task.n)}"


def duel(place: str, row: dict[str, Outcome], ours: Sequence[Solver], peers: Sequence[Solver]) -> Duel:
    """Return our best on a problem beside the best of some peers."""
    mine, best = best_of(row, ours), best_of(row, peers)
    if math.isinf(mine.evaluations) and math.isinf(best.evaluations):
        return Duel(place, "not reached", "not reached", math.nan)
    ratio = mine.evaluations / best.evaluations
    # A peer that was cut off before it had spent as much as we need might have needed less.
    cut_off = tuple(p.name for p in peers if p.name in row and row[p.name].at_least < mine.evaluations)
    return Duel(place, _told(mine), _told(best), ratio, cut_off if ratio <= 1.0 else ())


def _told(best: Best) -> str:
    return f"{best.solver} {count(best.evaluations)}" if math.isfinite(best.evaluations) else "not reached"


def duels(
    found: dict[Task, dict[str, Outcome]], peers: Iterable[Solver], ours: Sequence[Solver] = OURS
) -> list[Duel]:
    """Return our best beside the best of some peers on every problem."""
    peers = tuple(peers)
    return [duel(place_of(task), row, ours, peers) for task, row in found.items()]


def reach(measured: Measured) -> str:
    """Return a table of what was to be reached, and what is."""
    rows = [*_overhead_reach(measured), *_evaluations_reach(measured), *_memory_reach(measured)]
    return table(["to be reached", "measured"], rows)


def _overhead_reach(measured: Measured) -> list[list[str]]:
    rows: list[list[str]] = []
    if not measured.overhead:
        return rows
    insiders = tuple(solver for solver in PEERS if solver.memory != OUTSIDER)
    for name, peers in (("of all", PEERS), ("of all but the outsiders", insiders)):
        told = []
        for one in overhead_duels(measured, peers):
            told.append(f"{one.place}: {verdict(one.ratio, 1.0)}")
        rows.append([f"overhead: lowest {name} at every n, as a ratio to the lowest peer's", "; ".join(told)])
    return rows


def overhead_duels(measured: Measured, peers: Iterable[Solver]) -> list[Duel]:
    """Return our lowest overhead beside the lowest of some peers, for every n."""
    names = {solver.name for solver in peers}
    found = []
    for n in dict.fromkeys(row.n for row in measured.overhead):
        times = {
            r.solver: r.microseconds for r in measured.overhead if r.n == n and r.microseconds is not None
        }
        ours = _least({s.name: times[s.name] for s in OURS if s.name in times})
        theirs = _least({name: time for name, time in times.items() if name in names})
        found.append(_measured_duel(f"n = {spaced(n)}", ours, theirs, "µs"))
    return found


def memory_duels(measured: Measured) -> list[Duel]:
    """Return our least memory beside the least of all peers, for every n."""
    ours_names = {solver.name for solver in OURS}
    found = []
    for n in dict.fromkeys(row.n for row in measured.memory):
        sizes = {r.solver: r.bytes / 2**20 for r in measured.memory if r.n == n and r.bytes is not None}
        ours = _least({name: size for name, size in sizes.items() if name in ours_names})
        theirs = _least({name: size for name, size in sizes.items() if name not in ours_names})
        found.append(_measured_duel(f"n = {spaced(n)}", ours, theirs, "MB"))
    return found


def _least(found: dict[str, float]) -> tuple[str, float]:
    return min(found.items(), key=lambda item: item[1], default=("", math.inf))


def _measured_duel(place: str, ours: tuple[str, float], theirs: tuple[str, float], unit: str) -> Duel:
    told = [f"{name} {value:.3g} {unit}" if name else "not measured" for name, value in (ours, theirs)]
    both = bool(ours[0] and theirs[0])
    return Duel(place, told[0], told[1], ours[1] / theirs[1] if both else math.nan)


def _evaluations_reach(measured: Measured) -> list[list[str]]:
    rows = []
    found = {task: row for task, row in outcomes(measured.evaluations).items() if task.rotated}
    for n in dict.fromkeys(task.n for task in found):
        at_n = {task: row for task, row in found.items() if task.n == n}
        for name, ours in (("the best of ours", OURS), ("auto alone", DEFAULT)):
            found_here = duels(at_n, LINEAR_PEERS, ours)
            fewest = sum(one.ratio <= 1.0 and not one.open for one in found_here)
            undecided = sum(bool(one.open) for one in found_here)
            nobody = sum(math.isnan(one.ratio) for one in found_here)
            worst = max((one.ratio for one in found_here if one.ratio > 1.0), default=0.0)
            word = "reaches" if fewest >= FEWEST_ON else "MISSES"
            told = f"{fewest} of {len(found_here)} ({word} {FEWEST_ON}); the others {_within(worst)}"
            if undecided:
                told += f"; {undecided} open, where a peer was cut off by a cap before it had spent as much"
            if nobody:
                told += f"; {nobody} that no solver of linear memory reaches within the caps"
            rows.append([
                f"evaluations, {name}: fewest among solvers of linear memory on {FEWEST_ON} of the "
                f"{len(SMOOTH)} rotated problems, n = {spaced(n)}; within {WITHIN:g} times the best on the "
                "others",
                told,
            ])  # fmt: skip
    return rows


def _within(worst: float) -> str:
    if math.isinf(worst):
        return f"not reached where a peer does (MISSES {WITHIN:g})"
    return verdict(worst, WITHIN) if worst else "none"


def _memory_reach(measured: Measured) -> list[list[str]]:
    found = [one for one in memory_duels(measured) if one.place == f"n = {spaced(MEMORY_DIMENSION)}"]
    return [
        [f"memory: lowest of all at {one.place}, as a ratio to the lowest peer's", verdict(one.ratio, 1.0)]
        for one in found
    ]


def losses(measured: Measured) -> str:
    """Return a list of all places where a peer, of whatever kind, is ahead of the best of ours."""
    lines = []
    for name, found in (
        ("Overhead", overhead_duels(measured, PEERS)),
        ("Memory", memory_duels(measured)),
        ("Evaluations", duels(outcomes(measured.evaluations), PEERS)),
        ("Evaluations", duels(outcomes(measured.hard), PEERS)),
    ):
        for one in found:
            if one.ratio > 1.0:
                how = f"{one.ratio:.3g} times as much" if math.isfinite(one.ratio) else "we do not get there"
                lines.append(f"- {name}, {one.place}: {one.theirs}, ours {one.ours}: {how}.")
    return "\n".join([*lines, *_suite_losses(measured)]) or "- Nowhere."


def _suite_losses(measured: Measured) -> list[str]:
    lines = []
    own = {solver.name for solver in OURS}
    for group, shares in measured.suite.shares.items() if measured.suite else ():
        ours = max(((share, name) for name, share in shares.items() if name in own), default=(0.0, "none"))
        theirs = max(((share, name) for name, share in shares.items() if name not in own), default=(0.0, ""))
        if theirs > ours:
            told = [f"{name} {100.0 * share:.1f} %" for share, name in (theirs, ours)]
            lines.append(f"- Targets of COCO's suite, {group} functions: {told[0]}, ours {told[1]}.")
    return lines


def absent(measured: Measured) -> str:
    """Return a sentence that names the solvers which were not installed, or never asked for."""
    runs = [(row.solver, row.status) for row in [*measured.evaluations, *measured.hard]]
    overhead = [(row.solver, row.status) for row in measured.overhead]
    seen = [*runs, *overhead, *((row.solver, row.status) for row in measured.memory)]
    missing = sorted({solver for solver, status in seen if status == MISSING})
    unasked = [s.name for s in OURS + PEERS if s.name not in {solver for solver, _ in seen}]
    told = [f"Not installed, and so left out: {', '.join(missing)}."] if missing else []
    told += [f"Not measured: {', '.join(unasked)}."] if unasked else []
    return " ".join(told) or "All solvers were installed and measured."
