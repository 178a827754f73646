"""The memory of a program's run, as entries of a checkpoint. Nothing that is read is trusted.

A state is a record, a dataclass or a `NamedTuple`, of numbers, texts, None, arrays, other records, and tuples
``tuple[X, ...]`` of these. The header holds all but the arrays, by dotted names; in place of a record it has
the name of its class, and in place of a tuple its length. Which classes and types there can be is known from
the annotations of the program, never from the file.
"""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from pursuit.engine.archive import generator_in_state
from pursuit.engine.counters import UNLIMITED, Trace
from pursuit.engine.program_run import Counts, ProgramMemory
from pursuit.methods.programs import ENDINGS, Program

_STATE = "state."


def program_entries(memory: ProgramMemory) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the part of a memory that goes into the header, and the arrays by the names of their entries."""
    header: dict[str, Any] = {"counts": memory.counts._asdict(), "state": {}}
    arrays = {"best": memory.x, "received": memory.received}
    arrays |= {f"trace.{name}": column for name, column in memory.trace._asdict().items()}
    for name, entry in _entries(memory.state):
        if isinstance(entry, np.ndarray):
            arrays[f"{_STATE}{name}"] = entry
        else:
            header["state"][name] = entry
    return header, arrays


def _entries(record: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield what a record holds, by dotted names, and the names of the classes of records in it."""
    for name in _fields_of(type(record)):
        yield from _entries_of(f"{prefix}{name}", getattr(record, name))


def _entries_of(name: str, entry: Any) -> Iterator[tuple[str, Any]]:
    if _is_record(type(entry)):
        yield name, {"class": type(entry).__name__}
        yield from _entries(entry, f"{name}.")
    elif isinstance(entry, tuple):
        yield name, {"length": len(entry)}
        for j, part in enumerate(entry):
            yield from _entries_of(f"{name}.{j}", part)
    else:
        yield name, entry


def program_memory(
    program: Program, header: Mapping[str, Any], arrays: Mapping[str, Any], n: int
) -> tuple[ProgramMemory, np.random.Generator]:
    """Return the memory and the generator of a run of a program for n variables."""
    read = _Reading(header["state"], {name: arrays[name] for name in arrays if name.startswith(_STATE)})
    state = read.record(_state_class(program))
    read.check_all_read()
    expected = {"best", "received", *(f"trace.{name}" for name in Trace._fields)}
    surplus = {name for name in arrays if not name.startswith(_STATE)} ^ expected
    if surplus:
        raise ValueError(f"the entry {min(surplus)} is missing, or is not one of a checkpoint")
    memory = ProgramMemory(
        state=state,
        counts=_checked_counts(header["counts"]),
        x=arrays["best"],
        trace=_checked_trace(Trace(*(arrays[f"trace.{name}"] for name in Trace._fields))),
        generator=header["generator"],
        received=arrays["received"],
    )
    _check_state(state, n)
    program.check(state, n)
    _check_memory(memory, n)
    return memory, generator_in_state(header["generator"])


class _Reading:
    """What a file holds of a state, from which records are made of the classes that are expected."""

    def __init__(self, entries: Any, arrays: Mapping[str, Any]) -> None:
        if not isinstance(entries, dict):
            raise ValueError("state must be a table")
        self._entries, self._arrays = entries, arrays
        self._read: set[str] = set()

    def record(self, cls: Any, prefix: str = "") -> Any:
        """Return a record of this class."""
        hints = typing.get_type_hints(cls)
        return cls(**{name: self._entry(f"{prefix}{name}", hints[name]) for name in _fields_of(cls)})

    def check_all_read(self) -> None:
        """Reject entries that belong to no field."""
        surplus = {*self._entries, *(name.removeprefix(_STATE) for name in self._arrays)} - self._read
        if surplus:
            raise ValueError(f"the entry {min(surplus)} is not one of its state")

    def _entry(self, name: str, hint: Any) -> Any:
        """Return the entry of a field, if it is of a type that the field can have."""
        kinds = (
            typing.get_args(hint) if typing.get_origin(hint) in (types.UnionType, typing.Union) else (hint,)
        )
        self._read.add(name)
        array = self._arrays.get(f"{_STATE}{name}")
        if array is not None:
            if array.dtype not in [_dtype_of(kind) for kind in map(_resolved, kinds) if _is_array(kind)]:
                raise ValueError(f"the entry {name} must not be an array of type {array.dtype}")
            return array
        if name not in self._entries:
            raise ValueError(f"the entry {name} is missing")
        entry = self._entries[name]
        for kind in kinds:
            if _is_record(kind) and entry == {"class": kind.__name__}:
                return self.record(kind, f"{name}.")
            if typing.get_origin(kind) is tuple and isinstance(entry, dict) and entry.keys() == {"length"}:
                return self._tuple(name, entry["length"], typing.get_args(kind)[0])
        if not any(_is_number(entry, kind) for kind in kinds):
            raise ValueError(f"the entry {name} is not of the type that it must have")
        return entry

    def _tuple(self, name: str, length: Any, hint: Any) -> tuple[Any, ...]:
        """Return a tuple of entries of the same type, no longer than the file."""
        if type(length) is not int or not 0 <= length <= len(self._entries) + len(self._arrays):
            raise ValueError(f"the length of the entry {name} is wrong")
        return tuple(self._entry(f"{name}.{j}", hint) for j in range(length))


