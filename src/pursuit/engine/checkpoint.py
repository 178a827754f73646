"""Checkpoints: all that a run needs to resume, in a file that is written whole or not at all.

The file is an uncompressed NumPy archive: `numpy.load` opens it, and no pickle is involved. Its entry
``header`` is a JSON text in bytes; the other entries are arrays.

- ``format`` and ``version``: "pursuit checkpoint" and the version of this layout, 7.
- ``method``, ``options``, ``restarts``, ``rounds``, ``n`` and ``sigma0``: what the run was set up with;
  arrays ``lower``, ``upper`` and ``margin`` if there are bounds. A ``sigma0`` for each variable is an array
  too, with an array ``offset`` if the scheme moves in scaled variables.
- ``limits``: when to stop; null where there is no limit.
- ``generator``: the state of the bit generator before it drew the normals of the current iteration.
- ``received``: the values received in this iteration, round by round.
- ``told``, if an optimizer was told part of a round: the values, null where they are missing.
- ``counters``: the counts; arrays ``trace.nit``, ``trace.nfev`` and so on, the columns of the trace.
- ``state``: the numbers of the scheme's state; arrays ``state.<field>``.
- for a program (`program_entries.py`) instead of these: ``counts`` and ``state`` at the beginning of the
  iteration, with arrays ``best``, the best point, ``trace.*``, ``state.*`` and ``received``.
- ``past``, if the run may have several stages: the present one, the outcomes of those before, and the value
  at the start; arrays ``past.x0``, ``past.best`` and the trace of those before, ``past.nit`` and so on.
- with ``trace="x"``, arrays ``points.nit`` and ``points.x``: the best points so far, and their iterations.

Fields of a tuple within the counters or the state have dotted names. Before the start of the
run or of a stage is evaluated, there is only ``generator``, an array ``x0``, and ``past``.

A file may come from anywhere. So nothing in it is trusted: names, types, shapes and sizes are checked before
anything is allocated, no class is imported, and anything wrong is an error that names the file.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np

from pursuit.checks import Vector, checked_memory, cut
from pursuit.engine.archive import as_json, from_json, generator_in_state, read_arrays, replacing
from pursuit.engine.counters import LIMITS, Trace, check_counters, first_counters
from pursuit.engine.memory import Memory, Unstarted
from pursuit.engine.past_entries import past_arrays, past_entries, past_of, past_shapes
from pursuit.engine.program_entries import program_entries, program_memory
from pursuit.engine.program_run import ProgramMemory
from pursuit.engine.setting import Setting
from pursuit.engine.stages import Past
from pursuit.engine.trace_points import point_arrays, point_shapes, points_of
from pursuit.methods.contract import Rounds, Scheme, State, is_valid
from pursuit.methods.programs import Program, is_program
from pursuit.problems.boxes import Box
from pursuit.problems.scales import Scale, factors

_FORMAT, _VERSION = "pursuit checkpoint", 7
_BOX = ("lower", "upper", "margin")
T = TypeVar("T")


def check_options(setting: Setting) -> None:
    """Reject options that a checkpoint cannot hold."""
    as_json({"options": setting.options})


Told = Sequence[float | None]
"""The values of a round that were told, None where they are missing; empty if none were."""
AnyMemory = Memory | ProgramMemory | Unstarted
"""The memory of a run of any kind."""


def save(path: str | os.PathLike[str], setting: Setting, memory: AnyMemory, told: Told = ()) -> None:
    """Write a checkpoint; whatever was at `path` stays whole until the new one is."""
    with replacing(Path(path)) as part, part.open("wb") as file:
        _write(file, setting, memory, told)


def to_bytes(setting: Setting, memory: AnyMemory, told: Told = ()) -> bytes:
    """Return a checkpoint as bytes."""
    file = io.BytesIO()
    _write(file, setting, memory, told)
    return file.getvalue()


def _write(file: Any, setting: Setting, memory: AnyMemory, told: Told) -> None:
    header: dict[str, Any] = {"format": _FORMAT, "version": _VERSION, **setting._asdict()}
    box, scale = header.pop("box"), header.pop("scale")
    arrays: dict[str, Any] = {} if box is None else dict(box._asdict())
    if isinstance(setting.sigma0, np.ndarray):
        arrays["sigma0"] = header.pop("sigma0")
    if scale is not None:
        arrays["offset"] = scale.offset
    header["generator"] = memory.generator
    if any(value is not None for value in told):
        header["told"] = told
    if memory.past is not None:
        header["past"] = past_entries(memory.past)
        arrays |= past_arrays(memory.past)
    arrays |= point_arrays(memory.points)
    if isinstance(memory, Unstarted):
        arrays["x0"] = memory.x0
    elif isinstance(memory, ProgramMemory):
        entries, of_program = program_entries(memory)
        header |= entries
        arrays |= of_program
    else:
        arrays |= {f"trace.{name}": column for name, column in memory.trace._asdict().items()}
        header |= {"received": memory.received, "counters": dict(_entries(memory.counters))}
        arrays |= {f"state.{name}": array for name, array in _entries(memory.state.arrays)}
        header["state"] = dict(_entries(memory.state.numbers))
    text = np.frombuffer(as_json(header).encode(), dtype=np.uint8)
    np.savez(file, header=text, **arrays)


class Checkpoint:
    """The content of a file: its setting, and a memory that can be read once the scheme is known.

    Parameters
    ----------
    source : path or binary file
        The file. An error that names it is raised if anything about it is wrong.
    """

    def __init__(self, source: str | os.PathLike[str] | BinaryIO) -> None:
        self._path = os.fspath(source) if isinstance(source, str | os.PathLike) else "The optimizer"
        try:
            self._arrays = read_arrays(source)
            self._header = from_json(self._arrays.pop("header").tobytes())
            found = self._header["format"], self._header["version"]
            is_known = found == (_FORMAT, _VERSION)
        except Exception as error:
            # Readers of archives, arrays and JSON raise errors of many kinds for nonsense.
            if isinstance(error, OSError) and error.filename is not None:
                raise
            raise self._error(f"is not a checkpoint of pursuit, or not a whole one ({error})") from None
        if not is_known:
            raise self._error(
                f"is a {found[0]} of version {found[1]}, but this version of pursuit reads version {_VERSION}"
            )
        self.setting: Setting = self._checked(self._read_setting)
        self.past: Past | None = self._checked(self._read_past)
        """What the run remembers besides its present stage; None if there can be no other."""
        self.points: dict[int, Vector] | None = self._checked(self._read_points)
        """The best points so far at entries of the trace, by iteration; None if they were not kept."""
        self.told: list[float | None] = self._checked(lambda: _checked_told(self._header.get("told", [])))
        """The values of a round that was told in part, None where they are missing."""

    @property
    def is_unstarted(self) -> bool:
        """Whether the start has not been evaluated, that of the run or that of its present stage."""
        return "counters" not in self._header and "counts" not in self._header

    def memory(self, scheme: Any) -> tuple[AnyMemory, np.random.Generator]:
        """Return the memory and the generator of a run, given the scheme of its present stage."""
        read = self._of_program if is_program(scheme) else self._recalled
        memory, generator = self._checked(self._start if self.is_unstarted else lambda: read(scheme))
        return memory._replace(past=self.past, points=self.points), generator

    def checked(self, use: Callable[[Setting], T]) -> T:
        """Return what is made of the setting, with errors that name the file."""
        return self._checked(lambda: use(self.setting))

    def _checked(self, read: Callable[[], T]) -> T:
        try:
            return read()
        except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, MemoryError) as error:
            raise self._error(f"cannot be used: {str(error).removesuffix('.')}") from None

    def _read_past(self) -> Past | None:
        if "past" not in self._header:
            return None
        shapes = past_shapes(self._header["past"], self.setting.n, self._arrays)
        self._expect(shapes, beside=True)
        arrays = {name: self._arrays.pop(name) for name in shapes}
        return past_of(self._header["past"], arrays, self.setting.method)

    def _read_points(self) -> dict[int, Vector] | None:
        shapes = point_shapes(self._arrays, self.setting.n)
        self._expect(shapes, beside=True)
        return points_of(*(self._arrays.pop(name) for name in shapes)) if shapes else None

    def _start(self) -> tuple[Unstarted, np.random.Generator]:
        self._expect({"x0": (self.setting.n,)})
        if not np.isfinite(self._arrays["x0"]).all():
            raise ValueError("its start must be finite")
        state = self._header["generator"]
        return Unstarted(self._arrays["x0"], state), generator_in_state(state)

    def _of_program(self, program: Program) -> tuple[ProgramMemory, np.random.Generator]:
        return program_memory(program, self._header, self._arrays, self.setting.n)

    def _recalled(self, scheme: Scheme) -> tuple[Memory, np.random.Generator]:
        header, n = self._header, self.setting.n
        counters_like, trace_like = first_counters(0.0, 1.0)
        state_like, shapes = _like(scheme, n, self.setting.first_step)
        self._expect(
            {f"state.{name}": shape for name, shape in shapes.items()}
            | {f"trace.{name}": column.shape for name, column in trace_like._asdict().items()}
        )
        kept = {
            name.removeprefix("state."): array
            for name, array in self._arrays.items()
            if name.startswith("state.")
        }
        counters = _rebuilt(counters_like, _checked_dict("counters", header["counters"]))
        check_counters(counters)
        arrays = _rebuilt(state_like.arrays, kept)
        numbers = _rebuilt(state_like.numbers, _checked_dict("state", header["state"]))
        if not is_valid(scheme, arrays, numbers):
            raise ValueError("the entries of its state contradict each other")
        if not (np.isfinite(numbers.fx) and np.isfinite(arrays.x).all() and np.isfinite(numbers.sigma)):
            raise ValueError("its best point, its value and its step size must be finite")
        if np.isnan(numbers.f):
            raise ValueError("the value of its latest iterate must be a number")
        if counters.best.value != numbers.fx:
            raise ValueError("its best value is not that at its best point")
        if np.isnan(self._arrays["trace.fun"][: counters.rows]).any():
            raise ValueError("the values of its trace must be numbers")
        if not np.isfinite(self._arrays["trace.sigma"][: counters.rows]).all():
            raise ValueError("the step sizes of its trace must be finite")
        generator = generator_in_state(header["generator"])
        memory = Memory(
            state=State(arrays, numbers),
            counters=counters,
            trace=Trace(*(self._arrays[f"trace.{name}"] for name in Trace._fields)),
            generator=header["generator"],
            received=_checked_rounds(header["received"]),
        )
        return memory, generator

    def _read_setting(self) -> Setting:
        header = self._header
        n, method = header["n"], header["method"]
        if type(n) is not int or n < 1:
            raise ValueError(f"n must be a positive whole number, but is {n!r}")
        if not isinstance(method, str):
            raise ValueError(f"method must be a name, but is {method!r}")
        box = None
        if any(name in self._arrays for name in _BOX):
            self._expect(dict.fromkeys(_BOX, (n,)), beside=True)
            box = Box(*(self._arrays.pop(name) for name in _BOX))
            if not ((box.lower <= box.upper).all() and ((box.margin >= 0.0) & (box.margin < np.inf)).all()):
                raise ValueError("its bounds leave no room")
        sigma0, scale = self._read_steps(n)
        return Setting(
            method=method,
            options=_checked_dict("options", header["options"]),
            n=n,
            sigma0=sigma0,
            box=box,
            limits=_checked_limits(header["limits"]),
            scale=scale,
            restarts=_checked_number_of_restarts(header["restarts"]),
            rounds=_checked_sizes(header["rounds"], n),
        )

    def _read_steps(self, n: int) -> tuple[float | Vector, Scale | None]:
        """Return the first step size, or that of each variable and the scale if there is one."""
        if "sigma0" in self._header:
            sigma0 = self._header["sigma0"]
            if type(sigma0) is not float or not 0.0 < sigma0 < np.inf:
                raise ValueError(f"sigma0 must be a positive number, but is {sigma0!r}")
            return sigma0, None
        names = [name for name in ("sigma0", "offset") if name in self._arrays]
        self._expect(dict.fromkeys(["sigma0", *names], (n,)), beside=True)
        steps, *offset = (self._arrays.pop(name) for name in names)
        with np.errstate(all="ignore"):
            is_usable = all(np.isfinite(array).all() for array in (factors(steps), *offset))
        if not (is_usable and (steps > 0.0).all()):
            raise ValueError("its sigma0 must be positive numbers, and its offset finite ones")
        return steps, Scale(factors(steps), *offset) if offset else None

    def _expect(self, shapes: Mapping[str, tuple[int, ...]], *, beside: bool = False) -> None:
        """Reject missing arrays, wrong shapes and, unless `beside` allows them, further arrays."""
        for name, shape in shapes.items():
            if name not in self._arrays:
                raise ValueError(f"the entry {name} is missing")
            found = self._arrays[name]
            wanted = np.int64 if name.endswith((".nit", ".nfev", ".at_bound")) else np.float64
            if found.shape != shape or found.dtype != wanted:
                raise ValueError(
                    f"the entry {name} must have shape {shape} and type {np.dtype(wanted)}, but has "
                    f"{found.shape} and {found.dtype}"
                )
        surplus = self._arrays.keys() - shapes.keys()
        if surplus and not beside:
            raise ValueError(f"the entry {min(surplus)} is not one of a checkpoint")

    def _error(self, what: str) -> ValueError:
        return ValueError(f"{self._path} {what}.")


def _like(scheme: Scheme, n: int, sigma0: float) -> tuple[State, dict[str, tuple[int, ...]]]:
    """Return a state made like those of a scheme, and the shapes that its arrays have for n variables.

    The shapes follow from those for two and three variables, so that no file can cause more memory to be
    allocated than it fills. A user's scheme may insist on the number of variables that it was created for.
    """
    try:
        small, larger = (scheme.init(np.zeros(k), 0.0, sigma0) for k in (2, 3))
    except Exception:
        state = scheme.init(np.zeros(n), 0.0, sigma0)
        return state, {name: entry.shape for name, entry in _entries(state.arrays)}
    shapes = {}
    for (name, two), (_, three) in zip(_entries(small.arrays), _entries(larger.arrays), strict=True):
        growth = [b - a for a, b in zip(two.shape, three.shape, strict=True)]
        shapes[name] = tuple(a + g * (n - 2) for a, g in zip(two.shape, growth, strict=True))
    return small, shapes


def _entries(record: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the numbers and arrays of a record with their names, dotted for those of a tuple in it."""
    for name, entry in record._asdict().items():
        if isinstance(entry, tuple):
            yield from _entries(entry, f"{prefix}{name}.")
        elif isinstance(entry, np.ndarray) and entry.dtype.names:
            # A record of numbers, which the file holds as an array of these.
            yield f"{prefix}{name}", entry.view(np.float64)
        else:
            yield f"{prefix}{name}", entry


