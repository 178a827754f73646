"""The past of a run of several stages, as entries of a checkpoint. Nothing that is read is trusted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pursuit.checks import shown
from pursuit.engine.counters import UNLIMITED, Trace
from pursuit.engine.outcome import StageRecord
from pursuit.engine.stages import Past
from pursuit.engine.stopping import Reason
from pursuit.methods.catalogue import list_methods, method_text
from pursuit.methods.stages import AT_BEST, AT_NEW_POINT, AT_START, Stage


def past_entries(past: Past) -> dict[str, Any]:
    """Return the part of a past that goes into the header."""
    return {
        "f0": past.f0,
        "stage": {**past.stage._asdict(), "method": method_text(past.stage.method)},
        "ended": [record._asdict() for record in past.ended],
        "champion": past.champion,
    }


def past_arrays(past: Past) -> dict[str, Any]:
    """Return the arrays of a past, by the names of their entries."""
    arrays = {"x0": past.x0, "best": past.best, **past.trace._asdict()}
    return {f"past.{name}": array for name, array in arrays.items()}


def past_shapes(found: Any, n: int, arrays: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """Return the shapes that the arrays of a past must have; a trace may have any length."""
    ended = _table("past", found, ("f0", "stage", "ended", "champion"))["ended"]
    if not isinstance(ended, list):
        raise ValueError(f"ended must be a list, but is {shown(ended)}")
    rows = arrays["past.nit"].size if "past.nit" in arrays else 0
    shapes = {"x0": (n,), "best": (n if ended else 0,), **dict.fromkeys(Trace._fields, (rows,))}
    return {f"past.{name}": shape for name, shape in shapes.items()}


def past_of(found: Mapping[str, Any], arrays: Mapping[str, Any], method: str) -> Past:
    """Return the past of a run of this method, given the entries of the header and the arrays."""
    if not all(np.isfinite(arrays[f"past.{name}"]).all() for name in ("x0", "best")):
        raise ValueError("its start and its best point must be finite")
    ended = tuple(_record_of(record) for record in found["ended"])
    champion, value = found["champion"], found["f0"]
    if type(champion) is not int or not (0 <= champion < len(ended) if ended else champion == -1):
        raise ValueError(f"champion must be the number of a stage, but is {shown(champion)}")
    if type(value) is not float or not np.isfinite(value):
        raise ValueError(f"the value at its start must be a finite number, but is {shown(value)}")
    return Past(
        x0=arrays["past.x0"],
        f0=value,
        stage=_stage_of(found["stage"], method),
        ended=ended,
        champion=champion,
        best=arrays["past.best"],
        trace=Trace(*(arrays[f"past.{name}"] for name in Trace._fields)),
    )


def _stage_of(found: Any, method: str) -> Stage:
    """Return a stage, whose method is one that has a name, or that of the run."""
    stage = Stage(**_table("stage", found, Stage._fields))
    if stage.method not in (method, *list_methods()):
        raise ValueError(f"a stage must have the name of a method, but has {shown(stage.method)}")
    if stage.start not in (AT_START, AT_BEST, AT_NEW_POINT):
        raise ValueError(
            f"a stage must begin at the start or at a new point, but begins at {shown(stage.start)}"
        )
    if not (stage.most is None or _is_count(stage.most, at_least=1)):
        raise ValueError(f"the most evaluations of a stage must be a count, but are {shown(stage.most)}")
    if not (isinstance(stage.options, dict) and isinstance(stage.why, str)):
        raise ValueError("a stage must have a table of options, and a text to say why")
    return stage


def _record_of(found: Any) -> StageRecord:
    """Return the outcome of a stage."""
    table = _table("ended", found, StageRecord._fields)
    record = StageRecord(**{**table, "reason": Reason(table["reason"])})
    if not (
        all(_is_count(count) for count in (record.nit, record.nfev, record.best_nfev, record.faulty))
        and all(isinstance(text, str) for text in _texts_of(record))
        and (record.most is None or _is_count(record.most))
        and all(number is None or type(number) is float for number in (record.noise, record.error))
        and type(record.fun) is float
        and type(record.is_estimate) is bool
        and isinstance(record.options, dict)
    ):
        raise ValueError("the outcome of a stage must be counts, numbers and texts")
    return record


def _texts_of(record: StageRecord) -> tuple[Any, ...]:
    return record.method, record.start, record.why, record.sentence, record.remark


def _is_count(found: Any, at_least: int = 0) -> bool:
    return type(found) is int and at_least <= found <= UNLIMITED


def _table(name: str, found: Any, fields: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(found, dict) or found.keys() != set(fields):
        raise ValueError(f"{name} must be a table of {', '.join(fields)}, but is {shown(found)}")
    return found
