"""The solvers that the TOML files of this folder declare."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchmarks import published, solvers
from benchmarks.solvers import Solve, Solver

USES: dict[str, Callable[..., Solve]] = {
    "cmaes": solvers.using_cmaes,
    "fcmaes": solvers.using_fcmaes,
    "nevergrad": solvers.using_nevergrad,
    "nlopt": solvers.using_nlopt,
    "pybobyqa": solvers.using_pybobyqa,
    "pycma": solvers.using_pycma,
    "pypop7": solvers.using_pypop7,
    "scipy": solvers.using_scipy,
    "spsa": published.using_spsa,
    "ars": lambda: published.ars,
    "optuna": lambda: solvers.optuna_tpe,
}


def declaration_of(suite: str) -> dict[str, Any]:
    """Return what the file of a suite declares."""
    return tomllib.loads(Path(__file__).with_name(f"{suite}.toml").read_text())


def solvers_of(suite: str) -> tuple[Solver, ...]:
    """Return the solvers of a suite."""
    return tuple(solver_of(entry) for entry in declaration_of(suite)["solvers"])


def solver_of(entry: dict[str, Any], uses: Mapping[str, Callable[..., Solve]] = USES) -> Solver:
    """Return a solver: a method of ours, or what `use` makes of `settings`, with its properties."""
    if "method" in entry:
        return solvers.our(**entry)
    properties = {key: entry[key] for key in entry.keys() - {"use", "settings"}}
    return Solver(solve=uses[entry["use"]](**entry.get("settings", {})), **properties)
