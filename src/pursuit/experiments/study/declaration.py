"""Declarations of studies: TOML files, read and checked.

A declaration names problems with their dimensions, schemes, readings and runs::

    title = "Two schemes"       # by default the name of the file
    schemes = ["sarp", { method = "own:Pattern", label = "pattern", options = { p = 0.3 } }]
    readings = ["frozen"]       # of the paper: the default, as of `minimize`; --reading overrides it
    device = "cpu"              # or "gpu"; --device overrides it
    runs = 11                   # the default
    claims = false              # whether to judge the paper's claims; false is the default
    target = 1e-9
    cap = 3162277.66            # the largest number of iterations of a run, divided by n

    [[problems]]
    problem = "exp"             # or the "module:name" of a function of n, and of L if that is given
    n = [20, 100]
    L = [1e4, 1e6]

    [[exceptions]]              # any number; for each key, the last one that applies and has it decides
    where = { problem = "exp", L = 1e6 }
    runs = 3                    # 0 leaves the cells out
    cap = 1e5                   # either key may be left out

    [[figures]]                 # any number; without one, each problem has a figure
    name = "scaling"
    caption = "Both schemes in both dimensions."
    rows = "n"
    columns = "L"
    where = { problem = "exp" }
    without = "rp"              # schemes that it leaves out; none is the default

Modules are looked for in the folder of the file first. `PRESETS` are the studies that the package contains.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from pursuit.experiments.common import StudyError
from pursuit.experiments.common.formatting import file_name
from pursuit.experiments.study import reader
from pursuit.experiments.study.results import DEVICES, Cell, FigureSpec
from pursuit.methods.catalogue import list_methods
from pursuit.methods.paper import READINGS

PRESETS = ("quick", "main", "full", "rivals")
_BUILT_IN_PROBLEMS = {"exp": True, "lin": True, "two": True, "rosenbrock": False}
_PANEL_FIELDS = ("problem", "L", "n")
DEFAULT_READING = "frozen"
"""The reading of studies that name none, which is that of `pursuit.minimize`."""
_DEFAULTS: dict[str, Any] = {
    "readings": (DEFAULT_READING,),
    "device": DEVICES[0],
    "runs": 11,
    "claims": False,
    "exceptions": (),
    "figures": (),
}
# The largest numbers that a study can hold; iterations are counted in 64 bits.
_MOST_RUNS, _MOST_VARIABLES, _LARGEST_CAP = 1_000_000, 10_000_000, 1e11
# There is a figure of this name in every report.
_TAKEN = "ecdf"


class SchemeSpec(NamedTuple):
    """A scheme as declared."""

    method: str
    label: str
    options: dict[str, Any]


class ProblemSpec(NamedTuple):
    """A problem as declared."""

    problem: str
    label: str
    n: tuple[int, ...]
    L: tuple[float | None, ...]


class Override(NamedTuple):
    """A different number of runs, or a different cap, for some cells; None where it is not different."""

    where: dict[str, tuple[Any, ...]]
    runs: int | None
    cap: float | None


class Study(NamedTuple):
    """A declaration, checked."""

    name: str
    title: str
    problems: tuple[ProblemSpec, ...]
    schemes: tuple[SchemeSpec, ...]
    readings: tuple[str, ...]
    device: str
    """One of `DEVICES`."""
    runs: int
    target: float
    cap: float
    claims: bool
    """Whether it is the paper's, by which its claims are judged."""
    exceptions: tuple[Override, ...]
    figures: tuple[FigureSpec, ...]
    folder: str
    """Where its modules are looked for first."""


def load_study(source: str | Path) -> Study:
    """Return the study that a preset or a file declares.

    Parameters
    ----------
    source : str or path
        ``"quick"``, ``"main"``, ``"full"``, or a TOML file, as described in
        `pursuit.experiments.study.declaration`.

    Returns
    -------
    Study
        Its problems, schemes, figures and numbers of runs.

    Examples
    --------
    >>> from pursuit.experiments.study import load_study
    >>> study = load_study("quick")
    >>> study.runs, len(study.schemes), [problem.label for problem in study.problems]
    (11, 10, ['exp', 'lin', 'two', 'rosenbrock'])
    """
    if source in PRESETS:
        preset = resources.files("pursuit.experiments.study") / "presets" / f"{source}.toml"
        text = preset.read_text(encoding="utf-8")
        return parse_study(text, str(source), ".")
    path = Path(source)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise StudyError(
            f"A study is one of {', '.join(PRESETS)} or a TOML file, but {source} cannot be read: {error}."
        ) from None
    return parse_study(text, str(path), str(path.parent.resolve()))


