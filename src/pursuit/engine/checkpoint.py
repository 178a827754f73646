"""Checkpoints: all that a run needs to resume, in a file that is written whole or not at all.

These are the entries of the file, in the form that `archive.py` describes:

- ``format`` and ``version``: "pursuit checkpoint" and the version of this layout, 9.
- what the run was set up with, and when it stops: the fields of `Stored`.
- the fields of `Snapshot`, those that are not None. Of a step method ``x`` is ``state.x``; before the start
  of the run or of a stage is evaluated, there are only ``x``, ``generator`` and ``past``.

A file may come from anywhere. So nothing in it is trusted: names, types, shapes and sizes are checked before
anything is allocated, no class is imported, and anything wrong is an error that names the file.
"""

from __future__ import annotations

import io
import math
import os
import typing
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from pursuit.checks import Vector, checked_memory, cut, shown
from pursuit.engine import archive
from pursuit.engine.archive import check_shape, require
from pursuit.engine.counters import LIMITS, Counters, Trace, check_counters, first_counters
from pursuit.engine.outcome import Known, Past, check_past
from pursuit.engine.setup import Setup, set_up, set_up_stage
from pursuit.engine.snapshot import Counts, Snapshot, check_counts
from pursuit.methods.catalogue import method_text
from pursuit.methods.contract import Rounds, Scheme, State, is_valid
from pursuit.methods.programs import ENDINGS, Program, is_program
from pursuit.methods.stages import Task, Unknown

_FORMAT, _VERSION = "pursuit checkpoint", 9
# What a file holds of a task as it is.
_OF_TASK = ("options", "restarts", "sigma0", "limits")
T = TypeVar("T")
Told = Sequence[float | None]
"""The values of a round that were told, None where they are missing; empty if none were."""


class Stored(NamedTuple):
    """What a run was set up with: it can only be resumed with the same, but for its limits."""

    method: str
    options: dict[str, Any]
    restarts: int
    rounds: list[int] | None
    """The sizes of `Rounds`."""
    n: int
    sigma0: float | Vector
    lower: Vector | None
    upper: Vector | None
    x0: Vector | None
    """The start of the present stage, if the mirrors at bounds or scaled variables depend on it."""
    limits: dict[str, Any]
    """When to stop."""
    told: list[float | None] | None
    """The values of a round that an optimizer was told in part, None where they are missing."""

    @property
    def sizes(self) -> Rounds | None:
        """How large rounds are, where that was not left to the method."""
        return None if self.rounds is None else Rounds(*self.rounds)


class _Points(NamedTuple):
    """The best points so far, and their iterations."""

    nit: NDArray[np.int64]
    x: NDArray[np.float64]


def check_options(setup: Setup) -> None:
    """Reject options that a checkpoint cannot hold."""
    archive.as_json({"options": setup.task.options})


def save(path: str | os.PathLike[str], setup: Setup, snapshot: Snapshot, told: Told = ()) -> None:
    """Write a checkpoint; whatever was at `path` stays whole until the new one is."""
    with archive.replacing(Path(path)) as part, part.open("wb") as file:
        archive.write_entries(file, _entries(setup, snapshot, told))


def to_bytes(setup: Setup, snapshot: Snapshot, told: Told = ()) -> bytes:
    """Return a checkpoint as bytes."""
    file = io.BytesIO()
    archive.write_entries(file, _entries(setup, snapshot, told))
    return file.getvalue()


