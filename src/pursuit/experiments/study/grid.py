"""The cells of a study, the identity of their runs, and how a worker executes one.

A run is a pure function of its problem, its scheme with all options, its number and the code. Cells that
differ only in name have the same identity and share their runs: EP-CMA-4 and EP-CMA-sqrt in 20 dimensions, or
a scheme under two readings that do not differ for it. On a GPU the random numbers differ, and sums depend on
how many threads share a run: so the device, its generator and that number belong to the identity there.
"""

from __future__ import annotations

import functools
import importlib
import json
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from pursuit import problems
from pursuit.checks import Vector
from pursuit.compiling.cache import code_hash
from pursuit.engine.setup import Setup, set_up
from pursuit.engine.stopping import Reason
from pursuit.experiments.common import StudyError
from pursuit.experiments.common.formatting import shortened
from pursuit.experiments.study.declaration import Study
from pursuit.experiments.study.results import DEVICES, Cell, RunRecord, Trace, applies
from pursuit.methods.catalogue import create_scheme, method_text, options_of, resolved
from pursuit.methods.paper import READINGS
from pursuit.methods.stages import Task
from pursuit.minimize import minimize
from pursuit.problems.objective import as_value

# The names of options in identities, where these have another name now.
_IDENTITY_NAMES = {"line_search": "oracle"}


class Recipe(NamedTuple):
    """All that a worker needs to make the runs of a cell."""

    problem: str
    L: float | None
    n: int
    method: str
    options: str
    """As JSON, which makes a recipe hashable."""
    reading: str
    target: float
    cap: int
    folder: str
    """Where its modules are looked for first."""
    device: str


class Key(NamedTuple):
    """The key of a cell's runs; cells that share runs have the same."""

    identity: str
    """What its runs are, as JSON; cells of the same identity share their runs."""
    target: float
    cap: int
    code: str
    """The hash of all code that its runs depend on."""

    @property
    def device(self) -> str:
        """The device of the runs."""
        return str(json.loads(self.identity).get("device", DEVICES[0]))


class Entry(NamedTuple):
    """A cell of a study, with what its runs are made by and how many are wanted."""

    cell: Cell
    position: int
    """Its place in the declaration."""
    recipe: Recipe
    key: Key
    runs: int


def entries_of(
    study: Study,
    *,
    readings: Sequence[str] | None = None,
    only: Mapping[str, tuple[Any, ...]] | None = None,
    runs: int | None = None,
) -> list[Entry]:
    """Return the cells of a study.

    `readings` replaces the declared ones, `only` selects cells, and `runs` limits the number of runs of each.
    For a study on a GPU, its extra must be installed.

    Examples
    --------
    >>> from pursuit.experiments.study.declaration import load_study
    >>> from pursuit.experiments.study.grid import entries_of
    >>> entries = entries_of(load_study("quick"), only={"problem": ("exp",)})
    >>> len(entries), str(entries[0].cell), entries[0].runs
    (10, 'exp L=1e4 n=20 rp fitted', 11)
    """
    places = [
        (problem, condition, n, scheme)
        for problem in study.problems
        for condition in problem.L
        for n in problem.n
        for scheme in study.schemes
    ]
    entries = []
    for position, (problem, condition, n, scheme) in enumerate(places, 1):
        for reading in readings or study.readings:
            cell = Cell(problem.label, condition, n, scheme.label, reading)
            declared, cap = _runs_and_cap(study, cell)
            count = declared if runs is None else min(runs, declared)
            if count and applies(only or {}, cell):
                recipe = Recipe(
                    problem=problem.problem,
                    L=condition,
                    n=n,
                    method=scheme.method,
                    options=json.dumps(scheme.options, sort_keys=True),
                    reading=reading,
                    target=study.target,
                    cap=int(cap * n),
                    folder=study.folder,
                    device=study.device,
                )
                entries.append(Entry(cell, position, recipe, _key_of(cell, recipe), count))
    if not entries:
        raise StudyError(
            f"No cell of the study {study.name!r} is left to run: the selection names none of them."
        )
    return entries


@functools.cache
def identify(recipe: Recipe) -> tuple[str, str]:
    """Return the identity of a recipe's runs, as JSON, and the hash of the code that they depend on.

    Seeds are made from the identity, so it must never change.
    """
    method, problem = make_method(recipe), make_problem(recipe)
    if np.size(problem.x0) != recipe.n:
        raise ValueError(f"the problem's x0 has {np.size(problem.x0)} variables, but n is {recipe.n}.")
    options = json.loads(recipe.options)

    def create(reading: str) -> Any:
        return create_scheme(method, recipe.n, options_under(recipe, reading), problem)

    scheme = create(recipe.reading)
    cls, implied = resolved(method, recipe.n)
    what = {"problem": recipe.problem, "n": recipe.n, "L": recipe.L, "scheme": _scheme_text(cls)}
    if "reading" in options_of(method, recipe.n) and "reading" not in options:
        # Of readings that do not differ for the scheme, the first stands for all.
        what["reading"] = next(name for name in READINGS if create(name) == scheme)
    factory = _imported(recipe.problem, recipe.folder) if ":" in recipe.problem else None
    named = {_IDENTITY_NAMES.get(name, name): value for name, value in {**implied, **options}.items()}
    device = make_batch(recipe, [np.random.SeedSequence(0)]).identity if recipe.device == "gpu" else {}
    return json.dumps({**what, **named, **device}, sort_keys=True), code_hash(scheme, problem, factory)


