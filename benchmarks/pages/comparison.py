"""The page `docs/comparison.md`, and what other pages quote from the measurements beside peers."""

from __future__ import annotations

import functools
import math
import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.pages import front, peers_report, profiles
from benchmarks.pages.cutest import TABLE, by_solver, read_lines, solved
from benchmarks.pages.front import sentence
from benchmarks.pages.peers import (
    DEFAULT,
    Comparison,
    Measurements,
    absent,
    comparisons,
    cost_comparisons,
    load,
    losses,
    summaries_of,
)
from benchmarks.pages.stamp import filled, stamp
from benchmarks.problems.cutest import REPORTING
from benchmarks.problems.features import NOISY, PLAIN
from benchmarks.problems.more_wild import SMOOTH
from benchmarks.suites import coco
from benchmarks.suites.cutest import BUDGETS, CUTEST, MORE_WILD
from benchmarks.suites.peers import FOLDER, LINEAR_PEERS, PEERS, named
from pursuit.experiments.common.formatting import power, spaced, table

PAGE = Path("docs/comparison.md")
_FEATURES = Path(__file__).with_name("features.toml")
_END = "<!-- end -->"
_OURS = "**pursuit**"
_FIGURE = Path("docs/results/compare.png")
_PRECISION = 1e-3
# A title, and the court, group and feature that it is about.
_PANELS = (
    ("CUTEst", CUTEST, REPORTING, PLAIN),
    ("CUTEst, noisy", CUTEST, REPORTING, NOISY),
    ("Moré and Wild", MORE_WILD, SMOOTH, PLAIN),
    ("Moré and Wild, noisy", MORE_WILD, SMOOTH, NOISY),
)


def texts(folder: Path) -> dict[Path, str]:
    """Return the report on the measurements of a folder, and what is quoted of what is committed."""
    measured = load(folder)
    found = {folder / peers_report.FILE: peers_report.text(folder, measured)}
    if folder == FOLDER:
        found[PAGE] = text(folder)
        for path, name, make in PLACES:
            found[path] = quoted(found.get(path, path.read_text()), name, make(measured))
    return found


def text(folder: Path) -> str:
    """Return the page."""
    measured = load(folder)
    pages = ", ".join(
        f"[{title}]({_link(court.folder / court.name)}.md)" for title, court, *_ in _PANELS[::2]
    )
    return filled(
        "comparison", precision=power(_PRECISION), pages=pages, figure=_link(_FIGURE), folder=_link(folder),
        leaders=leaders_table(measured), absent=absent(measured), losses=losses(measured),
        features=feature_table(), stamp=stamp("make bench-peers", measured.rows, named, folder),
    )  # fmt: skip


def _link(path: Path) -> str:
    return path.relative_to(PAGE.parent).as_posix()


# --- features, and who is ahead --------------------------------------------------------------------


def features() -> tuple[list[str], list[dict[str, Any]]]:
    """Return the names of the peers, and the features."""
    found = tomllib.loads(_FEATURES.read_text())
    return found["peers"], found["feature"]


def feature_table() -> str:
    """Return the features of all, ours first."""
    peers, found = features()
    rows = [[one["name"], one["ours"], *(one[peer] for peer in peers)] for one in found]
    return table(["", _OURS, *peers], rows)


def leaders_table(measured: Measurements) -> str:
    """Return a table with a row for each kind of measurement: the default beside the best of the peers."""
    rows = []
    for n, rotated in dict.fromkeys((task.n, task.rotated) for task in summaries_of(measured.evaluations)):
        found = summaries_of(measured.evaluations, n=n, rotated=rotated)
        place = f"evaluations to 1e-9, n = {spaced(n)}, {'rotated' if rotated else 'along the axes'}"
        for kind, peers in (("all methods", PEERS), ("methods of linear memory", LINEAR_PEERS)):
            rows.append([f"{place}, {kind}", *_counts(comparisons(found, peers, DEFAULT))])
    hard = comparisons(summaries_of(measured.hard), ours=DEFAULT)
    times = cost_comparisons(measured.overhead, "microseconds", "µs", ours=DEFAULT)
    sizes = cost_comparisons(measured.memory, "bytes", "MB", ours=DEFAULT)
    rows += [_one("evaluations", one) for one in hard]
    rows += list(_suites(measured))
    rows += [_one("time per evaluation", one) for one in times] + [_one("memory", one) for one in sizes]
    rows += list(_solved())
    # What others win comes first.
    rows.sort(key=lambda row: (row[1] == _OURS, row[1] in ("open", "nobody")))
    return table(["where", "ahead", "`auto`", "best of the others"], rows)


