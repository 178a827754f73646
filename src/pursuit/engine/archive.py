"""Files from anywhere, of which nothing is trusted, and files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

_TYPES = ("<f8", "<i8", "|u1", "|b1")
_SUFFIX = ".npy"


def read_arrays(source: str | os.PathLike[str] | BinaryIO) -> dict[str, Any]:
    """Return the arrays of an uncompressed NumPy archive, by name.

    Like `numpy.load`, but with no more memory than the file itself takes: entries that are compressed, claim
    a size that they do not have, or hold anything but plain numbers are rejected.
    """
    arrays: dict[str, Any] = {}
    with zipfile.ZipFile(source) as archive:
        for entry in archive.infolist():
            if entry.compress_type != zipfile.ZIP_STORED or entry.file_size != entry.compress_size:
                raise ValueError(f"the entry {entry.filename} is compressed")
            if not entry.filename.endswith(_SUFFIX) or entry.filename.removesuffix(_SUFFIX) in arrays:
                raise ValueError(f"the entry {entry.filename} is not an array, or occurs twice")
            arrays[entry.filename.removesuffix(_SUFFIX)] = _read_array(archive, entry)
    return arrays


def _read_array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Any:
    with archive.open(entry) as file:
        version = np.lib.format.read_magic(file)
        if version != (1, 0):
            raise ValueError(f"the entry {entry.filename} has a version that is not supported")
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(file)
        if dtype.str not in _TYPES or len(shape) > 2:
            raise ValueError(f"the entry {entry.filename} does not hold plain numbers")
        data = file.read()
    if any(length < 0 for length in shape) or len(data) != dtype.itemsize * int(np.prod(shape, dtype=object)):
        raise ValueError(f"the entry {entry.filename} is not as long as it says")
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


def from_json(text: bytes) -> Any:
    """Return what a text of JSON stands for."""
    return json.loads(text, object_hook=_entry_of)


def _entry_of(entry: dict[str, Any]) -> Any:
    if set(entry) != {"array", "dtype"}:
        return entry
    dtype = np.dtype(str(entry["dtype"]))
    if dtype.kind not in "iufb":
        raise ValueError(f"arrays must hold numbers, but {dtype} was found")
    return np.array(entry["array"], dtype=dtype)


_KINDS = {
    kind.__name__: kind
    for kind in (
        np.random.PCG64,
        np.random.PCG64DXSM,
        np.random.SFC64,
        np.random.Philox,
        np.random.MT19937,
    )
}
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
    if not isinstance(name, str) or name not in _KINDS:
        raise ValueError(f"the bit generator must be one of {', '.join(_KINDS)}, but is {name!r}")
    bits: Any = _KINDS[name]()
    _check_like(state, bits.state, "generator")
    bits.state = state
    return np.random.Generator(bits)


def _check_like(found: Any, like: Any, name: str) -> None:
    """Reject a state that is not made like another: NumPy takes what it is given unchecked."""
    if isinstance(like, dict):
        if not isinstance(found, Mapping) or found.keys() != like.keys():
            raise ValueError(f"{name} must have the entries {', '.join(like)}")
        for key, entry in like.items():
            _check_like(found[key], entry, key)
    elif isinstance(like, np.ndarray):
        if not isinstance(found, np.ndarray) or (found.shape, found.dtype) != (like.shape, like.dtype):
            raise ValueError(f"{name} must be an array of shape {like.shape} and type {like.dtype}")
    elif isinstance(like, int | np.integer):
        largest = _LARGEST.get(name, 2**128 - 1)
        if isinstance(found, bool) or not isinstance(found, int) or not 0 <= found <= largest:
            raise ValueError(f"{name} must be a whole number from 0 to {largest}")
    elif found != like:
        raise ValueError(f"{name} must be {like!r}")


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
        _flush(part)
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


def _flush(path: Path) -> None:
    """Have the system write a file to the disk, so that a power failure cannot leave it empty."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