def _rebuilt(like: Any, entries: Mapping[str, Any], prefix: str = "") -> Any:
    """Return a record like the one given, made of these entries."""
    if not prefix:
        names = {name for name, _ in _entries(like)}
        if names != entries.keys():
            raise ValueError(
                f"the entry {min(names ^ entries.keys())} is missing, or not one of a checkpoint"
            )
    return type(like)(
        *(
            _rebuilt(entry, entries, f"{prefix}{name}.")
            if isinstance(entry, tuple)
            else _checked_entry(f"{prefix}{name}", entries[f"{prefix}{name}"], entry)
            for name, entry in like._asdict().items()
        )
    )


def _checked_entry(name: str, found: Any, like: Any) -> Any:
    """Return an entry if it is a number of the type that the record has there; arrays are checked before."""
    if isinstance(like, np.ndarray) and like.dtype.names:
        return found.view(like.dtype)
    if isinstance(like, np.ndarray):
        if np.isfinite(like).all() and not np.isfinite(found).all():
            raise ValueError(f"the entry {name} must hold finite numbers")
        return found
    if isinstance(like, int) and (type(found) is not int or not -(2**62) <= found <= 2**62):
        raise ValueError(f"the entry {name} must be a whole number, but is {found!r}")
    if isinstance(like, float) and type(found) is not float:
        raise ValueError(f"the entry {name} must be a number, but is {found!r}")
    return found


