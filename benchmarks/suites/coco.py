"""Data profiles of our methods and of peers over a suite of COCO, made by the library's own experiments."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars

from benchmarks.runs import Say, Wanted
from benchmarks.solvers import Solver
from benchmarks.suites import peers
from benchmarks.suites.peers import SOLVERS, named
from pursuit.experiments.coco.profiles import TARGETS, Profile, data_profiles, write_profiles
from pursuit.experiments.common.files import write_file
from pursuit.experiments.common.formatting import table

COMPARED = (
    "auto", "differences", "evolution", "adaptive-sarp", "ep-cma-4", "rp", "pycma", "pypop7 LMCMA",
    "fcmaes CR-FM-NES", "scipy L-BFGS-B",
)  # fmt: skip
GROUPS = {
    "all": range(1, 131),
    "separable": range(1, 6),
    "moderate": range(6, 10),
    "ill-conditioned": range(10, 15),
    "multimodal": range(15, 20),
    "weak structure": range(20, 25),
    "moderate noise": range(101, 107),
    "severe noise": range(107, 122),
    "multimodal with noise": range(122, 131),
}
"""The suites' own groups of functions."""
_EXTENT = "profiles.json"
# What COCO writes is large, and not committed with the results.
_DATA = Path("reproduced/suite")
# Budgets of a table have four digits, and must not be above what they were.
_ROUNDED = 1.0 - 5e-4
# Each dimension costs as many evaluations as all smaller ones together.
_DIMENSIONS, _INSTANCES, _BUDGET = (20, 40, 80), (1, 2), 1000


class Extent(NamedTuple):
    """How much of the suite is run."""

    budget: int = _BUDGET
    dimensions: Sequence[int] = _DIMENSIONS
    functions: Sequence[int] = tuple(range(1, 25))
    instances: Sequence[int] = _INSTANCES
    suite: str = "bbob-largescale"

    @property
    def place(self) -> str:
        """The dimensions and the instances, for people."""
        n, instances = (", ".join(map(str, numbers)) for numbers in (self.dimensions, self.instances))
        return f"n = {n}, instances {instances}"


class SuiteShares(NamedTuple):
    """Which part of the suite was solved."""

    extent: Extent
    versions: dict[str, str]
    """With which version each solver was run, by its name."""
    shares: dict[str, dict[str, float]]
    """The part of all pairs of a problem and a target, by group of functions and then by solver."""


QUICK = Extent(budget=20, dimensions=(20,), functions=(1, 10), instances=(1,))


_SMALL = ("auto", "evolution", "pycma", "scipy L-BFGS-B")
"""What is run on the suites of few variables."""
FOLDER = Path("docs/results/coco")
_ALL_SIZES = (2, 3, 5, 10, 20, 40)
SUITES = (
    Extent(300, _ALL_SIZES, tuple(range(1, 25)), (1,), "bbob"),
    Extent(300, _ALL_SIZES, tuple(range(101, 131)), (1,), "bbob-noisy"),
)


def run(wanted: Wanted, folder: Path, jobs: int, say: Say) -> None:
    """Run what is wanted of the suite of many variables, and draw profiles of it into a folder."""
    extent, data = (QUICK, folder / "suite") if wanted.quick else (Extent(), _DATA)
    run_and_draw(peers.chosen(wanted), extent, data=data, folder=folder, jobs=jobs, say=say)


def run_small(wanted: Wanted, folder: Path, jobs: int, say: Say) -> None:
    """Run the suites of few variables, each into a folder of its own."""
    solvers = [named(name) for name in wanted.solvers or _SMALL]
    for extent in SUITES:
        some = extent._replace(budget=20, dimensions=(2, 5)) if wanted.quick else extent
        data = _DATA.with_name(f"{_DATA.name}-{extent.suite}")
        run_and_draw(solvers, some, data=data, folder=folder / extent.suite, jobs=jobs, say=say)


def run_and_draw(
    solvers: Sequence[Solver], extent: Extent, *, data: Path, folder: Path, jobs: int, say: Say
) -> None:
    """Run what is missing of the suite, its data in one folder, and draw profiles of it into another."""
    # COCO need not be installed where only a report is made.
    from pursuit.experiments.coco import run_suite
    from pursuit.experiments.coco.solvers import solver_named as coco_solver

    done = {}
    for solver in solvers:
        if solver.name in COMPARED and solver.installed:
            say(f"{extent.suite} with {solver.name}")
            method = solver.name if solver.ours else f"{peers.__name__}:{solver.identifier}"
            # An experiment can only be continued with the code that began it.
            place = data / f"{solver.identifier}-{coco_solver(method).code[:8]}"
            failures = run_suite(method=method, out=place, jobs=jobs, **extent._asdict()).failures
            if failures:
                say(f"{solver.name} is left out, since it fails on {'; '.join(failures)}")
            else:
                done[solver.name] = place
    if done:
        draw(done, extent, folder)


