"""Studies declared in TOML files, read and checked.

A declaration names problems with their dimensions, schemes, readings and runs::

    title = "Two schemes on two problems"
    schemes = ["sarp", { method = "own:Pattern", label = "pattern", options = { p = 0.3 } }]
    readings = ["fitted"]       # what --reading may override; of schemes that know of readings
    runs = 11
    target = 1e-9
    cap = 3162277.66            # the most iterations of a run, divided by n

    [[problems]]
    problem = "exp"             # or the "module:name" of a function of n, and of L where that is given
    n = [20, 100]
    L = [1e4, 1e6]

    [[exceptions]]              # any number of them; the last that applies counts
    where = { problem = "exp", L = 1e6 }
    runs = 3                    # 0 leaves the cells out

    [[figures]]                 # none: one figure for each problem
    name = "scaling"
    caption = "Both schemes in both dimensions."
    rows = "n"
    columns = "L"
    where = { problem = "exp" }

Modules are looked for beside the file first. `PRESETS` names the studies that come with the package.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Iterable
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from pursuit.experiments.common.errors import StudyError
from pursuit.experiments.study.results import Cell, Figure
from pursuit.methods.catalogue import methods
from pursuit.methods.options import READINGS

PRESETS = ("quick", "main", "full")
_BUILT_IN_PROBLEMS = {"exp": True, "lin": True, "two": True, "rosenbrock": False}
_PANEL_FIELDS = ("problem", "L", "n")


class Scheme(NamedTuple):
    """A scheme as declared."""

    method: str
    label: str
    options: dict[str, Any]


class Problem(NamedTuple):
    """A problem as declared."""

    problem: str
    label: str
    dimensions: tuple[int, ...]
    conditions: tuple[float | None, ...]


class Override(NamedTuple):
    """Another number of runs for some cells."""

    where: dict[str, tuple[Any, ...]]
    runs: int


class Study(NamedTuple):
    """What a declaration says."""

    name: str
    title: str
    problems: tuple[Problem, ...]
    schemes: tuple[Scheme, ...]
    readings: tuple[str, ...]
    runs: int
    target: float
    cap: float
    exceptions: tuple[Override, ...]
    figures: tuple[Figure, ...]
    folder: str
    """Where modules that it names are looked for first."""


def load_study(source: str | Path) -> Study:
    """Return the study of a preset's name or of a file.

    Examples
    --------
    >>> from pursuit.experiments.study.declaration import load_study
    >>> study = load_study("quick")
    >>> study.runs, len(study.schemes), [problem.label for problem in study.problems]
    (11, 10, ['exp', 'lin', 'two', 'rosenbrock'])
    """
    if source in PRESETS:
        text = (resources.files("pursuit.experiments.study") / "presets" / f"{source}.toml").read_text()
        return parse_study(text, str(source), ".")
    path = Path(source)
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(
            f"A study is one of {', '.join(PRESETS)} or a TOML file, but {source} cannot be read: {error}."
        ) from None
    return parse_study(text, str(path), str(path.parent.resolve()))


def parse_study(text: str, name: str, folder: str) -> Study:
    """Return the study that a TOML text declares; `name` is the file's, for errors."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise StudyError(f"{name} is not valid TOML: {error}.") from None
    reader = _Table(content, name, "")
    study = Study(
        name=Path(name).stem,
        title=reader.take("title", _text),
        problems=tuple(_problem(table) for table in reader.tables("problems", required=True)),
        schemes=tuple(
            _scheme(reader, i, entry) for i, entry in enumerate(reader.take("schemes", _filled_list))
        ),
        readings=reader.take("readings", _readings, default=("fitted",)),
        runs=reader.take("runs", _whole(1)),
        target=reader.take("target", _number),
        cap=reader.take("cap", _positive),
        exceptions=tuple(_override(table) for table in reader.tables("exceptions")),
        figures=tuple(_figure(table) for table in reader.tables("figures")),
        folder=folder,
    )
    reader.close()
    _check_labels(name, "problems", [problem.label for problem in study.problems])
    _check_labels(name, "schemes", [scheme.label for scheme in study.schemes])
    _check_labels(name, "figures", [figure.name for figure in study.figures])
    for i, override in enumerate(study.exceptions):
        _check_where(study, override.where, f"{name}: the key exceptions[{i}].where")
    for i, figure in enumerate(study.figures):
        _check_where(study, figure.where, f"{name}: the key figures[{i}].where")
    return study


