"""Records in files: written whole or not at all, and read from anywhere, with nothing in them trusted.

A file is an uncompressed NumPy archive: `numpy.load` opens it, and no pickle is involved. Its entry
``header`` is a JSON text in bytes, the other entries are arrays. A record, a dataclass or a `NamedTuple`,
holds numbers, texts, None, arrays, other records, and tuples ``tuple[X, ...]`` of these. Their entries have
dotted names; in place of a record stands the name of its class, and in place of a tuple its length. Which
classes and types there can be is known from annotations, never from the file.
"""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import errno
import json
import os
import types
import typing
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from pursuit.checks import cut

_TYPES = ("<f8", "<i8", "|u1", "|b1")
_SUFFIX = ".npy"
# No number of iterations or evaluations is larger, and every smaller one fits into 64 bits.
_LARGEST_WHOLE = 2**62
_OTHER = object()
"""Stands for an entry that is of another type."""


def entries_of(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what a record holds, by dotted names, with the names of classes and the lengths of tuples."""
    if is_record(type(value)):
        yield name, {"class": type(value).__name__}
        parts: Any = [(field, getattr(value, field)) for field in _fields_of(type(value))]
    elif isinstance(value, tuple):
        yield name, {"length": len(value)}
        parts = enumerate(value)
    else:
        yield name, value
        return
    for part, entry in parts:
        yield from entries_of(f"{name}.{part}", entry)


def write_entries(file: Any, entries: Mapping[str, Any]) -> None:
    """Write entries to a file; those of a record are a table of the header."""
    header: dict[str, Any] = {}
    arrays: Any = {name: entry for name, entry in entries.items() if isinstance(entry, np.ndarray)}
    for name, entry in entries.items():
        record, _, field = name.partition(".")
        if field and name not in arrays:
            header[record][field] = entry
        elif name not in arrays:
            header[name] = dict(entry) if isinstance(entry, dict) else entry
    np.savez(file, header=np.frombuffer(as_json(header).encode(), dtype=np.uint8), **arrays)


class Entries:
    """The entries of a file, from which records are made of the classes that are expected."""

    def __init__(self, source: str | os.PathLike[str] | BinaryIO) -> None:
        arrays = read_arrays(source)
        header = json.loads(arrays.pop("header").tobytes(), object_hook=_entry_of)
        self._left: dict[str, Any] = {}
        """Those that nobody has taken yet."""
        for name, entry in header.items():
            self._left[name] = entry
            if isinstance(entry, dict) and "class" in entry:
                self._left[name] = {"class": entry.pop("class")}
                self._left |= {f"{name}.{field}": part for field, part in entry.items()}
        self._twice = self._left.keys() & arrays.keys()
        self._left |= arrays

    def __contains__(self, name: str) -> bool:
        return name in self._left

    def shape_of(self, *names: str) -> tuple[int, ...] | None:
        """Return the shape of the first of these entries that is there, if it is an array."""
        entry = next((self._left[name] for name in names if name in self._left), None)
        return entry.shape if isinstance(entry, np.ndarray) else None

    def take(self, name: str, hint: Any) -> Any:
        """Return an entry if it is of a type that an annotation allows; one that may be None may be missing.

        Parts of records must be there in any case.
        """
        kinds = _kinds_of(hint)
        if name not in self._left:
            if types.NoneType in kinds and "." not in name:
                return None
            raise ValueError(f"the entry {name} is missing")
        entry = self._left.pop(name)
        for kind in kinds:
            found = self._as(kind, name, entry)
            if found is not _OTHER:
                return found
        raise _wrong_type(name)

    def take_like(self, name: str, example: Any) -> Any:
        """Return an entry that is of the same types as an example, whose annotations say nothing."""
        if is_record(type(example)):
            if self._left.pop(name, None) != {"class": type(example).__name__}:
                raise _wrong_type(name)
            fields = _fields_of(type(example))
            return type(example)(*(self.take_like(f"{name}.{x}", getattr(example, x)) for x in fields))
        if isinstance(example, np.ndarray):
            entry = self.take(name, NDArray[example.dtype.type])
            is_finite = np.isfinite(entry).all() or not np.isfinite(example).all()
            require(is_finite, f"the entry {name} must hold finite numbers")
            return entry
        kind = int if isinstance(example, int | np.integer) else float
        if type(self._left.get(name)) is not kind:
            raise _wrong_type(name)
        return self.take(name, kind)

    def check_all_taken(self) -> None:
        """Reject entries that belong to no field."""
        surplus = {*self._left, *self._twice}
        require(not surplus, f"the entry {cut(min(surplus, default=''))} is not one of a checkpoint")

    def _as(self, kind: Any, name: str, entry: Any) -> Any:
        """Return an entry as what it stands for, if it is of this kind."""
        origin, parts = typing.get_origin(kind), typing.get_args(kind)
        if is_record(kind) and entry == {"class": kind.__name__}:
            hints = typing.get_type_hints(kind)
            return kind(**{x: self.take(f"{name}.{x}", hints[x]) for x in _fields_of(kind)})
        if origin is tuple and isinstance(entry, dict):
            length = entry.get("length")
            if type(length) is int and 0 <= length <= len(self._left):
                return tuple(self.take(f"{name}.{j}", parts[0]) for j in range(length))
        if origin is np.ndarray and isinstance(entry, np.ndarray):
            return entry if entry.dtype == np.dtype(typing.get_args(parts[1])[0]) else _OTHER
        if origin is list and isinstance(entry, list):
            kinds = _kinds_of(parts[0])
            return entry if all(any(_is_plain(x, part) for part in kinds) for x in entry) else _OTHER
        if origin is dict and isinstance(entry, dict):
            return entry
        if isinstance(kind, enum.EnumType) and type(entry) is int:
            return kind(entry)
        if _is_plain(entry, kind):
            return float(entry) if kind is float else entry
        return _OTHER


def require(holds: object, sentence: str) -> None:
    """Reject what a file says unless something holds."""
    if not holds:
        raise ValueError(sentence)


def check_shape(name: str, entry: Any, shape: tuple[int, ...]) -> None:
    """Reject an array of another shape."""
    found = getattr(entry, "shape", shape)
    require(found == shape, f"the entry {name} must have shape {shape}, but has {found}")


def is_record(kind: Any) -> bool:
    """Say whether a class is that of a record."""
    return isinstance(kind, type) and (dataclasses.is_dataclass(kind) or hasattr(kind, "_fields"))


def _fields_of(cls: Any) -> tuple[str, ...]:
    names: Any = cls._fields if hasattr(cls, "_fields") else (field.name for field in dataclasses.fields(cls))
    return tuple(names)


def _kinds_of(hint: Any) -> list[Any]:
    """Return the types that an annotation allows: from NumPy 2.5 on, `NDArray` is an alias of a type."""
    is_union = typing.get_origin(hint) in (types.UnionType, typing.Union)
    kinds = typing.get_args(hint) if is_union else (hint,)
    alias_of = {kind: getattr(typing.get_origin(kind), "__value__", None) for kind in kinds}
    return [alias[typing.get_args(kind)] if alias else kind for kind, alias in alias_of.items()]


def _is_plain(entry: Any, kind: Any) -> bool:
    """Say whether an entry is a number, a text or nothing of this kind."""
    if type(entry) is int and kind in (int, float):
        return abs(entry) <= _LARGEST_WHOLE
    return kind in (bool, float, str, types.NoneType) and type(entry) is kind


def _wrong_type(name: str) -> ValueError:
    return ValueError(f"the entry {name} is not of the type that it must have")


def read_arrays(source: str | os.PathLike[str] | BinaryIO) -> dict[str, Any]:
    """Return the arrays of an uncompressed NumPy archive, by name.

    Like `numpy.load`, but with no more memory than the file itself takes: entries that are compressed, claim
    a size that they do not have, or hold anything but plain numbers are rejected.
    """
    arrays: dict[str, Any] = {}
    with zipfile.ZipFile(source) as archive:
        for entry in archive.infolist():
            file, name = entry.filename, entry.filename.removesuffix(_SUFFIX)
            is_stored = entry.compress_type == zipfile.ZIP_STORED and entry.file_size == entry.compress_size
            require(is_stored, f"the entry {file} is compressed")
            is_new_array = file.endswith(_SUFFIX) and name not in arrays
            require(is_new_array, f"the entry {file} is not an array, or occurs twice")
            arrays[name] = _read_array(archive, entry)
    return arrays


def _read_array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Any:
    name = entry.filename
    with archive.open(entry) as file:
        version = np.lib.format.read_magic(file)
        require(version == (1, 0), f"the entry {name} has a version that is not supported")
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(file)
        is_plain = dtype.str in _TYPES and len(shape) <= 2
        require(is_plain, f"the entry {name} does not hold plain numbers")
        data = file.read()
    size = dtype.itemsize * int(np.prod(shape, dtype=object))
    is_whole = min(shape, default=0) >= 0 and len(data) == size
    require(is_whole, f"the entry {name} is not as long as it says")
    # In the order that it had: sums of rows and of columns are rounded differently.
    return np.frombuffer(bytearray(data), dtype=dtype).reshape(shape, order="F" if fortran else "C")


def as_json(entry: Any) -> str:
    """Return an entry as JSON."""
    try:
        return json.dumps(entry, default=_to_json)
    except RecursionError:
        raise TypeError("A checkpoint can hold numbers, texts and arrays, but no cycles of them.") from None


def _to_json(entry: Any) -> Any:
    if isinstance(entry, np.ndarray) and entry.dtype.kind in "iufb":
        return {"array": entry.tolist(), "dtype": str(entry.dtype)}
    if isinstance(entry, np.generic) and entry.dtype.kind in "iufbU":
        return entry.item()
    raise TypeError(f"A checkpoint can hold numbers, texts and arrays, but not {entry!r}.")


def _entry_of(entry: dict[str, Any]) -> Any:
    if set(entry) != {"array", "dtype"}:
        return entry
    dtype = np.dtype(str(entry["dtype"]))
    require(dtype.kind in "iufb", f"arrays must hold numbers, but {dtype} was found")
    return np.array(entry["array"], dtype=dtype)


_KINDS = ("PCG64", "PCG64DXSM", "SFC64", "Philox", "MT19937")
# The numbers that NumPy uses unchecked, and their largest safe values.
_LARGEST = {"pos": 624, "buffer_pos": 4, "has_uint32": 1, "uinteger": 2**32 - 1}


def generator_in_state(state: Any) -> np.random.Generator:
    """Return a new generator whose bit generator is of the kind and in the state that was saved.

    Examples
    --------
    >>> import numpy as np
    >>> from pursuit.engine.archive import generator_in_state
    >>> rng = np.random.default_rng(1)
    >>> generator_in_state(rng.bit_generator.state).random() == rng.random()
    True
    """
    name = state.get("bit_generator") if isinstance(state, Mapping) else None
    require(name in _KINDS, f"the bit generator must be one of {', '.join(_KINDS)}, but is {name!r}")
    bits: Any = getattr(np.random, str(name))()
    _check_like(state, bits.state, "generator")
    bits.state = state
    return np.random.Generator(bits)


def _check_like(found: Any, like: Any, name: str) -> None:
    """Reject a state that is not made like another: NumPy takes what it is given unchecked."""
    if isinstance(like, dict):
        is_like = isinstance(found, Mapping) and found.keys() == like.keys()
        require(is_like, f"{name} must have the entries {', '.join(like)}")
        for key, entry in like.items():
            _check_like(found[key], entry, key)
    elif isinstance(like, np.ndarray):
        is_like = isinstance(found, np.ndarray) and (found.shape, found.dtype) == (like.shape, like.dtype)
        require(is_like, f"{name} must be an array of shape {like.shape} and type {like.dtype}")
    elif isinstance(like, int | np.integer):
        largest = _LARGEST.get(name, 2**128 - 1)
        is_like = type(found) is int and 0 <= found <= largest
        require(is_like, f"{name} must be a whole number from 0 to {largest}")
    else:
        require(found == like, f"{name} must be {like!r}")


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield the path of a temporary file that replaces `path` when it has been written completely.

    So nobody ever reads half a file, and if writing fails the old file stays and the temporary one goes. A
    link is followed: the file that it points to is replaced. The name of the temporary file is always the
    same, so that the next attempt overwrites what a killed process has left.
    """
    path, part = _places(path)
    with contextlib.suppress(OSError):
        # What is left has the permissions of the process that left it.
        part.unlink()
    try:
        yield part
        # A power failure must not leave it empty.
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise


def check_writable(path: Path) -> None:
    """Raise the `OSError` with which writing a file would fail, as far as that can be foreseen."""
    _, part = _places(path)
    part.touch()
    part.unlink()


def _places(path: Path) -> tuple[Path, Path]:
    """Return the file that a path leads to, and the temporary file beside it."""
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "It is a folder or a device, not a file", str(path))
    return path, path.with_name(f".{path.name}.part")