def draw(places: Mapping[str, Path], extent: Extent, folder: Path) -> None:
    """Draw profiles of the data of solvers at these places, beside those of others that the folder has."""
    stored = read(folder)
    known = stored.versions if stored is not None and stored.extent == extent else None
    versions = {**(known or {}), **{name: named(name).version for name in places}}
    write_file(folder / _EXTENT, json.dumps({**extent._asdict(), "versions": versions}, default=list) + "\n")
    for group, functions in GROUPS.items():
        some = sorted(set(functions) & set(extent.functions))
        if some:
            path = folder / f"{_stem(group)}.png"
            found = data_profiles(list(places.values()), functions=some)
            others = [] if known is None else _stored(path.with_suffix(".csv"), found[0])
            own = {profile.name for profile in found}
            found += [one for one in others if one.name not in own and _solver_of(one.name) in COMPARED]
            write_profiles(sorted(found, key=_place), path)


def _place(profile: Profile) -> int:
    """Return where a solver stands among those that are compared."""
    return COMPARED.index(_solver_of(profile.name))


def _solver_of(column: str) -> str:
    """Return the name of the solver whose data have this name."""
    return {solver.identifier: solver.name for solver in SOLVERS}.get(column, column)


def _stored(path: Path, other: Profile) -> list[Profile]:
    """Return the profiles of a table, which has them at some budgets, of the same problems as another one."""
    if not path.exists():
        return []
    table, pairs, profiles = polars.read_csv(path), len(other.problems) * TARGETS.size, []
    for name in table.columns[1:]:
        budgets, shares = table.select(table.columns[0], name).drop_nulls().to_numpy().T
        reached = np.repeat(_ROUNDED * budgets, np.diff(np.round(pairs * shares).astype(int), prepend=0))
        profiles.append(other._replace(name=name, reached=reached, spent=float(budgets[-1])))
    return profiles


def _stem(group: str) -> str:
    return f"profiles-{group.replace(' ', '-')}"


def figures(folder: Path) -> dict[str, str]:
    """Return the titles of the figures in a folder, by the names of their files."""
    files = {f"{_stem(group)}.png": f"Data profiles, {group} functions" for group in GROUPS}
    return {file: title for file, title in files.items() if (folder / file).exists()}


def shares_table(shares: dict[str, dict[str, float]], names: Sequence[str] = COMPARED) -> str:
    """Return which part each solver has solved, by group of functions."""
    rows = [[name, *(_shown(found, named(name)) for found in shares.values())] for name in names]
    return table(["", *shares], rows)


def _shown(found: dict[str, float], solver: Solver) -> str:
    share = found.get(solver.name)
    if share is None:
        return "not run"
    text = f"{100.0 * share:.1f} %"
    return f"**{text}**" if share == max(found.values()) else text


def read(folder: Path) -> SuiteShares | None:
    """Return the shares of the suite that a folder has, if any."""
    path = folder / _EXTENT
    if not path.exists():
        return None
    tables = {group: folder / f"{_stem(group)}.csv" for group in GROUPS}
    shares = {group: _last_of(table) for group, table in tables.items() if table.exists()}
    stored: dict[str, Any] = json.loads(path.read_text())
    versions = stored.pop("versions", {})
    extent: Any = {name: tuple(one) if isinstance(one, list) else one for name, one in stored.items()}
    return SuiteShares(Extent(**extent), versions, shares)


def texts(folder: Path) -> dict[Path, str]:
    """Return the page on the suites of few variables."""
    parts = [
        "# The suites of COCO\n\n"
        "The share of all pairs of a problem and a target, from 1e2 to 1e-8 above the optimum, that was "
        "reached within a number of evaluations: `pursuit coco`. Solvers that quit begin again elsewhere. "
        "L-BFGS-B has forward differences. The largest share of each column is bold."
    ]
    for extent in SUITES:
        found = read(folder / extent.suite)
        if found is None:
            continue
        versions = ", ".join(f"{name} {version}" for name, version in found.versions.items())
        file, title = next(iter(figures(folder / extent.suite).items()))
        parts += [
            f"## {extent.suite}",
            f"![{title}]({extent.suite}/{file})",
            f"{len(found.extent.functions)} functions, {found.extent.place}, {found.extent.budget} n "
            "evaluations. Versions (of ours, a hash of what the method does): "
            f"{versions}.",
            shares_table(found.shares, _SMALL),
        ]
    return {folder / "coco.md": "\n\n".join([*parts, "Made by `make bench-coco`.\n"])}


def _last_of(path: Path) -> dict[str, float]:
    """Return the last number of every column of a table of profiles, by the solver's name."""
    columns = polars.read_csv(path).get_columns()[1:]
    return {_solver_of(column.name): column.drop_nulls()[-1] for column in columns}