def parse_study(text: str, name: str, folder: str) -> Study:
    """Return the study that a TOML text declares; errors call it `name`."""
    try:
        content = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        # Numbers of thousands of digits and hundreds of nested lists are not TOMLDecodeErrors.
        raise StudyError(f"{name} is not valid TOML: {error}.") from None
    place = f"{name}: the key "
    found = reader.read(
        content,
        place,
        {
            "title": reader.line(200),
            "problems": reader.tables,
            "schemes": reader.filled_list,
            "readings": reader.list_of(reader.one_of(tuple(READINGS))),
            "device": reader.one_of(DEVICES),
            "runs": reader.whole(1, _MOST_RUNS),
            "target": reader.target,
            "cap": reader.positive(_LARGEST_CAP),
            "claims": reader.flag,
            "exceptions": reader.tables,
            "figures": reader.tables,
        },
        **_DEFAULTS,
        title=Path(name).stem,
    )
    kinds = {"problems": _problem, "schemes": _scheme, "exceptions": _override, "figures": _figure}
    for key, parse in kinds.items():
        found[key] = tuple(parse(entry, f"{place}{key}[{i}]") for i, entry in enumerate(found[key]))
    study = Study(**found, name=Path(name).stem, folder=folder)
    _check_labels(name, "problems", [problem.label for problem in study.problems])
    _check_labels(name, "schemes", [scheme.label for scheme in study.schemes])
    _check_labels(name, "figures", [figure.name for figure in study.figures])
    _check_files(name, study)
    _check_cap(study, study.cap, f"{name}: the key cap")
    for i, override in enumerate(study.exceptions):
        _check_where(study, override.where, f"{name}: the key exceptions[{i}].where")
        if override.cap is not None:
            _check_cap(study, override.cap, f"{name}: the key exceptions[{i}].cap", override.where)
    for i, figure in enumerate(study.figures):
        _check_where(study, figure.where, f"{name}: the key figures[{i}].where")
        _check_where(study, {"scheme": figure.without}, f"{name}: the key figures[{i}].without")
    return study


def parse_where(text: str) -> dict[str, tuple[Any, ...]]:
    """Return the conditions of a selection such as ``problem=exp,lin n=20``.

    Examples
    --------
    >>> from pursuit.experiments.study.declaration import parse_where
    >>> parse_where("problem=exp,lin n=20 L=1e4")
    {'problem': ('exp', 'lin'), 'n': (20,), 'L': (10000.0,)}
    """
    where: dict[str, tuple[Any, ...]] = {}
    kinds: dict[str, Callable[[str], Any]] = {"n": int, "L": float}
    for term in text.split():
        field, equals, values = term.partition("=")
        try:
            if field not in Cell._fields or field in where or not equals:
                raise ValueError
            where[field] = tuple(kinds.get(field, str)(value) for value in values.split(","))
        except ValueError:
            raise StudyError(
                f"A selection is made of FIELD=VALUE,VALUE… with fields {', '.join(Cell._fields)}, "
                f'each field once, as in "problem=exp,lin n=20", but {reader.shown(term)} was given.'
            ) from None
    return where


def _problem(entry: dict[str, Any], place: str) -> ProblemSpec:
    checks = {
        "problem": _problem_name,
        "label": reader.label,
        "n": reader.list_of(reader.whole(1, _MOST_VARIABLES)),
        "L": reader.list_of(reader.at_least_one),
    }
    found = reader.read(entry, f"{place}.", checks, label=None, L=(None,))
    problem = found["problem"]
    wants_condition = _BUILT_IN_PROBLEMS.get(problem)
    if wants_condition is True and found["L"] == (None,):
        raise reader.wrong(f"{place}.", "L", f"is missing: {problem} needs it")
    if wants_condition is False and found["L"] != (None,):
        raise reader.wrong(f"{place}.", "L", f"is not allowed: {problem} has none")
    return ProblemSpec(**{**found, "label": found["label"] or problem.rpartition(":")[2]})


def _scheme(entry: Any, place: str) -> SchemeSpec:
    if isinstance(entry, str):
        entry = {"method": entry}
    if not isinstance(entry, dict):
        what = f"must be a method's name or a table with one, but {reader.shown(entry)} was given"
        raise reader.wrong(place, "", what)
    checks = {"method": _method_name, "label": reader.label, "options": reader.options}
    found = reader.read(entry, f"{place}.", checks, label=None, options={})
    return SchemeSpec(**{**found, "label": found["label"] or found["method"].rpartition(":")[2]})


