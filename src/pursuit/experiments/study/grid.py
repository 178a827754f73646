"""The cells of a study, and what makes the runs of each what they are.

A run is a pure function of its problem, its scheme with all options, its number and the code. Two cells
that differ in name only, as EP-CMA-4 and EP-CMA-sqrt in 20 dimensions, or one scheme under two readings
that mean the same to it, have the same identity, and one run serves both.
"""

from __future__ import annotations

import functools
import importlib
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from pursuit import problems
from pursuit.compiling.cache import code_hash
from pursuit.experiments.common.errors import StudyError
from pursuit.experiments.study.declaration import Scheme, Study
from pursuit.experiments.study.results import Cell, applies
from pursuit.methods.catalogue import create_scheme, method_text, options_of, resolved
from pursuit.methods.options import READINGS


class Recipe(NamedTuple):
    """How to make the runs of a cell; it travels to workers."""

    problem: str
    L: float | None
    n: int
    method: str
    options: str
    """As JSON, so that a recipe can be a key."""
    reading: str
    target: float
    cap: int
    folder: str
    """Where modules that it names are looked for first."""


class Entry(NamedTuple):
    """A cell of a study with all that is needed to run it."""

    cell: Cell
    position: int
    """Where it stands in the declaration."""
    recipe: Recipe
    identity: str
    """What its runs have in common with those of other cells, in words."""
    code: str
    """The hash of all code that they depend on."""
    runs: int


def entries_of(
    study: Study,
    *,
    readings: Sequence[str] | None = None,
    only: Mapping[str, tuple[Any, ...]] | None = None,
    runs: int | None = None,
) -> list[Entry]:
    """Return the cells of a study, with readings or a number of runs other than the declared, or some alone.

    Examples
    --------
    >>> from pursuit.experiments.study.declaration import load_study
    >>> from pursuit.experiments.study.grid import entries_of
    >>> entries = entries_of(load_study("quick"), only={"problem": ("exp",)})
    >>> len(entries), str(entries[0].cell), entries[0].runs
    (10, 'exp L=1e4 n=20 rp fitted', 11)
    """
    entries = []
    position = 0
    for problem in study.problems:
        for condition in problem.conditions:
            for n in problem.dimensions:
                for scheme in study.schemes:
                    position += 1
                    for reading in readings or study.readings:
                        cell = Cell(problem.label, condition, n, scheme.label, reading)
                        count = _runs_of(study, cell) if runs is None else min(runs, _runs_of(study, cell))
                        if count and applies(only or {}, cell):
                            recipe = _recipe(study, problem.problem, cell, scheme)
                            entries.append(Entry(cell, position, recipe, *_checked(cell, recipe), count))
    if not entries:
        raise StudyError(
            f"No cell of the study {study.name!r} is left to run: the selection names none of them."
        )
    return entries


@functools.cache
def identify(recipe: Recipe) -> tuple[str, str]:
    """Return what the runs of a recipe are, in words, and the hash of the code that they depend on."""
    method, problem = make_method(recipe), make_problem(recipe)
    options = json.loads(recipe.options)

    def create(reading: str) -> Any:
        return create_scheme(method, recipe.n, options_under(recipe, reading), problem)

    scheme = create(recipe.reading)
    cls, implied = resolved(method, recipe.n)
    what = {"problem": recipe.problem, "n": recipe.n, "L": recipe.L, "scheme": _scheme_text(cls)}
    if "reading" in options_of(method, recipe.n) and "reading" not in options:
        # Readings that mean the same to a scheme are the same: the first of them stands for all.
        what["reading"] = next(name for name in READINGS if create(name) == scheme)
    factory = _imported(recipe.problem, recipe.folder) if ":" in recipe.problem else None
    identity = {**what, **_spelled(implied), **_spelled(options)}
    return json.dumps(identity, sort_keys=True), code_hash(scheme, problem, factory)


# Seeds are made of identities. So the names in these stay what they were when the first studies were stored:
# those of options, and the modules of the library's own schemes.
_SPELLING = {"line_search": "oracle"}


def _spelled(options: Mapping[str, Any]) -> dict[str, Any]:
    return {_SPELLING.get(name, name): option for name, option in options.items()}


def _scheme_text(cls: type) -> str:
    text = method_text(cls)
    return (
        text.replace("pursuit.methods.", "pursuit.schemes.", 1)
        if text.startswith("pursuit.methods.")
        else text
    )


def seed_of(identity: str, number: int) -> np.random.SeedSequence:
    """Return the seed of a run, which depends on what it is and on nothing else."""
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
    """Return the options of a recipe's scheme, the reading among them if the scheme knows of readings."""
    options: dict[str, Any] = json.loads(recipe.options)
    if "reading" in options_of(make_method(recipe), recipe.n):
        options.setdefault("reading", reading)
    return options


def _runs_of(study: Study, cell: Cell) -> int:
    found = [override.runs for override in study.exceptions if applies(override.where, cell)]
    return found[-1] if found else study.runs


def _recipe(study: Study, problem: str, cell: Cell, scheme: Scheme) -> Recipe:
    return Recipe(
        problem=problem,
        L=cell.L,
        n=cell.n,
        method=scheme.method,
        options=json.dumps(scheme.options, sort_keys=True),
        reading=cell.reading,
        target=study.target,
        cap=int(study.cap * cell.n),
        folder=study.folder,
    )


def _checked(cell: Cell, recipe: Recipe) -> tuple[str, str]:
    """Return `identify(recipe)`, with errors that name the cell."""
    try:
        return identify(recipe)
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise StudyError(f"The cell {cell} cannot be run: {type(error).__name__}: {error}") from error


def _imported(text: str, folder: str) -> Any:
    """Return what "module:name" stands for, with the module looked for in `folder` first."""
    module, _, name = text.partition(":")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return getattr(importlib.import_module(module), name)