def parse_where(text: str) -> dict[str, tuple[Any, ...]]:
    """Return the conditions of a line such as ``problem=exp,lin n=20``.

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
            if field not in Cell._fields or not equals:
                raise ValueError
            where[field] = tuple(kinds.get(field, str)(value) for value in values.split(","))
        except ValueError:
            raise StudyError(
                f"A selection is made of FIELD=VALUE,VALUE… with fields {', '.join(Cell._fields)}, "
                f'as in "problem=exp,lin n=20", but {term!r} was given.'
            ) from None
    return where


class _Table:
    """A table of the file, out of which keys are taken until none is left."""

    def __init__(self, content: dict[str, Any], file: str, key: str) -> None:
        self._content = dict(content)
        self._file = file
        self._key = key
        self._known: list[str] = []

    def take(self, name: str, check: Callable[[Any], Any], default: Any = None) -> Any:
        """Return the checked value of a key; without a default the key is required."""
        self._known.append(name)
        if name not in self._content:
            if default is None:
                raise self.error(name, "is missing")
            return default
        given = self._content.pop(name)
        try:
            return check(given)
        except ValueError as error:
            raise self.error(name, f"{error}, but {given!r} was given") from None

    def tables(self, name: str, *, required: bool = False) -> Iterable[_Table]:
        """Yield the tables of an array of tables; each must be used up."""
        entries = self.take(name, _tables, default=None if required else [])
        for position, entry in enumerate(entries):
            table = _Table(entry, self._file, f"{self._key}{name}[{position}].")
            yield table
            table.close()

    def table(self, name: str, content: dict[str, Any]) -> _Table:
        return _Table(content, self._file, f"{self._key}{name}.")

    def close(self) -> None:
        """Complain of keys that nobody has asked for."""
        for name in self._content:
            raise self.error(name, f"is unknown; allowed are {', '.join(self._known)}")

    def error(self, name: str, what: str) -> StudyError:
        return StudyError(f"{self._file}: the key {self._key}{name} {what}.")


def _problem(table: _Table) -> Problem:
    problem = table.take("problem", _problem_name)
    label = table.take("label", _label, default=problem.rpartition(":")[2])
    dimensions = table.take("n", _list_of(_whole(1)))
    wants_condition = _BUILT_IN_PROBLEMS.get(problem)
    conditions: tuple[float | None, ...] = table.take("L", _list_of(_at_least_one), default=(None,))
    if wants_condition is True and conditions == (None,):
        raise table.error("L", f"is missing: {problem} needs it")
    if wants_condition is False and conditions != (None,):
        raise table.error("L", f"is not allowed: {problem} has none")
    return Problem(problem, label, dimensions, conditions)


def _scheme(reader: _Table, position: int, entry: Any) -> Scheme:
    name = f"schemes[{position}]"
    if isinstance(entry, str):
        entry = {"method": entry}
    if not isinstance(entry, dict):
        raise reader.error(name, f"must be a method's name or a table with one, but {entry!r} was given")
    table = reader.table(name, entry)
    method = table.take("method", _method_name)
    label = table.take("label", _label, default=method.rpartition(":")[2])
    options = table.take("options", _dictionary, default={})
    table.close()
    return Scheme(method, label, options)


def _override(table: _Table) -> Override:
    where = table.take("where", _where(Cell._fields))
    return Override(where, table.take("runs", _whole(0)))


def _figure(table: _Table) -> Figure:
    figure = Figure(
        name=table.take("name", _label),
        caption=table.take("caption", _text),
        rows=table.take("rows", _one_of(_PANEL_FIELDS)),
        columns=table.take("columns", _one_of(_PANEL_FIELDS)),
        where=table.take("where", _where(_PANEL_FIELDS), default={}),
    )
    if figure.rows == figure.columns:
        raise table.error("columns", "must differ from rows")
    return figure


def _check_labels(file: str, key: str, labels: list[str]) -> None:
    twice = sorted({label for label in labels if labels.count(label) > 1})
    if twice:
        raise StudyError(f"{file}: {key} must have different labels, but {twice[0]!r} occurs twice.")


def _check_where(study: Study, where: dict[str, tuple[Any, ...]], what: str) -> None:
    """Complain of a condition that no cell meets, since its author had meant one."""
    known: dict[str, set[Any]] = {
        "problem": {problem.label for problem in study.problems},
        "L": {condition for problem in study.problems for condition in problem.conditions},
        "n": {n for problem in study.problems for n in problem.dimensions},
        "scheme": {scheme.label for scheme in study.schemes},
        "reading": set(READINGS),
    }
    for field, values in where.items():
        for value in values:
            if value not in known[field]:
                allowed = ", ".join(str(found) for found in known[field] if found is not None)
                raise StudyError(f"{what} names the {field} {value!r}, but the study has {allowed}.")


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("must be a text")
    return value


def _label(value: Any) -> str:
    text = _text(value)
    if any(c.isspace() or c in "=,/\\" for c in text):
        raise ValueError("must be a text without spaces, commas, equals signs and slashes")
    return text


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError("must be a finite number")
    return float(value)


def _positive(value: Any) -> float:
    if _number(value) <= 0.0:
        raise ValueError("must be positive")
    return float(value)


def _at_least_one(value: Any) -> float:
    if _number(value) < 1.0:
        raise ValueError("must be a number of at least 1, or several")
    return float(value)


def _whole(least: int) -> Callable[[Any], int]:
    def check(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ValueError(f"must be a whole number of at least {least}")
        return value

    return check


def _filled_list(value: Any) -> list[Any]:
    if not isinstance(value, list) or not value:
        raise ValueError("must be a list that is not empty")
    return value


def _list_of(check: Callable[[Any], Any]) -> Callable[[Any], tuple[Any, ...]]:
    def check_all(value: Any) -> tuple[Any, ...]:
        entries = tuple(
            check(entry) for entry in (_filled_list(value) if isinstance(value, list) else [value])
        )
        if len(set(entries)) < len(entries):
            raise ValueError("must not name anything twice")
        return entries

    return check_all


def _one_of(allowed: Iterable[str]) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        if value not in allowed:
            raise ValueError(f"must be one of {', '.join(allowed)}")
        return str(value)

    return check


def _readings(value: Any) -> tuple[str, ...]:
    return _list_of(_one_of(tuple(READINGS)))(value)


def _tables(value: Any) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not value or not all(isinstance(entry, dict) for entry in value):
        raise ValueError("must be an array of tables")
    return value


def _dictionary(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("must be a table")
    return value


def _where(fields: tuple[str, ...]) -> Callable[[Any], dict[str, tuple[Any, ...]]]:
    checks = {"n": _whole(1), "L": _number}

    def check(value: Any) -> dict[str, tuple[Any, ...]]:
        where = {}
        for field, values in _dictionary(value).items():
            if field not in fields:
                raise ValueError(f"must be a table of {', '.join(fields)}")
            where[field] = _list_of(checks.get(field, _text))(values)
        return where

    return check


def _problem_name(value: Any) -> str:
    if value in _BUILT_IN_PROBLEMS or _is_import(value):
        return str(value)
    raise ValueError(f"must be one of {', '.join(_BUILT_IN_PROBLEMS)} or module:name")


def _method_name(value: Any) -> str:
    text = _text(value)
    number = text.removeprefix("ep-cma-")
    if value in methods() or _is_import(value) or (number != text and number.isdecimal()):
        return text
    raise ValueError(f"must be one of {', '.join(methods())}, ep-cma-<m> or module:name")


def _is_import(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    module, colon, name = value.partition(":")
    return bool(colon) and name.isidentifier() and all(part.isidentifier() for part in module.split("."))