def _checked_dict(name: str, found: Any) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise ValueError(f"{name} must be a table, but is {found!r}")
    return found


def _checked_limits(found: Any) -> dict[str, Any]:
    limits = _checked_dict("limits", found)
    if limits.keys() != set(LIMITS):
        raise ValueError(f"its limits must be {', '.join(LIMITS)}, but are {cut(', '.join(limits))}")
    return limits


def _checked_number_of_restarts(found: Any) -> int:
    if type(found) is not int or not 0 <= found <= 2**62:
        raise ValueError(f"restarts must be a whole number, but is {found!r}")
    return found


def _checked_sizes(found: Any, n: int) -> Rounds | None:
    if found is None:
        return None
    if not (isinstance(found, list) and len(found) == 2 and all(type(size) is int for size in found)):
        raise ValueError(f"rounds must be two whole numbers, but is {cut(repr(found))}")
    if not 1 <= found[0] <= found[1]:
        raise ValueError(f"rounds must have one point or more, but is {found!r}")
    checked_memory("A round of points", found[1] * n)
    return Rounds(*found)


def _checked_told(found: Any) -> list[float | None]:
    if not isinstance(found, list) or not all(value is None or type(value) is float for value in found):
        raise ValueError("told must be a list of numbers")
    return found


def _checked_rounds(found: Any) -> list[list[float]]:
    if not isinstance(found, list) or not all(
        isinstance(values, list) and all(type(value) is float for value in values) for values in found
    ):
        raise ValueError("received must be lists of numbers")
    return found