def _entries(setup: Setup, snapshot: Snapshot, told: Told) -> dict[str, Any]:
    task, box, state, points = setup.task, setup.box, snapshot.state, snapshot.points
    stored = Stored(
        method=method_text(task.method),
        rounds=list(task.rounds) if task.rounds else None,
        n=setup.n,
        lower=box.lower if box else None,
        upper=box.upper if box else None,
        x0=setup.x0,
        told=list(told) if any(value is not None for value in told) else None,
        **{field: getattr(task, field) for field in _OF_TASK},
    )
    fields = {"format": _FORMAT, "version": _VERSION, **stored._asdict(), **snapshot._asdict()}
    if points is not None:
        kept = _Points(np.array(list(points), np.int64), np.array(list(points.values())))
        fields["points"] = kept if points else None
    if isinstance(state, State):
        # A step method's records of arrays and numbers have no fields in common.
        both = {**state.arrays._asdict(), **state.numbers._asdict()}
        fields |= {"x": None, "state": {"class": State.__name__}}
        fields |= {f"state.{field}": entry for field, entry in both.items()}
    return {
        part: entry
        for name, whole in fields.items()
        if whole is not None
        for part, entry in archive.entries_of(name, whole)
    }


class Checkpoint:
    """The content of a file: what the run was set up with, and a snapshot that can be read once that is done.

    Parameters
    ----------
    source : path or binary file
        The file. An error that names it is raised if anything about it is wrong.
    name : str
        What to call it if it has no path.
    """

    def __init__(self, source: str | os.PathLike[str] | BinaryIO, name: str = "The optimizer") -> None:
        self._path = os.fspath(source) if isinstance(source, str | os.PathLike) else name
        try:
            self._entries = archive.Entries(source)
            kind, version = self._entries.take("format", str), self._entries.take("version", int)
        except Exception as error:
            # Readers of archives, arrays and JSON raise errors of many kinds for nonsense.
            if isinstance(error, OSError) and error.filename is not None:
                raise
            raise self._error(f"is not a checkpoint of pursuit, or not a whole one ({error})") from None
        if (kind, version) != (_FORMAT, _VERSION):
            raise self._error(
                f"is a {cut(kind)} of version {version}, but this version of pursuit reads version {_VERSION}"
            )
        self.is_begun: bool = "state" in self._entries
        """Whether the start has been evaluated, that of the run or that of its present stage."""
        self.stored: Stored = self.checked(self._read_stored)
        self.past: Past | None = self.checked(self._read_past)
        """What the run remembers besides its present stage; None if there can be no other."""
        self.points: dict[int, Vector] | None = self.checked(self._read_points)
        """The best points so far at entries of the trace, by iteration; None if they were not kept."""

    def checked(self, read: Callable[[], T]) -> T:
        """Return what is read from the file, with errors that name it."""
        try:
            return read()
        except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, MemoryError) as error:
            raise self._error(f"cannot be used: {str(error).removesuffix('.')}") from None

    def check_trace(self, trace: bool | str) -> None:
        """Reject a trace with x for a run that has begun without it."""
        has_begun = self.past is not None or self.is_begun
        if trace == "x" and has_begun and self.points is None:
            raise self._error(
                'cannot be used: its trace has no x, so the run cannot be resumed with trace="x", but with '
                "trace=True"
            )

    def continued(self, method: type | None) -> tuple[Setup, Snapshot, np.random.Generator]:
        """Return setup, snapshot and generator of a run whose function the caller evaluates."""
        return self.resumed(self.checked(lambda: set_up(self._task(method))[0]))

    def resumed(self, setup: Setup) -> tuple[Setup, Snapshot, np.random.Generator]:
        """Return the setup of the present stage of a run, and where and with which generator it goes on."""
        setup = self.checked(lambda: self._setup_of_stage(setup))
        return setup, *self.checked(lambda: self._read_snapshot(setup.scheme))

    def _task(self, method: type | None) -> Task:
        """Return what was asked for, of a run whose function the caller evaluates.

        A class is never imported because a file names it: whoever loads the file passes it as `method`.
        """
        stored = self.stored
        given = stored.method if method is None else method_text(method)
        require(given == stored.method, f"its method is {stored.method}, but {given} was passed")
        is_named = method is not None or ":" not in stored.method
        require(is_named, f"its method is a class, {stored.method}: pass that class as method")
        lower, upper = stored.lower, stored.upper
        bounds = None if lower is None or upper is None else list(zip(lower, upper, strict=True))
        x0 = np.zeros(stored.n) if bounds is None else np.clip(0.0, lower, upper)
        alike = {field: getattr(stored, field) for field in _OF_TASK}
        return Task(x0, method or stored.method, bounds=bounds, rounds=stored.sizes, fun=Unknown(), **alike)

    def _setup_of_stage(self, setup: Setup) -> Setup:
        past, stage, x0 = self.past, setup.stage, self.stored.x0
        # How many workers there are now makes no difference to a run that has begun.
        task = setup.task._replace(rounds=self.stored.sizes)
        if past is not None:
            task, stage = task._replace(x0=past.x0), past.stage
        setup, _ = set_up_stage(task, stage, task.x0.copy() if x0 is None else x0)
        wrong = "missing" if x0 is None else "not one of its method"
        require((setup.x0 is None) == (x0 is None), f"its entry x0 is {wrong}")
        return setup

    def _read_record(self, cls: Any) -> Any:
        """Return a record whose fields are entries of their own."""
        hints = typing.get_type_hints(cls)
        return cls(**{name: self._entries.take(name, hints[name]) for name in cls._fields})

    def _read_stored(self) -> Stored:
        stored: Stored = self._read_record(Stored)
        n, sizes = stored.n, stored.sizes
        # No memory is allocated that the file does not fill.
        has_n = self._entries.shape_of("x", "state.x") == (n,)
        require(has_n, f"its points must have n variables, but n is {n}")
        for name in ("lower", "upper", "x0", "sigma0"):
            check_shape(name, getattr(stored, name), (n,))
        has_sides = (stored.lower is None) == (stored.upper is None)
        require(has_sides, "it must have bounds on both sides, or none")
        is_finite = stored.x0 is None or np.isfinite(stored.x0).all()
        require(is_finite, "the numbers of its x0 must be finite ones")
        named = cut(", ".join(stored.limits))
        require(
            stored.limits.keys() == set(LIMITS), f"its limits must be {', '.join(LIMITS)}, but are {named}"
        )
        if sizes is not None:
            is_size = 1 <= sizes.at_once <= sizes.most
            require(is_size, f"rounds must be two whole numbers, but is {shown(stored.rounds)}")
            checked_memory("A round of points", sizes.most * n)
        return stored

    def _read_past(self) -> Past | None:
        past: Past | None = self._entries.take("past", Past | None)
        if past is not None:
            check_past(past, self.stored.n, self.stored.method)
            require(past.ended or self.is_begun, "one of its stages must have begun")
        return past

    def _read_points(self) -> dict[int, Vector] | None:
        points: _Points | None = self._entries.take("points", _Points | None)
        if points is None:
            return None
        nit, x = points
        check_shape("points.x", x, (nit.size, self.stored.n))
        rises = nit.ndim == 1 and nit.size > 0 and nit[0] == 0 and (np.diff(nit) > 0).all()
        require(rises, "the iterations of its points must rise from 0")
        require(np.isfinite(x).all(), "the points of its trace must be finite")
        return dict(zip(nit.tolist(), x, strict=True))

    def _read_snapshot(self, scheme: Any) -> tuple[Snapshot, np.random.Generator]:
        take, of_program = self._entries.take, is_program(scheme)
        generator = take("generator", dict[str, Any])
        x = take("x", Vector if of_program or not self.is_begun else Vector | None)
        known = take("known", Known | None)
        found = Snapshot(x, generator, past=self.past, points=self.points, known=known)
        if self.is_begun:
            found = found._replace(trace=take("trace", Trace), received=take("received", Vector))
            found = self._of_program(scheme, found) if of_program else self._of_scheme(scheme, found)
        check_shape("x", found.x, (self.stored.n,))
        require(np.isfinite(found.x).all(), "its start and its best point must be finite")
        if known is not None:
            check_shape("known.x", known.x, (self.stored.n,))
            is_finite = np.isfinite(known.x).all() and math.isfinite(known.value)
            require(is_finite, "the point that was told, and its value, must be finite")
        self._entries.check_all_taken()
        return found, archive.generator_in_state(generator)

    def _of_program(self, program: Program, found: Snapshot) -> Snapshot:
        counts, received = self._entries.take("counters", Counts), found.received
        state = self._entries.take("state", _state_class(program))
        check_counts(counts, found.trace)
        is_list = received.ndim == 1 and not np.isnan(received).any()
        require(is_list, "its values must be numbers")
        is_there = (
            state.x.shape == (self.stored.n,) and np.isfinite(state.x).all() and not math.isnan(state.f)
        )
        require(is_there, "its iterate must be finite, and the value there a number")
        if state.ending is not None:
            reason = state.ending.reason
            sentence = f"a program ends because of {', '.join(ENDINGS)}, but not of {shown(reason)}"
            require(reason in ENDINGS, sentence)
        program.check(state, self.stored.n)
        return found._replace(state=state, counters=counts)

    def _of_scheme(self, scheme: Scheme, found: Snapshot) -> Snapshot:
        counters, trace = self._entries.take("counters", Counters), found.trace
        check_counters(counters)
        arrays, numbers = self._read_state(scheme)
        require(is_valid(scheme, arrays, numbers), "the entries of its state contradict each other")
        is_finite = np.isfinite(numbers.fx) and np.isfinite(numbers.sigma)
        require(is_finite, "its best value and its step size must be finite")
        require(not np.isnan(numbers.f), "the value of its latest iterate must be a number")
        require(counters.best.value == numbers.fx, "its best value is not that at its best point")
        for name, column, like in zip(Trace._fields, trace, first_counters(0.0, 1.0)[1], strict=True):
            check_shape(f"trace.{name}", column, like.shape)
        filled = Trace(*(column[: counters.rows] for column in trace))
        require(not np.isnan(filled.fun).any(), "the values of its trace must be numbers")
        require(np.isfinite(filled.sigma).all(), "the step sizes of its trace must be finite")
        check_shape("received", found.received, (found.received.size,))
        return found._replace(x=arrays.x, state=State(arrays, numbers), counters=counters)

    def _read_state(self, scheme: Scheme) -> State:
        """Return the state of a step method, made like a first one.

        Shapes follow from those for two and three variables, so that no file can cause more memory to be
        allocated than it fills. A user's scheme may insist on the number that it was created for.
        """
        n, sigma0 = self.stored.n, float(np.min(self.stored.sigma0))
        try:
            like, larger = (scheme.init(np.zeros(k), 0.0, sigma0) for k in (2, 3))
        except Exception:
            like = larger = scheme.init(np.zeros(n), 0.0, sigma0)
        self._entries.take("state", dict[str, Any])
        records = [
            type(record)(*(self._entries.take_like(f"state.{x}", getattr(record, x)) for x in record._fields))
            for record in like
        ]
        found, small, large = (
            dict(archive.entries_of("state", record)) for record in (records[0], like[0], larger[0])
        )
        for name, array in found.items():
            if isinstance(array, np.ndarray):
                sizes = zip(small[name].shape, large[name].shape, strict=True)
                check_shape(name, array, tuple(a + (b - a) * (n - 2) for a, b in sizes))
        return State(*records)

    def _error(self, what: str) -> ValueError:
        return ValueError(f"{self._path} {what}.")


def _state_class(program: Program) -> Any:
    """Return the class of a program's states, which `begin` names."""
    cls = typing.get_type_hints(type(program).begin).get("return")
    if not archive.is_record(cls):
        raise TypeError(
            f"the method begin of {type(program).__qualname__} must say of which class states are"
        )
    return cls
