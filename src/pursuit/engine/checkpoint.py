"""Checkpoints: all that a run needs to resume, in a file that is written whole or not at all.

The file is an uncompressed NumPy archive: `numpy.load` opens it, and no pickle is involved. Its entry
``header`` is a JSON text in bytes; the other entries are arrays.

- ``format`` and ``version``: "pursuit checkpoint" and the version of this layout, 2.
- ``method``, ``options``, ``n`` and ``sigma0``: what the scheme was created from; arrays ``lower`` and
  ``upper`` if there are bounds.
- ``generator``: the state of the bit generator before it drew the normals at hand, as NumPy gives it.
- ``row`` and ``received``: which of these normals are in use, and the values received in this iteration.
- ``tally``: what was counted; arrays ``trace.nit``, ``trace.nfev`` and ``trace.fun``.
- ``state``: the numbers in the scheme's state; arrays ``state.<field>``.

Fields of a tuple within the tally or the state have dotted names.

Before the start is evaluated there is only ``generator`` and an array ``x0``.
"""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pursuit.checks import Vector
from pursuit.engine.run import Memory
from pursuit.engine.tally import Trace, start_tally
from pursuit.methods.contract import Scheme
from pursuit.problems.bounds import Box, make_box

_FORMAT, _VERSION = "pursuit checkpoint", 2


class Setting(NamedTuple):
    """What a run was set up with; it can only be resumed with the same."""

    method: str
    options: dict[str, Any]
    n: int
    sigma0: float
    box: Box | None


class Unstarted(NamedTuple):
    """The memory of a run whose start has not been evaluated."""

    x0: Vector
    generator: Mapping[str, Any]


def save(path: str | os.PathLike[str], setting: Setting, memory: Memory | Unstarted) -> None:
    """Write a checkpoint; whatever was at `path` stays whole until the new one is."""
    header: dict[str, Any] = {"format": _FORMAT, "version": _VERSION, **setting._asdict()}
    box = header.pop("box")
    arrays: dict[str, Any] = {} if box is None else {"lower": box.lower, "upper": box.upper}
    header["generator"] = memory.generator
    if isinstance(memory, Unstarted):
        arrays["x0"] = memory.x0
    else:
        arrays |= {f"trace.{name}": column for name, column in memory.trace._asdict().items()}
        header |= {"row": memory.row, "received": memory.received, "state": {}}
        header["tally"] = dict(_entries(memory.tally))
        for name, entry in _entries(memory.state):
            if isinstance(entry, np.ndarray):
                arrays[f"state.{name}"] = entry
            else:
                header["state"][name] = entry
    text = json.dumps(header, default=_to_json)
    _write_whole(Path(path), {"header": np.frombuffer(text.encode(), dtype=np.uint8), **arrays})


def load(path: str | os.PathLike[str]) -> tuple[Setting, Callable[[Scheme], Memory] | Unstarted]:
    """Return the setting of a checkpoint and its memory, which takes the scheme of that setting to recall."""
    try:
        with Path(path).open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        header = json.loads(arrays.pop("header").tobytes(), object_hook=_from_json)
        known = header["format"], header["version"]
    except OSError as error:
        if error.errno is not None:
            raise
        raise _foreign(path) from None
    except (ValueError, KeyError, TypeError, AttributeError, EOFError, zipfile.BadZipFile):
        raise _foreign(path) from None
    if known != (_FORMAT, _VERSION):
        raise ValueError(
            f"{os.fspath(path)} is a {known[0]} of version {known[1]}, but this version of pursuit reads "
            f"version {_VERSION}."
        )
    box = make_box(arrays["lower"], arrays["upper"], header["sigma0"]) if "lower" in arrays else None
    setting = Setting(
        method=header["method"],
        options=header["options"],
        n=header["n"],
        sigma0=header["sigma0"],
        box=box,
    )
    if "tally" not in header:
        return setting, Unstarted(arrays["x0"], header["generator"])

    def recall(scheme: Scheme) -> Memory:
        kept = {name.removeprefix("state."): array for name, array in arrays.items()}
        like, _ = start_tally(0.0, setting.sigma0)
        return Memory(
            state=_rebuilt(scheme.init(np.zeros(setting.n), 0.0, setting.sigma0), kept | header["state"]),
            tally=_rebuilt(like, header["tally"]),
            trace=Trace(*(arrays[f"trace.{name}"] for name in Trace._fields)),
            generator=header["generator"],
            row=header["row"],
            received=header["received"],
        )

    return setting, recall


def generator_in_state(state: Mapping[str, Any]) -> np.random.Generator:
    """Return a new generator whose bit generator is of the kind and in the state that was saved."""
    bits = getattr(np.random, state["bit_generator"])()
    bits.state = state
    return np.random.Generator(bits)


def _entries(record: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the numbers and arrays of a record with their names, dotted for those of a tuple in it."""
    for name, entry in record._asdict().items():
        if isinstance(entry, tuple):
            yield from _entries(entry, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", entry


def _rebuilt(like: Any, entries: Mapping[str, Any], prefix: str = "") -> Any:
    """Return a record like the one given, made of these entries."""
    return type(like)(
        *(
            _rebuilt(entry, entries, f"{prefix}{name}.")
            if isinstance(entry, tuple)
            else entries[f"{prefix}{name}"]
            for name, entry in like._asdict().items()
        )
    )


def _write_whole(path: Path, arrays: dict[str, Any]) -> None:
    """Write an archive beside `path`, down to the disk, and move it there in one step."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, **arrays)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _foreign(path: str | os.PathLike[str]) -> ValueError:
    return ValueError(f"{os.fspath(path)} is not a checkpoint of pursuit, or not a whole one.")


def _to_json(entry: Any) -> Any:
    if isinstance(entry, np.ndarray):
        return {"array": entry.tolist(), "dtype": str(entry.dtype)}
    if isinstance(entry, np.generic):
        return entry.item()
    raise TypeError(f"A checkpoint can hold numbers, texts and arrays, but not {entry!r}.")


def _from_json(entry: dict[str, Any]) -> Any:
    return np.array(entry["array"], dtype=entry["dtype"]) if set(entry) == {"array", "dtype"} else entry