def _is_number(entry: Any, kind: Any) -> bool:
    """Say whether an entry is a number, a text or nothing of this kind."""
    if kind is float:
        return type(entry) is float or (type(entry) is int and abs(entry) <= UNLIMITED)
    if kind is int:
        return type(entry) is int and abs(entry) <= UNLIMITED
    return kind in (bool, str, type(None)) and type(entry) is kind


def _is_record(kind: Any) -> bool:
    return isinstance(kind, type) and (dataclasses.is_dataclass(kind) or hasattr(kind, "_fields"))


def _fields_of(cls: Any) -> tuple[str, ...]:
    if dataclasses.is_dataclass(cls):
        return tuple(field.name for field in dataclasses.fields(cls))
    fields: tuple[str, ...] = cls._fields
    return fields


def _resolved(kind: Any) -> Any:
    """Return what an annotation stands for: from NumPy 2.5 on, `NDArray` is an alias of a type."""
    alias = getattr(typing.get_origin(kind), "__value__", None)
    return kind if alias is None else alias[typing.get_args(kind)]


def _is_array(kind: Any) -> bool:
    return typing.get_origin(kind) is np.ndarray


def _dtype_of(kind: Any) -> Any:
    """Return the type of the entries of an array, given its annotation."""
    return np.dtype(typing.get_args(typing.get_args(kind)[1])[0])


def _state_class(program: Program) -> Any:
    """Return the class of a program's states, which `begin` names."""
    cls = typing.get_type_hints(type(program).begin).get("return")
    if not _is_record(cls):
        raise TypeError(
            f"the method begin of {type(program).__qualname__} must say of which class states are"
        )
    return cls


def _check_state(state: Any, n: int) -> None:
    """Reject what no program can mean."""
    if not (state.x.shape == (n,) and np.isfinite(state.x).all() and not math.isnan(state.f)):
        raise ValueError("its iterate must be finite, and the value there a number")
    if state.ending is not None and state.ending.reason not in ENDINGS:
        raise ValueError(
            f"a program ends because of {', '.join(ENDINGS)}, but not of {state.ending.reason!r}"
        )


def _check_memory(memory: ProgramMemory, n: int) -> None:
    x, received, counts = memory.x, memory.received, memory.counts
    if x.shape != (n,) or x.dtype != np.float64 or not np.isfinite(x).all():
        raise ValueError("its best point must be finite")
    if received.ndim != 1 or received.dtype != np.float64 or np.isnan(received).any():
        raise ValueError("its values must be numbers")
    if memory.trace.nit[-1] > counts.nit or memory.trace.nfev[-1] > counts.nfev:
        raise ValueError("its counts contradict each other")


def _checked_counts(found: Any) -> Counts:
    if not isinstance(found, dict) or found.keys() != set(Counts._fields):
        raise ValueError(f"counts must be a table of {', '.join(Counts._fields)}")
    counts = Counts(**found)
    numbers = counts._replace(fun=0, best_sigma=0)
    if not all(type(number) is int and 0 <= number < UNLIMITED for number in numbers):
        raise ValueError("its counts must be whole numbers")
    if not (counts.best_nit <= counts.nit + 1 and 1 <= counts.best_nfev <= counts.nfev >= counts.faulty):
        raise ValueError("its counts contradict each other")
    if type(counts.fun) is not float or math.isnan(counts.fun):
        raise ValueError("its best value must be a number")
    if type(counts.best_sigma) is not float or not math.isfinite(counts.best_sigma):
        raise ValueError("its step size must be finite")
    return counts


def _checked_trace(trace: Trace) -> Trace:
    wanted = (np.int64, np.int64, np.float64, np.float64, np.int64)
    rows = trace.nit.shape
    if len(rows) != 1 or rows[0] < 1 or any(column.shape != rows for column in trace):
        raise ValueError("the columns of its trace must have the same length")
    if any(column.dtype != dtype for column, dtype in zip(trace, wanted, strict=True)):
        raise ValueError("the columns of its trace must hold numbers")
    if trace.nit[0] != 0 or (np.diff(trace.nit) <= 0).any() or (np.diff(trace.nfev) < 0).any():
        raise ValueError("the counts of its trace must rise")
    if np.isnan(trace.fun).any() or not np.isfinite(trace.sigma).all():
        raise ValueError("the values of its trace must be numbers, and the step sizes finite ones")
    return trace