def _courts() -> Iterator[tuple[str, dict[str, list[profiles.Case]]]]:
    """Yield the titles of sets of problems, and the problems of the solvers that have run on all of them."""
    for title, court, group, feature in _PANELS:
        if found := by_solver(read_lines(court.folder / TABLE), group, feature):
            yield title, {solver: solved(lines) for solver, lines in found.items()}


def draw(folder: Path) -> None:
    """Draw the figures: that of the README, and that on sets of problems."""
    front.draw(load(folder), folder)
    if folder == FOLDER:
        curves: dict[str, dict[str, Callable[[float], float]]] = {}
        for title, found in _courts():
            for solver, cases in found.items():
                curves.setdefault(solver, {})[title] = functools.partial(profiles.share, cases, _PRECISION)
        profiles.draw(curves, (0.5, BUDGETS[-1]), _FIGURE.parent, _FIGURE.stem)


def _solved() -> Iterator[list[str]]:
    for title, courts in _courts():
        for budget in BUDGETS:
            found = {name: 100 * profiles.share(one, _PRECISION, budget) for name, one in courts.items()}
            ours = found.pop(DEFAULT[0].name, 0.0)
            name = max(found, key=lambda solver: found[solver])
            who = _OURS if ours > found[name] else name if found[name] > ours else "nobody"
            where = f"problems solved to {power(_PRECISION)}, {title}, {budget} n"
            yield [where, who, f"{ours:.0f} %", f"{name} {found[name]:.0f} %"]


def _counts(compared: list[Comparison]) -> list[str]:
    """Return who is ahead on most problems, on how many we are, and by how much."""
    ahead, behind = sum(one.is_ahead for one in compared), sum(one.ratio > 1.0 for one in compared)
    undecided = sum(bool(one.open) for one in compared)
    finite = [1.0 / one.ratio for one in compared if 0.0 < one.ratio < math.inf and not one.open]
    counted = f"fewest on {ahead} of {len(compared)}" + (f", {undecided} open" if undecided else "")
    times = f"{_factor(min(finite))} to {_factor(max(finite))} times as many" if finite else "—"
    who = _OURS if ahead > behind else "others" if behind > ahead else "open" if undecided else "nobody"
    return [who, counted, times]


def _factor(times: float) -> str:
    return f"{times:.0f}" if times >= 9.5 else f"{times:.1f}"


def _one(what: str, one: Comparison) -> list[str]:
    """Return the row of one comparison."""
    ahead = "open" if one.open else _OURS if one.ratio < 1.0 else one.peer
    return [f"{what}, {one.place}", "nobody" if math.isnan(one.ratio) else ahead, one.ours, one.theirs]


def _suites(measured: Measurements) -> Iterator[list[str]]:
    few = [coco.read(coco.FOLDER / extent.suite) for extent in coco.SUITES]
    for found in filter(None, (measured.suite, *few)):
        for group, shares in found.shares.items():
            ours = shares.get(DEFAULT[0].name, 0.0)
            known = [(shares[one.name], one.name) for one in PEERS if one.name in shares]
            theirs, name = max(known, default=(0.0, ""))
            shown = [f"{100.0 * ours:.1f} %", f"{name} {100.0 * theirs:.1f} %"]
            where = f"targets reached, COCO's {found.extent.suite}, {group}"
            yield [where, _OURS if ours > theirs else name, *shown]


# --- what other pages quote ------------------------------------------------------------------------


PLACES: list[tuple[Path, str, Callable[[Measurements], str]]] = [(Path("README.md"), "sentence", sentence)]
"""The pages, the names of their places, and what stands there."""


def quoted(text: str, name: str, what: str) -> str:
    r"""Return the text of a page with something else between the two comments of a place.

    Examples
    --------
    >>> print(quoted("<!-- sum: by hand -->\n1\n<!-- end -->", "sum", "2"))
    <!-- sum: by hand -->
    2
    <!-- end -->
    """
    begin = re.search(rf"^<!-- {name}: .*-->\n", text, flags=re.MULTILINE)
    if begin is None:
        raise ValueError(f"The page has no comment that begins with <!-- {name}: .")
    end = text.index(_END, begin.end())
    return f"{text[: begin.end()]}{what}\n{text[end:]}"