def _scheme_text(cls: type) -> str:
    """Return the name of a scheme's class in an identity.

    For the library's own classes this is the name of the module in which they once were.
    """
    return re.sub(r"^pursuit\.methods\.(paper\.|rivals\.)?", "pursuit.schemes.", method_text(cls))


def seed_of(identity: str, number: int) -> np.random.SeedSequence:
    """Return the seed of a run, which depends on its identity and number only."""
    return np.random.SeedSequence(list(f"{identity} {number}".encode()))


@functools.lru_cache(maxsize=8)
def make_problem(recipe: Recipe) -> Any:
    """Return the problem of a recipe."""
    name = recipe.problem
    factory = _imported(name, recipe.folder) if ":" in name else getattr(problems, name)
    return factory(recipe.n) if recipe.L is None else factory(recipe.n, recipe.L)


def make_method(recipe: Recipe) -> str | type:
    """Return the method of a recipe, by its name or as a class."""
    method: str | type = _imported(recipe.method, recipe.folder) if ":" in recipe.method else recipe.method
    return method


def options_under(recipe: Recipe, reading: str) -> dict[str, Any]:
    """Return the options of a recipe's scheme, with the reading if the scheme has that option."""
    options: dict[str, Any] = json.loads(recipe.options)
    if "reading" in options_of(make_method(recipe), recipe.n):
        options.setdefault("reading", reading)
    return options


def limits_of(recipe: Recipe) -> dict[str, Any]:
    """Return when a run ends, as arguments of `minimize`: like the paper's, at its target or at its cap."""
    return {"ftarget": recipe.target, "xtol": 0.0, "ftol": 0.0, "maxiter": recipe.cap}


def set_up_runs(recipe: Recipe) -> tuple[Setup, Vector]:
    """Return the setup of a recipe's runs, as `minimize` would make it, and their start."""
    problem = make_problem(recipe)
    options = options_under(recipe, recipe.reading)
    return set_up(Task(problem.x0, make_method(recipe), limits_of(recipe), options=options, fun=problem))


def make_batch(recipe: Recipe, seeds: Sequence[np.random.SeedSequence]) -> Any:
    """Return a batch of a recipe's runs on a GPU, one for each seed; no GPU is needed for that."""
    from pursuit.gpu.batch import Batch

    setup, start = set_up_runs(recipe)
    value = as_value(setup.objective(start.copy()))
    starts = np.tile(start, (len(seeds), 1))
    return Batch(setup, setup.limits, starts, [value] * len(seeds), seeds)


def execute(recipe: Recipe, number: int, code: str) -> tuple[RunRecord, Trace]:
    """Execute a run, in any process, and return it with its trace; all but the seconds follow from these.

    `code` is the hash of the code that must execute it.
    """
    identity, found = identify(recipe)
    if found != code:
        raise StudyError(
            f"The study is made with the code {code}, but a worker has {found}: "
            "install the same version of pursuit, and of your own modules, everywhere."
        )
    problem = make_problem(recipe)
    result = minimize(
        problem,
        problem.x0,
        method=make_method(recipe),
        rng=seed_of(identity, number),
        options=options_under(recipe, recipe.reading),
        trace=True,
        **limits_of(recipe),
    )
    return recorded(number, result, Reason(result.status), result.time), Trace.of(result.trace)


def recorded(number: int, outcome: Any, reason: Reason, seconds: float) -> RunRecord:
    """Return what is stored of a finished run."""
    counts = int(outcome.nit), int(outcome.nfev), float(outcome.fun)
    return RunRecord(number, *counts, reason=reason.name.lower(), seconds=float(seconds))


def _runs_and_cap(study: Study, cell: Cell) -> tuple[int, float]:
    """Return the number of runs that are declared for a cell, and their cap divided by n."""
    runs, cap = study.runs, study.cap
    # Of several exceptions the last one decides.
    for override in study.exceptions:
        if applies(override.where, cell):
            runs = runs if override.runs is None else override.runs
            cap = cap if override.cap is None else override.cap
    return runs, cap


def _key_of(cell: Cell, recipe: Recipe) -> Key:
    """Return the key of a recipe's runs; errors name the cell."""
    try:
        identity, code = identify(recipe)
    except Exception as error:
        reason = shortened(f"{type(error).__name__}: {error}".removesuffix("."), 500)
        raise StudyError(f"The cell {cell} cannot be run: {reason}.") from error
    return Key(identity, recipe.target, recipe.cap, code)


def _imported(text: str, folder: str) -> Any:
    """Import "module:name", with the module looked for in `folder` first."""
    module, _, name = text.partition(":")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return getattr(importlib.import_module(module), name)