def _override(entry: dict[str, Any], place: str) -> Override:
    checks = {
        "where": _where(Cell._fields),
        "runs": reader.whole(0, _MOST_RUNS),
        "cap": reader.positive(_LARGEST_CAP),
    }
    found = Override(**reader.read(entry, f"{place}.", checks, runs=None, cap=None))
    if found.runs is None and found.cap is None:
        what = "is missing, and so is cap: an exception has at least one of them"
        raise reader.wrong(f"{place}.", "runs", what)
    return found


def _figure(entry: dict[str, Any], place: str) -> FigureSpec:
    checks = {
        "name": reader.label,
        "caption": reader.line(1000),
        "rows": reader.one_of(_PANEL_FIELDS),
        "columns": reader.one_of(_PANEL_FIELDS),
        "where": _where(_PANEL_FIELDS),
        "without": reader.list_of(reader.text),
    }
    figure = FigureSpec(**reader.read(entry, f"{place}.", checks, where={}, without=()))
    if figure.rows == figure.columns:
        raise reader.wrong(f"{place}.", "columns", "must differ from rows")
    return figure


def _check_labels(file: str, key: str, labels: list[str]) -> None:
    twice = sorted({label for label in labels if labels.count(label) > 1})
    if twice:
        raise StudyError(f"{file}: {key} must have different labels, but {twice[0]!r} occurs twice.")


def _check_files(file: str, study: Study) -> None:
    """Raise an error if two figures would be written to the same file, also where case is ignored."""
    names = [figure.name for figure in study.figures] or [problem.label for problem in study.problems]
    taken = [_TAKEN]
    for name in names:
        if file_name(name).lower() in taken:
            raise StudyError(f"{file}: the name {name!r} of a figure is taken; choose another.")
        taken.append(file_name(name).lower())


def _check_cap(study: Study, cap: float, what: str, where: dict[str, tuple[Any, ...]] | None = None) -> None:
    """Raise an error if the cells that a cap is for have a dimension in which it allows no iteration."""
    where = where or {}
    dimensions = {n for problem in study.problems for n in problem.n}
    if any(cap * n < 1.0 for n in dimensions.intersection(where.get("n", dimensions))):
        raise StudyError(f"{what} must allow an iteration in every dimension.")


def _check_where(study: Study, where: dict[str, tuple[Any, ...]], what: str) -> None:
    """Raise an error for a value that the study does not have, which must be a mistake."""
    known: dict[str, list[Any]] = {
        "problem": [problem.label for problem in study.problems],
        "L": [condition for problem in study.problems for condition in problem.L],
        "n": [n for problem in study.problems for n in problem.n],
        "scheme": [scheme.label for scheme in study.schemes],
        "reading": list(READINGS),
    }
    for field, values in where.items():
        for value in values:
            if value not in known[field]:
                allowed = ", ".join(dict.fromkeys(str(found) for found in known[field] if found is not None))
                raise StudyError(
                    f"{what} names the {field} {reader.shown(value)}, but the study has {allowed}."
                )


def _where(fields: tuple[str, ...]) -> Callable[[Any], dict[str, tuple[Any, ...]]]:
    checks = {"n": reader.whole(1, _MOST_VARIABLES), "L": reader.number}

    def check(value: Any) -> dict[str, tuple[Any, ...]]:
        where = {}
        for field, values in reader.dictionary(value).items():
            if field not in fields:
                raise ValueError(f"must be a table of {', '.join(fields)}")
            where[field] = reader.list_of(checks.get(field, reader.text))(values)
        return where

    return check


def _problem_name(value: Any) -> str:
    text: str = reader.text(value)
    if text in _BUILT_IN_PROBLEMS or _is_import(text):
        return text
    raise ValueError(f"must be one of {', '.join(_BUILT_IN_PROBLEMS)} or module:name")


def _method_name(value: Any) -> str:
    text: str = reader.text(value)
    number = text.removeprefix("ep-cma-")
    if value in list_methods() or _is_import(value) or (number != text and number.isdecimal()):
        return text
    raise ValueError(f"must be one of {', '.join(list_methods())}, ep-cma-<m> or module:name")


def _is_import(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    module, colon, name = value.partition(":")
    return bool(colon) and name.isidentifier() and all(part.isidentifier() for part in module.split("."))
